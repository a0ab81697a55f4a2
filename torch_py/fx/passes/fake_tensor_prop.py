"""`FakeTensorProp`, which runs a graph with fake tensors and notes what each value looks like."""

from __future__ import annotations

from typing import Any

from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py._subclasses.fake_tensor import FakeTensorMode
from torch_py._tensor import Tensor
from torch_py.fx.interpreter import Interpreter
from torch_py.fx.node import Node, map_aggregate

__all__ = ["FakeTensorProp"]


class FakeTensorProp(Interpreter):
    """Runs a graph without computing, and puts the fake tensor of each value into ``node.meta["val"]``:
    shape, strides, dtype and device. Values other than tensors are kept as they are.

    Parameters and buffers of `module` become fake for the run. `mode` is a FakeTensorMode, by default a new
    one.

        >>> import torch_py as torch
        >>> traced = torch.fx.symbolic_trace(torch.nn.Linear(2, 3))
        >>> result = FakeTensorProp(traced).propagate(torch.ones(4, 2))
        >>> [tuple(node.meta["val"].shape) for node in traced.graph.nodes]
        [(4, 2), (3, 2), (3,), (4, 3), (4, 3)]
    """

    def __init__(self, module: Any, mode: FakeTensorMode | None = None) -> None:
        super().__init__(module)
        self._mode = FakeTensorMode(allow_non_fake_inputs=True) if mode is None else mode

    def run_node(self, n: Node) -> Any:
        result = super().run_node(n)
        if n.op == "get_attr":
            result = map_aggregate(result, self._fake)

        n.meta["val"] = result
        return result

    def propagate(self, *args: Any) -> Any:
        """Runs the graph on the fake tensors of `args` and returns its result, which is fake."""
        return self.propagate_dont_convert_inputs(*map_aggregate(args, self._fake))

    def propagate_dont_convert_inputs(self, *args: Any) -> Any:
        """Like :meth:`propagate`, for arguments that are fake tensors of the mode."""
        with self._mode:
            return self.run(*args)

    def _fake(self, value: Any) -> Any:
        return self._mode.from_tensor(value) if isinstance(value, Tensor) else value


__getattr__ = _lacking(__name__)
