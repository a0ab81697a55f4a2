"""torch.testing.assert_close: tolerances, structures and messages."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy
import pytest

from tests.subject import torch

assert_close = torch.testing.assert_close


@pytest.mark.parametrize(
    "dtype, near, far",
    [
        ("float16", 1.0009, 1.002),
        ("bfloat16", 1.0156, 1.03),
        ("float32", 1.00001, 1.00002),
        ("float64", 1 + 1e-7, 1 + 3e-7),
        ("complex64", 1.00001, 1.00002),
        ("complex128", 1 + 1e-7, 1 + 3e-7),
    ],
)
def test_default_tolerances(dtype: str, near: float, far: float) -> None:
    kind = getattr(torch, dtype)
    assert_close(torch.tensor([near], dtype=kind), torch.tensor([1.0], dtype=kind))
    with pytest.raises(AssertionError):
        assert_close(torch.tensor([far], dtype=kind), torch.tensor([1.0], dtype=kind))


def message(actual: Any, expected: Any, **keywords: Any) -> str:
    with pytest.raises(AssertionError) as caught:
        assert_close(actual, expected, **keywords)
    return str(caught.value)


def test_message_of_tensors() -> None:
    lines = message(torch.tensor([1.0, 2.0, 4.0]), torch.tensor([1.0, 2.0, 5.0])).split("\n")
    assert lines[:3] == ["Tensor-likes are not close!", "", "Mismatched elements: 1 / 3 (33.3%)"]
    assert lines[3] == "Greatest absolute difference: 1.0 at index (2,) (up to 1e-05 allowed)"
    assert lines[4].startswith("Greatest relative difference: 0.2") and lines[4].endswith(
        " at index (2,) (up to 1.3e-06 allowed)"
    )

    lines = message(torch.tensor([[1, 2], [3, 4]]), torch.tensor([[1, 2], [3, 9]])).split("\n")
    assert lines[0] == "Tensor-likes are not equal!"
    assert lines[3] == "Greatest absolute difference: 5 at index (1, 1)"
    assert lines[4].startswith("Greatest relative difference: 0.555555") and lines[4].endswith(
        " at index (1, 1)"
    )


def test_message_of_numbers() -> None:
    assert message(1.0, 2.0) == (
        "Scalars are not close!\n\nExpected 2.0 but got 1.0.\nAbsolute difference: 1.0 (up to 1e-07 "
        "allowed)\n"
        "Relative difference: 0.5 (up to 1e-07 allowed)"
    )
    assert message(1, 2).startswith(
        "Scalars are not equal!\n\nExpected 2 but got 1.\nAbsolute difference: 1\n"
    )


@pytest.mark.parametrize(
    "actual, expected, words",
    [
        (
            lambda: torch.ones(2),
            lambda: torch.ones(3),
            "The values for attribute 'shape' do not match: torch.Size([2]) != torch.Size([3]).",
        ),
        (
            lambda: torch.ones(2),
            lambda: torch.ones(2, dtype=torch.float64),
            "The values for attribute 'dtype' do not match: torch.float32 != torch.float64.",
        ),
        (
            lambda: [torch.ones(1), torch.ones(1)],
            lambda: [torch.ones(1), torch.zeros(1)],
            "The failure occurred for item [1]",
        ),
        (lambda: {"a": torch.ones(1)}, lambda: {"a": torch.zeros(1)}, "The failure occurred for item ['a']"),
        (lambda: [1], lambda: [1, 2], "The length of the sequences mismatch: 1 != 2"),
        (lambda: {"a": 1}, lambda: {"b": 1}, "The keys of the mappings do not match"),
    ],
)
def test_messages_of_structures(actual: Any, expected: Any, words: str) -> None:
    assert words in message(actual(), expected())


def test_options() -> None:
    x = torch.ones(2, 2)
    assert_close(x, x.double(), check_dtype=False)
    assert_close(x, x.t().clone().t())

    assert "stride()" in message(
        torch.arange(4.0).reshape(2, 2), torch.tensor([[0.0, 2.0], [1.0, 3.0]]).t(), check_stride=True
    )

    nan = torch.tensor([float("nan")])
    assert_close(nan, nan, equal_nan=True)
    assert "not close" in message(nan, nan)
    assert_close(torch.tensor([1.0]), torch.tensor([1.5]), rtol=0, atol=0.5)

    assert message(1, 2, msg="mine") == "mine"
    assert message(1, 2, msg=lambda text: "more: " + text).startswith("more: Scalars")

    with pytest.raises(ValueError, match="must be either specified or omitted"):
        assert_close(1.0, 1.0, rtol=1.0)
    with pytest.raises(TypeError):
        assert_close(torch.ones(1), "text")


def test_other_types() -> None:
    assert_close(numpy.ones(2), numpy.ones(2))
    assert_close((1, 2.0, OrderedDict(x=torch.ones(1))), (1, 2.0, OrderedDict(x=torch.ones(1))))
    assert_close(torch.tensor(float("inf")), torch.tensor(float("inf")))
    assert_close(torch.empty(0), torch.empty(0))
    assert "None mismatch" in message(None, 1)
