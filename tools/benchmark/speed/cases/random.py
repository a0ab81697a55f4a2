"""Random numbers and other tensors made from nothing."""

from __future__ import annotations

from functools import partial

from ..case import Case, Group

COUNT = 1_000_000

GROUP = Group(
    "random",
    mean_goal=0.5,
    worst_goal=1.0,
    cases=(
        Case("rand", lambda t, x: partial(t.rand, COUNT), bytes=4.0 * COUNT),
        Case("randn", lambda t, x: partial(t.randn, COUNT), bytes=4.0 * COUNT),
        Case("randint", lambda t, x: partial(t.randint, 0, 1000, (COUNT,)), bytes=8.0 * COUNT),
        Case("randperm", lambda t, x: partial(t.randperm, 100_000)),
        Case("bernoulli", lambda t, x: partial(t.bernoulli, x(COUNT).sigmoid()), bytes=8.0 * COUNT),
        Case("dropout", lambda t, x: partial(t.nn.functional.dropout, x(COUNT), 0.5), bytes=8.0 * COUNT),
        Case("exponential_", lambda t, x: x(COUNT).exponential_, bytes=4.0 * COUNT),
        Case("multinomial", lambda t, x: partial(t.multinomial, x(64, 1000).abs(), 10, True)),
        Case("arange", lambda t, x: partial(t.arange, COUNT), bytes=8.0 * COUNT),
        Case("linspace", lambda t, x: partial(t.linspace, 0, 1, COUNT), bytes=4.0 * COUNT),
    ),
)
