"""What rules of lowering work with: tensors as functions of an index, and the graph that they add to."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from torch_py._inductor.formulas import NotLoweredError
from torch_py._inductor.indices import Axis, Linear, axes_of, contiguous, linear
from torch_py._inductor.ir import CPP, Buffer, Expr, Load
from torch_py._inductor.loops import LoopGraph, Store, View
from torch_py._records import Fields
from torch_py.fx.node import Node

_OVERLOAD = re.compile(r"_(default|tensor|scalar)(?=_|$)")


Elements = Callable[[Sequence[Linear]], Expr]  # the element at an index


class Value(Fields):
    """A tensor of the operator graph. `at` gives the element at an index.

    `buffer` is the tensor in memory, None for a view, which gets one when an operator is called with it.
    """

    sizes: tuple[int, ...]
    dtype: Any
    device: Any
    at: Elements
    root: Buffer  # whose memory a view looks at
    buffer: Buffer | None = None
    example: Any = None  # of a view, with its strides

    @classmethod
    def of(cls, buffer: Buffer) -> Value:
        element = partial(Load, buffer)
        return cls(buffer.sizes, buffer.dtype, buffer.device, element, buffer, buffer)

    def broadcast(self, index: Sequence[Linear]) -> Expr:
        """The element that broadcasting brings to an index of a larger tensor."""
        own = list(index[len(index) - len(self.sizes) :])
        return self.at([linear(0) if size == 1 else i for size, i in zip(self.sizes, own)])


class Lowering:
    """A loop graph in the making."""

    def __init__(self) -> None:
        self.graph = LoopGraph()
        self.values: dict[Node, Any] = {}
        self.line = ""  # of the user's program
        self._names: dict[str, int] = {}
        self._starts: dict[Buffer, int] = {}  # bytes, in the examples

    def name(self, stem: str) -> str:
        """A name that no other buffer has, without that of an overload, which would tell readers nothing."""
        stem = _OVERLOAD.sub("", stem).lstrip("_") or stem
        count = self._names.get(stem, 0)
        self._names[stem] = count + 1
        return f"{stem}_{count}" if count else stem

    def buffer(self, name: str, example: Any, kind: str = "temporary") -> Buffer:
        """A buffer of the shape, dtype and strides of a tensor."""
        sizes = tuple(example.shape)
        found = Buffer(self.name(name), example.dtype, sizes, example.stride(), example.device, kind)
        self._starts[found] = example.storage_offset() * found.dtype.itemsize
        return found

    def alias(self, name: str, example: Any, root: Buffer) -> Buffer:
        """Another view of the memory of a buffer, as in the example."""
        found = self.buffer(name, example)
        found.base = root.memory
        distance = 0 if 0 in found.sizes else self._starts[found] - self._starts[found.base]
        found.offset = distance // found.dtype.itemsize
        self.graph.statements.append(View(found, self.line))
        return found

    def stored(self, value: Value) -> Buffer:
        """The tensor in memory, as operators take it."""
        if value.buffer is None:
            value.buffer = self.alias(f"{value.root.name}_view", value.example, value.root)
        return value.buffer

    def space(self, sizes: Sequence[int], letters: str = "ijklmn") -> tuple[list[Axis], list[Linear]]:
        """Axes of the given sizes, and the positions along them."""
        axes = axes_of(sizes, letters)
        return axes, [linear(axis) for axis in axes]

    def check(self, tensor: Any) -> None:
        """Raises NotLoweredError for a tensor that kernels cannot read or make."""
        sizes = tensor.sizes if isinstance(tensor, Value) else tensor.shape
        if 0 in sizes or tensor.dtype not in CPP or tensor.device.type != "cpu":
            raise NotLoweredError(f"a tensor of {tensor.dtype} on {tensor.device} of size {sizes}")

    def store(self, buffer: Buffer, axes: Sequence[Axis], index: Sequence[Linear], value: Expr) -> None:
        """Adds a loop that stores elements of a buffer."""
        self.graph.statements.append(Store(buffer, tuple(axes), tuple(index), value, self.line))

    def define(self, name: str, example: Any, value: Elements) -> Value:
        """A new tensor, by its elements. Raises NotLoweredError for dtypes that kernels lack."""
        self.check(example)
        axes, index = self.space(example.shape)
        element = value(index)
        buffer = self.buffer(name, example)
        self.store(buffer, axes, index, element)
        return Value.of(buffer)


Given = Mapping[str, Any]
Rule = Callable[[Lowering, Any, Given], Any]
RULES: dict[str, Rule] = {}


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Registers the rule of operators: ``rule(lowering, node, given)``. `given` has all arguments by their
    names in the schema, values for tensors. The rule returns the elements of the result, or a value, or a
    tuple of them, and raises NotLoweredError for what it does not cover.
    """

    def register(function: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, function))
        return function

    return register


class Example(Fields):
    """The shape, dtype and strides of a tensor that no node has."""

    shape: Sequence[int]
    dtype: Any
    device: Any

    def stride(self) -> tuple[int, ...]:
        return contiguous(self.shape)

    def storage_offset(self) -> int:
        return 0
