"""Switches of libraries of kernels, which programs set without asking whether the library is available."""

from __future__ import annotations

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
