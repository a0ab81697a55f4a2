"""Which nodes a backend supports."""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch_py
from torch_py.fx.node import Node
from torch_py.fx.passes.tools_common import CALLABLE_NODE_OPS, get_node_target
from torch_py.nn.modules.module import Module

__all__ = [
    "OpSupports",
    "OperatorSupport",
    "OperatorSupportBase",
    "any_chain",
    "chain",
    "create_op_support",
]

Modules = Mapping[str, Module]
# For a target the dtypes of the arguments: one list for each position, and one for each keyword. None: any.
TargetTypeName = str
SupportedArgumentDTypes = (
    tuple[Sequence[Sequence[torch_py.dtype]], dict[str, Sequence[torch_py.dtype]]] | None
)
SupportDict = Mapping[TargetTypeName, SupportedArgumentDTypes]


class OperatorSupportBase(abc.ABC):
    """Answers whether a node is supported."""

    @abc.abstractmethod
    def is_node_supported(self, submodules: Modules, node: Node) -> bool:
        """Whether the node is supported; `submodules` has the modules of the graph by path."""


class OperatorSupport(OperatorSupportBase):
    """Supports the targets in a dictionary, `{"torch.relu": None}`: with None for all arguments, or with the
    dtypes that arguments may have. Nodes that call nothing are always supported."""

    _support_dict: SupportDict

    def __init__(self, support_dict: SupportDict | None = None) -> None:
        self._support_dict = support_dict or {}

    def is_node_supported(self, submodules: Modules, node: Node) -> bool:
        if node.op not in CALLABLE_NODE_OPS:
            return True
        target = get_node_target(submodules, node)
        if target not in self._support_dict:
            return False
        accepted = self._support_dict[target]
        if accepted is None:
            return True

        positional, named = accepted
        for dtypes, argument in zip(positional, node.args):
            if isinstance(argument, Node) and _get_arg_dtype(argument) not in dtypes:
                return False
        for name, dtypes in named.items():
            argument = node.kwargs.get(name)
            if isinstance(argument, Node) and _get_arg_dtype(argument) not in dtypes:
                return False
        return True


def _get_arg_dtype(arg: Node) -> Any:
    metadata = arg.meta.get("tensor_meta")
    return metadata.dtype if metadata is not None and hasattr(metadata, "dtype") else arg.meta["type"]


class _FunctionSupport(OperatorSupportBase):
    def __init__(self, function: Callable[[Modules, Node], bool]) -> None:
        self._function = function

    def is_node_supported(self, submodules: Modules, node: Node) -> bool:
        return self._function(submodules, node)


def create_op_support(is_node_supported: Callable[[Modules, Node], bool]) -> OperatorSupportBase:
    """Support as a function says."""
    return _FunctionSupport(is_node_supported)


def chain(*op_support: OperatorSupportBase) -> OperatorSupportBase:
    """Support of what all support."""
    return create_op_support(
        lambda modules, node: all(each.is_node_supported(modules, node) for each in op_support)
    )


def any_chain(*op_support: OperatorSupportBase) -> OperatorSupportBase:
    """Support of what any supports."""
    return create_op_support(
        lambda modules, node: any(each.is_node_supported(modules, node) for each in op_support)
    )


class OpSupports:
    """Kinds of support to combine with `chain`."""

    @classmethod
    def decline_if_input_dtype(cls, dtype: torch_py.dtype) -> OperatorSupportBase:
        """No support of nodes with an argument of the dtype."""
        return create_op_support(
            lambda _, node: all(_get_arg_dtype(argument) != dtype for argument in node.all_input_nodes)
        )

    @classmethod
    def decline_if_node_in_names(cls, disallow_set: set[str]) -> OperatorSupportBase:
        """No support of nodes with these names."""
        return create_op_support(lambda _, node: node.name not in disallow_set)
