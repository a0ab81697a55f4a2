"""Flattens nested arguments to the structure that a graph was traced with."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

from torch_py.utils._pytree import LeafSpec, TreeSpec

FlattenFuncSpec = Callable[[Any, TreeSpec], list[Any]]
FlattenFuncExactMatchSpec = Callable[[Any, TreeSpec], bool]

SUPPORTED_NODES: dict[type, FlattenFuncSpec] = {}
SUPPORTED_NODES_EXACT_MATCH: dict[type, FlattenFuncExactMatchSpec | None] = {}


def register_pytree_flatten_spec(
    cls: type,
    flatten_fn_spec: FlattenFuncSpec,
    flatten_fn_exact_match_spec: FlattenFuncExactMatchSpec | None = None,
) -> None:
    """Says how an instance of `cls` is taken apart for a given structure: `flatten_fn_spec(instance, spec)`
    returns the children that `spec` has."""
    SUPPORTED_NODES[cls] = flatten_fn_spec
    SUPPORTED_NODES_EXACT_MATCH[cls] = flatten_fn_exact_match_spec


def _deregister_pytree_flatten_spec(cls: type) -> None:
    del SUPPORTED_NODES[cls]
    del SUPPORTED_NODES_EXACT_MATCH[cls]


def tree_flatten_spec(pytree: Any, spec: TreeSpec) -> list[Any]:
    """The leaves of `pytree` in the positions where `spec` has leaves.

    A sequence or dictionary may have more items than the structure; raises IndexError or KeyError if it lacks
    one, and RuntimeError for a type that is not registered.
    """
    if isinstance(spec, LeafSpec) or spec.is_leaf():
        return [pytree]
    flatten = SUPPORTED_NODES.get(spec.type)
    if flatten is None and isinstance(spec.type, type) and issubclass(spec.type, tuple):
        flatten = _sequence_flatten_spec  # a result of an operator
    if flatten is None:
        raise RuntimeError(
            f"{type(pytree)} does not have a flatten_fn_spec associated with it. Please register one with "
            "torch.fx._pytree.register_pytree_flatten_spec.  If you have serialized your model, make sure "
            "that any custom pytrees have been registered before loading it."
        )

    children = flatten(pytree, spec)
    return [
        leaf
        for child, child_spec in zip(children, spec.children_specs)
        for leaf in tree_flatten_spec(child, child_spec)
    ]


def _dict_flatten_spec(d: dict[Any, Any], spec: TreeSpec) -> list[Any]:
    return [d[key] for key in spec.context]


def _sequence_flatten_spec(values: Any, spec: TreeSpec) -> list[Any]:
    return [values[position] for position in range(len(spec.children_specs))]


def _dict_has_keys(d: dict[Any, Any], spec: TreeSpec) -> bool:
    return len(d) == len(spec.context)


def _has_length(values: Any, spec: TreeSpec) -> bool:
    return len(values) == len(spec.children_specs)


register_pytree_flatten_spec(dict, _dict_flatten_spec, _dict_has_keys)
for _sequence in (list, tuple, namedtuple):
    register_pytree_flatten_spec(_sequence, _sequence_flatten_spec, _has_length)
