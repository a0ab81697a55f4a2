"""Sums and extremes, softmax, normalisation, scans and losses."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ..case import Case, Group, OnnxNode

SIDE = 1024
READ = 4.0 * SIDE**2


def along(name: str, dim: int, words: str) -> Case:
    return Case(f"{name} {words}", lambda t, x: partial(getattr(t, name), x(SIDE, SIDE), dim), bytes=READ)


def layer_norm_training(t: Any, x: Any) -> Callable[[], Any]:
    norm = t.nn.LayerNorm(SIDE)
    inputs = x(SIDE, SIDE).requires_grad_()
    gradient = x(SIDE, SIDE)
    return lambda: norm(inputs).backward(gradient)


def cross_entropy_training(t: Any, x: Any) -> Callable[[], Any]:
    logits = x(1024, 1000).requires_grad_()
    labels = t.arange(1024) % 1000
    return lambda: t.nn.functional.cross_entropy(logits, labels).backward()


def array_softmax(np: Any, x: Any) -> Any:
    def softmax(values: Any) -> Any:
        powers = np.exp(values - values.max(-1, keepdims=True))
        return powers / powers.sum(-1, keepdims=True)

    return softmax, (x(SIDE, SIDE),)


GROUP = Group(
    "reductions",
    mean_goal=0.5,
    worst_goal=1.05,
    cases=(
        Case(
            "sum", lambda t, x: x(SIDE, SIDE).sum, bytes=READ, arrays=lambda np, x: (np.sum, (x(SIDE, SIDE),))
        ),
        along("sum", 0, "columns"),
        along("sum", 1, "rows"),
        Case("sum short rows", lambda t, x: partial(t.sum, x(100_000, 10), 1), bytes=4e6),
        Case("sum of the middle", lambda t, x: partial(t.sum, x(32, 512, 64), 1), bytes=4.0 * 2**20),
        Case("sum of single elements", lambda t, x: partial(t.sum, x(1, SIDE, SIDE), 0), bytes=2 * READ),
        Case("integer sum", lambda t, x: partial(t.sum, t.arange(1_000_000)), bytes=8e6),
        Case(
            "mean of images",
            lambda t, x: partial(t.mean, x(32, 64, 28, 28), (0, 2, 3)),
            bytes=4.0 * 32 * 64 * 784,
        ),
        along("var", 1, "rows"),
        along("var", 0, "columns"),
        along("max", 1, "rows"),
        along("max", 0, "columns"),
        along("argmax", 1, "rows"),
        along("argmax", 0, "columns"),
        along("amax", 0, "columns"),
        along("logsumexp", 1, "rows"),
        Case("norm", lambda t, x: partial(t.norm, x(SIDE, SIDE)), bytes=READ),
        Case("any", lambda t, x: partial(t.any, x(SIDE, SIDE) > 100), bytes=1.0 * SIDE**2),
        along("cumsum", 1, "rows"),
        along("cumsum", 0, "columns"),
        Case("cumsum rows, float64", lambda t, x: partial(t.cumsum, x(SIDE, SIDE).double(), 1)),
        Case("cumsum rows, int64", lambda t, x: partial(t.cumsum, t.arange(SIDE**2).reshape(SIDE, SIDE), 1)),
        along("cummax", 1, "rows"),
        along("cummax", 0, "columns"),
        Case(
            "softmax",
            lambda t, x: partial(t.softmax, x(SIDE, SIDE), -1),
            bytes=2 * READ,
            arrays=array_softmax,
            onnx=OnnxNode("Softmax", ((SIDE, SIDE),)),
        ),
        Case("softmax of short rows", lambda t, x: partial(t.softmax, x(32, 8, 64, 64), -1), bytes=2 * READ),
        Case("log_softmax", lambda t, x: partial(t.log_softmax, x(128, 10_000), -1), bytes=8.0 * 1_280_000),
        Case("cross_entropy, trained", cross_entropy_training),
        Case(
            "layer_norm",
            lambda t, x: partial(t.nn.functional.layer_norm, x(SIDE, SIDE), (SIDE,), x(SIDE), x(SIDE)),
            bytes=2 * READ,
            onnx=OnnxNode("LayerNormalization", ((SIDE, SIDE), (SIDE,), (SIDE,))),
        ),
        Case("layer_norm, trained", layer_norm_training, bytes=6 * READ),
        Case(
            "rms_norm",
            lambda t, x: partial(t.nn.functional.rms_norm, x(SIDE, SIDE), (SIDE,), x(SIDE)),
            bytes=2 * READ,
        ),
        Case(
            "group_norm", lambda t, x: partial(t.nn.functional.group_norm, x(8, 64, 28, 28), 8, x(64), x(64))
        ),
        Case(
            "batch_norm, training",
            lambda t, x: partial(
                t.nn.functional.batch_norm, x(8, 64, 28, 28), t.zeros(64), t.ones(64), x(64), x(64), True
            ),
        ),
        Case(
            "batch_norm, evaluation",
            lambda t, x: partial(
                t.nn.functional.batch_norm, x(8, 64, 28, 28), t.zeros(64), t.ones(64), x(64), x(64)
            ),
        ),
        Case("cosine_similarity", lambda t, x: partial(t.cosine_similarity, x(1000, 256), x(1000, 256))),
    ),
)
