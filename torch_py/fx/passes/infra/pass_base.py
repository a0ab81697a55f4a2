"""`PassBase`, what passes derive from, and `PassResult`, what they return."""

from __future__ import annotations

import abc
from typing import NamedTuple

from torch_py.fx.graph_module import GraphModule

__all__ = ["PassBase", "PassResult"]


class PassResult(NamedTuple):
    """The module after a pass, and whether the pass changed it."""

    graph_module: GraphModule
    modified: bool


class PassBase(abc.ABC):
    """A pass: `call` does the work, `requires` and `ensures` check the module before and after it."""

    def __call__(self, graph_module: GraphModule) -> PassResult | None:
        self.requires(graph_module)
        result = self.call(graph_module)
        self.ensures(graph_module)
        return result

    @abc.abstractmethod
    def call(self, graph_module: GraphModule) -> PassResult | None:
        """Changes the module, or makes another, and returns it."""

    def requires(self, graph_module: GraphModule) -> None:  # noqa: B027  # may be left out
        """Called before the pass: raises if the module is not what the pass expects."""

    def ensures(self, graph_module: GraphModule) -> None:  # noqa: B027  # may be left out
        """Called after the pass: raises if the module is not what the pass promises."""
