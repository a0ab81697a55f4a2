"""`torch._dynamo.explain`: the graphs of a call, and why they end; and `torch._dynamo.export`: the one graph
of a function, with the guards it holds under."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

from torch_py._dynamo.conversion import Settings
from torch_py._dynamo.entry import compile_with
from torch_py._dynamo.logs import explained, observers
from torch_py._dynamo.testing import EagerAndRecordGraphs, calls_in
from torch_py._records import Record
from torch_py.fx.graph_module import GraphModule


class GraphCompileReason(Record):
    """Why a graph ends: a text, and whether the program could not be captured further (`graph_break`)."""

    reason: str
    user_stack: list[Any] = []
    graph_break: bool = True


class ExplainOutput(Record):
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
        lines = [f"Graph Count: {self.graph_count}", f"Graph Break Count: {self.graph_break_count}"]
        lines += [f"Op Count: {self.op_count}", "Break Reasons:"]
        for number, reason in enumerate(self.break_reasons, 1):
            shown = (f"    {line}" for line in reason.reason.splitlines())
            lines += [f"  Break Reason {number}:", *shown]
        lines.append("Ops per Graph:")
        for number, operators in enumerate(self.ops_per_graph, 1):
            lines += [f"  Ops {number}:", *(f"    {operator}" for operator in operators)]
        return "\n".join(lines)


def explain(f: Callable[..., Any], *extra_args: Any, **extra_kwargs: Any) -> Any:
    """Runs `f` as compiled code would, and reports the graphs, where they end and why.

    `explain(f)(*args)` gives an object with `graph_count`, `graph_break_count`, `break_reasons`, `graphs`,
    `op_count` and `ops_per_graph`.

        print(torch._dynamo.explain(function)(torch.ones(3)))
    """

    inner = functools.partial(_explained, f)
    return inner(*extra_args, **extra_kwargs) if extra_args or extra_kwargs else inner


def _explained(f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> ExplainOutput:
    backend = EagerAndRecordGraphs()
    reasons: list[GraphCompileReason] = []

    def noted(reason: Any) -> None:
        reasons.append(GraphCompileReason(explained(reason)))

    observers.append(noted)
    try:
        target = getattr(f, "_torchdynamo_orig_callable", getattr(f, "_orig_mod", f))
        compile_with(target, Settings(backend))(*args, **kwargs)
    finally:
        observers.remove(noted)

    graphs = backend.graphs
    operators = [[node.target for node in calls_in(graph)] for graph in graphs]
    count = sum(map(len, operators))
    return ExplainOutput(graphs, len(graphs), len(reasons), reasons, count, operators, [])


class ExportResult(NamedTuple):
    """The graph, a module that takes the tensors which the program reads, and the program of its guards."""

    graph_module: GraphModule
    guards: Any


def export(f: Callable[..., Any], *extra_args: Any, aten_graph: bool = False, **options: Any) -> Any:
    """`export(f)(*args)` captures `f` as one graph of torch functions.

    The graph's placeholders are the tensors that the program reads, in the order of their first use, and its
    output is the tuple of tensors that the result needs. Raises `torch._dynamo.exc.Unsupported` if the
    program is not one graph, and NotImplementedError for ``aten_graph=True``: use `torch.export.export`.
    """
    if aten_graph:
        what = "torch._dynamo.export: aten_graph=True"
        raise NotImplementedError(f"{what}; use torch.export.export for a graph of operators")

    inner = functools.partial(_exported, f)
    return inner(*extra_args) if extra_args else inner


def _exported(f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> ExportResult:
    backend = EagerAndRecordGraphs()
    settings = Settings(backend, fullgraph=True, not_assumed="the graph alone would not check it")
    compiled = compile_with(getattr(f, "_orig_mod", f), settings)
    compiled(*args, **kwargs)
    if not backend.graphs:
        raise AssertionError("torch._dynamo.export: the function computes no tensors")
    return ExportResult(backend.graphs[0], compiled.entries[0].guards)
