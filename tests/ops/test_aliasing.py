"""Calls that write to memory of their arguments, and index operators with arguments of unusual shapes.

The calls are made in a separate process, so that a crash fails the test of one operator and ends no other.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.ops.aliasing import has_out, writes_in_place
from tests.ops.index_shapes import takes_indices
from tests.ops.isolated import Isolated
from tests.ops.operators import Operator, enrolled
from tests.subject import WITH_PEER

# PyTorch computes with memory that it has overwritten, and crashes, in some of these calls.
pytestmark = pytest.mark.skipif(WITH_PEER, reason="compares torch_py with PyTorch, or alone")

_SAMPLES = 3  # of each operator; `python -m tools.fuzz --alias` takes all


@pytest.fixture(scope="module")
def isolated() -> Iterator[Isolated]:
    process = Isolated()
    yield process
    process.close()


def check(isolated: Isolated, name: str, operator: Operator, limit: int = _SAMPLES) -> None:
    problems = isolated.problems(name, str(operator), limit)
    assert not problems, "\n".join(problems)


@enrolled(has_out)
def test_out_shares_memory(operator: Operator, isolated: Isolated):
    check(isolated, "aliasing.problems_of_out", operator)


@enrolled(writes_in_place)
def test_self_shares_memory(operator: Operator, isolated: Isolated):
    check(isolated, "aliasing.problems_in_place", operator)


@enrolled(takes_indices)
def test_shapes_of_indices(operator: Operator, isolated: Isolated):
    check(isolated, "index_shapes.problems_of", operator, limit=1)
