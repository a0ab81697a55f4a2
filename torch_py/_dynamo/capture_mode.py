"""The fake tensors of a capture, and what the calls on them say about the program."""

from __future__ import annotations

import functools
import math
from typing import Any

from torch_py._dynamo.varying_counts import TooManyCalls
from torch_py._subclasses.calls import tensors_in
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
        if _is_given_offset(func, args, kwargs):
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


def _is_given_offset(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether an operator is given a place in memory that is counted from the first element of the memory.
    Without one, it begins where the tensor does."""
    position = _position_of_offset(func)
    if position is None:
        return False
    given = args[position] if position < len(args) else kwargs.get("storage_offset")
    return given is not None


@functools.cache
def _position_of_offset(func: Any) -> int | None:
    names = [argument.name for argument in func._schema.arguments]
    return names.index("storage_offset") if "storage_offset" in names else None


def memory_of(fake: Any) -> int:
    """The memory of a fake tensor, as a number."""
    return fake._twin.untyped_storage()._cdata  # type: ignore[no-any-return]
