"""The fake tensors of a capture, and what the calls on them say about the program."""

from __future__ import annotations

import math
from typing import Any

from torch_py._dynamo.varying_counts import TooManyCalls
from torch_py._subclasses.calls import takes_place, tensors_in
from torch_py._subclasses.fake_tensor import FakeTensor, FakeTensorMode


class CaptureMode(FakeTensorMode):
    """Computes shapes, and notes when an operator would draw random numbers or change tensors."""

    has_drawn = False
    has_written = False
    calls_left: float = math.inf  # before TooManyCalls is raised

    def __init__(self) -> None:
        super().__init__()
        self.placed: set[int] = set()  # memory in which the program counts from the first element

    def _call(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if "nondeterministic_seeded" in func.tags:
            self.has_drawn = True
        if takes_place(func):
            self.placed.update(
                memory_of(tensor) for tensor in tensors_in(args, kwargs) if isinstance(tensor, FakeTensor)
            )
        self.calls_left -= 1
        if self.calls_left < 0:
            raise TooManyCalls
        result = super()._call(func, args, kwargs)
        if func._schema.is_mutable:
            self.has_written = True
        return result


def memory_of(fake: Any) -> int:
    """The memory of a fake tensor, as a number."""
    return fake._twin.untyped_storage()._cdata  # type: ignore[no-any-return]
