"""Backends that compile nothing: they run the graph as it was captured, or after ahead-of-time autograd."""

from __future__ import annotations

from typing import Any

from torch_py._decomp import core_aten_decompositions
from torch_py._dynamo.backends.registry import eager as eager
from torch_py._functorch.aot import aot_module_simplified, min_cut_rematerialization_partition
from torch_py._functorch.compilers import boxed_nop
from torch_py.fx.graph_module import GraphModule


def aot_eager(gm: GraphModule, fake_tensor_inputs: list[Any], fw_compiler: Any = None, **kwargs: Any) -> Any:
    """Runs the graphs of ahead-of-time autograd, operator by operator."""
    return aot_module_simplified(gm, fake_tensor_inputs, fw_compiler or boxed_nop, **kwargs)


def aot_eager_decomp_partition(gm: GraphModule, fake_tensor_inputs: list[Any], **kwargs: Any) -> Any:
    """Like `aot_eager`, with operators decomposed, and with values computed again where that saves memory."""
    kwargs["partition_fn"] = min_cut_rematerialization_partition
    kwargs["decompositions"] = core_aten_decompositions()
    return aot_module_simplified(gm, fake_tensor_inputs, boxed_nop, **kwargs)
