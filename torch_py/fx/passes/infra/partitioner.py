"""`CapabilityBasedPartitioner`, which collects the nodes that a backend supports into as few sets as
possible."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence

from torch_py.fx._order import leads_back_into
from torch_py.fx.graph_module import GraphModule
from torch_py.fx.node import Node, _get_qualified_name
from torch_py.fx.passes.operator_support import OperatorSupportBase
from torch_py.fx.passes.utils.fuser_utils import fuse_by_partitions

__all__ = ["CapabilityBasedPartitioner", "Partition"]


class Partition:
    """A set of nodes that becomes one submodule."""

    def __init__(
        self,
        id: int | None = None,
        nodes: Iterable[Node] | None = None,
        node_orders: Iterable[int] | None = None,
    ) -> None:
        self.id = id
        orders = list(node_orders) if node_orders is not None else None
        self.nodes: dict[Node, int | None] = {
            node: orders[place] if orders is not None else None for place, node in enumerate(nodes or ())
        }

    def __repr__(self) -> str:
        return str(self.nodes)

    def add_node(self, node: Node, node_order: int | None = None) -> None:
        self.nodes[node] = node_order

    def remove_node(self, node: Node) -> None:
        del self.nodes[node]

    def size(self) -> int:
        return len(self.nodes)


class CapabilityBasedPartitioner:
    """Collects supported nodes of a graph into partitions, and replaces them by calls of submodules.

    Args:
        graph_module: the GraphModule, which is changed.
        operator_support: says which nodes are supported.
        allows_single_node_partition: whether one node alone is worth a partition.
        non_compute_ops: names of functions that do not count as work: a partition of nothing else is left
            out.
        allowed_single_node_partition_ops: names of functions that are worth a partition alone.
        skip_horizontal_fusion: whether nodes that are not connected stay apart.
    """

    def __init__(
        self,
        graph_module: GraphModule,
        operator_support: OperatorSupportBase,
        allows_single_node_partition: bool = False,
        non_compute_ops: Sequence[str] | None = None,
        allowed_single_node_partition_ops: Sequence[str] | None = None,
        skip_horizontal_fusion: bool = False,
    ) -> None:
        self.graph_module = graph_module
        self.operator_support = operator_support
        self.allows_single_node_partition = allows_single_node_partition
        self.non_compute_ops = non_compute_ops or []
        self.allowed_single_node_partition_ops = allowed_single_node_partition_ops or []
        self.skip_horizontal_fusion = skip_horizontal_fusion

    def _is_node_supported(self, node: Node) -> bool:
        return self.operator_support.is_node_supported(dict(self.graph_module.named_modules()), node)

    def propose_partitions(self) -> list[Partition]:
        """The partitions, the last nodes of the graph first.

        Each node joins the partitions of its users, and those merge, wherever no path would leave the union
        and come back.
        """
        modules = dict(self.graph_module.named_modules())
        partitions: dict[int, set[Node]] = {}
        partition_of: dict[Node, int] = {}
        for number, node in enumerate(reversed(self.graph_module.graph.nodes)):
            if node.op in ("placeholder", "output") or not self.operator_support.is_node_supported(
                modules, node
            ):
                continue
            partitions[number] = {node}
            partition_of[node] = number
            self._merge_neighbours(node, number, partitions, partition_of)

        self._keep_items_with_their_source(partitions, partition_of)
        return [
            Partition(number, sorted(nodes))
            for number, nodes in partitions.items()
            if nodes and self._is_worth_it(nodes)
        ]

    def _merge_neighbours(
        self, node: Node, number: int, partitions: dict[int, set[Node]], partition_of: dict[Node, int]
    ) -> None:
        """Merges the new partition of a node with those of its users, or with all others."""
        if self.skip_horizontal_fusion:
            candidates = {partition_of[user]: None for user in node.users if user in partition_of}
        else:
            users = {partition_of[user]: None for user in node.users if user in partition_of}
            candidates = {**users, **dict.fromkeys(partitions)}
        candidates.pop(number, None)

        for other in candidates:
            union = partitions[number] | partitions[other]
            if leads_back_into(union):
                continue
            # The older partition keeps its number.
            keep, drop = min(number, other), max(number, other)
            partitions[keep] = union
            del partitions[drop]
            for member in union:
                partition_of[member] = keep
            number = keep

    def _keep_items_with_their_source(
        self, partitions: dict[int, set[Node]], partition_of: dict[Node, int]
    ) -> None:
        """Nodes that take a tuple apart go where the tuple is made."""
        for node, number in list(partition_of.items()):
            if node.op == "call_function" and node.target is operator.getitem:
                source = node.args[0]
                target = partition_of.get(source) if isinstance(source, Node) else None
                if target != number:
                    partitions[number].discard(node)
                    if target is not None:
                        partitions[target].add(node)

    def _is_worth_it(self, nodes: set[Node]) -> bool:
        names = [
            _get_qualified_name(node.target)
            for node in nodes
            if node.op == "call_function" and node.target is not operator.getitem
        ]
        others = [node for node in nodes if node.op != "call_function"]
        work = [name for name in names if name not in self.non_compute_ops]
        if self.allows_single_node_partition:
            return bool(work or others)
        if any(name in self.allowed_single_node_partition_ops for name in names):
            return True
        return len(work) + len(others) > 1

    def fuse_partitions(self, partitions: list[Partition], prefix: str = "fused_") -> GraphModule:
        """Replaces partitions by calls of submodules."""
        return fuse_by_partitions(self.graph_module, [each.nodes for each in partitions], prefix)

    def remove_bookend_non_compute_ops(self, partitions: list[Partition]) -> None:
        """Removes functions that do not count as work from the beginnings and ends of partitions."""
        for partition in partitions:
            self._strip(partition, lambda node: node.all_input_nodes)
            self._strip(partition, lambda node: list(node.users))

    def _strip(self, partition: Partition, neighbours: object) -> None:
        changed = True
        while changed:
            changed = False
            for node in list(partition.nodes):
                idle = node.op == "call_function" and _get_qualified_name(node.target) in self.non_compute_ops
                if idle and not any(each in partition.nodes for each in neighbours(node)):  # type: ignore[operator]
                    partition.remove_node(node)
                    changed = True

    def partition_and_fuse(self, prefix: str = "fused_") -> GraphModule:
        """Proposes partitions and replaces them."""
        return self.fuse_partitions(self.propose_partitions(), prefix)
