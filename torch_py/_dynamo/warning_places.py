"""Warnings of a compiled program name the lines of the program, not those of generated code."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any

from torch_py._records import Fields

if TYPE_CHECKING:
    from torch_py._dynamo.frame import Frame

Place = tuple[str, int, dict[str, Any]]  # file, line and globals


class WarnAt(Fields):
    """``warnings.warn`` in a function of the program, the innermost of `places`: generated code stands for
    that one and for those that called it."""

    places: Sequence[Place]

    def __call__(
        self, message: Any, category: Any = None, stacklevel: int = 1, source: Any = None, **options: Any
    ) -> None:
        outer = stacklevel - len(self.places)
        is_kind = category is None or (isinstance(category, type) and issubclass(category, Warning))
        if options or outer > 0 or not is_kind:
            outer = max(outer, 1)
            return warnings.warn(message, category, _frames_of_compiler() + outer, source, **options)

        file, line, namespace = self.places[max(stacklevel, 1) - 1]
        kind = type(message) if isinstance(message, Warning) else category or UserWarning
        registry = namespace.setdefault("__warningregistry__", {})
        module = namespace.get("__name__", "<string>")
        return warnings.warn_explicit(message, kind, file, line, module, registry, namespace, source)


def _frames_of_compiler() -> int:
    """How many frames, from the caller on, stand for functions of the program."""
    count = 0
    frame = sys._getframe(1)
    while frame is not None and _is_of_compiler(frame):
        count += 1
        frame = frame.f_back  # type: ignore[assignment]
    return count


def _is_of_compiler(frame: FrameType) -> bool:
    module = frame.f_globals.get("__name__", "")
    return frame.f_code.co_filename.startswith("<compiled ") or module.startswith("torch_py._dynamo.")


def places_of(frame: Frame) -> list[Place]:
    """Where a frame is, and those that called it."""
    return [(one.code.co_filename, one.line or 0, one.globals) for one in frame.caller_frames()]
