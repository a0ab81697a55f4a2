"""Switches of libraries of kernels, which programs set without asking whether the library is available."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py.backends import blas as blas
from torch_py.backends import cpu as cpu
from torch_py.backends import cuda as cuda
from torch_py.backends import cudnn as cudnn
from torch_py.backends import mha as mha
from torch_py.backends import mkl as mkl
from torch_py.backends import mkldnn as mkldnn
from torch_py.backends import mps as mps
from torch_py.backends import openmp as openmp
from torch_py.backends import opt_einsum as opt_einsum
from torch_py.backends import quantized as quantized

fp32_precision = "none"

__allow_nonbracketed_mutation_flag = True


def flags_frozen() -> bool:
    """Whether switches may be set only by the blocks called `flags`: never here."""
    return False


def disable_global_flags() -> NoReturn:
    """Raises NotImplementedError: switches of torch_py are plain variables, which cannot be frozen."""
    raise NotImplementedError("torch.backends.disable_global_flags: torch_py does not freeze its switches")


@contextmanager
def __allow_nonbracketed_mutation() -> Iterator[None]:
    """A block inside which switches may be set, as they may be outside."""
    yield


__getattr__ = _lacking(__name__, __path__)
