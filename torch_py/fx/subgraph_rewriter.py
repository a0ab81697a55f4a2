"""`replace_pattern`, which replaces the subgraphs that look like one function by another."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py.fx._attributes import assign_attr, get_attr, has_attr
from torch_py.fx._order import sort_topologically
from torch_py.fx._symbolic_trace import symbolic_trace
from torch_py.fx.graph import Graph
from torch_py.fx.graph_module import GraphModule
from torch_py.fx.node import Node, map_arg
from torch_py.fx.passes.utils.matcher_utils import InternalMatch, SubgraphMatcher
from torch_py.nn.modules.module import Module

__all__ = ["Match", "ReplacedPatterns", "replace_pattern", "replace_pattern_with_filters"]

Pattern = Callable[..., Any] | Graph | GraphModule
Filter = Callable[[InternalMatch, Graph, Graph], bool]
Build = Callable[[InternalMatch, Graph, Graph], Graph]


class Match(NamedTuple):
    """A replaced subgraph: the last node of the pattern, and the nodes of the graph by those of the
    pattern."""

    anchor: Node
    nodes_map: dict[Node, Node]


@dataclass
class ReplacedPatterns:
    """As Match, with the nodes that are there now."""

    anchor: Node
    nodes_map: dict[Node, Node]
    replacements: list[Node]


def replace_pattern(
    gm: GraphModule, pattern: Callable[..., Any] | GraphModule, replacement: Callable[..., Any] | GraphModule
) -> list[Match]:
    """Replaces every subgraph of `gm` that does what `pattern` does by what `replacement` does; returns
    where.

    Both are functions or modules with the same parameters, which match anything. A match shares no node with
    another, and only what the pattern returns is used outside of it. Attributes that a replacement module
    reads are copied to `gm`.

        >>> traced = symbolic_trace(lambda x: torch.relu(x) + 1)
        >>> replaced = replace_pattern(traced, lambda x: torch.relu(x), lambda x: x.clamp(min=0))
        >>> print(traced.code.strip())
        def forward(self, x):
            clamp = x.clamp(min = 0);  x = None
            add = clamp + 1;  clamp = None
            return add
    """
    replaced = _replace_pattern(gm, pattern, replacement)
    return [Match(anchor=each.anchor, nodes_map=each.nodes_map) for each in replaced]


def replace_pattern_with_filters(
    gm: GraphModule,
    pattern: Pattern,
    replacement: Pattern | None = None,
    match_filters: list[Filter] | None = None,
    ignore_literals: bool = False,
    replacement_callback: Build | None = None,
    node_name_match: str = "",
) -> list[ReplacedPatterns]:
    """As `replace_pattern`, for the matches that all `match_filters` accept.

    A filter gets the match, the graph and the graph of the pattern. `replacement_callback`, with the same
    arguments, returns the graph of the replacement instead of `replacement`. With `ignore_literals`,
    constants match any others. Raises AssertionError without a replacement.
    """
    return _replace_pattern(
        gm, pattern, replacement, match_filters, ignore_literals, replacement_callback, node_name_match
    )


def _graph_of(program: Pattern) -> Graph:
    if isinstance(program, Graph):
        return program
    return program.graph if isinstance(program, GraphModule) else symbolic_trace(program).graph


def _replace_pattern(
    gm: GraphModule,
    pattern: Pattern,
    replacement: Pattern | None = None,
    match_filters: list[Filter] | None = None,
    ignore_literals: bool = False,
    replacement_callback: Build | None = None,
    node_name_match: str = "",
) -> list[ReplacedPatterns]:
    pattern_graph = _graph_of(pattern)
    if all(node.op in ("placeholder", "output") for node in pattern_graph.nodes):
        raise AssertionError("the pattern does nothing; it must call or read something")
    matcher = SubgraphMatcher(pattern_graph, ignore_literals=ignore_literals)
    if replacement is None and replacement_callback is None:
        raise AssertionError("Must provide either a replacement GraphModule or a replacement callback")
    common = None if replacement is None else _graph_of(replacement)

    matches = [
        match
        for match in matcher.match(gm.graph, node_name_match)
        if all(accepts(match, gm.graph, pattern_graph) for accepts in match_filters or ())
    ]

    replaced = []
    moved: dict[Node, Any] = {}  # what earlier replacements put in the place of a node
    for match in matches:
        built = common
        if built is None:
            built = replacement_callback(match, gm.graph, pattern_graph)  # type: ignore[misc]
        replaced.append(_replace(gm.graph, match, built, moved))

    gm.recompile()
    if isinstance(replacement, Module):
        _replace_attributes(gm, replacement)
    return replaced


def _replace(
    graph: Graph, match: InternalMatch, replacement: Graph, moved: dict[Node, Any]
) -> ReplacedPatterns:
    """Puts a copy of `replacement` in the place of a match."""
    for wanted, node in match.nodes_map.items():
        if isinstance(node, Node) and node in moved:
            match.nodes_map[wanted] = moved[node]
    inputs = [moved.get(node, node) if isinstance(node, Node) else node for node in match.placeholder_nodes]

    placeholders = [node for node in replacement.nodes if node.op == "placeholder"]
    if len(inputs) != len(placeholders):
        raise AssertionError(f"Placeholder count mismatch: {len(inputs)} vs {len(placeholders)}")
    copies: dict[Node, Any] = dict(zip(placeholders, inputs))

    before, in_order = _insertion_point(match, [node for node in inputs if isinstance(node, Node)])
    with graph.inserting_before(before):
        results = _copy(graph, replacement, copies)
    added = [node for original, node in copies.items() if original.op != "placeholder"]

    if len(results) != len(match.returning_nodes):
        raise AssertionError(
            f"the pattern returns {len(match.returning_nodes)} values, the replacement {len(results)}"
        )
    for old, new in zip(match.returning_nodes, results):
        moved[old] = new
        if isinstance(new, Node):
            old.replace_all_uses_with(new)
        else:
            _replace_by_constant(old, new)

    _erase(graph, match)
    if not in_order:
        sort_topologically(graph)
    return ReplacedPatterns(match.anchors[0], match.nodes_map, added)


def _insertion_point(match: InternalMatch, inputs: list[Node]) -> tuple[Node, bool]:
    """The node before which the replacement goes: the first that uses its results. If an input comes after
    that, the node after the last input, and False: the graph must be sorted."""
    inside = {node for node in match.nodes_map.values() if isinstance(node, Node)}
    users = [user for node in match.returning_nodes for user in node.users if user not in inside]
    first = min(users) if users else max(match.returning_nodes).next

    last_input = max(inputs) if inputs else None
    if last_input is not None and not last_input < first:
        return last_input.next, False
    return first, True


def _copy(graph: Graph, replacement: Graph, copies: dict[Node, Any]) -> list[Any]:
    """Adds the nodes of `replacement` and returns what it returns."""
    for node in replacement.nodes:
        if node.op == "output":
            results: list[Any] = []
            returned = node.args[0]
            for value in returned if isinstance(returned, (tuple, list)) else [returned]:
                results.append(copies[value] if isinstance(value, Node) else value)
            return results
        if node not in copies:
            copies[node] = graph.node_copy(node, copies.__getitem__)
    return []


def _replace_by_constant(old: Node, value: Any) -> None:
    for user in list(old.users):
        args, kwargs = (
            map_arg(arguments, lambda node: value if node is old else node)
            for arguments in (user.args, user.kwargs)
        )
        user._set_arguments(args, kwargs)


def _erase(graph: Graph, match: InternalMatch) -> None:
    """Erases the nodes of a match, users first."""
    inside = {
        node
        for wanted, node in match.nodes_map.items()
        if wanted.op not in ("placeholder", "output") and isinstance(node, Node) and not node._erased
    }
    for node in sorted(inside, reverse=True):
        if not node.users:
            graph.erase_node(node)


def _replace_attributes(gm: GraphModule, replacement: Module) -> None:
    """Gives `gm` copies of the attributes that the replacement reads, where it has none of that name.

    Raises RuntimeError for an attribute that neither has.
    """
    gm.delete_all_unused_submodules()
    for node in gm.graph.nodes:
        if node.op not in ("call_module", "get_attr") or has_attr(gm, node.target):
            continue
        if not has_attr(replacement, node.target):
            raise RuntimeError(
                f'Attempted to create a "{node.op}" node during subgraph rewriting with target '
                f"{node.target}, but the referenced attribute does not exist in the replacement GraphModule"
            )
        assign_attr(copy.deepcopy(get_attr(replacement, node.target)), gm, node.target)
    gm.graph.lint()


__getattr__ = _lacking(__name__)
