"""Prints nests as C++ functions, which threads call for ranges of rows.

Loops have forms that compilers turn into vector code: innermost loops have no branches and no calls, and
reductions have an array of lanes (aten/vec/lanes.h).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from torch_py._inductor.arrange import is_columns
from torch_py._inductor.dtypes import CPP
from torch_py._inductor.indices import Axis, contiguous, flattened, linear
from torch_py._inductor.inline import cost
from torch_py._inductor.ir import Buffer, Expr, Load, unconditional_loads
from torch_py._inductor.nests import (
    ELEMENT,
    REDUCTION,
    ROW,
    Item,
    Nest,
    inner_positions,
    item_loads,
    positions,
)
from torch_py._inductor.print_expr import Names, Scope, unwrapped
from torch_py._inductor.print_packs import PackScope, stored_value, takes_packs
from torch_py._inductor.print_reductions import combination, first_value

_WIDTH = 100
_GRAIN = 32768  # additions that are worth a thread
_LANES = (64, 32, 16, 8)
_STRIPS = (256, 128, 64)
_TILE = 32
_ENTRY = 'extern "C" void {name}(void* const* data, const int64_t* sizes, int64_t begin, int64_t end) {{'


class Kernel:
    """A C++ function: its text, the buffers it is called with, and how its work is divided."""

    __slots__ = ("buffers", "extent", "grain", "key", "name", "text", "words")

    def __init__(
        self, name: str, text: str, key: str, buffers: list[Buffer], extent: int, grain: int, words: set[str]
    ) -> None:
        self.name = name
        self.text = text
        self.key = key  # the text without names: equal kernels have equal keys
        self.buffers = buffers
        self.extent = extent
        self.grain = grain
        self.words = words


def print_nest(nest: Nest, name: str) -> Kernel:
    return _Printer(nest, name).kernel()


class _Lines:
    """Lines with their indentation."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.depth = 1
        self.keeps_loops = False

    def add(self, text: str) -> None:
        self.lines.append("  " * self.depth + text)

    def open(self, text: str) -> None:
        if self.keeps_loops and text.startswith("for ("):
            self.add("#pragma GCC unroll 1")
        self.add(f"{text} {{")
        self.depth += 1

    def close(self, count: int = 1) -> None:
        for _ in range(count):
            self.depth -= 1
            self.add("}")


class _Printer:
    def __init__(self, nest: Nest, name: str) -> None:
        self.nest = nest
        self.name = name
        self.names = Names()
        self.out = _Lines()
        self.buffers: list[Buffer] = []
        self.pointers: dict[Buffer, str] = {}
        self.variables: dict[Buffer, str] = {}
        self.words: set[str] = set()
        self.columns = is_columns(nest)
        # GCC 12 mixes up what is read backwards when it unrolls a loop completely and then makes vectors.
        self.out.keeps_loops = any(
            factor < 0 for position in positions(nest.items) for factor in position.terms.values()
        )
        self.width = ""  # of the strip of columns, when they are looped over

    def kernel(self) -> Kernel:
        self._name_buffers()
        extent, grain = self._loops()
        lines = [*self._comments(), *self._head(), *self.out.lines, "}", "", *self._entry()]
        text = "\n".join(lines)
        return Kernel(self.name, text, self._key(), self.buffers, extent, grain, self.words)

    def _key(self) -> str:
        """The text with numbers for names."""
        lines = [*self._parameters(), *self.out.lines]
        text = "\n".join(line for line in lines if not line.lstrip().startswith("//"))
        numbers: dict[str, str] = {}
        return re.sub(
            r"(?<!::)\b[A-Za-z_]\w*",
            lambda m: numbers.setdefault(m[0], f"${len(numbers)}") if m[0] in self.names.used else m[0],
            text,
        )

    def _comments(self) -> list[str]:
        lines = [item.line for item in self.nest.items if item.line]
        # A backslash at the end would make the next line part of the comment.
        return [f"// {line.rstrip(chr(92) + ' ')}" for line in dict.fromkeys(lines)]

    def _name_buffers(self) -> None:
        """Pointers for what is read from memory and written to it, in this order."""
        made = {item.buffer: item for item in self.nest.items}
        read = []
        for item in self.nest.items:
            for load in sorted(item_loads(item), key=lambda load: load.buffer.name):
                maker = made.get(load.buffer)
                if maker is None or (maker.kind == ELEMENT and maker.place == "memory"):
                    read.append(load.buffer)
        written = [item.buffer for item in self.nest.items if item.place == "memory"]
        self.buffers = list(dict.fromkeys([*[b for b in read if b not in made], *written]))
        for buffer in self.buffers:
            self.pointers[buffer] = self.names.new(buffer.name)

    def _types(self) -> list[str]:
        """The types of the pointers."""
        written = {item.buffer for item in self.nest.items}
        return [f"{'' if b in written else 'const '}{CPP[b.dtype]}*" for b in self.buffers]

    def _parameters(self) -> list[str]:
        return [f"{type} __restrict {self.pointers[b]}" for type, b in zip(self._types(), self.buffers)]

    def _head(self) -> list[str]:
        """A function of pointers. GCC believes `__restrict` of parameters, and not that of variables."""
        parameters = [*self._parameters(), "const int64_t* sizes", "int64_t begin", "int64_t end"]
        return [f"static inline void {self.name}_loops(", f"{_listed(parameters, 4)}) {{"]

    def _entry(self) -> list[str]:
        """The function that programs call."""
        arguments = [f"static_cast<{type}>(data[{number}])" for number, type in enumerate(self._types())]
        text = _listed([*arguments, "sizes", "begin", "end"], 6)
        return [_ENTRY.format(name=self.name), f"  {self.name}_loops(", f"{text});", "}"]

    # Loops.

    def _loops(self) -> tuple[int, int]:
        """Prints the loops; the number of positions that threads divide, and how many at least are worth a
        thread.
        """
        outer, work = list(self.nest.outer), sum(cost(item.value) + 2 for item in self.nest.items)
        if self.columns:
            return self._column_loops(outer, work)
        if not self.nest.has_rows and outer:
            return self._element_loops(outer, work)

        extent = _count(outer)
        self._open_rows(outer)
        self._passes()
        self.out.close()
        return extent, max(1, _GRAIN // max(work * _count(self.nest.inner), 1))

    def _element_loops(self, outer: list[Axis], work: int) -> tuple[int, int]:
        last = outer.pop()
        other = self._other_direction(outer, last)
        if other is not None:
            return self._tile_loops(outer, last, other, work)

        if takes_packs(self.nest.items, last):
            if outer:
                self._open_rows(outer)
            self._packs(self.nest.items, last, ("0", str(last.size)) if outer else ("begin", "end"))
            self.out.close(1 if outer else 0)
        elif outer:
            self._open_rows(outer)
            known = self._before_loop(self.nest.items, last)
            self.out.open(f"for (int64_t {last.name} = 0; {last.name} < {last.size}; ++{last.name})")
            self._elements(self.nest.items, known=known)
            self.out.close(2)
        else:
            self.out.open(f"for (int64_t {last.name} = begin; {last.name} < end; ++{last.name})")
            self._elements(self.nest.items)
            self.out.close()

        if outer:
            return _count(outer), max(1, _GRAIN // (work * last.size))
        return last.size, max(1, _GRAIN // work)

    def _other_direction(self, outer: Sequence[Axis], last: Axis) -> Axis | None:
        """The axis along which something is read from neighbours in memory, while the last one jumps."""
        for item in self.nest.items:
            for load in item_loads(item):
                place = flattened(load.index, load.buffer.strides)
                if place.factor(last) > 1 and last.size >= _TILE:
                    for axis in outer:
                        if place.factor(axis) == 1 and axis.size >= _TILE:
                            return axis
        return None

    def _tile_loops(self, outer: list[Axis], last: Axis, other: Axis, work: int) -> tuple[int, int]:
        """Squares of two axes, so that what is read stays in the cache until its neighbours are needed."""
        tiles = Axis("block", -(-other.size // _TILE))
        rows = [tiles if axis is other else axis for axis in outer]
        self.out.open("for (int64_t row = begin; row < end; ++row)")
        self._unpack("row", rows)
        i, j = other.name, last.name
        self.out.add(f"const int64_t first = block * {_TILE};")
        self.out.add(f"const int64_t past = first + {_TILE} < {other.size} ? first + {_TILE} : {other.size};")
        self.out.open(f"for (int64_t start = 0; start < {last.size}; start += {_TILE})")
        self.out.add(f"const int64_t stop = start + {_TILE} < {last.size} ? start + {_TILE} : {last.size};")
        self.out.open(f"for (int64_t {i} = first; {i} < past; ++{i})")
        self.out.open(f"for (int64_t {j} = start; {j} < stop; ++{j})")
        self._elements(self.nest.items)
        self.out.close(4)
        return _count(rows), max(1, _GRAIN // (work * _TILE * last.size))

    def _open_rows(self, outer: Sequence[Axis]) -> None:
        """A loop over positions of several axes."""
        if len(outer) == 1:
            axis = outer[0].name
            self.out.open(f"for (int64_t {axis} = begin; {axis} < end; ++{axis})")
            return
        self.out.open("for (int64_t row = begin; row < end; ++row)")
        self._unpack("row", outer)

    def _unpack(self, row: str, axes: Sequence[Axis]) -> None:
        """The positions of axes from one of all of them."""
        strides = contiguous([axis.size for axis in axes])
        for number, (axis, stride) in enumerate(zip(axes, strides)):
            text = row if stride == 1 else f"{row} / {stride}"
            if number > 0:
                text = f"({text}) % {axis.size}" if stride != 1 else f"{text} % {axis.size}"
            self.out.add(f"const int64_t {axis.name} = {text};")

    def _column_loops(self, outer: list[Axis], work: int) -> tuple[int, int]:
        """Strips of columns: neighbouring results, which are vectors."""
        last = outer[-1]
        width = next((w for w in _STRIPS if last.size % w == 0), _STRIPS[0] if last.size > 256 else last.size)
        strips = -(-last.size // width)

        self.out.open("for (int64_t row = begin; row < end; ++row)")
        block = Axis("block", strips)
        self._unpack("row", [*outer[:-1], block])
        self.width = str(width)
        if last.size % width:
            rest = f"{last.size} - block * {width}"
            self.out.add(f"const int64_t width = {rest} < {width} ? {rest} : {width};")
            self.width = "width"

        self.strip = width
        self._passes()
        self.out.close()
        rows = _count(outer[:-1]) * strips
        return rows, max(1, _GRAIN // max(work * width * _count(self.nest.inner), 1))

    # Passes.

    def _passes(self) -> None:
        last = max(item.pass_ for item in self.nest.items)
        for number in range(last + 1):
            items = [item for item in self.nest.items if item.pass_ == number]
            for item in items:
                if item.kind == ROW:
                    self._row(item)
            inside = [item for item in items if item.kind != ROW]
            if inside:
                self._pass(inside)

    def _row(self, item: Item) -> None:
        """A value for each row."""
        self.variables[item.buffer] = variable = self.names.new(item.buffer.name)
        if self.columns:
            self.out.add(f"{CPP[item.buffer.dtype]} {variable}[{self.strip}];")
            self._open_lanes()

        scope = self._scope()
        scope.count(item.value)
        text = scope.text(item.value)
        self._emit(scope)
        if self.columns:
            self.out.add(f"{variable}[lane] = {unwrapped(text)};")
        else:
            self.out.add(f"const {CPP[item.buffer.dtype]} {variable} = {unwrapped(text)};")
        self._store_row(item, variable)
        if self.columns:
            self.out.close()

    def _store_row(self, item: Item, variable: str) -> None:
        """Keeps a value of a row in memory, too."""
        if item.place == "memory":
            place = self._place_in_memory(item)
            self.out.add(f"{place} = {variable}{'[lane]' if self.columns else ''};")

    def _place_in_memory(self, item: Item) -> str:
        scope = self._scope()
        index = scope.position(flattened(item.index, item.buffer.strides))
        self._emit(scope)
        return f"{self.pointers[item.buffer]}[{index}]"

    def _pass(self, items: list[Item]) -> None:
        """One loop over the row."""
        reductions = [item for item in items if item.kind == REDUCTION]
        for item in items:
            if item.place == "scratch":
                self.variables[item.buffer] = self.names.new(item.buffer.name)
                size = _count(self.nest.inner)
                self.out.add(f"alignas(64) {CPP[item.buffer.dtype]} {self.variables[item.buffer]}[{size}];")

        if self.columns:
            self._column_pass(items, reductions)
        else:
            self._row_pass(items, reductions)

    def _row_pass(self, items: list[Item], reductions: list[Item]) -> None:
        inner = self.nest.inner
        last = inner[-1] if inner else None
        if last is not None and takes_packs(items, last):
            self._pack_pass(items, reductions, last)
            return

        lanes = 1
        if reductions and last is not None:
            fitting = [n for n in _LANES if last.size >= n]
            lanes = next((n for n in fitting[:2] if last.size % n == 0), fitting[0] if fitting else 1)

        accumulators = [self._accumulator(item, lanes) for item in reductions]
        for axis in inner[:-1]:
            self.out.open(f"for (int64_t {axis.name} = 0; {axis.name} < {axis.size}; ++{axis.name})")
        if last is None:
            self._elements(items, accumulators, "")
        elif lanes == 1:
            known = self._before_loop(items, last)
            self.out.open(f"for (int64_t {last.name} = 0; {last.name} < {last.size}; ++{last.name})")
            self._elements(items, accumulators, "", known)
            self.out.close()
        else:
            self._lane_loops(items, accumulators, last, lanes)

        self.out.close(max(len(inner) - 1, 0))
        for item, accumulator in zip(reductions, accumulators):
            self._finish(item, accumulator, lanes)

    def _pack_pass(self, items: list[Item], reductions: list[Item], last: Axis) -> None:
        """One loop over the row, in packs."""
        totals = []
        for item in reductions:
            totals.append(self.names.new(f"{item.buffer.name}_lanes"))
            start = first_value(item.reduce, item.reduce_dtype)
            self.out.add(f"at::vec::Pack {totals[-1]} = at::vec::broadcast({start});")

        inner = self.nest.inner
        for axis in inner[:-1]:
            self.out.open(f"for (int64_t {axis.name} = 0; {axis.name} < {axis.size}; ++{axis.name})")
        self._packs(items, last, ("0", str(last.size)), totals)
        self.out.close(len(inner) - 1)

        for item, total in zip(reductions, totals):
            variable = self.names.new(item.buffer.name)
            both = combination(item.reduce, item.reduce_dtype, "a", "b")
            function = f"[](float a, float b) {{ return {unwrapped(both)}; }}"
            self.out.add(f"const float {variable} = at::vec::combined_lanes({total}, {function});")
            self.variables[item.buffer] = variable
            self._store_row(item, variable)

    def _packs(
        self, items: Sequence[Item], axis: Axis, bounds: tuple[str, str], totals: Sequence[str] = ()
    ) -> None:
        """A loop over packs along the last axis."""
        scope = PackScope(self.names, self.pointers.__getitem__, self._place, axis, self._is_in_scratch)
        rest = list(totals)
        for item in items:
            scope.count(stored_value(item))
            scope.before.count(stored_value(item))
        for item in items:
            text = unwrapped(scope.text(stored_value(item)))
            if item.kind == REDUCTION:
                total = rest.pop(0)
                part = f"part.only({text}, {first_value(item.reduce, item.reduce_dtype)})"
                both = combination(item.reduce, item.reduce_dtype, total, part)
                scope.lines.append(f"{total} = {unwrapped(both)};")
            elif item.place == "scratch":
                index = scope.position(self._row_position(item))
                scope.lines.append(f"part.store({self.variables[item.buffer]} + {index}, {text});")
            else:
                index = scope.position(flattened(item.index, item.buffer.strides))
                scope.lines.append(f"part.store({self.pointers[item.buffer]} + {index}, {text});")

        self._emit(scope.before)
        body = f"[&](int64_t {axis.name}, auto part) __attribute__((always_inline))"
        self.out.open(f"at::vec::for_packs({bounds[0]}, {bounds[1]}, {body}")
        self.out.add("using at::vec::Pack;")
        self._emit(scope)
        self.out.close()
        self.out.lines[-1] += ");"

    def _is_in_scratch(self, load: Load) -> bool:
        item = self.nest.made(load.buffer)
        return item is not None and item.place == "scratch"

    def _lane_loops(self, items: list[Item], accumulators: list[str], last: Axis, lanes: int) -> None:
        # Written as divisions, so that the text is the same for sizes that vary (varying.py).
        whole = f"{last.size}" if last.size % lanes == 0 else f"{last.size} / {lanes} * {lanes}"
        known = self._before_loop(items, last)
        self.out.open(f"for (int64_t block = 0; block < {whole}; block += {lanes})")
        self.out.open(f"for (int64_t lane = 0; lane < {lanes}; ++lane)")
        self.out.add(f"const int64_t {last.name} = block + lane;")
        self._elements(items, accumulators, "[lane]", known)
        self.out.close(2)
        if last.size % lanes:
            self.out.open(f"for (int64_t lane = 0; lane < {last.size} % {lanes}; ++lane)")
            self.out.add(f"const int64_t {last.name} = {whole} + lane;")
            self._elements(items, accumulators, "[lane]", known)
            self.out.close()

    def _column_pass(self, items: list[Item], reductions: list[Item]) -> None:
        accumulators = [self._accumulator(item, self.strip) for item in reductions]
        for axis in self.nest.inner:
            self.out.open(f"for (int64_t {axis.name} = 0; {axis.name} < {axis.size}; ++{axis.name})")
        known = self._before_loop(items, self.nest.outer[-1])
        self._open_lanes()
        self._elements(items, accumulators, "[lane]", known)
        self.out.close(len(self.nest.inner) + 1)
        for item, accumulator in zip(reductions, accumulators):
            self.variables[item.buffer] = accumulator
            if item.place == "memory":
                self._open_lanes()
                self._store_row(item, accumulator)
                self.out.close()

    def _open_lanes(self) -> None:
        last = self.nest.outer[-1]
        self.out.open(f"for (int64_t lane = 0; lane < {self.width}; ++lane)")
        self.out.add(f"const int64_t {last.name} = block * {self.strip} + lane;")

    def _accumulator(self, item: Item, lanes: int) -> str:
        """Declares what a reduction collects in."""
        type = CPP[item.reduce_dtype]
        start = first_value(item.reduce, item.reduce_dtype)
        if lanes == 1 and not self.columns:
            name = self.names.new(item.buffer.name)
            self.out.add(f"{type} {name} = {start};")
            return name
        name = self.names.new(item.buffer.name if self.columns else f"{item.buffer.name}_lanes")
        self.out.add(f"{type} {name}[{lanes}];")
        self.out.add(f"at::vec::fill({name}, {start});")
        self.words.add("fill")
        return name

    def _finish(self, item: Item, accumulator: str, lanes: int) -> None:
        """The value of a reduction, from its lanes."""
        variable = accumulator
        type = CPP[item.reduce_dtype]
        if lanes > 1:
            variable = self.names.new(item.buffer.name)
            both = combination(item.reduce, item.reduce_dtype, "a", "b")
            function = f"[]({type} a, {type} b) {{ return {unwrapped(both)}; }}"
            self.out.add(f"const {type} {variable} = at::vec::combined({accumulator}, {function});")
            self.words.add("combined")
        self.variables[item.buffer] = variable
        self._store_row(item, variable)

    def _before_loop(self, items: Sequence[Item], axis: Axis) -> dict[Expr, str]:
        """Variables for what the loop over an axis reads again and again, by the values that they have.

        Compilers leave what only one side of a condition needs in the loop, which then has branches.
        """
        written = {item.buffer.memory for item in self.nest.items}
        scope = self._scope()
        found: dict[Expr, str] = {}
        for item in items:
            for load in unconditional_loads(item.value):
                position = flattened(load.index, load.buffer.strides)
                is_number = not any(axis in p.axes() for p in inner_positions(position))
                is_plain = is_number and not any(True for _ in position.loaded())
                if is_plain and load not in found and load.buffer.memory not in written:
                    text = f"{self.pointers[load.buffer]}[{scope.position(position)}]"
                    found[load] = self.names.new(f"{load.buffer.name}_value")
                    self.out.add(f"const {CPP[load.dtype]} {found[load]} = {text};")
        return found

    def _elements(
        self,
        items: Sequence[Item],
        accumulators: Sequence[str] = (),
        lane: str = "",
        known: Mapping[Expr, str] = MappingProxyType({}),
    ) -> None:
        """The body of an innermost loop. `known` are values that variables have."""
        scope = self._scope()
        scope.known.update(known)
        for item in items:
            scope.count(item.value)

        rest = list(accumulators)
        for item in items:
            text = scope.text(item.value)
            if item.kind == REDUCTION:
                target = f"{rest.pop(0)}{lane}"
                both = combination(item.reduce, item.reduce_dtype, target, text)
                self.words.update(re.findall(r"at::vec::(\w+)", both))
                scope.lines.append(f"{target} = {unwrapped(both)};")
                continue
            if item.place == "scratch":
                index = scope.position(self._row_position(item))
                scope.lines.append(f"{self.variables[item.buffer]}[{index}] = {unwrapped(text)};")
                continue

            index = scope.position(flattened(item.index, item.buffer.strides))
            sign = "=" if item.mode == "set" else "+="
            scope.lines.append(f"{self.pointers[item.buffer]}[{index}] {sign} {unwrapped(text)};")
        self._emit(scope)

    # Values.

    def _scope(self) -> Scope:
        return Scope(self.names, self.pointers.__getitem__, self._place)

    def _emit(self, scope: Scope) -> None:
        for line in scope.lines:
            self.out.add(line)
        self.words |= scope.words

    def _place(self, load: Load) -> str | None:
        """Where a value that the nest computes is, None for memory."""
        item = self.nest.made(load.buffer)
        if item is None or item.buffer not in self.variables:
            return None
        variable = self.variables[item.buffer]
        if item.place == "scratch":
            return f"{variable}[{self._scope().position(self._row_position(item))}]"
        if item.kind == ELEMENT:
            return None
        return f"{variable}[lane]" if self.columns else variable

    def _row_position(self, item: Item) -> Any:
        sizes = [axis.size for axis in self.nest.inner]
        return flattened([linear(axis) for axis in self.nest.inner], contiguous(sizes))


def _listed(parts: Sequence[str], indentation: int) -> str:
    """Parameters or arguments, in lines of a readable width."""
    lines = [" " * indentation + parts[0]]
    for part in parts[1:]:
        if len(lines[-1]) + len(part) + 2 < _WIDTH:
            lines[-1] += f", {part}"
        else:
            lines[-1] += ","
            lines.append(" " * indentation + part)
    return "\n".join(lines)


def _count(axes: Sequence[Axis]) -> int:
    total = 1
    for axis in axes:
        total *= axis.size
    return total
