"""The statements of the loop graph, which make tensors, in the order in which they can be executed.

`line` is of the user's program. `reads` gives the memories that a statement reads or looks at, and `makes`
those that it makes or changes.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

from torch_py._inductor.indices import Axis, Linear, bounds, linear
from torch_py._inductor.ir import Buffer, Expr, Reduce, loads
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
        place = f"{self.buffer.name}[{', '.join(map(str, self.index))}]"
        return f"for {bounds(self.axes) or 'one element'}: {place} = {self.value}"


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
