"""`torch.testing`: comparison of results, and random tensors, for tests."""

from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py.testing._comparison import assert_allclose, assert_close
from torch_py.testing._creation import make_tensor

__all__ = ["assert_allclose", "assert_close", "make_tensor"]

__getattr__ = _lacking(__name__, __path__)
