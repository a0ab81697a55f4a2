"""The values of the loop graph: what every element of every tensor is.

    Const, Load, Map, Cast, Index, Guard, Named     values of one element
    Reduce                                          a value of many elements

Nothing here is C++: functions of `Map` are the words of the expression language of native_functions.yaml.
Values are compared and hashed by what they are; names are for people. Dtypes are those that kernels have a
C++ type for. loops.py has what stores them, and spec.py says what is well formed.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from operator import attrgetter
from typing import Any, TypeVar

from torch_py import _C
from torch_py._inductor import config
from torch_py._inductor.indices import Axis, Linear, bounds, flattened
from torch_py._records import Fields
from torch_py.fx._order import reached

TRUTH = _C.bool
FLOAT = _C.float32
LONG = _C.int64

# dtype -> its C++ type.
CPP = {
    _C.float64: "double",
    _C.float32: "float",
    _C.float16: "c10::Half",
    _C.bfloat16: "c10::BFloat16",
    _C.int64: "int64_t",
    _C.int32: "int32_t",
    _C.int16: "int16_t",
    _C.int8: "int8_t",
    _C.uint8: "uint8_t",
    _C.bool: "bool",
}
SHORT_FLOATS = (_C.float16, _C.bfloat16)  # numbers of 16 bits, which are computed as float


def arithmetic_dtype(dtype: Any) -> Any:
    """The dtype in which numbers of a dtype are computed."""
    return FLOAT if dtype in SHORT_FLOATS else dtype


def rounded(number: float, dtype: Any) -> float:
    """A number as a dtype of 16 bits has it."""
    try:
        single = struct.pack("<f", float(number))
        if dtype == _C.float16:
            half = struct.pack("<e", *struct.unpack("<f", single))
            return struct.unpack("<e", half)[0]  # type: ignore[no-any-return]
    except OverflowError:
        return math.copysign(math.inf, number)
    if math.isnan(number):
        return number
    (bits,) = struct.unpack("<I", single)
    even = bits + 0x7FFF + (bits >> 16 & 1) & 0xFFFF0000
    return struct.unpack("<f", struct.pack("<I", even))[0]  # type: ignore[no-any-return]


# Functions that cost no more than a few additions. All others count as _DEAR.
_CHEAP = frozenset(
    "+ - * < <= == != > >= and or not where negative abs maximum minimum relu sign isnan isinf conj "
    "bitwise_and bitwise_or bitwise_xor bitwise_not rounded fmax fmin copysign".split()
)
_DEAR = 20


class Buffer(Fields):
    """A tensor in memory. One that looks at the memory of another has that as its `base`."""

    name: str
    dtype: Any
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    device: Any
    kind: str = "temporary"  # or input, constant
    base: Buffer | None = None
    offset: int = 0  # of the first element, from that of the base

    @property
    def memory(self) -> Buffer:
        """The buffer whose memory this is."""
        return self if self.base is None else self.base.memory

    @property
    def facts(self) -> tuple[Any, tuple[int, ...], tuple[int, ...], Any]:
        return (self.dtype, self.sizes, self.strides, self.device)

    @property
    def count(self) -> int:
        """The number of elements."""
        return math.prod(self.sizes)

    def __repr__(self) -> str:
        return self.name


class Expr:
    """A value of one element. `parts` are the values that it is computed from."""

    __slots__ = ("_hash", "_key", "_loads", "dtype", "parts")
    dtype: Any
    parts: tuple[Expr, ...]

    def _seal(self, dtype: Any, parts: tuple[Expr, ...], *others: Any) -> None:
        """Completes a value: it equals those of its class with the same parts and others."""
        self.dtype = dtype
        self.parts = parts
        self._key = (parts, others, dtype)
        self._hash = hash((type(self).__name__, self._key))
        self._loads: tuple[Load, ...] | None = None  # what `loads` has found

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._hash == other._hash and self._key == other._key  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return self._hash


class Const(Expr):
    """A number of a dtype."""

    __slots__ = ("value",)

    def __init__(self, value: bool | int | float, dtype: Any) -> None:
        kind = float if dtype.is_floating_point else bool if dtype == TRUTH else int
        self.value = kind(value)
        self._seal(dtype, (), repr(self.value))

    def __repr__(self) -> str:
        return repr(self.value)


class Load(Expr):
    """An element of a buffer."""

    def __init__(self, buffer: Buffer, index: Sequence[Linear]) -> None:
        self.buffer = buffer
        self.index = tuple(index)
        loaded = tuple([part for position in index for part in position.loaded()])
        self._seal(buffer.dtype, loaded, buffer, self.index)

    @cached_property
    def position(self) -> Linear:
        """Where it is in memory."""
        return flattened(self.index, self.buffer.strides)

    def __repr__(self) -> str:
        return f"{self.buffer.name}[{', '.join(map(str, self.index))}]"


class Map(Expr):
    """A function of the expression language."""

    __slots__ = ("args", "function")

    def __init__(self, function: str, args: Sequence[Expr], dtype: Any) -> None:
        self.function = function
        self.args = tuple(args)
        self._seal(dtype, self.args, function)

    def __repr__(self) -> str:
        if len(self.args) == 2 and not self.function[0].isalpha():
            return f"({self.args[0]} {self.function} {self.args[1]})"
        return f"{self.function}({', '.join(map(str, self.args))})"


class Cast(Expr):
    """The same value as another dtype."""

    __slots__ = ("value",)

    def __init__(self, value: Expr, dtype: Any) -> None:
        self.value = value
        self._seal(dtype, (value,))

    def __repr__(self) -> str:
        return f"{str(self.dtype).removeprefix('torch.')}({self.value})"


class Index(Expr):
    """A position as a number."""

    __slots__ = ("position",)

    def __init__(self, position: Linear, dtype: Any) -> None:
        self.position = position
        self._seal(dtype, tuple(position.loaded()), position)

    def __repr__(self) -> str:
        return str(self.position)


class Guard(Expr):
    """`value` where a condition holds, which is not computed elsewhere: it may load from outside."""

    __slots__ = ("condition", "otherwise", "value")

    def __init__(self, condition: Expr, value: Expr, otherwise: Expr) -> None:
        self.condition = condition
        self.value = value
        self.otherwise = otherwise
        self._seal(value.dtype, (condition, value, otherwise))

    def __repr__(self) -> str:
        return f"({self.condition} ? {self.value} : {self.otherwise})"


class Named(Expr):
    """A value with the name of the tensor that it is an element of."""

    __slots__ = ("name", "value")

    def __init__(self, name: str, value: Expr) -> None:
        self.name = name
        self.value = value
        self._seal(value.dtype, (value,))

    def __repr__(self) -> str:
        return f"{{{self.name} = {self.value}}}"


class Reduce(Expr):
    """Combines the values along `axes`: sum, product, maximum, minimum, any, all, xor."""

    __slots__ = ("axes", "kind", "value")

    def __init__(self, kind: str, axes: Sequence[Axis], value: Expr, dtype: Any) -> None:
        self.kind = kind
        self.axes = tuple(axes)
        self.value = value
        self._seal(dtype, (value,), kind, self.axes)

    def __repr__(self) -> str:
        return f"{self.kind}[{bounds(self.axes)}] {self.value}"


Part = TypeVar("Part", bound=Expr)


def walk(value: Expr) -> Iterator[Expr]:
    """The value and all that it is computed from, each once."""
    return reached((value,), _parts)


_parts = attrgetter("parts")


def loads(value: Expr) -> tuple[Load, ...]:
    """The elements of buffers that a value is computed from, each once."""
    found = value._loads
    if found is None:
        found = value._loads = tuple([part for part in walk(value) if isinstance(part, Load)])
    return found


def unconditional(value: Expr, kind: type[Part]) -> list[Part]:
    """The parts of a kind that a value takes in any case, each once: none of those inside of a Guard."""

    def parts(part: Expr) -> tuple[Expr, ...]:
        return (part.condition,) if isinstance(part, Guard) else part.parts

    return [part for part in reached((value,), parts) if isinstance(part, kind)]


def named(name: str, value: Expr) -> Expr:
    """The value with a name, if it can have one."""
    return value if isinstance(value, (Const, Index, Load, Named)) else Named(name, value)


def cost(value: Expr) -> int:
    """About how many additions a value takes, loads not counted."""
    total = 0
    for part in walk(value):
        if isinstance(part, Map):
            total += 1 if part.function in _CHEAP else 4 if part.function in ("/", "sqrt") else _DEAR
        elif isinstance(part, (Cast, Guard)):
            total += 1
    return total


Change = Callable[[Expr], Expr | None]


def rewritten(value: Expr, axes: Mapping[Axis, Linear], change: Change = lambda part: None) -> Expr:
    """The value with other positions for axes. Where `change` gives a value, that takes the place of a part
    (whose positions are the new ones already).
    """
    known: dict[Expr, Expr] = {}

    def of(value: Expr) -> Expr:
        waiting = [value]  # not by recursion: values of long chains of operators are deep
        while waiting:
            part = waiting[-1]
            missing = [other for other in part.parts if other not in known]
            if missing:
                waiting += missing
                continue
            waiting.pop()
            if part not in known:
                found = rebuilt(part)
                known[part] = change(found) or found
        return known[value]

    def position(index: Linear) -> Linear:
        return index.replaced(axes, of)

    def rebuilt(part: Expr) -> Expr:
        if isinstance(part, Load):
            return Load(part.buffer, [position(i) for i in part.index])
        if isinstance(part, Map):
            return Map(part.function, [of(a) for a in part.args], part.dtype)
        if isinstance(part, Cast):
            return cast(of(part.value), part.dtype)
        if isinstance(part, Index):
            return Index(position(part.position), part.dtype)
        if isinstance(part, Guard):
            return Guard(of(part.condition), of(part.value), of(part.otherwise))

        if isinstance(part, Named):
            return Named(part.name, of(part.value))
        if isinstance(part, Reduce):
            return Reduce(part.kind, part.axes, of(part.value), part.dtype)
        return part

    return of(value)


def with_loads(value: Expr, buffer: Buffer, new: Callable[[Load], Expr]) -> Expr:
    """The value with others in place of loads of a buffer."""

    def change(part: Expr) -> Expr | None:
        return new(part) if isinstance(part, Load) and part.buffer is buffer else None

    return rewritten(value, {}, change)


def moved(index: Sequence[Linear], axes: Mapping[Axis, Linear]) -> tuple[Linear, ...]:
    """An index without loaded positions, in terms of other axes."""
    return tuple(position.replaced(axes) for position in index)


def cast(value: Expr, dtype: Any) -> Expr:
    """The value as another dtype. What was only rounded on the way to a wider dtype is not rounded."""
    if value.dtype == dtype:
        return value
    inner = value.value if isinstance(value, Named) else value
    if isinstance(inner, Cast) and inner.value.dtype == dtype and _is_rounding(inner.dtype, dtype):
        return Named(value.name, inner.value) if isinstance(value, Named) else inner.value
    return Const(inner.value, dtype) if isinstance(inner, Const) else Cast(value, dtype)


def _is_rounding(narrow: Any, wide: Any) -> bool:
    """Whether 16-bit results of one operator come to another, which computes in float."""
    return narrow in SHORT_FLOATS and wide.is_floating_point and not config.emulate_precision_casts
