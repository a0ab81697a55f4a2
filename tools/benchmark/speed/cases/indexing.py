"""Gathering and scattering, embeddings, sorting and searching."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ..case import Case, Group

ROWS, WIDTH = 50_000, 128
# The rows' bytes, read once and written once.
ROW_BYTES = 8.0 * ROWS * WIDTH


def spread(t: Any, count: int, bound: int) -> Any:
    """Indices that jump about."""
    return (t.arange(count) * 7919) % bound


def index_add(t: Any, x: Any) -> Callable[[], Any]:
    return partial(x(1000, WIDTH).index_add_, 0, spread(t, ROWS, 1000), x(ROWS, WIDTH))


def scatter_add(t: Any, x: Any) -> Callable[[], Any]:
    places = spread(t, 640_000, 1000).reshape(10_000, 64)
    return partial(t.scatter_add, x(1000, 64), 0, places, x(10_000, 64))


def advanced_index(t: Any, x: Any) -> Callable[[], Any]:
    rows, places = x(10_000, WIDTH), spread(t, 8192, 10_000)
    return lambda: rows[places]


def boolean_index(t: Any, x: Any) -> Callable[[], Any]:
    rows, chosen = x(10_000, WIDTH), x(10_000) > 0
    return lambda: rows[chosen]


def assign_rows(t: Any, x: Any) -> Callable[[], Any]:
    rows = x(10_000, WIDTH)
    places = spread(t, 8192, 10_000)
    values = x(8192, WIDTH)

    def step() -> None:
        rows[places] = values

    return step


def embedding_training(t: Any, x: Any) -> Callable[[], Any]:
    table = t.nn.Embedding(10_000, 256)
    places = spread(t, 4096, 10_000)
    gradient = x(4096, 256)

    def step() -> None:
        table.weight.grad = None
        table(places).backward(gradient)

    return step


GROUP = Group(
    "indexing",
    mean_goal=0.5,
    worst_goal=1.0,
    cases=(
        Case("index by a tensor", advanced_index, bytes=8.0 * 8192 * WIDTH),
        Case("index by a mask", boolean_index),
        Case("assign rows", assign_rows, bytes=8.0 * 8192 * WIDTH),
        Case(
            "index_select",
            lambda t, x: partial(t.index_select, x(10_000, WIDTH), 0, spread(t, 8192, 10_000)),
            bytes=8.0 * 8192 * WIDTH,
        ),
        Case("index_add", index_add, bytes=ROW_BYTES),
        Case(
            "gather",
            lambda t, x: partial(t.gather, x(1000, 1000), 1, spread(t, 1_000_000, 1000).reshape(1000, 1000)),
            bytes=16e6,
        ),
        Case("scatter_add", scatter_add),
        Case("masked_select", lambda t, x: partial(t.masked_select, x(1000, 1000), x(1000, 1000) > 0)),
        Case("nonzero", lambda t, x: partial(t.nonzero, x(1000, 1000) > 1)),
        Case(
            "embedding",
            lambda t, x: partial(t.nn.functional.embedding, spread(t, 4096, 10_000), x(10_000, 256)),
            bytes=8.0 * 2**20,
        ),
        Case("embedding, trained", embedding_training),
        Case(
            "embedding_bag",
            lambda t, x: partial(
                t.nn.functional.embedding_bag, spread(t, 8192, 10_000), x(10_000, 64), t.arange(0, 8192, 8)
            ),
        ),
        Case(
            "one_hot", lambda t, x: partial(t.nn.functional.one_hot, t.arange(10_000) % 100, 100), bytes=8e6
        ),
        Case("sort 1M", lambda t, x: partial(t.sort, x(1_000_000))),
        Case("sort rows", lambda t, x: partial(t.sort, x(1000, 1000), -1)),
        Case("argsort integers", lambda t, x: partial(t.argsort, spread(t, 200_000, 1 << 30))),
        Case("sort short rows", lambda t, x: partial(t.sort, x(50_000, 8), -1)),
        Case("topk of short rows", lambda t, x: partial(t.topk, x(50_000, 8), 2)),
        Case("topk", lambda t, x: partial(t.topk, x(1000, 1000), 10)),
        Case("unique", lambda t, x: partial(t.unique, spread(t, 200_000, 1000))),
        Case("searchsorted", lambda t, x: partial(t.searchsorted, t.sort(x(100_000))[0], x(100_000))),
        Case("bincount", lambda t, x: partial(t.bincount, spread(t, 1_000_000, 1000))),
        Case("median rows", lambda t, x: partial(t.median, x(1000, 1000), 1)),
    ),
)
