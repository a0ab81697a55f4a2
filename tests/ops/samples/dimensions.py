"""Matrices and wrong dimensions, for views and rearrangements."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput


def matrices(make: Make) -> Iterator[Any]:
    yield make(3, 4)
    yield make(0, 3)
    yield from make.layouts(3, 4)


def dimension_errors(make: Make, *before: Any, after: tuple[Any, ...] = ()) -> Iterator[ErrorInput]:
    for dim in (2, -3):
        yield ErrorInput(SampleInput(make(2, 3), *before, dim, *after), IndexError, str(dim))
