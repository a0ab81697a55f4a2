"""Logs for TensorBoard. Importing this package needs the tensorboard package (`pip install tensorboard`)."""

try:
    import tensorboard as _tensorboard  # noqa: F401
except ImportError as error:
    raise ImportError(
        "torch.utils.tensorboard needs the tensorboard package, which is not installed: pip install "
        "tensorboard"
    ) from error

from torch_py.utils.tensorboard.writer import FileWriter, SummaryWriter

__all__ = ["FileWriter", "SummaryWriter"]
