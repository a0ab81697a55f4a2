"""Generators of interpreted functions, for native code too: `list(generator)` comes back to the
interpreter."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from torch_py._dynamo.breaks import Break, RefusedForStandIns

if TYPE_CHECKING:
    from torch_py._dynamo.frame import Frame


class InterpretedGenerator(Generator[Any, Any, Any]):
    """A suspended frame."""

    is_interpreted_generator = True

    def __init__(self, frame: Frame) -> None:
        self._frame: Frame | None = frame
        self._is_running = False
        self._started = False
        caller = frame.parent
        # Where it was made: before that, a graph can end without it.
        self.made_at = (caller.serial, caller.steps) if caller is not None else None
        self.__name__ = frame.code.co_name
        frame.capture.generators.append(self)

    @property
    def has_to_clean_up(self) -> bool:
        """Whether it waits inside of `try` or `with`, and does something when it is dropped."""
        frame = self._frame
        return (
            frame is not None and self._started and frame.program.cleans_up(frame.instruction, frame.blocks)
        )

    def send(self, value: Any) -> Any:
        frame = self._entered()
        if frame is None:
            raise StopIteration
        if not self._started and value is not None:
            raise TypeError("can't send non-None value to a just-started generator")
        if self._started:
            frame.stack.append(value)
        self._started = True
        return self._continued(frame)

    def throw(self, kind: Any, value: Any = None, traceback: Any = None) -> Any:
        error = kind if isinstance(kind, BaseException) else value
        if not isinstance(error, BaseException):
            error = kind() if error is None else kind(error)
        frame = self._entered()
        if frame is None or not self._started:
            self._frame = None
            raise error

        inner = frame.delegate()
        if inner is None:
            return self._continued(frame, error)
        try:
            return inner.throw(error) if hasattr(inner, "throw") else self._continued(frame, error)
        except StopIteration as finished:
            frame.finish_delegation(finished.value)
            return self._continued(frame)
        except (Break, RefusedForStandIns):
            raise
        except BaseException as raised:
            return self._continued(frame, raised)

    def _entered(self) -> Frame | None:
        if self._is_running:
            raise ValueError("generator already executing")
        return self._frame

    def _continued(self, frame: Frame, error: BaseException | None = None) -> Any:
        """Runs to the next `yield`. Raises StopIteration at the end."""
        capture = frame.capture
        frame.is_suspended = False
        frame.parent = capture.frame
        self._is_running = True
        handled = capture.handled
        try:
            if error is not None:
                frame.throw_in(error)
            value = frame.run()
        except StopIteration as stop:
            raise RuntimeError("generator raised StopIteration") from stop
        finally:
            self._is_running = False
            capture.handled = handled
            if not frame.is_suspended:
                self._frame = None

        if frame.is_suspended:
            return value
        raise StopIteration(value)
