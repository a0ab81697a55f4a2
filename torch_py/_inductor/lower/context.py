"""What rules of lowering work with: formulas of native_functions.yaml (`torch_py/_generated/lowerings.py`) as
values, tensors as functions of an index, and the graph that rules add to."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from typing import Any

from torch_py._inductor.indices import Axis, Linear, axes_of, linear
from torch_py._inductor.ir import CPP, TRUTH, Buffer, Cast, Const, Expr, Load, Map, cast
from torch_py._inductor.loops import LoopGraph, Store, View
from torch_py._records import Fields
from torch_py._shapes.formulas import COMPARISONS
from torch_py.fx.node import Node

_PREDICATES = frozenset(["isnan", "isinf", "signbit"])
# What arithmetic on truth values means.
_OF_TRUTH = {"+": "or", "*": "and", "maximum": "or", "minimum": "and"}
# Names of functions that are the same for truth values.
_BITWISE = frozenset(["bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not"])
_LARGEST_PRODUCT = 4
# Divisions that take as many steps as their operands need: loops over them are not vectorised, operators are.
_STEPWISE = frozenset(["%", "fmod"])


class NotLoweredError(Exception):
    """An operator, or one with such arguments, has no loop: it is called."""


class Formula(Fields):
    """Makes values of a formula. Numbers are of the dtype `computed`, and names stand for them.

    An argument is a value, None, or a string or number of Python.
    """

    arguments: Mapping[str, Any]
    computed: Any

    def value(self, tree: Any) -> Expr:
        """The value of a formula, a truth value or a number."""
        if isinstance(tree, str):
            return self._name(tree)
        if not isinstance(tree, tuple):
            return Const(tree, self.computed)

        word, *operands = tree
        if word == "is_none":
            return Const(self.arguments[operands[0]] is None, TRUTH)
        if word in ("and", "or", "not"):
            return self._logical(word, operands)
        if word == "where":
            return self._where(*operands)
        if word in COMPARISONS or word in _PREDICATES:
            return Map(word, [self.number(o) for o in operands], TRUTH)

        if self.computed == TRUTH:
            return self._of_truth(word, operands)
        if word == "**" or word == "pow":
            return self._power(*operands)
        return self._arithmetic(word, [self.number(o) for o in operands])

    def number(self, tree: Any) -> Expr:
        return cast(self.value(tree), self.computed)

    def condition(self, tree: Any) -> Expr:
        """Whether the value of a formula is not zero."""
        value = self.value(tree)
        if value.dtype == TRUTH:
            return value
        if isinstance(value, Cast) and value.value.dtype == TRUTH:
            return value.value
        return Map("!=", [value, Const(0, value.dtype)], TRUTH)

    def _name(self, name: str) -> Expr:
        argument = self.arguments[name]
        if isinstance(argument, Expr):
            return cast(argument, self.computed)
        if isinstance(argument, (bool, int, float)):
            return Const(argument, self.computed)
        raise NotLoweredError(f"argument '{name}' is {argument!r}")

    def _logical(self, word: str, operands: list[Any]) -> Expr:
        values = [self.condition(o) for o in operands]
        if word == "not" and isinstance(values[0], Const):
            return Const(not values[0].value, TRUTH)
        return Map(word, values, TRUTH)

    def _where(self, condition: Any, then: Any, otherwise: Any) -> Expr:
        test = self.condition(condition)
        if isinstance(test, Const):
            return self.value(then if test.value else otherwise)
        return Map("where", [test, self.number(then), self.number(otherwise)], self.computed)

    def _of_truth(self, word: str, operands: list[Any]) -> Expr:
        if word not in _OF_TRUTH and word not in _BITWISE:
            raise NotLoweredError(f"'{word}' of truth values")
        return Map(_OF_TRUTH.get(word, word), [self.condition(o) for o in operands], TRUTH)

    def _arithmetic(self, word: str, values: list[Expr]) -> Expr:
        if word == "*" and isinstance(values[0], Const) and values[0].value == 1:
            return values[1]
        if word == "conj":
            return values[0]
        if word in _STEPWISE:
            raise NotLoweredError(f"'{word}' is a loop of its own for each element")
        if word == "pow" and not self.computed.is_floating_point:
            raise NotLoweredError("'pow' of integers, which checks for negative exponents")
        return Map(word, values, self.computed)

    def _power(self, base: Any, exponent: Any) -> Expr:
        """A product, a root or a reciprocal where the exponent says so."""
        left, right = self.number(base), self.number(exponent)
        is_real = self.computed.is_floating_point
        power = right.value if isinstance(right, Const) else math.nan
        if power == 0.5 and is_real:
            return Map("sqrt", [left], self.computed)
        if power % 1 != 0 or abs(power) > 64 or (power < 0 and not is_real):
            return self._arithmetic("pow", [left, right])

        count = int(abs(power))
        if count == 0:
            return Const(1, self.computed)
        if count <= _LARGEST_PRODUCT:
            result = reduce(lambda a, b: Map("*", [a, b], self.computed), [left] * count)
        else:
            result = Map("integer_power", [left, Const(count, self.computed)], self.computed)
        return result if power > 0 else Map("/", [Const(1, self.computed), result], self.computed)


# Tensors and the graph
# ------------------------------------------------------------

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
