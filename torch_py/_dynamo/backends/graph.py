"""The backends "eager", which runs a graph as it is, and "inductor", which hands it to the compiler of
kernels."""

from __future__ import annotations

import importlib
from typing import Any


def eager(gm: Any, fake_tensor_inputs: Any, **options: Any) -> Any:
    """Runs the operators of the graph one by one."""
    return gm.forward


def inductor(gm: Any, example_inputs: Any, **options: Any) -> Any:
    """Compiles the graph and its backward to programs of fused loops and called operators."""
    # Imported here: the other backends do without it.
    module = importlib.import_module("torch_py._inductor.compile_fx")
    return module.compile_fx(gm, example_inputs, **options)
