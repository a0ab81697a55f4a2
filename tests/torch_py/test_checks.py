"""Assertions for programs (torch._check and others), and helpers of torch._utils."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.subject import torch
from tests.torch_py.outcomes import outcome

CHECKS: list[tuple[str, type[Exception]]] = [
    ("_check", RuntimeError),
    ("_check_index", IndexError),
    ("_check_value", ValueError),
    ("_check_type", TypeError),
    ("_check_not_implemented", NotImplementedError),
]


@pytest.mark.parametrize(("name", "error"), CHECKS)
def test_check(name: str, error: type[Exception]) -> None:
    check: Callable[..., Any] = getattr(torch, name)
    assert check(True) is None and check(True, lambda: "unused") is None

    with pytest.raises(error, match="Expected cond to be True"):
        check(False)
    with pytest.raises(error, match="^got 3$"):
        check(False, lambda: f"got {3}")
    with pytest.raises(error, match="^3$"):
        check(False, lambda: 3)

    with pytest.raises(TypeError, match="message must be a callable"):
        check(False, "text")
    with pytest.raises(TypeError, match="cond must be a bool"):
        check(1)
    with pytest.raises(TypeError, match="_check_tensor_all"):
        check(torch.tensor(True))


def test_check_with_any_exception() -> None:
    with pytest.raises(KeyError):
        torch._check_with(KeyError, False, lambda: "x")


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_check_is_size() -> None:
    torch._check_is_size(0)
    torch._check_is_size(3, max=3)
    with pytest.raises(RuntimeError):
        torch._check_is_size(-1)
    with pytest.raises(RuntimeError, match="too large"):
        torch._check_is_size(3, lambda: "too large", max=2)


def test_check_tensor_all() -> None:
    torch._check_tensor_all(torch.tensor([True, True]))
    with pytest.raises(RuntimeError):
        torch._check_tensor_all(torch.tensor([True, False]))
    with pytest.raises(TypeError, match="must be a tensor"):
        torch._check_tensor_all(True)


def test_assert() -> None:
    torch._assert(torch.tensor(1), "unused")
    with pytest.raises(AssertionError, match="^text$"):
        torch._assert(False, "text")


def test_flat_tensors() -> None:
    import importlib

    utils = importlib.import_module(f"{torch.__name__}._utils")
    parts = [torch.arange(4.0).view(2, 2).t(), torch.zeros(0, 3), torch.tensor(9.0)]
    flat = utils._flatten_dense_tensors(parts)
    assert flat.tolist() == [0.0, 2.0, 1.0, 3.0, 9.0]
    back = utils._unflatten_dense_tensors(flat, parts)
    assert isinstance(back, tuple) and [tuple(part.shape) for part in back] == [(2, 2), (0, 3), ()]
    assert all(torch.equal(ours, theirs) for ours, theirs in zip(back, parts))
    back[0][0, 0] = 7
    assert flat[0] == 7
    assert utils._flatten_dense_tensors(parts[2:]).shape == (1,)
    groups = list(
        utils._take_tensors([torch.zeros(2), torch.zeros(3), torch.zeros(1, dtype=torch.int64)], 16)
    )
    assert [[tensor.numel() for tensor in group] for group in groups] == [[2], [3], [1]]


def test_dropout_in_place() -> None:
    for name in ("dropout_", "alpha_dropout_", "feature_dropout_", "feature_alpha_dropout_"):
        x = torch.ones(3, 4, 2)
        function = getattr(torch, name)
        assert function(x, 0.5, False) is x and bool((x == 1).all())
        assert function(x, 0.5, True) is x and not bool((x == 1).all())


ASSERTIONS_CALLS = {
    "assert one": lambda t: t._assert_async(t.tensor(1)),
    "assert zero": lambda t: t._assert_async(t.tensor(0.0), "text"),
    "assert many": lambda t: t._assert_async(t.ones(2)),
    "assert no tensor": lambda t: t._assert_async(True),
    "assert number": lambda t: t._assert_scalar(0, "text"),
}


@pytest.mark.parametrize("call", ASSERTIONS_CALLS.values(), ids=ASSERTIONS_CALLS)
def test_assertions_agree_with_pytorch(call):
    peer = pytest.importorskip("torch")
    assert outcome(call, torch) == outcome(call, peer)
