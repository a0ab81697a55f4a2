"""Which nodes of a graph read the memory of another one, and through which views."""

from __future__ import annotations

import operator
from functools import cache, cached_property
from typing import Any

from torch_py._functorch.aot.recipes import NO_GRAD, Step
from torch_py._records import Fields
from torch_py._subclasses.calls import memory_of
from torch_py._tensor import Tensor
from torch_py.fx.node import Node


@cache
def is_identity(target: Any) -> bool:
    """Whether an operator returns all of its argument, and concerns autograd alone."""
    return "same_geometry" in getattr(target, "_tag_words", "").split()


class View(Fields):
    """What a node reads: `root`, which owns the memory, through `steps`.

    `sources` are the nodes that the last steps are called on. Steps before them are called on the root.
    """

    root: Node
    steps: tuple[Step, ...] = ()
    sources: tuple[Node, ...] = ()

    def then(self, step: Step, source: Node) -> View:
        return View(self.root, (*self.steps, step), (*self.sources, source))

    @cached_property
    def essential(self) -> tuple[Step, ...]:
        """The steps that say which elements are read.

        Some concern autograd alone. What `as_strided` reads depends on the dtype of what it is called on, and
        on nothing else of it.
        """
        kept: list[Step] = []
        sources = (*[self.root] * (len(self.steps) - len(self.sources)), *self.sources)
        for step, source in zip(self.steps, sources):
            if step.target._opname == "as_strided":
                step = _from_start_of_memory(step, source)
                while kept and not kept[-1].retypes:
                    kept.pop()
            if not is_identity(step.target):
                kept.append(step)
        return tuple(kept)


class Views:
    """The view of each node. Grows as its graph does; `known` are given from the start."""

    def __init__(self, known: dict[Node, View] | None = None) -> None:
        self._found: dict[Node, View] = dict(known or {})

    def of(self, node: Node) -> View:
        found = self._found.get(node)
        if found is None:
            found = self._found[node] = self._find(node)
        return found

    def are_shared(self, node: Node) -> bool:
        """Whether other nodes, as far as they are known, read memory that this one reads."""
        root = self.of(node).root
        return any(view.root is root and other is not node for other, view in self._found.items())

    def _find(self, node: Node) -> View:
        is_element = node.target is operator.getitem
        read: Any = node.args if is_element else (node, None)
        call, position = read
        if is_element and is_write(call):  # the result may be what the operator has written to
            written = aliased_argument(call, position)
            return View(node) if written is None else self.of(written)

        source = aliased_argument(call) if call.op == "call_function" else None
        if source is None or not isinstance(node.meta.get("val"), Tensor) or not _same_memory(source, node):
            return View(node)
        if is_write(call):
            return View(node) if resizes(call, source) else self.of(source)
        return self.of(source).then(_step(source, call, position), source)


def _step(source: Node, node: Node, index: int | None) -> Step:
    retypes = index is None and source.meta["val"].dtype != node.meta["val"].dtype
    return Step(node.target, node.args[1:], node.kwargs, index, NO_GRAD in node.meta, retypes)


def place_in(step: Step) -> tuple[Any, Any, int | None]:
    """Size, stride and offset of a call of `as_strided`."""
    given = dict(zip(("size", "stride", "storage_offset"), step.args)) | step.kwargs
    return given["size"], given["stride"], given.get("storage_offset")


def _from_start_of_memory(step: Step, source: Node) -> Step:
    """`as_strided` with its offset, which is by default that of what it is called on."""
    size, stride, offset = place_in(step)
    if offset is not None:
        return step
    return step.with_arguments((size, stride, source.meta["val"].storage_offset()), {})


def _same_memory(source: Node, node: Node) -> bool:
    return memory_of(source.meta["val"]) == memory_of(node.meta["val"])


def resizes(node: Node, written: Node) -> bool:
    """Whether an operator gives what it writes to and returns another shape or other memory."""
    value = node.meta.get("val")
    if not isinstance(value, Tensor) or aliased_argument(node) is not written:
        return False
    return value.shape != written.meta["val"].shape or not _same_memory(written, node)


def aliased_argument(node: Node, position: int = 0) -> Node | None:
    """The argument whose memory a result shares: `self` of a view, or what an operator writes to and
    returns."""
    schema = getattr(node.target, "_schema", None)
    alias = schema.returns[position].alias_info if schema and position < len(schema.returns) else None
    if alias is None:
        return None
    for argument, value in bound(node):
        if argument.alias_info is not None and argument.alias_info.before_set & alias.before_set:
            return value if isinstance(value, Node) else None
    return None


def is_write(node: Node) -> bool:
    """Whether a node calls an operator that changes an argument."""
    schema = getattr(node.target, "_schema", None)
    return schema is not None and schema.is_mutable


def bound(node: Node) -> list[tuple[Any, Any]]:
    """The arguments of the schema, with the values that a call gives, or defaults."""
    schema: Any = node.target._schema  # type: ignore[union-attr]
    values = schema.bind(node.args, node.kwargs)
    return [(argument, values[argument.name]) for argument in schema.arguments]
