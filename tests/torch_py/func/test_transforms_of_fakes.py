"""Function transforms of fake tensors, and what wrapped tensors do not have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.subject import torch

if torch.__name__ == "torch":
    from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
else:
    from torch_py._subclasses.fake_tensor import FakeTensor, FakeTensorMode

func = torch.func
X = torch.linspace(-1, 1, 12).reshape(3, 4)
W = torch.linspace(-2, 1, 20).reshape(5, 4)

CASES: dict[str, Callable[[Any, Any], Any]] = {
    "vmap": lambda x, w: torch.vmap(lambda row: (w @ row).sin())(x),
    "vmap of a reduction": lambda x, w: torch.vmap(lambda row: row.cumsum(0).softmax(0).sum())(x),
    "vmap in place": lambda x, w: torch.vmap(lambda row: row.clone().mul_(2))(x),
    "vmap of a factorization": lambda x, w: torch.vmap(torch.linalg.qr)(w.expand(3, 5, 4))[0],
    "grad": lambda x, w: func.grad(lambda x: (x @ w.T).tanh().sum())(x),
    "gradients of samples": lambda x, w: torch.vmap(
        func.grad(lambda w, row: (w @ row).tanh().sum()), (None, 0)
    )(w, x),
    "jvp": lambda x, w: func.jvp(lambda x: (x @ w.T).softmax(-1), (x,), (x * 2,))[1],
    "jacrev": lambda x, w: func.jacrev(torch.sin)(x),
    "jacfwd": lambda x, w: func.jacfwd(torch.sin)(x),
    "hessian": lambda x, w: func.hessian(lambda x: (x @ w.T).pow(2).sum())(x),
}


@pytest.mark.parametrize("name", CASES)
def test_fakes_are_like_results(name: str) -> None:
    expected = CASES[name](X, W)
    mode = FakeTensorMode()
    with mode:
        found = CASES[name](mode.from_tensor(X), mode.from_tensor(W))
    assert isinstance(found, FakeTensor) and found.device == expected.device
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)


def test_a_fake_tensor_of_a_member() -> None:
    mode = FakeTensorMode()

    def function(row: Any) -> Any:
        fake = mode.from_tensor(row)
        assert fake.shape == (4,)
        return fake * 2

    assert isinstance(torch.vmap(function)(X), FakeTensor)


@pytest.mark.parametrize("transform", ["vmap", "jvp"])
@pytest.mark.parametrize(
    "access",
    [
        lambda t: t.untyped_storage(),
        lambda t: t.is_shared(),
        lambda t: t.share_memory_(),
        lambda t: t.numpy(),
        lambda t: t.data_ptr(),
        lambda t: torch.from_dlpack(t),
    ],
)
def test_no_memory_inside(transform: str, access: Callable[[Any], Any]) -> None:
    def function(x: Any) -> Any:
        with pytest.raises((NotImplementedError, RuntimeError, BufferError)):
            access(x)
        return x

    torch.vmap(function)(X) if transform == "vmap" else func.jvp(function, (X,), (X,))
