"""`SubgraphMatcher`, which finds a pattern in a graph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from torch_py._tensor import Tensor
from torch_py.fx._attributes import get_attr
from torch_py.fx._order import leads_back_into
from torch_py.fx.graph import Graph
from torch_py.fx.node import Node

__all__ = ["InternalMatch", "SubgraphMatcher"]


@dataclass
class InternalMatch:
    """A place where the pattern was found.

    `anchors` are the last nodes of the pattern, `nodes_map` maps its nodes to those of the graph (and its
    inputs perhaps to values), `placeholder_nodes` are what its inputs match and `returning_nodes` the nodes
    that it returns, both in the graph.
    """

    anchors: list[Node]
    nodes_map: dict[Node, Any] = field(default_factory=dict)
    placeholder_nodes: list[Any] = field(default_factory=list)
    returning_nodes: list[Node] = field(default_factory=list)
    name_node_map: dict[str, Node] = field(default_factory=dict)

    def __copy__(self) -> InternalMatch:
        return InternalMatch(
            self.anchors, self.nodes_map.copy(), self.placeholder_nodes.copy(), self.returning_nodes.copy()
        )


class SubgraphMatcher:
    """Finds the subgraphs of a graph that look like `pattern`.

    The inputs of the pattern match anything; different nodes match different nodes. Nothing inside a match,
    except for what the pattern returns, may be used outside of it.

    Args:
        pattern: a graph without nodes that nothing uses.
        match_output: whether the output of the pattern matches that of the graph only.
        match_placeholder: whether inputs match inputs only.
        remove_overlapping_matches: whether of matches that share nodes only the first counts.
        ignore_literals: whether numbers and other constants match any others.
    """

    def __init__(
        self,
        pattern: Graph,
        match_output: bool = False,
        match_placeholder: bool = False,
        remove_overlapping_matches: bool = True,
        ignore_literals: bool = False,
    ) -> None:
        self.pattern = pattern
        self.match_output = match_output
        self.match_placeholder = match_placeholder
        self.remove_overlapping_matches = remove_overlapping_matches
        self.ignore_literals = ignore_literals

        if len(pattern.nodes) == 0:
            raise ValueError("SubgraphMatcher cannot be initialized with an empty pattern")
        for node in pattern.nodes:
            if node.op != "output" and not node.is_impure() and not node.users:
                raise AssertionError("SubgraphMatcher cannot be initialized with an pattern with dead code")

        output = pattern.output_node()
        self.pattern_placeholder_nodes = [node for node in pattern.nodes if node.op == "placeholder"]
        self.pattern_returning_nodes = output.all_input_nodes
        if match_output:
            self.pattern_anchors = [output]
        else:
            self.pattern_anchors = [node for node in output.all_input_nodes if len(node.users) == 1]

    def match(self, graph: Graph, node_name_match: str = "") -> list[InternalMatch]:
        """The matches in the order of the graph. `node_name_match` must be in the names of their last
        nodes."""
        candidates = [
            [node for node in graph.nodes if self._looks_like(anchor, node) and node_name_match in node.name]
            for anchor in self.pattern_anchors
        ]

        found = [
            match
            for nodes in product(*candidates)
            if (match := self._match_from(list(zip(self.pattern_anchors, nodes)))) is not None
        ]
        return list(self._without_overlaps(found)) if self.remove_overlapping_matches else found

    # One match
    # ------------------------------------------------------------

    def _match_from(self, ends: list[tuple[Node, Node]]) -> InternalMatch | None:
        """The match whose last nodes are given, or None."""
        found: dict[Node, Any] = {}
        taken: set[Node] = set()
        waiting: list[tuple[Any, Any]] = list(reversed(ends))
        while waiting:
            wanted, given = waiting.pop()
            if not isinstance(wanted, Node):
                if not self._same_literals(wanted, given, waiting):
                    return None
            elif wanted in found:
                if found[wanted] is not given and not _equal_constants(found[wanted], given):
                    return None
            elif isinstance(given, Node) and given in taken:
                return None
            elif wanted.op == "placeholder" and not self.match_placeholder:
                found[wanted] = given
                if isinstance(given, Node):
                    taken.add(given)
            elif not isinstance(given, Node) or not self._looks_like(wanted, given):
                return None
            else:
                found[wanted] = given
                taken.add(given)
                if not self._match_arguments(wanted, given, waiting):
                    return None

        return self._finished(found)

    def _finished(self, found: dict[Node, Any]) -> InternalMatch | None:
        match = InternalMatch(anchors=self.pattern_anchors, nodes_map=found)
        if not self._is_contained(found):
            return None
        inside = {node for wanted, node in found.items() if wanted.op not in ("placeholder", "output")}
        if leads_back_into(inside):
            return None

        match.placeholder_nodes = [found[node] for node in self.pattern_placeholder_nodes if node in found]
        match.returning_nodes = [found[node] for node in self.pattern_returning_nodes if node in found]
        return match

    def _looks_like(self, wanted: Node, given: Node) -> bool:
        """Whether two nodes do the same, whatever their arguments are."""
        if wanted.op == "placeholder" and not self.match_placeholder:
            return True
        if wanted.op != given.op:
            return False
        if wanted.op in ("placeholder", "output"):
            return True
        if wanted.op == "get_attr":
            return self._same_attributes(wanted, given)
        return wanted.target == given.target

    def _same_attributes(self, wanted: Node, given: Node) -> bool:
        """Tensors match tensors; other attributes match those of the same name."""
        owners = wanted.graph.owning_module, given.graph.owning_module
        if None in owners:
            return wanted.target == given.target
        mine, other = (get_attr(owner, node.target) for owner, node in zip(owners, (wanted, given)))
        if isinstance(mine, Tensor) and isinstance(other, Tensor):
            return True
        return wanted.target == given.target

    def _match_arguments(self, wanted: Node, given: Node, waiting: list[tuple[Any, Any]]) -> bool:
        if len(wanted.args) != len(given.args) or wanted.kwargs.keys() != given.kwargs.keys():
            return False
        waiting.extend(zip(reversed(wanted.args), reversed(given.args)))
        waiting.extend((wanted.kwargs[name], given.kwargs[name]) for name in wanted.kwargs)
        return True

    def _same_literals(self, wanted: Any, given: Any, waiting: list[tuple[Any, Any]]) -> bool:
        """Compares constants, and puts what is in containers on the list."""
        if isinstance(given, Node):
            return False

        if isinstance(wanted, (list, tuple)):
            if not isinstance(given, (list, tuple)) or len(wanted) != len(given):
                return False
            waiting.extend(zip(reversed(wanted), reversed(given)))
            return True
        if isinstance(wanted, dict):
            if not isinstance(given, dict) or wanted.keys() != given.keys():
                return False
            waiting.extend((wanted[key], given[key]) for key in wanted)
            return True
        if isinstance(wanted, slice) and isinstance(given, slice):
            waiting.extend(
                [(wanted.start, given.start), (wanted.stop, given.stop), (wanted.step, given.step)]
            )
            return True

        return self.ignore_literals or _equal_constants(wanted, given)

    def _is_contained(self, found: dict[Node, Any]) -> bool:
        """Whether only what the pattern returns is used outside of the match."""
        inside = {node for node in found.values() if isinstance(node, Node)}
        for wanted, node in found.items():
            if wanted.op in ("placeholder", "output") or wanted in self.pattern_returning_nodes:
                continue
            if any(user not in inside for user in node.users):
                return False
        return True

    @staticmethod
    def _without_overlaps(matches: Sequence[InternalMatch]) -> Iterator[InternalMatch]:
        taken: set[Node] = set()
        for match in matches:
            own = {
                node
                for wanted, node in match.nodes_map.items()
                if wanted.op not in ("placeholder", "output", "get_attr")
            }
            if not own & taken:
                taken |= own
                yield match


def _equal_constants(one: Any, other: Any) -> bool:
    if isinstance(one, Node) or isinstance(other, Node):
        return one is other
    return type(one) is type(other) and (one is other or one == other)
