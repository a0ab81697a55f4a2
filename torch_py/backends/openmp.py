"""Threads of kernels."""


def is_available() -> bool:
    return True
