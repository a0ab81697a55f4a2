"""The loop graph: statements, which make tensors, and nests of statements that share loops.

`line` is of the user's program. `reads` gives the memories that a statement reads or looks at, and `makes`
those that it makes or changes.

A nest has outer axes, over which threads divide the work, and inner axes, which are looped over for each
position of the outer ones: a row. Its items are

    element     a value for every position of all axes
    row         a value for every position of the outer axes
    reduction   a value for every position of the outer axes, combined along the inner ones

Items are computed in passes over the row. One that needs a reduction of pass n is in pass n + 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from torch_py._inductor.indices import Axis, Linear, bounds, flattened, linear
from torch_py._inductor.ir import Buffer, Expr, Index, Load, Reduce, loads, moved, rewritten, walk
from torch_py._records import Fields
from torch_py.utils._pytree import tree_leaves


class Store(Fields):
    """For every position of the axes, an element of a buffer, whose index depends on them alone. The value is
    a Reduce or contains none.
    """

    buffer: Buffer
    axes: tuple[Axis, ...]
    index: tuple[Linear, ...]
    value: Expr
    line: str

    @property
    def reduction(self) -> Reduce | None:
        return self.value if isinstance(self.value, Reduce) else None

    @cached_property
    def is_plain(self) -> bool:
        """Whether it stores every element of its buffer, each at the position of the axes."""
        sizes = tuple(axis.size for axis in self.axes)
        return sizes == self.buffer.sizes and self.index == tuple(map(linear, self.axes))

    def reads(self) -> set[Buffer]:
        found = {load.buffer.memory for load in loads(self.value)}
        # Elements that it does not store stay as they are.
        return found if self.is_plain else found | self.makes()

    def makes(self) -> set[Buffer]:
        return {self.buffer.memory}

    def __str__(self) -> str:
        return f"for {bounds(self.axes) or 'one element'}: {Load(self.buffer, self.index)} = {self.value}"


class Extern(Fields):
    """A call of an operator, in whose arguments buffers stand for tensors."""

    name: str
    operator: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    results: Any  # buffers, None, or tuples of them for lists
    writes: tuple[Buffer, ...]
    line: str

    def buffers(self) -> list[Buffer]:
        """The tensors among the arguments."""
        return [leaf for leaf in tree_leaves((self.args, self.kwargs)) if isinstance(leaf, Buffer)]

    def made(self) -> list[Buffer]:
        """The tensors that are its results."""
        return [leaf for leaf in tree_leaves(self.results) if isinstance(leaf, Buffer)]

    def reads(self) -> set[Buffer]:
        return {buffer.memory for buffer in self.buffers()}

    def makes(self) -> set[Buffer]:
        return {buffer.memory for buffer in (*self.made(), *self.writes)}

    def __str__(self) -> str:
        arguments = [str(a) for a in self.args] + [f"{n}={v}" for n, v in self.kwargs.items()]
        results = ", ".join(b.name for b in self.made())
        return f"{results or 'nothing'} = {self.operator}({', '.join(arguments)})"


class View(Fields):
    """A buffer that looks at the memory of its base."""

    buffer: Buffer
    line: str

    def reads(self) -> set[Buffer]:
        return {self.buffer.memory}

    def makes(self) -> set[Buffer]:
        return set()

    def __str__(self) -> str:
        b = self.buffer
        return f"{b.name} = {b.base} as sizes {list(b.sizes)}, strides {list(b.strides)}, offset {b.offset}"


Statement = Store | Extern | View


class LoopGraph(Fields):
    """Statements in an order in which they can be executed."""

    inputs: list[Any] = []  # a Buffer, or the name of an integer
    constants: list[tuple[Buffer, Any]] = []
    statements: list[Statement] = []
    nodes: dict[Buffer, Any] = {}  # of the operator graph, whose values are in these buffers
    outputs: list[Any] = []  # a Buffer, None or a number

    @property
    def returned(self) -> set[Buffer]:
        """The memories of the tensors that it returns."""
        return {output.memory for output in self.outputs if isinstance(output, Buffer)}

    def __str__(self) -> str:
        lines = [f"input {b.name}: {describe(b)}" for b in self.inputs if isinstance(b, Buffer)]
        lines += [f"constant {b.name}: {describe(b)}" for b, _ in self.constants]
        last = ""
        for statement in self.statements:
            if statement.line and statement.line != last:
                lines.append(f"# {statement.line}")
                last = statement.line
            lines.append(str(statement))
        return "\n".join([*lines, f"return {', '.join(map(str, self.outputs))}"])


def describe(buffer: Buffer) -> str:
    return f"{str(buffer.dtype).removeprefix('torch.')}{list(buffer.sizes)}"


# Nests
# ------------------------------------------------------------

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
        is_kept = self.place == "memory"
        target = Load(self.buffer, self.index) if is_kept else f"{self.place} {self.buffer.name}"
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

    def varies(self, axis: Axis, value: Expr) -> bool:
        """Whether a value is another one at each position of an axis."""
        scratch = [item.buffer for item in self.items if item.place == "scratch"]
        return any(load.buffer in scratch or load.position.factor(axis) for load in loads(value))

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
