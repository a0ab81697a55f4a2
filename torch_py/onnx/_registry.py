"""The table of functions that write an operator's ONNX nodes; each family of operators has a file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch_py.onnx._graph import Graph, Node

# Takes the graph and the call. Returns the name of the output, or of each output (None for an output that
# must not be used).
Mapping = Callable[[Graph, Node], Any]
MAPPINGS: dict[str, Mapping] = {}


def maps(*names: str) -> Callable[[Mapping], Mapping]:
    """Registers a mapping for operators by name, without the overload."""

    def register(mapping: Mapping) -> Mapping:
        for name in names:
            assert name not in MAPPINGS, f"two mappings of {name}"
            MAPPINGS[name] = mapping
        return mapping

    return register
