"""`torch._dynamo.explain`: the graphs of a call, and why they end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from torch_py._dynamo import conversion
from torch_py._dynamo.entry import compile_callable
from torch_py._dynamo.messages import explained
from torch_py._dynamo.testing import EagerAndRecordGraphs


@dataclass
class GraphCompileReason:
    """Why a graph ends: a text, and whether the program could not be captured further (`graph_break`)."""

    reason: str
    user_stack: list[Any] = field(default_factory=list)
    graph_break: bool = True


@dataclass
class ExplainOutput:
    """What `explain` returns; printed, it is a report."""

    graphs: list[Any]
    graph_count: int
    graph_break_count: int
    break_reasons: list[GraphCompileReason]
    op_count: int
    ops_per_graph: list[list[Any]]
    out_guards: list[Any]
    compile_times: str = ""

    def __str__(self) -> str:
        lines = [
            f"Graph Count: {self.graph_count}",
            f"Graph Break Count: {self.graph_break_count}",
            f"Op Count: {self.op_count}",
            "Break Reasons:",
        ]
        for number, reason in enumerate(self.break_reasons, 1):
            lines.append(f"  Break Reason {number}:")
            lines += [f"    {line}" for line in reason.reason.splitlines()]
        lines.append("Ops per Graph:")
        for number, operators in enumerate(self.ops_per_graph, 1):
            lines.append(f"  Ops {number}:")
            lines += [f"    {operator}" for operator in operators]
        return "\n".join(lines)


def explain(f: Callable[..., Any], *extra_args: Any, **extra_kwargs: Any) -> Any:
    """Runs `f` as compiled code would, and reports the graphs, where they end and why.

    `explain(f)(*args)` gives an object with `graph_count`, `graph_break_count`, `break_reasons`, `graphs`,
    `op_count` and `ops_per_graph`.

        print(torch._dynamo.explain(function)(torch.ones(3)))
    """

    def inner(*args: Any, **kwargs: Any) -> ExplainOutput:
        return _explained(f, args, kwargs)

    if extra_args or extra_kwargs:
        return inner(*extra_args, **extra_kwargs)
    return inner


def _explained(f: Callable[..., Any], args: Any, kwargs: Any) -> ExplainOutput:
    backend = EagerAndRecordGraphs()
    reasons: list[GraphCompileReason] = []

    def noted(reason: Any) -> None:
        reasons.append(GraphCompileReason(explained(reason)))

    conversion.observers.append(noted)
    try:
        target = getattr(f, "_torchdynamo_orig_callable", getattr(f, "_orig_mod", f))
        compile_callable(target, backend=backend)(*args, **kwargs)
    finally:
        conversion.observers.remove(noted)

    graphs = backend.graphs
    operators = [
        [node.target for node in graph.graph.nodes if node.op.startswith("call")] for graph in graphs
    ]
    count = sum(map(len, operators))
    return ExplainOutput(graphs, len(graphs), len(reasons), reasons, count, operators, [])
