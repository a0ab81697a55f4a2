"""The order of nodes: topological sorts, what can be reached, and paths that leave a set of nodes and come
back."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from torch_py.fx.graph import Graph
    from torch_py.fx.node import Node


_T = TypeVar("_T")


def reached(starts: Iterable[_T], following: Callable[[_T], Iterable[_T]]) -> Iterator[_T]:
    """`starts`, what follows each of them, what follows that, and so on: each once."""
    seen = dict.fromkeys(starts)
    waiting = list(seen)
    while waiting:
        found = waiting.pop()
        yield found
        for other in following(found):
            if other not in seen:
                seen[other] = None
                waiting.append(other)


def leads_back_into(nodes: Collection[Node]) -> bool:
    """Whether a path leaves the set of nodes and comes back, so that they cannot become one node."""
    inside = set(nodes)
    if not inside:
        return False
    last = max(inside)
    waiting = [user for node in inside for user in node.users if user not in inside and user < last]
    seen = set(waiting)
    while waiting:
        for user in waiting.pop().users:
            if user in inside:
                return True
            if user < last and user not in seen:
                seen.add(user)
                waiting.append(user)
    return False


def sorted_topologically(graph: Graph) -> list[Node]:
    """The nodes with every node after its arguments, and otherwise in their present order.

    Raises RuntimeError if nodes depend on themselves.
    """
    place = {node: number for number, node in enumerate(graph.nodes)}
    missing = {node: sum(argument in place for argument in node.all_input_nodes) for node in place}
    nodes = list(place)
    ready = [place[node] for node in nodes if not missing[node]]
    found = []
    while ready:
        node = nodes[heapq.heappop(ready)]
        found.append(node)
        for user in node.users:
            if user in missing:
                missing[user] -= 1
                if not missing[user]:
                    heapq.heappush(ready, place[user])

    if len(found) < len(nodes):
        stuck = [node.name for node in nodes if missing[node]]
        raise RuntimeError(f"Input graph has cycles, unable to add {stuck}")
    return found


def sort_topologically(graph: Graph) -> None:
    """Moves the nodes so that every node comes after its arguments."""
    for node in sorted_topologically(graph):
        graph._root.prepend(node)
