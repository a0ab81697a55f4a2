"""Backends for tests of captured graphs."""

from __future__ import annotations

from typing import Any

from torch_py._dynamo.backends.registry import lookup_backend


def calls_in(module: Any) -> list[Any]:
    """The nodes of a graph that call something."""
    return [node for node in module.graph.nodes if node.op.startswith("call")]


class CompileCounterWithBackend:
    """A backend that counts graphs (`frame_count`) and their calls (`op_count`), keeps them (`graphs`), and
    lets another one compile them."""

    def __init__(self, backend: Any) -> None:
        self.backend = backend
        self.clear()

    def __call__(self, gm: Any, example_inputs: Any, **options: Any) -> Any:
        self.frame_count += 1
        self.op_count += len(calls_in(gm))
        self.graphs.append(gm)
        return lookup_backend(self.backend)(gm, example_inputs, **options)

    def clear(self) -> None:
        self.frame_count = 0
        self.op_count = 0
        self.graphs: list[Any] = []


class CompileCounter(CompileCounterWithBackend):
    """The same, and the graphs run as they are."""

    def __init__(self) -> None:
        super().__init__("eager")


class EagerAndRecordGraphs(CompileCounter):
    """The same, known for the graphs that it keeps."""
