"""What well-formed loop graphs and nests are: one rule for each kind of node.

Tests check every stage, and so do programs with TORCH_PY_VERIFY=1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from torch_py._inductor.indices import Axis, Linear
from torch_py._inductor.ir import CPP, TRUTH, Buffer, Cast, Expr, Guard, Index, Load, Map, Reduce, loads, walk
from torch_py._inductor.loops import ELEMENT, REDUCTION, ROW, Entry, Extern, LoopGraph, Nest, Store, View
from torch_py._shapes.formulas import COMPARISONS

KINDS = frozenset(["sum", "product", "maximum", "minimum", "any", "all", "xor"])


class MalformedError(AssertionError):
    """A stage of the compiler has made something that the next one does not expect."""


def _require(condition: bool, node: Any, problem: str) -> None:
    if not condition:
        raise MalformedError(f"{type(node).__name__} {node}: {problem}")


# Values.


def check_value(value: Expr, axes: Iterable[Axis]) -> None:
    """Raises MalformedError unless a value is well formed, for positions of these axes."""
    known = set(axes)
    for part in walk(value):
        _require(part.dtype in CPP, part, f"kernels have no {part.dtype}")
        _part(part, known)


def _part(value: Expr, axes: set[Axis]) -> None:
    match value:
        # Positions.
        case Load():
            _require(len(value.index) == len(value.buffer.sizes), value, "one position for each dimension")
            _positions(value, value.index, axes)
        case Index():
            _require(not value.dtype.is_floating_point, value, "a position is an integer")
            _positions(value, [value.position], axes)

        # Functions.
        case Map():
            _map(value)
        case Cast():
            _require(value.dtype != value.value.dtype, value, "a cast to the same dtype")
        case Guard():
            _require(value.condition.dtype == TRUTH, value, "the condition is a truth value")
            _require(value.value.dtype == value.otherwise.dtype, value, "both choices have one dtype")
        case Reduce():
            raise MalformedError(f"Reduce {value}: only a store has one, as its whole value")


def _map(value: Map) -> None:
    dtypes = {arg.dtype for arg in value.args}
    if value.function in COMPARISONS:
        _require(len(dtypes) == 1 and value.dtype == TRUTH, value, "compares values of one dtype")
    elif value.function in ("and", "or", "not"):
        _require(dtypes == {TRUTH} == {value.dtype}, value, "takes and gives truth values")
    elif value.function == "where":
        condition, then, otherwise = value.args
        _require(condition.dtype == TRUTH, value, "the condition is a truth value")
        _require(then.dtype == otherwise.dtype == value.dtype, value, "both choices have its dtype")
    else:
        _require(len(dtypes) == 1, value, "operands have one dtype")


def _positions(node: Any, index: Sequence[Linear], axes: set[Axis]) -> None:
    strange = {axis for position in index for axis in position.axes()} - axes
    _require(not strange, node, f"axes of other loops: {strange}")


# Statements and nests.


def _entry(entry: Entry, made: set[Buffer]) -> None:
    match entry:
        case Store():
            _store(entry, made)
            made.add(entry.buffer)
        case Extern():
            for buffer in entry.buffers():
                _require(buffer in made, entry, f"{buffer} is read before it is made")
            made.update(entry.made())
        case View():
            _require(entry.buffer.base in made, entry, "its memory is not made yet")
            made.add(entry.buffer)
        case Nest():
            _nest(entry, made)
            made.update(entry.stored())


def _store(store: Store, made: set[Buffer]) -> None:
    axes = list(store.axes)
    value = store.value
    if isinstance(value, Reduce):
        _require(value.kind in KINDS, store, f"unknown reduction '{value.kind}'")
        _require(value.value.dtype == value.dtype, store, "a reduction has the dtype of its elements")
        axes += value.axes
        check_value(value.value, axes)
    else:
        check_value(value, axes)

    _require(store.value.dtype == store.buffer.dtype, store, "the value has the buffer's dtype")
    _require(len(store.index) == len(store.buffer.sizes), store, "one position for each dimension")
    _positions(store, store.index, set(store.axes))
    _require(not any(i.loaded() for i in store.index), store, "the index has loaded positions")
    for load in loads(value):
        _require(load.buffer in made, store, f"{load.buffer} is read before it is made")


def _nest(nest: Nest, made: set[Buffer]) -> None:
    known = made | {item.buffer for item in nest.items}
    for item in nest.items:
        _require(item.kind in (ELEMENT, ROW, REDUCTION), item, f"unknown kind '{item.kind}'")
        axes = nest.outer if item.kind == ROW else nest.axes
        check_value(item.value, axes)
        _positions(item, item.index, set(axes if item.kind == ELEMENT else nest.outer))

        for load in loads(item.value):
            _require(load.buffer in known, item, f"{load.buffer} is read before it is made")
            maker = nest.made(load.buffer)
            # An input has old values until the nest makes new ones (arrange.py).
            if maker is not None and maker is not item and load.buffer.kind != "input":
                complete = maker.pass_ + (maker.kind == REDUCTION)
                problem = f"{load.buffer} is not complete before pass {complete}"
                _require(complete <= item.pass_, item, problem)


# Graphs.


def check(graph: LoopGraph, schedule: Sequence[Entry]) -> None:
    """Raises MalformedError unless statements, or nests of them, are well formed, in an order that can
    run.
    """
    given = (*graph.inputs, *(buffer for buffer, _ in graph.constants))
    made = {value for value in given if isinstance(value, Buffer)}
    for entry in schedule:
        _entry(entry, made)
    for output in graph.outputs:
        if isinstance(output, Buffer):
            _require(output in made, output, "an output that nothing makes")
