"""Counters that programs read after compiling: nothing was compiled, all are zero."""

from collections import Counter, defaultdict

counters: defaultdict[str, Counter[str]] = defaultdict(Counter)


def is_compile_supported(device_type: str) -> bool:
    """Whether functions can be compiled for a kind of device: no."""
    return False
