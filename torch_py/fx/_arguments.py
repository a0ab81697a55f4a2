"""The arguments of nodes: nests of tuples, lists, dictionaries and slices, with nodes at their leaves."""

from __future__ import annotations

from collections.abc import Callable
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
    if isinstance(a, tuple):
        items = [map_aggregate(item, fn) for item in a]
        return type(a)(*items) if hasattr(a, "_fields") else tuple(items)
    if isinstance(a, list):
        return immutable_list([map_aggregate(item, fn) for item in a])
    if isinstance(a, dict):
        return immutable_dict({key: map_aggregate(value, fn) for key, value in a.items()})
    if isinstance(a, slice):
        parts = (map_aggregate(part, fn) for part in (a.start, a.stop, a.step))
        return slice(*parts)
    return fn(a)


def map_arg(a: Argument, fn: Callable[[Node], Argument]) -> Argument:
    """Returns the nest `a` with `fn` applied to the nodes in it; everything else stays as it is."""
    # That module imports this one.
    from torch_py.fx.node import Node

    if not callable(fn):
        raise AssertionError("torch.fx.map_arg(a, fn): fn must be a callable")
    return map_aggregate(a, lambda leaf: fn(leaf) if isinstance(leaf, Node) else leaf)


def nodes_in(a: Argument) -> list[Node]:
    """The nodes in the nest `a`, each as often as it occurs, from left to right."""
    found: list[Node] = []
    map_arg(a, found.append)
    return found
