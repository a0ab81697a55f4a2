"""Classes that the program defines while it runs."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any

from torch_py._dynamo.binding import fill_closure
from torch_py._dynamo.frame import Frame

if TYPE_CHECKING:
    from torch_py._dynamo.capture import Capture


def build_class(capture: Capture, args: Any, kwargs: dict[str, Any]) -> Any:
    """``__build_class__(body, name, *bases, metaclass=None, **keywords)``."""
    body, name, *bases = args
    resolved = types.resolve_bases(tuple(bases))
    meta, namespace, keywords = types.prepare_class(name, resolved, kwargs)
    if resolved is not tuple(bases) and resolved != tuple(bases):
        namespace["__orig_bases__"] = tuple(bases)

    frame = Frame(capture, body.__code__, body.__globals__)
    frame.names = namespace
    if body.__closure__:
        fill_closure(capture, frame, body)
    cell = frame.run()
    made = meta(name, resolved, namespace, **keywords)
    if isinstance(cell, types.CellType):
        cell.cell_contents = made
    return capture.made(made)
