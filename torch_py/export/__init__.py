"""`torch.export`, which torch_py does not have: it does not capture programs."""

from torch_py._absent_package import absent_names

__getattr__ = absent_names(
    __name__, "torch_py does not capture programs; torch.onnx.export writes models for other runtimes"
)
