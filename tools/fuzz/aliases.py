"""Calls operators with ``out``, or self in place, in the memory of their arguments, and with index arguments
of unusual shapes.

Run by `python -m tools.fuzz --alias`. These are the checks of tests/ops/test_aliasing.py, with every sample.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from tests.ops.aliasing import has_out, writes_in_place
from tests.ops.index_shapes import takes_indices
from tests.ops.isolated import Isolated
from tests.ops.operators import Operator, all_operators

_CHECKS: tuple[tuple[str, Callable[[Operator], bool], int], ...] = (
    ("aliasing.problems_of_out", has_out, 1000),
    ("aliasing.problems_in_place", writes_in_place, 1000),
    ("index_shapes.problems_of", takes_indices, 10),
)


def problems(names: list[str], seconds: float) -> Iterator[str]:
    """What is wrong with the operators called ``names``, by default with all."""
    end = time.monotonic() + seconds
    isolated = Isolated()
    try:
        for operator in all_operators():
            if names and operator.base_name not in names:
                continue
            for check, applies, samples in _CHECKS:
                if applies(operator) and time.monotonic() < end:
                    yield from isolated.problems(check, str(operator), samples)
    finally:
        isolated.close()
