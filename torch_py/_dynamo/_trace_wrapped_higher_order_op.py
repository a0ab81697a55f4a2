"""A mark that transformers sets while it makes masks under a tracer: nothing here, as nothing traces."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator


@contextlib.contextmanager
def _nothing() -> Iterator[None]:
    yield


TransformGetItemToIndex = _nothing
