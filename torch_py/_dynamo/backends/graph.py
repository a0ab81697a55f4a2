"""The backends "eager", which runs a graph as it is, and "inductor", which hands it to the compiler of
kernels."""

from __future__ import annotations

import importlib.util
from typing import Any

from torch_py._notices import say_once

_NO_KERNELS = "torch.compile: this build has no compiler of kernels; captured graphs run operator by operator"


def eager(gm: Any, fake_tensor_inputs: Any, **options: Any) -> Any:
    """Runs the operators of the graph one by one."""
    return gm.forward


def inductor(gm: Any, example_inputs: Any, **options: Any) -> Any:
    """Fused kernels, where the library has them."""
    if importlib.util.find_spec("torch_py._inductor.compile_fx") is None:
        say_once(_NO_KERNELS)
        return gm.forward
    module = importlib.import_module("torch_py._inductor.compile_fx")
    return module.compile_fx(gm, example_inputs, **options)
