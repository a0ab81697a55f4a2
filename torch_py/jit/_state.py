"""Whether a program is being traced."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

from torch_py._pytorch_names.packages import lacking as _lacking


class _State(threading.local):
    depth = 0


_state = _State()


@contextlib.contextmanager
def tracing() -> Iterator[None]:
    """Inside the block `is_tracing()` is true on this thread."""
    _state.depth += 1
    try:
        yield
    finally:
        _state.depth -= 1


def is_tracing() -> bool:
    """Whether `torch.jit.trace` is recording the program that asks."""
    return _state.depth > 0


def is_scripting() -> bool:
    """Whether the code that asks runs as compiled TorchScript: never, as it runs as Python."""
    return False


__getattr__ = _lacking(__name__)
