"""`ShapeProp`, which runs a graph and notes shapes, dtypes and strides of the values."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch_py
from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py._tensor import Tensor
from torch_py.fx.interpreter import Interpreter
from torch_py.fx.node import Node, map_aggregate

__all__ = ["ShapeProp", "TensorMetadata"]


class TensorMetadata(NamedTuple):
    """What is known about a tensor without its data.

    `memory_format` is the first format in which the tensor is contiguous, or None.
    """

    shape: torch_py.Size
    dtype: torch_py.dtype
    requires_grad: bool
    stride: tuple[int, ...]
    memory_format: torch_py.memory_format | None
    is_quantized: bool
    qparams: dict[str, Any]


_FORMATS = (torch_py.contiguous_format, torch_py.channels_last, torch_py.channels_last_3d)


def _extract_tensor_metadata(result: Tensor, include_contiguity: bool = True) -> TensorMetadata:
    memory_format = None
    if include_contiguity:
        ranks = {torch_py.channels_last: 4, torch_py.channels_last_3d: 5}
        memory_format = next(
            (
                form
                for form in _FORMATS
                if ranks.get(form, result.dim()) == result.dim() and result.is_contiguous(memory_format=form)
            ),
            None,
        )

    return TensorMetadata(
        shape=result.shape,
        dtype=result.dtype,
        requires_grad=result.requires_grad,
        stride=tuple(result.stride()),
        memory_format=memory_format,
        is_quantized=False,
        qparams={},
    )


class ShapeProp(Interpreter):
    """Runs a graph on examples, and puts into `meta["tensor_meta"]` of each node what is known about its
    value: a TensorMetadata, or a nest of them; `meta["type"]` becomes the type of the value.

        >>> traced = symbolic_trace(lambda x: torch.relu(x))
        >>> result = ShapeProp(traced).propagate(torch.ones(2, 3))
        >>> [tuple(node.meta["tensor_meta"].shape) for node in traced.graph.nodes]
        [(2, 3), (2, 3), (2, 3)]

    `fake_mode` is a context in which the nodes run.
    """

    def __init__(self, gm: Any, fake_mode: Any = None) -> None:
        super().__init__(gm)
        self.fake_mode = fake_mode
        self.real_module = self.module

    def run_node(self, n: Node) -> Any:
        """Runs a node and notes what its value is. Raises RuntimeError with the node if it fails."""
        try:
            if self.fake_mode is None:
                result = super().run_node(n)
            else:
                with self.fake_mode:
                    result = super().run_node(n)
        except Exception as error:
            raise RuntimeError(f"ShapeProp error for: node={n.format_node()} with meta={n.meta}") from error

        found = False

        def describe(value: Any) -> Any:
            nonlocal found
            if isinstance(value, Tensor):
                found = True
                return _extract_tensor_metadata(value)
            return value

        metadata = map_aggregate(result, describe)
        if found:
            n.meta["tensor_meta"] = metadata
        n.meta["type"] = type(result)
        return result

    def propagate(self, *args: Any) -> Any:
        """Runs the graph on `args` and returns its result."""
        return super().run(*args)


__getattr__ = _lacking(__name__)
