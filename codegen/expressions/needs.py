"""Finds what a derivative formula needs saved from the forward call."""

from __future__ import annotations

import re
from typing import NamedTuple

from codegen.dtypes import DTYPES
from codegen.expressions import nodes
from codegen.expressions.functions import CONSTANTS
from codegen.expressions.nodes import Call, Node
from codegen.expressions.scope import METADATA_METHODS, TENSOR, TENSORS, OperatorLike, Scope


class Metadata(NamedTuple):
    """A property of a tensor that is saved in place of the tensor.

    For example, ``self.sizes()`` is saved as the member ``self_sizes``.
    """

    source: str  # self.size(dim)
    member: str  # self_size_dim
    target: str  # self
    method: str  # size; len for len(tensors)
    kind: str  # int[]; the kind of the value
    node: Node  # to be printed where the value is taken, in the forward call

    @property
    def cpp_type(self) -> str:
        """The type of the member, which owns its value."""
        return {
            "int[]": "at::DimVector",
            "int": "int64_t",
            "ScalarType": "at::ScalarType",
            "bool": "bool",
            "TensorOptions": "at::TensorOptions",
            "Device": "at::Device",
        }[self.kind]


class Needs(NamedTuple):
    """What the backward function of a formula keeps from the forward call."""

    arguments: tuple[str, ...]  # whose values are used: tensors and others, in order of use
    results: tuple[str, ...]  # result, result0 ...
    metadata: tuple[Metadata, ...]  # of tensors that are not in ``arguments`` or ``results``
    grads: tuple[int, ...]  # gradients used by number; (0,) for ``grad``
    all_grads: bool  # ``grads`` is used as a list

    def rename(self) -> dict[str, str]:
        """Names of the kept properties in the backward function, for the printers."""
        return {metadata.source: metadata.member for metadata in self.metadata}


def needs(node: Node, operator: OperatorLike | None = None) -> Needs:
    """``operator`` tells its arguments from constants of the same name and lists of tensors from tensors."""
    collector = _NeedsCollector(None if operator is None else Scope(operator))
    collector.visit(node)
    values = [*collector.arguments, *collector.results]
    metadata = tuple(m for m in collector.metadata.values() if m.target not in values)
    return Needs(
        tuple(collector.arguments),
        tuple(collector.results),
        metadata,
        tuple(sorted(collector.grads)),
        collector.all_grads,
    )


class _NeedsCollector:
    def __init__(self, scope: Scope | None) -> None:
        self.scope = scope
        self.arguments: dict[str, None] = {}
        self.results: dict[str, None] = {}
        self.metadata: dict[str, Metadata] = {}
        self.grads: set[int] = set()
        self.all_grads = False

    def visit(self, node: Node) -> None:
        if type(node) is nodes.Name:
            self.visit_name(node.name)
            return

        metadata = self.as_metadata(node)
        if metadata is not None:
            self.metadata.setdefault(metadata.source, metadata)
            return

        if (
            isinstance(node, nodes.Index)
            and node.target == nodes.Name("grads")
            and isinstance(node.index, nodes.Number)
        ):
            self.grads.add(int(node.index.value))
            return

        for child in nodes.children(node):
            self.visit(child)

    def as_metadata(self, node: Node) -> Metadata | None:

        if isinstance(node, nodes.Method) and node.arguments is not None and node.name in METADATA_METHODS:
            target = node.target
            method = node.name
            arguments = node.arguments
        elif isinstance(node, Call) and node.function == "len" and len(node.arguments) == 1:
            target = node.arguments[0]
            method = "len"
            arguments = ()
        else:
            return None

        if not isinstance(target, nodes.Name) or not self.is_kept_tensor(target.name):
            return None
        if any(
            not isinstance(part, (nodes.Name, nodes.Number, nodes.Unary))
            for a in arguments
            for part in nodes.walk(a)
        ):
            return None  # size(f(x)): the value of f may not exist in the forward call

        suffix = "".join(
            "_" + re.sub(r"\W+", "_", nodes.to_source(a).replace("-", "minus_")) for a in arguments
        )

        kind = "int" if method == "len" else METADATA_METHODS[method][0]
        if self.scope is not None and self.scope.kind(target) == TENSORS and method == "size":
            kind = "int[]"

        return Metadata(
            nodes.to_source(node), f"{target.name}_{method}{suffix}", target.name, method, kind, node
        )

    def is_kept_tensor(self, name: str) -> bool:
        if name in ("grad", "grads"):
            return False
        return self.scope is None or self.scope.kind(nodes.Name(name)) in (TENSOR, TENSORS)

    def visit_name(self, name: str) -> None:
        is_argument = self.scope is not None and self.scope.argument(name) is not None
        if is_argument:
            self.arguments[name] = None
        elif name == "grad":
            self.grads.add(0)
        elif name == "grads":
            self.all_grads = True
        elif re.fullmatch(r"result\d*", name):
            self.results[name] = None
        elif name not in CONSTANTS and name not in DTYPES:
            self.arguments[name] = None
