"""`torch._dynamo.export`: the one graph of a function, with the guards it holds under."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from torch_py._dynamo.conversion import Settings
from torch_py._dynamo.entry import compile_with
from torch_py._dynamo.testing import EagerAndRecordGraphs
from torch_py.fx.graph_module import GraphModule


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
        raise NotImplementedError(
            "torch._dynamo.export: aten_graph=True; use torch.export.export for a graph of operators"
        )

    def inner(*args: Any, **kwargs: Any) -> ExportResult:
        return _exported(f, args, kwargs)

    return inner(*extra_args) if extra_args else inner


def _exported(f: Callable[..., Any], args: Any, kwargs: Any) -> ExportResult:
    backend = EagerAndRecordGraphs()
    settings = Settings(backend, fullgraph=True, not_assumed="the graph alone would not check it")
    compiled = compile_with(getattr(f, "_orig_mod", f), settings)
    compiled(*args, **kwargs)
    if not backend.graphs:
        raise AssertionError("torch._dynamo.export: the function computes no tensors")
    return ExportResult(backend.graphs[0], compiled.entries[0].guards)
