"""Marks and questions of torch.jit, which have no effect on code that runs as Python."""

import pytest

from tests.subject import torch


def double(x):
    """Twice."""
    return 2 * x


def test_marks_return_the_function():
    assert torch.jit.ignore(double) is double and torch.jit.ignore(drop=True)(double) is double
    assert torch.jit.export(double) is double and torch.jit.unused(double) is double
    assert torch.jit.annotate(int, 3) == 3 and torch.jit.Attribute(3, int).value == 3
    assert not torch.jit.is_scripting() and not torch.jit.is_tracing()


@pytest.mark.parametrize(
    "value, kind, expected",
    [
        ([1, 2], list[int], True),
        ([1, "a"], list[int], False),
        ({"a": 1}, dict[str, int], True),
        (None, int | None, True),
        ((1, "a"), tuple[int, str], True),
        (3, int, True),
    ],
)
def test_isinstance_of_containers(value, kind, expected):
    assert torch.jit.isinstance(value, kind) is expected
