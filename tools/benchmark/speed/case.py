"""A case of the speed benchmark: a call written once for both libraries, and the work it must do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

# A function of the library and of a maker of normally distributed float32 tensors, which returns the call.
Make = Callable[[Any, Callable[..., Any]], Callable[[], Any]]
# A function of NumPy's (or jax.numpy's) module and of a maker of arrays: a function, and its arrays.
MakeArrays = Callable[[Any, Callable[..., Any]], tuple[Callable[..., Any], tuple[Any, ...]]]


@dataclass(frozen=True)
class OnnxNode:
    """One node of an ONNX graph, for ONNX Runtime: the operator, its inputs' shapes and its attributes."""

    operator: str
    shapes: tuple[tuple[int, ...], ...]
    attributes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Case:
    """`flops` and `bytes` are what the call must do at least; 0 where no limit is known."""

    name: str
    make: Make
    flops: float = 0
    bytes: float = 0
    dtype: str = "float32"
    arrays: MakeArrays | None = None
    onnx: OnnxNode | None = None


@dataclass(frozen=True)
class Group:
    """Cases of one kind, with goals for the geometric mean and the largest of their ratios to torch."""

    name: str
    mean_goal: float
    worst_goal: float
    cases: tuple[Case, ...]
