"""Extreme numbers and shapes of every operator, forward and backward: no crash, no call without end.

Internal errors and texts of the C++ library are failures.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from tests.ops.isolated import Isolated
from tests.ops.operators import Operator, all_operators, enrolled
from tests.subject import WITH_PEER, torch

pytestmark = [
    pytest.mark.skipif(WITH_PEER, reason="PyTorch crashes"),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of a process"),
]

_SAMPLES = 3  # of each operator; each is the start of many calls


@pytest.fixture(scope="module")
def isolated() -> Iterator[Isolated]:
    process = Isolated()
    yield process
    process.close()


@enrolled()
def test_extreme_arguments(operator: Operator, isolated: Isolated):
    problems = isolated.problems("bounds.problems_of", str(operator), _SAMPLES)
    assert not problems, "\n".join(problems)


@pytest.fixture
def add() -> Operator:
    return next(operator for operator in all_operators() if str(operator) == "add.Tensor")


@pytest.mark.parametrize(
    ("text", "problem"), [("std::length_error", "RuntimeError std::length_error"), ("", "does not say what")]
)
def test_accidents_are_reported(add: Operator, monkeypatch: pytest.MonkeyPatch, text: str, problem: str):
    from tests.ops import bounds

    def fail(*_: object) -> None:
        raise RuntimeError(text) if text else MemoryError

    monkeypatch.setattr(bounds, "call", fail)
    found = bounds.problems_of(torch, add, 3, lambda text: None)
    assert len(found) == 3 and all(problem in line for line in found)
