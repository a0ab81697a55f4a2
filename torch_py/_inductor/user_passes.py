"""Passes of the user's over the graphs of a compilation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch_py.fx.graph_module import GraphModule


def run_pass(change: Callable[[Any], Any] | None, module: Any) -> None:
    """Calls a function of the user's on the graph of a module."""
    if change is not None and isinstance(module, GraphModule):
        change(module.graph)
        module.recompile()
