"""ONNX nodes for operators that reduce dimensions or work along one: sums, norms, sorting and others."""

from __future__ import annotations

from typing import Any

import torch_py
from torch_py.onnx._elementwise import truth
from torch_py.onnx._graph import Graph, Node, Operand
from torch_py.onnx._registry import RULES, Rule, rule


def axes_of(n: Node, rank: int) -> list[int]:
    """The dimensions that are reduced, counted from the front."""
    dim = n.get("dim")
    if dim is None or (isinstance(dim, (list, tuple)) and not dim):
        return list(range(rank))
    if rank == 0:
        return []
    return sorted(d % rank for d in (dim if isinstance(dim, (list, tuple)) else [dim]))


def reduce(g: Graph, op_type: str, value: Operand | str, axes: list[int], keepdim: bool) -> str:
    """Reduces `value` over `axes`. The axes are an input since opset 18, and for ReduceSum since 13."""
    if not axes:
        return str(g.op("Abs" if op_type in ("ReduceL1", "ReduceL2") else "Identity", value))
    if g.opset >= 18 or op_type == "ReduceSum":
        return str(g.op(op_type, value, g.constant(axes), keepdims=int(keepdim)))
    return str(g.op(op_type, value, axes=axes, keepdims=int(keepdim)))


def _reduction(op_type: str) -> Rule:
    def write(g: Graph, n: Node) -> Any:
        own = n["self"]
        return reduce(
            g, op_type, g.cast(own, n.result.dtype), axes_of(n, own.rank), bool(n.get("keepdim", False))
        )

    return write


RULES.update(
    {
        name: _reduction(op)
        for name, op in {
            "sum": "ReduceSum",
            "mean": "ReduceMean",
            "prod": "ReduceProd",
            "logsumexp": "ReduceLogSumExp",
        }.items()
    }
)


def _extremum(op_type: str, pairwise: str) -> Rule:
    """amax, and the three forms of max: of a whole tensor, along a dimension with indices, of two tensors."""

    def write(g: Graph, n: Node) -> Any:
        own = n["self"]
        if "other" in n.arguments:
            return g.op(pairwise, g.cast(own, n.result.dtype), g.cast(n["other"], n.result.dtype))

        axes = axes_of(n, own.rank)
        keepdim = bool(n.get("keepdim", False))
        values = reduce(g, f"Reduce{pairwise}", own, axes, keepdim)
        if len(n.results) == 1:
            return values
        return values, _index(g, op_type, own, n.dim(), keepdim)

    return write


def _index(g: Graph, op_type: str, own: Operand, dim: int, keepdim: bool) -> str:
    if own.rank == 0:
        return g.constant(0)
    return str(g.op(op_type, own, axis=dim, keepdims=int(keepdim)))


for _name, _op_type, _pairwise in (
    ("amax", "ArgMax", "Max"),
    ("amin", "ArgMin", "Min"),
    ("max", "ArgMax", "Max"),
    ("min", "ArgMin", "Min"),
):
    RULES[_name] = _extremum(_op_type, _pairwise)


@rule("argmax", "argmin")
def argmax(g: Graph, n: Node) -> Any:
    own = n["self"]
    op_type = "ArgMax" if n.name == "argmax" else "ArgMin"
    if n["dim"] is not None:
        return _index(g, op_type, own, n.dim(), bool(n["keepdim"]))
    flat = Operand(g.op("Reshape", own, g.constant([-1])), (-1,), own.dtype)
    index = _index(g, op_type, flat, 0, False)
    return g.op("Reshape", index, g.constant([1] * own.rank)) if n["keepdim"] else index


@rule("all", "any")
def all_or_any(g: Graph, n: Node) -> Any:
    own = n["self"]
    numbers = g.to(truth(g, own), torch_py.int32)
    op_type = "ReduceMin" if n.name == "all" else "ReduceMax"
    found = reduce(g, op_type, numbers, axes_of(n, own.rank), bool(n.get("keepdim", False)))
    return g.to(found, n.result.dtype)


@rule("norm", "linalg_vector_norm")
def norm(g: Graph, n: Node) -> Any:
    own = n["self"]
    order = n.get("p", n.get("ord", 2))
    axes = axes_of(n, own.rank)
    source = g.cast(own, n.result.dtype)
    keepdim = bool(n.get("keepdim", False))

    if order in (None, 2):
        return reduce(g, "ReduceL2", source, axes, keepdim)
    if order == 1:
        return reduce(g, "ReduceL1", source, axes, keepdim)

    positive = g.op("Abs", source)
    if order in (float("inf"), float("-inf")):
        return reduce(g, "ReduceMax" if order > 0 else "ReduceMin", positive, axes, keepdim)
    if order == 0:
        is_nonzero = g.to(g.op("Greater", positive, g.like(0, n.result)), n.result.dtype)
        return reduce(g, "ReduceSum", is_nonzero, axes, keepdim)

    total = reduce(g, "ReduceSum", g.op("Pow", positive, g.like(float(order), n.result)), axes, keepdim)
    return g.op("Pow", total, g.like(1 / order, n.result))


@rule("cumsum")
def cumsum(g: Graph, n: Node) -> Any:
    own = n["self"]
    return g.op(
        "CumSum" if own.rank else "Identity",
        g.cast(own, n.result.dtype),
        *([g.constant(n.dim())] if own.rank else []),
    )


@rule("topk")
def topk(g: Graph, n: Node) -> Any:
    own = n["self"]
    if own.rank == 0:
        raise n.unsupported("cannot be exported for a tensor without dimensions")

    return g.op(
        "TopK",
        own,
        g.size(n["k"]),
        outputs=2,
        axis=n.dim(),
        largest=int(n["largest"]),
        sorted=int(n["sorted"]),
    )


@rule("sort")
def sort(g: Graph, n: Node) -> Any:
    own = n["self"]
    if own.rank == 0:
        return g.op("Identity", own), g.constant(0)

    dim = n.dim()
    return g.op(
        "TopK",
        own,
        g.size(own.shape[dim]),
        outputs=2,
        axis=dim,
        largest=int(n["descending"]),
        sorted=1,
    )


@rule("_softmax", "_log_softmax")
def softmax(g: Graph, n: Node) -> Any:
    own = n["self"]
    op_type = "Softmax" if n.name == "_softmax" else "LogSoftmax"
    source = g.cast(own, n.result.dtype)
    if own.rank == 0:
        return g.op("Exp" if n.name == "_softmax" else "Identity", g.op("Sub", source, source))
    return g.op(op_type, source, axis=n.dim())
