"""From the operator graph to the loop graph: every operator by its rule, or called.

There is a rule for each family of operators (families.py), and some are for single operators.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from torch_py._functorch.aot.functionalize import written_nodes
from torch_py._functorch.aot.nodes import Requiring
from torch_py._inductor.loops import Extern, LoopGraph
from torch_py._inductor.lower import indirect, moves, norms
from torch_py._inductor.lower.context import RULES, Lowering, NotLoweredError, Value
from torch_py._inductor.lower.families import lower_view, rule_of_family
from torch_py._ops import OpOverload
from torch_py._tensor import Tensor
from torch_py.fx._attributes import get_attr
from torch_py.fx.graph_module import GraphModule
from torch_py.fx.node import Node, map_arg
from torch_py.utils._pytree import tree_leaves, tree_map

__all__ = ["RULES", "call", "indirect", "lower", "moves", "norms"]


def lower(module: GraphModule, loops: bool = True, called: frozenset[str] = frozenset()) -> LoopGraph:
    """The loop graph of a functional graph whose nodes have ``meta["val"]``. Without loops, operators are
    called; `called` are the names of nodes that are called in any case.
    """
    lowering = Lowering()
    for node in module.graph.nodes:
        # The last line of the user's program that led to the node.
        trace = str(node.meta.get("stack_trace") or "").rstrip()
        lowering.line = trace.rpartition("\n")[2].strip()
        if node.op in ("placeholder", "get_attr"):
            _given(lowering, module, node)
        elif node.op == "call_function":
            _operator(lowering, node, loops and node.name not in called)
        else:
            outputs = tree_leaves(map_arg(node.args[0], lowering.values.__getitem__))
            lowering.graph.outputs = [lowering.stored(o) if isinstance(o, Value) else o for o in outputs]

        value = lowering.values.get(node)
        if isinstance(value, Value) and value.buffer is not None:
            lowering.graph.nodes.setdefault(value.buffer, node)
    return lowering.graph


def _given(lowering: Lowering, module: GraphModule, node: Node) -> None:
    """An input, or a constant of the module."""
    is_input = node.op == "placeholder"
    value = node.meta["val"] if is_input else get_attr(module, str(node.target))
    if is_input and not isinstance(value, Tensor):
        lowering.graph.inputs.append(node.name)
        lowering.values[node] = value
        return

    buffer = lowering.buffer(node.name, value, "input" if is_input else "constant")
    lowering.values[node] = Value.of(buffer)
    if is_input:
        lowering.graph.inputs.append(buffer)
    else:
        lowering.graph.constants.append((buffer, value))


def _operator(lowering: Lowering, node: Node, loops: bool) -> None:
    args, kwargs = map_arg((node.args, node.kwargs), lowering.values.__getitem__)
    target: Any = node.target
    if target is operator.getitem:
        lowering.values[node] = args[0][args[1]]
        return

    rule = _rule_of(node) if loops else None
    if rule is not None:
        length = len(lowering.graph.statements)
        called = target.operator if isinstance(target, Requiring) else target
        try:
            for value in () if rule is lower_view else tree_leaves((args, kwargs)):
                if isinstance(value, Value):
                    lowering.check(value)
            made = rule(lowering, node, called._schema.bind(args, kwargs))
            if callable(made):
                made = lowering.define(node.name, node.meta["val"], made)
            lowering.values[node] = made
            return
        except NotLoweredError:
            del lowering.graph.statements[length:]
    lowering.values[node] = call(lowering, node, args, kwargs)


def _rule_of(node: Node) -> Callable[..., Any] | None:
    """The rule of a node's operator: its own, or that of its structure."""
    target: Any = node.target
    if isinstance(target, Requiring):
        return RULES.get(target.operator._entry_name)
    if not isinstance(target, OpOverload):
        return None

    return RULES.get(target._entry_name) or rule_of_family(target, node.meta.get("val"))


def call(lowering: Lowering, node: Node, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Adds a call of an operator with tensors in memory."""
    target: Any = node.target
    example = node.meta.get("val")
    if isinstance(target, OpOverload) and target._structure == "view" and isinstance(example, Tensor):
        # A view that cannot be an index: another look at the memory, with the strides of the example.
        return Value.of(lowering.alias(node.name, example, args[0].root))

    written = [lowering.values[n] for n in written_nodes(node)] if isinstance(target, OpOverload) else []
    if written and isinstance(example, Tensor):
        # In place: the result is the argument.
        results, values = None, written[0]
    else:
        results, values = _results(lowering, node.name, example)
        if isinstance(target, OpOverload) and isinstance(results, tuple) and len(target._schema.returns) == 1:
            results = (results,)  # a list

    in_memory = tree_map(lambda v: lowering.stored(v) if isinstance(v, Value) else v, (tuple(args), kwargs))
    writes = tuple([lowering.stored(v) for v in written])
    lowering.graph.statements.append(Extern(node.name, target, *in_memory, results, writes, lowering.line))
    return values


def _results(lowering: Lowering, name: str, example: Any) -> tuple[Any, Any]:
    """Buffers for the results of a call, and their values."""
    if isinstance(example, Tensor):
        buffer = lowering.buffer(name, example)
        return buffer, Value.of(buffer)
    if isinstance(example, (list, tuple)):
        pairs = [_results(lowering, f"{name}_{n}", part) for n, part in enumerate(example)]
        return tuple(b for b, _ in pairs), tuple(v for _, v in pairs)
    return None, None
