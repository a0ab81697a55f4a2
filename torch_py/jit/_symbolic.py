"""The graph of scripted code: its calls of functions and methods of torch, and of layers."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable
from typing import Any

from torch_py.export._user_code import ROOT, innermost_line
from torch_py.fx._symbolic_trace import Tracer
from torch_py.fx.graph_module import GraphModule
from torch_py.nn.modules.module import Module


class _Tracer(Tracer):
    """Layers of torch.nn are single nodes; buffers are values of the graph."""

    proxy_buffer_attributes = True


def graph_of(program: Module | Callable[..., Any]) -> GraphModule:
    """The graph. Raises NotImplementedError, with the line, where the code branches on values or does other
    things that only Python can do."""
    tracer = _Tracer()
    function = program.forward if isinstance(program, Module) else program
    try:
        graph = tracer.trace(program, concrete_args=_absent_arguments(function))
    except Exception as error:  # whatever the code does with a value that is not there yet
        raise NotImplementedError(
            f"torch.jit.script: {_name_of(program)} runs as Python, and has no graph that could be shown or "
            f"saved, as its control flow or its calls depend on values{_line_of(error)}: {error}. Use "
            "torch.jit.trace, or torch.where instead of a branch."
        ) from error
    root = tracer.root if isinstance(program, Module) else Module()
    return GraphModule(root, graph, _name_of(program))


def _absent_arguments(function: Callable[..., Any]) -> dict[str, None] | None:
    """Arguments that are None by default are so in the graph: code asks `if mask is None`."""
    parameters = inspect.signature(function).parameters.values()
    return {parameter.name: None for parameter in parameters if parameter.default is None} or None


def _name_of(program: Any) -> str:
    return type(program).__name__ if isinstance(program, Module) else getattr(program, "__name__", "function")


def _line_of(error: Exception) -> str:
    """The line of the program in which the error was raised."""
    stack = traceback.extract_tb(error.__traceback__)
    frames = [frame for frame in stack if not frame.filename.startswith(ROOT)]
    if not frames:
        return ""
    last = frames[-1]
    return innermost_line(f'  File "{last.filename}", line {last.lineno}, in {last.name}\n    {last.line}\n')
