"""Where a capture begins: at the start of a function, with its arguments."""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any

from torch_py._dynamo import logs
from torch_py._dynamo.binding import fill_closure
from torch_py._dynamo.decode.instructions import ASYNCHRONOUS, GENERATOR, parameter_names
from torch_py._dynamo.frame import Frame, Pending

if TYPE_CHECKING:
    from torch_py._dynamo.capture import Capture


class FunctionStart:
    """The call of a function."""

    def __init__(self, function: FunctionType) -> None:
        self.function = function
        self.parameters = list(parameter_names(function.__code__))
        self.name = function.__name__ if function.__name__.isidentifier() else "function"

    def runs_eagerly(self) -> bool:
        """Whether the function is never captured, because others run what it returns step by step."""
        code = self.function.__code__
        if not code.co_flags & (GENERATOR | ASYNCHRONOUS):
            return False
        logs.not_captured(
            self.function.__qualname__, "generators and asynchronous functions are not compiled"
        )
        return True

    def frame(self, capture: Capture, values: tuple[Any, ...]) -> Frame:
        """A frame with the arguments, which are guarded when they are used."""
        function = self.function
        frame = Frame(capture, function.__code__, function.__globals__)
        for position, (name, value) in enumerate(zip(self.parameters, values)):
            frame.locals[position] = Pending(value, capture.sources.argument(position, name))
        if function.__closure__:
            fill_closure(capture, frame, function)
        return frame

    def run(self, capture: Capture, values: tuple[Any, ...]) -> Any:
        return self.frame(capture, values).run()
