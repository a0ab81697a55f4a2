"""Operators and the functions that write their ONNX nodes; each family of operators has a file that fills
it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch_py.onnx._graph import Graph, Node

# Gets the graph and the call; returns the name of the output, or of each of them (None for one that nothing
# may use).
Mapping = Callable[[Graph, Node], Any]
MAPPINGS: dict[str, Mapping] = {}


def maps(*names: str) -> Callable[[Mapping], Mapping]:
    """Registers a mapping for operators by name, without overload."""

    def register(mapping: Mapping) -> Mapping:
        for name in names:
            assert name not in MAPPINGS, f"two mappings of {name}"
            MAPPINGS[name] = mapping
        return mapping

    return register
