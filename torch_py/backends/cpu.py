"""The instruction set of the CPU kernels."""

from torch_py import _C


def get_cpu_capability() -> str:
    """The instruction set: DEFAULT, AVX2 or AVX512."""
    return str(_C._cpu_capability())
