"""Prints the passes over a row of a nest: what is computed in them, and in which form of loop."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial

from torch_py._inductor.arrange import is_columns
from torch_py._inductor.indices import Axis, contiguous, count_of, flattened, linear
from torch_py._inductor.ir import CPP, Buffer, Expr, Load, Named, unconditional
from torch_py._inductor.loops import ELEMENT, REDUCTION, ROW, Item, Nest, positions
from torch_py._inductor.packs import stored_value, takes_packs
from torch_py._inductor.print_expr import Lines, Names, PackScope, Scope, combination, first_value, unwrapped

# How many values of a row are collected at once, by the shortest such row: more have to be combined at its
# end, fewer wait for one another.
_LANES = {8: 8, 16: 16, 512: 64}
_DEEP = 32  # names of operators inside of each other


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
        self.rests: dict[Buffer, str] = {}
        self.columns = is_columns(nest)
        self.lane = "[lane]" if self.columns else ""
        # GCC 12 mixes up what is read backwards when it unrolls a loop completely and then makes vectors.
        self.out.keeps_loops = any(min(p.terms.values(), default=0) < 0 for p in positions(nest.items))
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
        type = CPP[item.buffer.dtype]
        self.variables[item.buffer] = variable = self.names.new(item.buffer.name)
        if self.columns:
            self.out.add(f"alignas(64) {type} {variable}[{self.strip}];")

        with self._strip_loop():
            scope = self._scope()
            scope.count(item.value)
            text = unwrapped(scope.text(item.value))
            target = f"{variable}[lane]" if self.columns else f"const {type} {variable}"
            self.out.add(f"{target} = {text};")
            if item.place == "memory":
                self._store_row(item)

    def _store_row(self, item: Item) -> None:
        """Keeps a value of a row in memory, too."""
        array, index = self._target(item, self._scope())
        self.out.add(f"{array}[{index}] = {self.variables[item.buffer]}{self.lane};")

    def _pass(self, items: list[Item]) -> None:
        """One loop over the row."""
        for item in items:
            if item.place == "scratch":
                self.variables[item.buffer] = self.names.new(item.buffer.name)
                size = count_of(self.nest.inner)
                self.out.add(f"alignas(64) {CPP[item.buffer.dtype]} {self.variables[item.buffer]}[{size}];")

        inner = self.nest.inner
        lanes = self.strip if self.columns else _lanes(items, inner[-1] if inner else None)
        reductions = [item for item in items if item.kind == REDUCTION]
        has_rest = bool(lanes and inner) and not self.columns and inner[-1].size % lanes > 0
        for item in reductions:
            self._accumulate(item, lanes, has_rest)
        self._loops_over_row(items, lanes)
        for item in reductions:
            self._finish(item, lanes)

    def _loops_over_row(self, items: list[Item], lanes: int | None) -> None:
        inner = self.nest.inner
        looped = inner if self.columns else inner[:-1]
        self.out.open_loops(looped)
        if self.columns:
            known = self._before_loop(items, self.nest.outer[-1])
            with self._strip_loop():
                self._elements(items, "[lane]", known)
        elif not inner:
            self._elements(items, "", {})
        elif lanes is None or lanes == 1:
            self._last_loop(items, inner[-1], lanes is None)
        else:
            self._lane_loops(items, inner[-1], lanes)
        self.out.close(len(looped))

    def _last_loop(
        self, items: Sequence[Item], axis: Axis, has_packs: bool, begin: str = "0", end: str = ""
    ) -> None:
        """The innermost loop, over packs or single elements."""
        if not has_packs:
            known = {} if end else self._before_loop(items, axis)
            self.out.open_loops([axis], begin, end)
            self._elements(items, "", known)
            self.out.close()
            return

        out = Lines(depth=self.out.depth + 1)
        before = self._scope()
        varies = partial(self.nest.varies, axis)
        scope = PackScope(out, self.names, self.pointers, self._place, before=before, varies=varies)
        scope.counts = before.counts
        self._compute(scope, items)
        body = f"[&](int64_t {axis.name}, auto part) __attribute__((always_inline))"
        self.out.open(f"at::vec::for_packs({begin}, {end or axis.size}, {body}")
        self.out.add("using at::vec::Pack;")
        self.out.lines += out.lines
        self.out.close()
        self.out.lines[-1] += ");"

    def _lane_loops(self, items: list[Item], last: Axis, lanes: int) -> None:
        # Written as divisions, so that the text is the same for sizes that vary (varying.py).
        whole = f"{last.size}" if last.size % lanes == 0 else f"{last.size} / {lanes} * {lanes}"
        known = self._before_loop(items, last)
        self.out.open(f"for (int64_t block = 0; block < {whole}; block += {lanes})")
        with self._lane_loop(lanes, last, "block"):
            self._elements(items, "[lane]", known)
        self.out.close()
        if last.size % lanes:
            self.out.open_loops([last], begin=whole)
            self._elements(items, "", known)
            self.out.close()

    @contextmanager
    def _lane_loop(self, count: int | str, axis: Axis, start: str) -> Iterator[None]:
        self.out.open(f"for (int64_t lane = 0; lane < {count}; ++lane)")
        self.out.add(f"const int64_t {axis.name} = {start} + lane;")
        yield
        self.out.close()

    def _strip_loop(self) -> AbstractContextManager[None]:
        """A loop over a strip of columns, if there is one."""
        if not self.columns:
            return nullcontext()
        return self._lane_loop(self.width, self.nest.outer[-1], f"block * {self.strip}")

    def _accumulate(self, item: Item, lanes: int | None, has_rest: bool) -> None:
        """Declares what a reduction collects in: one value, an array of lanes, or a pack (None).

        The rest of a row is collected in a value of its own: in the first lanes, it would have to wait until
        they are in memory.
        """
        type = CPP[item.value.dtype]
        start = first_value(item.reduce, item.value.dtype)
        is_single = self.columns or lanes == 1
        name = self.names.new(item.buffer.name if is_single else f"{item.buffer.name}_lanes")

        if lanes is None:
            self.out.add(f"at::vec::Pack {name} = at::vec::broadcast({start});")
        elif lanes == 1 and not self.columns:
            self.out.add(f"{type} {name} = {start};")
        else:
            # g++ stores whole registers to it, as if it were aligned.
            self.out.add(f"alignas(64) {type} {name}[{lanes}];")
            self.out.add(f"at::vec::fill({name}, {start});")
        self.variables[item.buffer] = name

        if has_rest:
            self.rests[item.buffer] = self.names.new(f"{item.buffer.name}_rest")
            self.out.add(f"{type} {self.rests[item.buffer]} = {start};")

    def _finish(self, item: Item, lanes: int | None) -> None:
        """The value of a reduction, from its lanes and the rest."""
        if lanes != 1 and not self.columns:
            type = CPP[item.value.dtype]
            variable = self.names.new(item.buffer.name)
            function = "combined_lanes" if lanes is None else "combined"
            both = unwrapped(combination(item.reduce, item.value.dtype, "a", "b"))
            combining = f"[]({type} a, {type} b) {{ return {both}; }}"
            parts = [self.variables[item.buffer], self.rests.pop(item.buffer, ""), combining]
            self.out.add(f"const {type} {variable} = at::vec::{function}({', '.join(filter(None, parts))});")
            self.variables[item.buffer] = variable
        if item.place == "memory":
            with self._strip_loop():
                self._store_row(item)

    def _before_loop(self, items: Sequence[Item], axis: Axis) -> dict[Expr, str]:
        """Variables for what the loop over an axis reads again and again, by the values that they have.

        Compilers leave what only one side of a condition needs in the loop, which then has branches.
        """
        written = {item.buffer.memory for item in self.nest.items}
        scope = self._scope()
        for item in items:
            for load in unconditional(item.value, Load):
                is_fixed = axis not in load.position.axes() and not load.position.loaded()
                if is_fixed and load not in scope.known and load.buffer.memory not in written:
                    scope.variable(f"{load.buffer.name}_value", load, scope.element(load))
        return scope.known

    def _elements(self, items: Sequence[Item], lane: str, known: Mapping[Expr, str]) -> None:
        """The body of an innermost loop. `known` are values that variables have."""
        scope = self._scope()
        scope.known.update(known)
        self._compute(scope, items, lane)

    def _compute(self, scope: Scope, items: Sequence[Item], lane: str = "") -> None:
        """What items compute in a loop body: stores, and values for accumulators."""
        is_pack = isinstance(scope, PackScope)
        values = [stored_value(item) if is_pack else item.value for item in items]
        for value in values:
            scope.count(value)

        for item, value in zip(items, values):
            # Long chains of operators from the inside, as values are printed by recursion.
            for part in unconditional(value, Named)[_DEEP::_DEEP][::-1]:
                scope.text(part)
            text = scope.text(value)
            if item.kind == REDUCTION:
                collected = self.variables if lane or is_pack else {**self.variables, **self.rests}
                target = f"{collected[item.buffer]}{lane}"
                if is_pack:
                    start = first_value(item.reduce, item.value.dtype)
                    text = f"part.only({unwrapped(text)}, {start})"
                both = combination(item.reduce, item.value.dtype, target, text)
                scope.out.add(f"{target} = {unwrapped(both)};")
            else:
                array, index = self._target(item, scope)
                store = "part.store({} + {}, {});" if is_pack else "{}[{}] = {};"
                scope.out.add(store.format(array, index, unwrapped(text)))

    # Values.

    def _scope(self) -> Scope:
        return Scope(self.out, self.names, self.pointers, self._place)

    def _target(self, item: Item, scope: Scope) -> tuple[str, str]:
        """The array that a value is stored to, and the position in it."""
        if item.place == "scratch":
            inner = self.nest.inner
            row = flattened([linear(axis) for axis in inner], contiguous([axis.size for axis in inner]))
            return self.variables[item.buffer], scope.position(row)
        return self.pointers[item.buffer], scope.position(item.position)

    def _place(self, load: Load) -> str | None:
        """Where a value that the nest computes is, None for memory."""
        item = self.nest.made(load.buffer)
        if item is None or item.buffer not in self.variables:
            return None
        if item.place == "scratch":
            array, index = self._target(item, self._scope())
            return f"{array}[{index}]"
        return None if item.kind == ELEMENT else f"{self.variables[item.buffer]}{self.lane}"


def _lanes(items: Sequence[Item], last: Axis | None) -> int | None:
    """How many values of a reduction are collected at once along the last axis; None for packs."""
    if last is None:
        return 1
    if takes_packs(items, last):
        return None
    if all(item.kind != REDUCTION for item in items):
        return 1
    return max((lanes for shortest, lanes in _LANES.items() if last.size >= shortest), default=1)
