"""How the results of a call are made from the outputs of its graph."""

from __future__ import annotations

from typing import Any

from torch_py._records import Record
from torch_py.autograd.grad_mode import no_grad


class Step:
    """One view of a chain: an operator and its arguments after the tensor. Of several results, `index`."""

    __slots__ = ("args", "index", "kwargs", "retypes", "target", "without_grad")

    def __init__(
        self,
        target: Any,
        args: Any,
        kwargs: Any,
        index: int | None,
        without_grad: bool,
        retypes: bool = False,
    ) -> None:
        self.target = target
        self.args = args
        self.kwargs = kwargs
        self.index = index
        self.without_grad = without_grad
        self.retypes = retypes  # whether the view has another dtype

    def __call__(self, tensor: Any) -> Any:
        """The view of a tensor."""
        if self.without_grad:
            with no_grad():
                return self._view(tensor)
        return self._view(tensor)

    def _view(self, tensor: Any) -> Any:
        result = self.target(tensor, *self.args, **self.kwargs)
        return result if self.index is None else result[self.index]

    def __repr__(self) -> str:
        element = "" if self.index is None else f"[{self.index}]"
        return f"{self.target}(..., {self.args}){element}"


class Constant(Record):
    """An object that is not a tensor."""

    __slots__ = _fields = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class Argument(Record):
    """An argument of the call itself."""

    __slots__ = _fields = ("position",)

    def __init__(self, position: int) -> None:
        self.position = position


class InputOfGraph(Record):
    """An input of the graph."""

    __slots__ = _fields = ("position",)

    def __init__(self, position: int) -> None:
        self.position = position


class Same(Record):
    """The same object as an earlier result."""

    __slots__ = _fields = ("position",)

    def __init__(self, position: int) -> None:
        self.position = position


class Computed(Record):
    """An output of the graph."""

    __slots__ = _fields = ("position",)

    def __init__(self, position: int) -> None:
        self.position = position


class Viewed(Record):
    """A view, which is taken outside of the graph, so that it has the memory and the history of one."""

    __slots__ = _fields = ("source", "steps")

    def __init__(self, source: InputOfGraph | Computed, steps: tuple[Step, ...]) -> None:
        self.source = source
        self.steps = steps


class OnInput(Record):
    """An output of the graph, which gets the memory of an input: one that a custom Function has returned, and
    that was changed behind the back of autograd."""

    __slots__ = _fields = ("position", "input")

    def __init__(self, position: int, input: int) -> None:
        self.position = position
        self.input = input


Recipe = Constant | Argument | Same | Computed | Viewed | OnInput
