"""What rules of lowering work with: tensors as functions of an index, and the graph that they add to."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from torch_py._inductor.dtypes import CPP
from torch_py._inductor.formulas import NotLoweredError
from torch_py._inductor.indices import Axis, Linear, contiguous, linear
from torch_py._inductor.ir import Buffer, Expr, Load, Reduce
from torch_py._inductor.statements import LoopGraph, Store, View
from torch_py.fx.node import Node

_OVERLOAD = re.compile(r"_(default|tensor|scalar)(?=_|$)")


class Value:
    """A tensor of the operator graph. `at` gives the element at an index.

    `buffer` is the tensor in memory, None for a view, which gets one when an operator is called with it.
    """

    __slots__ = ("at", "buffer", "device", "dtype", "example", "root", "sizes")

    def __init__(
        self,
        sizes: Sequence[int],
        dtype: Any,
        device: Any,
        at: Callable[[Sequence[Linear]], Expr],
        buffer: Buffer | None = None,
        root: Buffer | None = None,
        example: Any = None,
    ) -> None:
        self.sizes = tuple(sizes)
        self.dtype = dtype
        self.device = device
        self.at = at
        self.buffer = buffer
        self.root = root  # the buffer whose memory a view looks at
        self.example = example  # of a view, with its strides

    @classmethod
    def of(cls, buffer: Buffer) -> Value:
        return cls(
            buffer.sizes, buffer.dtype, buffer.device, lambda index: Load(buffer, index), buffer, buffer
        )

    @property
    def strides(self) -> tuple[int, ...]:
        """Where its elements are, or would be, in memory."""
        return self.buffer.strides if self.buffer is not None else tuple(self.example.stride())

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
        self.has_loops = True
        self.called: frozenset[str] = frozenset()  # the names of nodes without loops
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
        found = Buffer(self.name(name), example.dtype, example.shape, example.stride(), example.device, kind)
        self._starts[found] = _start_of(example)
        return found

    def alias(self, name: str, example: Any, root: Buffer) -> Buffer:
        """Another view of the memory of a buffer, as in the example."""
        root = root.memory
        distance = 0 if 0 in example.shape else _start_of(example) - self._starts[root]
        found = Buffer(
            self.name(name),
            example.dtype,
            example.shape,
            example.stride(),
            example.device,
            base=root,
            offset=distance // example.dtype.itemsize,
        )
        self._starts[found] = _start_of(example)
        self.graph.statements.append(View(found, self.line))
        return found

    def stored(self, value: Value) -> Buffer:
        """The tensor in memory, as operators take it."""
        if value.buffer is None:
            assert value.root is not None
            value.buffer = self.alias(f"{value.root.name}_view", value.example, value.root)
        return value.buffer

    def axes(self, sizes: Sequence[int], letters: str = "ijklmn") -> list[Axis]:
        return [
            Axis(letters[n] if n < len(letters) else f"{letters[0]}{n}", size) for n, size in enumerate(sizes)
        ]

    def define(self, name: str, example: Any, value: Callable[[Sequence[Linear]], Expr]) -> Value:
        """A new tensor, by its elements. Raises NotLoweredError for dtypes that kernels lack."""
        self._check(example)
        axes = self.axes(example.shape)
        index = [linear(a) for a in axes]
        element = value(index)
        buffer = self.buffer(name, example)
        self.graph.statements.append(
            Store(buffer, axes, [linear(a) if a.size != 1 else linear(0) for a in axes], element, self.line)
        )
        return Value.of(buffer)

    def _check(self, example: Any, *sizes: int) -> None:
        if example.dtype not in CPP:
            raise NotLoweredError(f"dtype {example.dtype}")
        if 0 in (*example.shape, *sizes):
            raise NotLoweredError("no elements")
        if example.device.type != "cpu":
            raise NotLoweredError(f"device {example.device}")

    def started(self, name: str, example: Any) -> Buffer:
        """A buffer that stores of parts complete."""
        self._check(example)
        return self.buffer(name, example)

    def store_part(
        self,
        buffer: Buffer,
        sizes: Sequence[int],
        dim: int,
        offset: int,
        value: Callable[[Sequence[Linear]], Expr],
    ) -> None:
        """Stores a part of a buffer that begins at `offset` along `dim`."""
        if 0 in sizes:
            return
        axes = self.axes(sizes)
        index = [linear(a) for a in axes]
        place = [i + offset if d == dim else i for d, i in enumerate(index)]
        self.graph.statements.append(Store(buffer, axes, place, value(index), self.line))

    def reduce(
        self,
        name: str,
        example: Any,
        kind: str,
        sizes: Sequence[int],
        element: Callable[[Sequence[Linear], Sequence[Linear]], Expr],
        dtype: Any,
    ) -> Value:
        """A new tensor, each of whose elements combines those along further axes of the given sizes."""
        self._check(example, *sizes)
        axes = self.axes(example.shape)
        reduced = self.axes(sizes, "rstuvw")
        value = element([linear(a) for a in axes], [linear(a) for a in reduced])
        buffer = self.buffer(name, example)
        reduction = Reduce(kind, reduced, value, dtype)
        self.graph.statements.append(Store(buffer, axes, [linear(a) for a in axes], reduction, self.line))
        return Value.of(buffer)


Rule = Callable[..., Any]
RULES: dict[str, Rule] = {}


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Registers the rule of operators: ``rule(lowering, node, *args, **kwargs)``, in which values stand for
    tensors. It returns a value, or a tuple of them, and raises NotLoweredError for what it does not cover.
    """

    def register(function: Rule) -> Rule:
        for name in names:
            RULES[name] = function
        return function

    return register


class Example:
    """The shape, dtype and strides of a tensor that no node has."""

    __slots__ = ("_strides", "device", "dtype", "shape")

    def __init__(self, sizes: Sequence[int], dtype: Any, device: Any) -> None:
        self.shape = tuple(sizes)
        self.dtype = dtype
        self.device = device
        self._strides = contiguous(sizes)

    def stride(self) -> tuple[int, ...]:
        return self._strides


def _start_of(example: Any) -> int:
    return 0 if isinstance(example, Example) else example.storage_offset() * example.dtype.itemsize
