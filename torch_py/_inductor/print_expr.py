"""Prints values of the loop graph as C++."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from torch_py import _C
from torch_py._inductor.indices import Axis, Linear, Rounded
from torch_py._inductor.ir import CPP, FLOAT, TRUTH, Buffer, Cast, Const, Expr, Guard, Index, Load, Map, Named
from torch_py._records import Fields

_INFIX = {"and": "&", "or": "|", **{sign: sign for sign in "+ - * / < <= == != > >=".split()}}
_WRAPPING = {"+": "wrapping_sum", "-": "wrapping_difference", "*": "wrapping_product"}
# Words that a name in C++ must not be, and those that kernels use.
_TAKEN = frozenset(
    "alignas alignof and asm auto bool break case catch char class const constexpr continue default "
    "delete do double else enum explicit export extern false float for friend goto if inline int long "
    "mutable namespace new noexcept not operator or private protected public register return short signed "
    "sizeof static struct switch template this throw true try typedef typename union unsigned using "
    "virtual void volatile while xor data sizes begin end row at c10 lane block width rest first past "
    "start stop part Pack i j k l m n r s t u v w main std".split()
)


def identifier(text: str) -> str:
    """A text as an identifier of C++ that is not a macro."""
    text = re.sub(r"\W", "_", text, flags=re.ASCII).lstrip("_")
    if not text or text[0].isdigit():
        return f"t{text}"
    return f"{text}_" if text.isupper() or text == "errno" else text


class Names(Fields):
    """Names of one kernel, each used once."""

    used: set[str] = set()

    def new(self, stem: str) -> str:
        stem = identifier(stem)
        if stem in _TAKEN:
            stem = f"{stem}_"
        name, number = stem, 1
        while name in self.used:
            number += 1
            name = f"{stem}_{number}"
        self.used.add(name)
        return name


class Lines(Fields):
    """Lines with their indentation."""

    lines: list[str] = []
    depth: int = 1
    keeps_loops: bool = False

    def add(self, text: str) -> None:
        self.lines.append("  " * self.depth + text)

    def open(self, text: str) -> None:
        if self.keeps_loops and text.startswith("for ("):
            self.add("#pragma GCC unroll 1")
        self.add(f"{text} {{")
        self.depth += 1

    def open_loops(self, axes: Iterable[Axis], begin: str = "0", end: str = "") -> None:
        """A loop over each axis: over all of it, or between two positions."""
        for axis in axes:
            i = axis.name
            self.open(f"for (int64_t {i} = {begin}; {i} < {end or axis.size}; ++{i})")

    def close(self, count: int = 1) -> None:
        for _ in range(count):
            self.depth -= 1
            self.add("}")


class Scope(Fields):
    """A loop body, printed to `out`, in which equal values are computed once.

    `place` says where an element of a buffer is that the kernel itself has computed: a variable or an
    expression, None for memory.
    """

    out: Lines
    names: Names
    pointers: Mapping[Buffer, str]
    place: Callable[[Load], str | None]
    known: dict[Expr, str] = {}
    counts: dict[Expr, int] = {}
    is_lazy: bool = False  # inside of a guard, where nothing is computed ahead
    negation = "!"

    def count(self, value: Expr) -> None:
        """Notes how often the parts of a value are used."""
        stack = [value]
        while stack:
            part = stack.pop()
            self.counts[part] = self.counts.get(part, 0) + 1
            if self.counts[part] == 1:
                stack.extend(part.parts)

    def text(self, value: Expr) -> str:
        """A value, which takes lines before it for what is used more than once."""
        known = self.known.get(value)
        if known is not None:
            return known
        if isinstance(value, Named):
            return self._named(value)
        text = self._of(value)
        if self.counts.get(value, 0) > 1 and not self.is_lazy and not isinstance(value, (Const, Index)):
            if isinstance(value, Load) and self.place(value) is not None:
                return text
            stem = f"{value.buffer.name}_value" if isinstance(value, Load) else "t"
            text = self.variable(stem, value, text)
        return text

    def _named(self, value: Named) -> str:
        inner = value.value
        if self.is_lazy or isinstance(inner, (Const, Load, Index)):
            return self.text(inner)
        known = self.known.get(inner)
        if known is None:
            known = self.variable(value.name, inner, self._of(inner))
        self.known[value] = known
        return known

    def variable(self, stem: str, value: Expr, text: str) -> str:
        name = self.names.new(stem)
        self.out.add(f"const {self._type(value.dtype)} {name} = {unwrapped(text)};")
        self.known[value] = name
        return name

    def _type(self, dtype: Any) -> str:
        """The C++ type of a variable."""
        return CPP[dtype]

    def _of(self, value: Expr) -> str:
        if isinstance(value, Const):
            return literal(value.value, value.dtype)
        if isinstance(value, Load):
            found = self.place(value)
            if found is not None:
                return found
            text = self.element(value)
            return f"({text} != 0)" if value.dtype == TRUTH else text

        if isinstance(value, Cast):
            return self._cast(value)
        if isinstance(value, Index):
            return f"static_cast<{CPP[value.dtype]}>({self.position(value.position)})"
        if isinstance(value, Guard):
            return self._guard(value)
        if isinstance(value, Named):
            return self._named(value)
        assert isinstance(value, Map), f"no value of one element: {value}"
        return self._map(value)

    def _cast(self, value: Cast) -> str:
        text = self.text(value.value)
        if value.dtype == TRUTH:
            return f"({text} != 0)"
        if value.value.dtype.is_floating_point and not value.dtype.is_floating_point:
            # As in eager mode: a number without room in a small integer keeps the lower bits of a larger one.
            kind = "int32_t" if CPP[value.dtype] in ("int8_t", "int16_t", "int32_t") else "int64_t"
            text = f"at::vec::truncated<{kind}>({unwrapped(text)})"
            if CPP[value.dtype] == kind:
                return text
        return f"static_cast<{CPP[value.dtype]}>({unwrapped(text)})"

    def _guard(self, value: Guard) -> str:
        condition = self.text(value.condition)
        before, self.is_lazy = self.is_lazy, True
        text = f"({condition} ? {self.text(value.value)} : {self.text(value.otherwise)})"
        self.is_lazy = before
        return text

    def _loaded(self, value: Expr, text: str) -> str:
        """A value to choose from, read before it is chosen.

        GCC 12 compiles wrongly what it may skip to read: ``gt ? x[i] : 0`` in a row of six, next to a sum.
        """
        inner = value
        while isinstance(inner, (Named, Cast)):
            inner = inner.value
        is_read = isinstance(inner, Load) and self.place(inner) is None
        if not is_read or self.is_lazy or value in self.known or inner in self.known:
            return text
        return self.variable(f"{inner.buffer.name}_value", value, text)

    def _map(self, value: Map) -> str:
        word = value.function
        args = [self.text(a) for a in value.args]
        first = value.args[0].dtype
        if word == "rounded":
            return args[0]
        if word == "not":
            return f"{self.negation}{args[0]}"
        if word == "where":
            chosen = [self._loaded(a, text) for a, text in zip(value.args[1:], args[1:])]
            return f"({args[0]} ? {chosen[0]} : {chosen[1]})"
        if word in _INFIX and (first.is_floating_point or word not in _WRAPPING):
            return f"({args[0]} {_INFIX[word]} {args[1]})"
        if word == "negative" and first.is_floating_point:
            return f"(-{args[0]})" if args[0][0] != "-" else f"(-({args[0]}))"

        word = "wrapping_negative" if word == "negative" else _WRAPPING.get(word, word)
        if word == "integer_power":
            exponent = value.args[1]
            assert isinstance(exponent, Const)
            return f"at::vec::integer_power<{int(exponent.value)}>({unwrapped(args[0])})"
        text = f"at::vec::{word}({', '.join(map(unwrapped, args))})"
        if not value.dtype.is_floating_point and value.dtype.itemsize < 4 and value.dtype != TRUTH:
            return f"static_cast<{CPP[value.dtype]}>({text})"
        return text

    def element(self, load: Load) -> str:
        """An element in memory."""
        return f"{self.pointers[load.buffer]}[{self.position(load.position)}]"

    def position(self, position: Linear) -> str:
        """A position in memory."""
        parts = []
        for atom, factor in position.terms.items():
            if isinstance(atom, Axis):
                text = atom.name
            elif isinstance(atom, Rounded):
                text = f"({self.position(atom.value)}) {atom.sign[0]} {atom.divisor}"
                text = f"({text})" if factor != 1 else text
            else:
                text = self.text(atom.value)
            parts.append({1: text, -1: f"-{text}"}.get(factor, f"{text} * {factor}"))
        if position.constant or not parts:
            parts.append(str(position.constant))
        return " + ".join(parts).replace("+ -", "- ")


class PackScope(Scope):
    """The lines of a loop body over packs. What does not vary along the axis is a number, computed before."""

    before: Scope
    varies: Callable[[Expr], bool]
    negation = "~"

    def text(self, value: Expr) -> str:
        is_ready = isinstance(value, Const) or value in self.known
        if not is_ready and not self.varies(value):
            number = self.before.text(value)
            wide = f"at::vec::broadcast({unwrapped(number)})" if value.dtype != TRUTH else number
            self.known[value] = wide
        return super().text(value)

    def variable(self, stem: str, value: Expr, text: str) -> str:
        return text if isinstance(value, Cast) else super().variable(stem, value, text)

    def _type(self, dtype: Any) -> str:
        return "auto" if dtype == TRUTH else "Pack"

    def _of(self, value: Expr) -> str:
        if isinstance(value, Const):
            return f"at::vec::broadcast({super()._of(value)})"
        if isinstance(value, Load):
            found = self.place(value)
            if found is not None:
                return f"part.load(&{found})"
            return f"part.load({self.pointers[value.buffer]} + {self.position(value.position)})"
        if isinstance(value, Cast):
            return self.text(value.value)
        if isinstance(value, Map) and value.args[0].dtype == TRUTH and value.function == "!=":
            mask, other = value.args  # which is a constant, see packs.py
            return self.text(mask) if not other.value else f"~{self.text(mask)}"
        return super()._of(value)


def unwrapped(text: str) -> str:
    """``a + b`` for ``(a + b)``: what encloses a whole expression is needed inside of others only."""
    if not text.startswith("("):
        return text
    depth = 0
    for position, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0 and position + 1 < len(text):
            return text
    return text[1:-1]


_BEYOND_FLOAT = 3.40282357e38  # rounds to infinity
LARGEST_EXACT = 2.0**53  # whole numbers up to it are exact as double, and printed with all digits


def literal(value: bool | int | float, dtype: Any) -> str:
    """A number as C++ writes it."""
    if dtype == TRUTH:
        return "true" if value else "false"
    if dtype.is_floating_point and dtype.itemsize == 2:
        return f"{CPP[dtype]}({literal(value, FLOAT)})"
    if dtype.is_floating_point:
        suffix = "f" if dtype == FLOAT else ""
        if math.isnan(value):
            return f'__builtin_nan{suffix}("")'
        if math.isinf(value):
            return f"{'-' if value < 0 else ''}__builtin_inf{suffix}()"
        if dtype == FLOAT and abs(value) >= _BEYOND_FLOAT:
            return literal(math.copysign(math.inf, value), dtype)
        return f"{_short(value)}f" if dtype == FLOAT else repr(float(value))

    name = CPP[dtype]
    if name == "int64_t" and value == -(2**63):
        return "INT64_MIN"
    return f"{name}({value}{'L' if abs(value) >= 2**31 else ''})"


def _short(value: float) -> str:
    """The shortest text of the float nearest to a number.

    Whole numbers keep their digits: where they depend on sizes, they are told by them.
    """
    if value == math.floor(value) and abs(value) < LARGEST_EXACT:
        return f"{value:.1f}"
    exact = struct.unpack("f", struct.pack("f", value))[0]
    for digits in range(1, 10):
        text = f"{exact:.{digits}g}"
        if struct.unpack("f", struct.pack("f", float(text)))[0] == exact:
            break
    return text if "." in text or "e" in text else f"{text}.0"


# Reductions
# ------------------------------------------------------------


def first_value(kind: str, dtype: Any) -> str:
    """What changes nothing when it is combined with another value."""
    if kind in ("maximum", "minimum") and dtype != TRUTH:
        if dtype.is_floating_point:
            return literal(float("-inf") if kind == "maximum" else float("inf"), dtype)
        limits = _C.iinfo(dtype)
        return literal(limits.min if kind == "maximum" else limits.max, dtype)
    return literal(1 if kind in ("product", "all", "minimum") else 0, dtype)


def combination(kind: str, dtype: Any, a: str, b: str) -> str:
    """Two values as one."""
    if kind in ("any", "all") or (dtype == TRUTH and kind in ("maximum", "minimum")):
        return f"({a} {'|' if kind in ('any', 'maximum') else '&'} {b})"
    if kind == "xor":
        return f"({a} ^ {b})"
    if kind in ("maximum", "minimum"):
        return f"at::vec::{kind}({a}, {unwrapped(b)})"
    if dtype.is_floating_point:
        return f"({a} {'+' if kind == 'sum' else '*'} {b})"
    return f"at::vec::wrapping_{kind}({a}, {unwrapped(b)})"
