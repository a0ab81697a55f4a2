"""Which gradients arrive where, by the graph of autograd.

What a gradient is computed from does not tell: the derivative of `round` is zero whatever arrives, and a leaf
that no gradient reaches has None.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch_py.autograd.graph import _nodes_below, get_gradient_edge


def arrivals(results: Sequence[Any], leaves: Sequence[Any]) -> list[list[int]]:
    """For each leaf, the positions of the results whose gradients flow to it."""
    first = [get_gradient_edge(result).node for result in results]
    reached: dict[Any, set[int]] = {}
    for position, node in enumerate(first):
        reached.setdefault(node, set()).add(position)

    for node in _nodes_below(first):
        for following, _ in node.next_functions:
            reached.setdefault(following, set()).update(reached[node])

    return [sorted(reached.get(get_gradient_edge(leaf).node, ())) for leaf in leaves]
