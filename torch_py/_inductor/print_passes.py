"""Prints the passes over a row of a nest: what is computed in them, and in which form of loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from torch_py._inductor.arrange import is_columns
from torch_py._inductor.dtypes import CPP
from torch_py._inductor.indices import Axis, Linear, contiguous, count_of, flattened, linear
from torch_py._inductor.ir import Buffer, Expr, Load, unconditional_loads
from torch_py._inductor.nests import (
    ELEMENT,
    REDUCTION,
    ROW,
    Item,
    Nest,
    inner_positions,
    positions,
)
from torch_py._inductor.print_expr import Names, Scope, combination, first_value, unwrapped
from torch_py._inductor.print_packs import PackScope, stored_value, takes_packs

_LANES = (64, 32, 16, 8)


class Lines:
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


class Passes:
    """The passes of a nest, printed to `out`."""

    def __init__(self, nest: Nest, name: str) -> None:
        self.nest = nest
        self.name = name
        self.names = Names()
        self.out = Lines()
        self.buffers: list[Buffer] = []
        self.pointers: dict[Buffer, str] = {}
        self.variables: dict[Buffer, str] = {}
        self.columns = is_columns(nest)
        # GCC 12 mixes up what is read backwards when it unrolls a loop completely and then makes vectors.
        self.out.keeps_loops = any(
            factor < 0 for position in positions(nest.items) for factor in position.terms.values()
        )
        # Of a strip of columns, when they are looped over: in numbers, and in a name of C++.
        self.strip = 0
        self.width = ""

    def print_passes(self) -> None:
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
            scope = self._scope()
            array, index = self._target(item, scope)
            self._emit(scope)
            self.out.add(f"{array}[{index}] = {variable}{'[lane]' if self.columns else ''};")

    def _pass(self, items: list[Item]) -> None:
        """One loop over the row."""
        reductions = [item for item in items if item.kind == REDUCTION]
        for item in items:
            if item.place == "scratch":
                self.variables[item.buffer] = self.names.new(item.buffer.name)
                size = count_of(self.nest.inner)
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
            self.out.add(f"const float {variable} = at::vec::combined_lanes({total}, {_combining(item)});")
            self.variables[item.buffer] = variable
            self._store_row(item, variable)

    def _packs(
        self, items: Sequence[Item], axis: Axis, bounds: tuple[str, str], totals: Sequence[str] = ()
    ) -> None:
        """A loop over packs along the last axis."""
        scope = PackScope(
            self.names,
            self.pointers.__getitem__,
            self._place,
            axis=axis,
            scratch=self._is_in_scratch,
            before=self._scope(),
        )
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
            else:
                array, index = self._target(item, scope)
                scope.lines.append(f"part.store({array} + {index}, {text});")

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
        return name

    def _finish(self, item: Item, accumulator: str, lanes: int) -> None:
        """The value of a reduction, from its lanes."""
        variable = accumulator
        type = CPP[item.reduce_dtype]
        if lanes > 1:
            variable = self.names.new(item.buffer.name)
            self.out.add(f"const {type} {variable} = at::vec::combined({accumulator}, {_combining(item)});")
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
                scope.lines.append(f"{target} = {unwrapped(both)};")
            else:
                array, index = self._target(item, scope)
                scope.lines.append(f"{array}[{index}] = {unwrapped(text)};")
        self._emit(scope)

    # Values.

    def _scope(self) -> Scope:
        return Scope(self.names, self.pointers.__getitem__, self._place)

    def _emit(self, scope: Scope) -> None:
        for line in scope.lines:
            self.out.add(line)

    def _target(self, item: Item, scope: Scope) -> tuple[str, str]:
        """The array that a value is stored to, and the position in it."""
        if item.place == "scratch":
            return self.variables[item.buffer], scope.position(self._row_position())
        place = flattened(item.index, item.buffer.strides)
        return self.pointers[item.buffer], scope.position(place)

    def _place(self, load: Load) -> str | None:
        """Where a value that the nest computes is, None for memory."""
        item = self.nest.made(load.buffer)
        if item is None or item.buffer not in self.variables:
            return None
        variable = self.variables[item.buffer]
        if item.place == "scratch":
            return f"{variable}[{self._scope().position(self._row_position())}]"
        if item.kind == ELEMENT:
            return None
        return f"{variable}[lane]" if self.columns else variable

    def _row_position(self) -> Linear:
        sizes = [axis.size for axis in self.nest.inner]
        return flattened([linear(axis) for axis in self.nest.inner], contiguous(sizes))


def _combining(item: Item) -> str:
    """A function of C++ that makes one of two values of a reduction."""
    type = CPP[item.reduce_dtype]
    both = combination(item.reduce, item.reduce_dtype, "a", "b")
    return f"[]({type} a, {type} b) {{ return {unwrapped(both)}; }}"
