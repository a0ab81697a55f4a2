"""Generators of interpreted functions, for native code too: `list(generator)` comes back to the
interpreter."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from torch_py._dynamo.breaks import Break, RefusedForStandIns

if TYPE_CHECKING:
    from torch_py._dynamo.frame import Frame


class InterpretedGenerator(Generator[Any, Any, Any]):
    """A suspended frame. A generator of Python runs it, so that it can be used as Python allows."""

    is_interpreted_generator = True

    def __init__(self, frame: Frame) -> None:
        caller = frame.parent
        # Where it was made: before that, a graph can end without it.
        self.made_at = (caller.serial, caller.steps) if caller is not None else None
        self.__name__ = frame.code.co_name
        self._frame = frame
        self._steps = _steps(frame)
        frame.capture.generators.append(self)

    @property
    def has_to_clean_up(self) -> bool:
        """Whether it waits inside of `try` or `with`, and does something when it is dropped."""
        frame = self._frame
        if not frame.is_suspended:
            return False
        return frame.program.cleans_up(frame.instruction.offset, frame.blocks, frame.globals)

    def send(self, value: Any) -> Any:
        return self._steps.send(value)

    def throw(self, *error: Any) -> Any:
        return self._steps.throw(*error)


def _steps(frame: Frame) -> Generator[Any, Any, Any]:
    """Interprets a frame from each `yield` to the next."""
    error: BaseException | None = None
    while True:
        result = _continued(frame, error)
        if not frame.is_suspended:
            return result

        try:
            delegate, frame.delegate = frame.delegate, None
            sent = (yield result) if delegate is None else (yield from delegate)
            frame.stack.append(sent)
            error = None
        except (Break, RefusedForStandIns):
            raise
        except BaseException as raised:
            if isinstance(raised, GeneratorExit) and frame.capture.frame is None:
                raise  # as the generator is dropped after the capture
            error = raised


def _continued(frame: Frame, error: BaseException | None) -> Any:
    """What a frame yields or returns next, perhaps after an exception where it is suspended."""
    capture = frame.capture
    frame.is_suspended = False
    frame.parent = capture.frame
    handled = capture.handled
    try:
        if error is not None:
            frame.unwind(error)
        return frame.run()
    finally:
        capture.handled = handled
