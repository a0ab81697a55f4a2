"""The fake tensors of a capture, and what the calls on them say about the program."""

from __future__ import annotations

import math
from typing import Any

from torch_py import _C
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
        self.written: dict[int, Any] = {}  # memory that is changed, kept so that no other gets its number
        self.generators: list[Any] = []  # that numbers are drawn from
        self.draws_elsewhere = False  # from a generator of another device than the CPU

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
            self._note_written(func, args, kwargs)
        if "nondeterministic_seeded" in func.tags:
            self._note_generator(args, kwargs, result)
        return result

    def _note_written(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        given = {**kwargs, **dict(zip((argument.name for argument in func._schema.arguments), args))}
        names = (argument.name for argument in func._schema.arguments if argument.is_write)
        for tensor in tensors_in([given.get(name) for name in names], {}):
            if isinstance(tensor, FakeTensor):
                self.written[memory_of(tensor)] = tensor._twin.untyped_storage()

    def _note_generator(self, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        given = (value for value in (*args, *kwargs.values()) if isinstance(value, _C.Generator))
        generator = next(given, None)
        if generator is None:
            tensors = tensors_in((result, *args), kwargs)
            if any(tensor.device.type != "cpu" for tensor in tensors):
                self.draws_elsewhere = True
            generator = _C.default_generator
        if generator not in self.generators:
            self.generators.append(generator)


def memory_of(fake: Any) -> int:
    """The memory of a fake tensor, as a number."""
    return fake._twin.untyped_storage()._cdata  # type: ignore[no-any-return]
