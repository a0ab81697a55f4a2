"""Devices `walled:0` and `walled:1`: memory that only their kernels and copies can touch."""

from torch_py.utils.cpp_extension import load_backend

load_backend(__name__)
