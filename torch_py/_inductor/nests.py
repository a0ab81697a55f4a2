"""Nests: statements that share loops.

A nest has outer axes, over which threads divide the work, and inner axes, which are looped over for each
position of the outer ones: a row. Its items are

    element     a value for every position of all axes
    row         a value for every position of the outer axes
    reduction   a value for every position of the outer axes, combined along the inner ones

Items are computed in passes over the row. One that needs a reduction of pass n is in pass n + 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from torch_py._inductor.indices import Axis, Linear, bounds, flattened
from torch_py._inductor.ir import Buffer, Expr, Index, Load, loads, moved, rewritten, walk
from torch_py._inductor.statements import Statement, Store
from torch_py._records import Fields

ELEMENT = "element"
ROW = "row"
REDUCTION = "reduction"


class Item(Fields):
    """A store, in terms of the axes of its nest."""

    buffer: Buffer
    line: str
    kind: str
    index: tuple[Linear, ...]
    value: Expr  # for a reduction, what it combines
    reduce: str  # the kind of a Reduce
    is_partial: bool
    pass_: int = 0
    place: str = "memory"  # or "local" for a variable, "scratch" for a row of them

    @classmethod
    def of(cls, store: Store, kind: str, axes: Mapping[Axis, Linear]) -> Item:
        """What a store is in a nest, whose axes stand for its own."""
        reduction = store.reduction
        value = store.value if reduction is None else reduction.value
        index = store.index
        if axes:
            value = rewritten(value, axes)
            index = moved(index, axes)
        reduce = "" if reduction is None else reduction.kind
        return cls(store.buffer, store.line, kind, index, value, reduce, not store.is_plain)

    @property
    def position(self) -> Linear:
        """Where it stores, if that is in memory."""
        return flattened(self.index, self.buffer.strides)

    def __str__(self) -> str:
        place = f"{self.buffer.name}[{', '.join(map(str, self.index))}]"
        target = place if self.place == "memory" else f"{self.place} {self.buffer.name}"
        return f"{target} = {self.reduce and self.reduce + ' of '}{self.value}"


class Kernel(Fields):
    """A C++ function: its text, the buffers it is called with, and how its work is divided."""

    name: str  # that of the first of equal kernels
    text: str
    key: str  # the text without names: equal kernels have equal keys
    buffers: list[Buffer]
    extent: int
    grain: int


class Nest(Fields):
    """Items that share loops. Without a reduction, all axes are outer ones."""

    epoch: int
    outer: list[Axis] = []
    inner: list[Axis] = []
    items: list[Item] = []
    name: str = ""
    touched: set[Buffer] = set()  # the memories that it reads or makes, for fuse.py
    kernel: Kernel | None = None  # what it is printed as

    def add(self, item: Item) -> None:
        """Adds an item whose axes are those of the nest."""
        self.items.append(item)
        self.touched.add(item.buffer.memory)
        self.touched.update(load.buffer.memory for load in loads(item.value))

    @property
    def axes(self) -> list[Axis]:
        return self.outer + self.inner

    @property
    def has_rows(self) -> bool:
        """Whether there is a row for each position of the outer axes."""
        return any(item.kind != ELEMENT for item in self.items)

    def reads(self) -> set[Buffer]:
        """The memories that it reads and does not make itself, and those that it makes parts of."""
        loaded = {load.buffer.memory for item in self.items for load in loads(item.value)} - self.makes()
        return loaded | {item.buffer.memory for item in self.items if item.is_partial}

    def makes(self) -> set[Buffer]:
        return {item.buffer.memory for item in self.items}

    def stored(self) -> list[Buffer]:
        """The tensors that it makes in memory."""
        return list(dict.fromkeys(item.buffer for item in self.items if item.place == "memory"))

    def made(self, buffer: Buffer) -> Item | None:
        """The item that stores a buffer."""
        return next((item for item in self.items if item.buffer is buffer), None)

    def replace(self, axes: dict[Axis, Linear]) -> None:
        """Puts positions in the place of axes."""
        for item in self.items:
            item.value = rewritten(item.value, axes)
            item.index = moved(item.index, axes)

    def __str__(self) -> str:
        inner = f"; {bounds(self.inner)}" if self.inner else ""
        lines = [f"nest {self.name}: {bounds(self.outer)}{inner}"]
        for item in sorted(self.items, key=lambda item: item.pass_):
            lines.append(f"    {f'pass {item.pass_}, ' if self.inner else ''}{item.kind}: {item}")
        return "\n".join(lines)


Entry = Nest | Statement


def positions(items: Sequence[Item]) -> Iterator[Linear]:
    """All positions that items compute, as they are in memory."""
    for item in items:
        yield item.position
        for part in walk(item.value):
            if isinstance(part, (Load, Index)):
                yield part.position
