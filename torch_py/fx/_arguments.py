"""The arguments of nodes: nests of tuples, lists, dictionaries and slices, with nodes at their leaves."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from torch_py.fx.immutable_collections import immutable_dict, immutable_list

if TYPE_CHECKING:
    from torch_py.fx.node import Node

Argument = Any  # a Node, a value that can be printed as Python, or a nest of those
Target = Any  # a callable, or the name of a method, module or attribute


def map_aggregate(a: Argument, fn: Callable[[Argument], Argument]) -> Argument:
    """Returns the nest `a` with `fn` applied to its leaves; its lists and dictionaries cannot be changed.

    Named tuples keep their class, the keys of dictionaries stay as they are.
    """
    container = _container_of(type(a))
    if container is None:
        return fn(a)
    if container is tuple:
        items = [map_aggregate(item, fn) for item in a]
        return type(a)(*items) if hasattr(a, "_fields") else tuple(items)
    if container is list:
        return immutable_list([map_aggregate(item, fn) for item in a])
    if container is dict:
        return immutable_dict({key: map_aggregate(value, fn) for key, value in a.items()})
    parts = (map_aggregate(part, fn) for part in (a.start, a.stop, a.step))
    return slice(*parts)


@cache
def _container_of(kind: type) -> type | None:
    """What a type is a subclass of, if its instances are not leaves. Most arguments are."""
    return next((base for base in (tuple, list, dict, slice) if issubclass(kind, base)), None)


def map_arg(a: Argument, fn: Callable[[Node], Argument]) -> Argument:
    """Returns the nest `a` with `fn` applied to the nodes in it; everything else stays as it is."""
    if not callable(fn):
        raise AssertionError("torch.fx.map_arg(a, fn): fn must be a callable")
    if not a and _container_of(type(a)) is not None:
        return map_aggregate(a, fn)
    node = _node_class()
    return map_aggregate(a, lambda leaf: fn(leaf) if isinstance(leaf, node) else leaf)


@cache
def _node_class() -> type:
    # That module imports this one.
    from torch_py.fx.node import Node

    return Node


def nodes_in(a: Argument) -> list[Node]:
    """The nodes in the nest `a`, each as often as it occurs, from left to right."""
    found: list[Node] = []
    map_arg(a, found.append)
    return found
