"""For type checkers: the names that __init__.py adds, and the submodules that it imports on first use."""

from torch_py import autograd as autograd
from torch_py import backends as backends
from torch_py import cuda as cuda
from torch_py import distributions as distributions
from torch_py import fft as fft
from torch_py import linalg as linalg
from torch_py import nn as nn
from torch_py import optim as optim
from torch_py import random as random
from torch_py import serialization as serialization
from torch_py import special as special
from torch_py import testing as testing
from torch_py import types as types
from torch_py import utils as utils
from torch_py import version as version
from torch_py._C import dtype, layout, memory_format

uint8: dtype
int8: dtype
short: dtype
int16: dtype
int: dtype
int32: dtype
long: dtype
int64: dtype
half: dtype
float16: dtype
bfloat16: dtype
float: dtype
float32: dtype
double: dtype
float64: dtype
cfloat: dtype
complex64: dtype
cdouble: dtype
complex128: dtype
bool: dtype
strided: layout
sparse_coo: layout
contiguous_format: memory_format
preserve_format: memory_format
channels_last: memory_format
channels_last_3d: memory_format

__all__ = [
    "autograd",
    "backends",
    "cuda",
    "distributions",
    "fft",
    "linalg",
    "nn",
    "optim",
    "random",
    "serialization",
    "special",
    "testing",
    "types",
    "utils",
    "version",
    "uint8",
    "int8",
    "short",
    "int16",
    "int",
    "int32",
    "long",
    "int64",
    "half",
    "float16",
    "bfloat16",
    "float",
    "float32",
    "double",
    "float64",
    "cfloat",
    "complex64",
    "cdouble",
    "complex128",
    "bool",
    "strided",
    "sparse_coo",
    "contiguous_format",
    "preserve_format",
    "channels_last",
    "channels_last_3d",
]
