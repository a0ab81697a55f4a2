"""MPS as a program meets it on a build without: questions are answered, requests are refused."""

from torch_py._absent_device import fill as _fill

_fill(globals(), "mps", RuntimeError)


def current_allocated_memory() -> int:
    return 0


def driver_allocated_memory() -> int:
    return 0


def recommended_max_memory() -> int:
    return 0
