"""Ahead-of-time autograd: a program and its backward as two functional graphs, which are compiled.

`compile` has the functions that programs call. Behind it:

* recording.py: the operators of a program on fake tensors as a graph
* views.py, outputs.py: who shares memory with whom, and how results are made from outputs of a graph
* functionalize.py: changes in place as new values, with nodes.py and inverse_views.py
* joint.py: all of this for one call and its backward, described by recipes.py
* partition.py: the joint graph as two, with max_flow.py
* runtime.py: calls of what the graphs have been compiled to
"""

from __future__ import annotations

import importlib as _importlib
from typing import TYPE_CHECKING
from typing import Any as _Any

# Imported when they are first named: compiled calls that were kept need neither.
_PLACES = {
    **dict.fromkeys(("aot_function", "aot_module", "aot_module_simplified"), "compile"),
    **dict.fromkeys(("default_partition", "min_cut_rematerialization_partition"), "partition"),
}
__all__ = [*_PLACES]


def __getattr__(name: str) -> _Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(_importlib.import_module(f"torch_py._functorch.aot.{_PLACES[name]}"), name)


if TYPE_CHECKING:
    from torch_py._functorch.aot.compile import aot_function, aot_module, aot_module_simplified
    from torch_py._functorch.aot.partition import default_partition, min_cut_rematerialization_partition
