"""vmap of operators that act on a whole batch at once, of empty batches, of results without gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.subject import only_torch_py, torch
from torch_py.utils._python_dispatch import TorchDispatchMode

func = torch.func
F = torch.nn.functional

X = torch.tensor([[[1.0, -2.0], [0.5, 3.0]], [[2.0, 0.0], [-1.0, 4.0]], [[5.0, 1.0], [2.5, -3.0]]])
FLAGS = torch.tensor([True, False, True])

ELEMENTWISE: dict[str, Callable[[Any], Any]] = {
    "div": lambda x: x / 2 + 1 / (x * x + 1),
    "div_mode": lambda x: x.div(2, rounding_mode="floor"),
    "pow": lambda x: x**2 + torch.pow(2.0, x),
    "clamp": lambda x: x.clamp(-1, 1) + x.clamp(min=x.mean()),
    "where": lambda x: torch.where(x > 0, x, 0.0) + torch.where(x.sum() > 3, x, -x),
    "masked_fill": lambda x: (
        x.masked_fill(x > 1, 9.0) + x.masked_fill(torch.tensor([True, False]), x.sum().detach())
    ),
    "gelu": lambda x: F.gelu(x) + F.gelu(x, approximate="tanh"),
    "round": lambda x: x.round(decimals=1),
    "layer_norm": lambda x: F.layer_norm(x, (2,), torch.tensor([1.0, 2.0])),
    "triangle": lambda x: x.tril() + x.triu(1),
    "glu": lambda x: F.glu(x),
}


class _Counted(TorchDispatchMode):
    calls = 0

    def __torch_dispatch__(self, operator: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.calls += 1
        return operator(*args, **(kwargs or {}))


@pytest.mark.parametrize("name", ELEMENTWISE)
@only_torch_py
def test_no_loop_over_members(name: str) -> None:
    """A batch of twice the size takes as many calls."""
    function = ELEMENTWISE[name]
    expected = torch.stack([function(member) for member in X])
    counts = []
    for batch in (X, torch.cat([X, X])):
        with _Counted() as counted:
            result = func.vmap(function)(batch)
        counts.append(counted.calls)
        torch.testing.assert_close(result[: len(X)], expected)
    assert counts[0] == counts[1]


def test_a_condition_of_each_member() -> None:
    result = func.vmap(lambda flag, x: torch.where(flag, x, 0.0))(FLAGS, X)
    assert result[1].abs().sum() == 0 and (result[0] == X[0]).all()
    assert func.vmap(lambda flag: torch.where(flag, 1.0, 2.0))(FLAGS).tolist() == [1, 2, 1]
    with pytest.raises(RuntimeError, match="vmap"):
        func.vmap(lambda x: torch.where(x > 0)[0])(X)


def test_sort_by_position() -> None:
    for call in (
        lambda x: x.sort(-1),
        lambda x: x.sort(0),
        lambda x: torch.sort(x, 1, True),
        lambda x: torch.sort(x, stable=True, dim=0),
    ):
        result = func.vmap(call)(X)
        for position, member in enumerate(X):
            values, indices = call(member)
            assert (result[0][position] == values).all() and (result[1][position] == indices).all()
    assert (func.vmap(lambda x: x.argsort(0))(X) == torch.stack([x.argsort(0) for x in X])).all()


def test_attention_without_dropout_draws_nothing() -> None:
    x = X[None]
    result = func.vmap(lambda x: F.scaled_dot_product_attention(x, x, x))(x.transpose(0, 1))
    torch.testing.assert_close(result[0], F.scaled_dot_product_attention(x[:, 0], x[:, 0], x[:, 0]))
    with pytest.raises(RuntimeError, match="random"):
        func.vmap(lambda x: F.scaled_dot_product_attention(x, x, x, dropout_p=0.5))(x.transpose(0, 1))


EMPTY = torch.zeros(0, 3)


@pytest.mark.parametrize(
    ("call", "shape"),
    [
        (lambda x: x**2, (0, 3)),
        (lambda x: x.sum(), (0,)),
        (lambda x: x.max(), (0,)),
        (lambda x: x.max(-1).values, (0,)),
        (lambda x: x.softmax(-1), (0, 3)),
        (lambda x: torch.where(x > 0, x, 1.0), (0, 3)),
        (lambda x: x.reshape(3, 1), (0, 3, 1)),
        (lambda x: x.expand(2, 3), (0, 2, 3)),
        (lambda x: x.norm(), (0,)),
        (lambda x: F.mse_loss(x, torch.zeros(3)), (0,)),
        (lambda x: x.std(), (0,)),
    ],
)
def test_batches_without_members(call: Any, shape: tuple[int, ...]) -> None:
    assert tuple(func.vmap(call)(EMPTY).shape) == shape


def test_gradients_of_no_members() -> None:
    assert tuple(func.vmap(func.grad(lambda x: (x**2).sum()))(EMPTY).shape) == (0, 3)


def test_integers_have_no_vjp() -> None:
    for transform in (func.jacrev, lambda f: lambda x: func.vjp(f, x)):
        with pytest.raises(RuntimeError, match="must be floating-point or complex"):
            transform(lambda x: x.long())(X)


def test_jacobians_of_scalars() -> None:
    x = torch.tensor(3.0)
    assert func.jacrev(lambda x: x**2)(x).item() == 6
    assert func.hessian(lambda x: x**3)(x).item() == 18
    assert func.vmap(func.jacrev(lambda x: x**2))(X[0, 0]).tolist() == [2, -4]


def test_functional_of_no_tensors() -> None:
    functional = torch.autograd.functional
    for name in ("hessian", "vhp", "hvp"):
        v = {} if name == "hessian" else {"v": X}
        for wrong in (None, 3.0):
            with pytest.raises(TypeError):
                getattr(functional, name)(lambda x, wrong=wrong: wrong, X, **v)
        with pytest.raises(RuntimeError, match="single"):
            getattr(functional, name)(lambda x: x * 2, X, **v)

    for wrong in ([torch.ones(2)], 3, (torch.ones(2), None)):
        with pytest.raises(TypeError):
            functional.vjp(lambda x: x * 2, X[0, 0], wrong)

    value, _ = functional.vhp(lambda x: (x**2).sum().reshape(1), X[0, 0], torch.ones(2))
    assert tuple(value.shape) == (1,)


ROW = torch.tensor([1.0, -2.0])
NUMBERS = {
    "masked_fill": lambda number: ROW.masked_fill(ROW > 0, number),
    "fill": lambda number: torch.fill(ROW, number),
    "clamp": lambda number: ROW.clamp(min=number),
    "lerp": lambda number: torch.lerp(ROW, ROW + 1, number),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_a_number_of_each_member(name: str) -> None:
    """A tensor of one number per member, in a place where most calls have a Python number."""
    numbers = torch.tensor([5.0, 6.0, 7.0])
    expected = torch.stack([NUMBERS[name](number.item()) for number in numbers])
    assert func.vmap(NUMBERS[name])(numbers).tolist() == expected.tolist()
    change = func.jvp(NUMBERS[name], (numbers[0],), (torch.tensor(2.0),))[1]
    assert torch.allclose(change, (NUMBERS[name](5.5) - NUMBERS[name](4.5)) * 2)


@pytest.mark.parametrize(
    "call",
    [lambda number: torch.full((2,), number), lambda number: torch.add(ROW, ROW, alpha=number), torch.arange],
)
def test_reading_a_number_of_a_batch_is_refused(call: Any) -> None:
    with pytest.raises(RuntimeError, match="vmap"):
        func.vmap(call)(torch.tensor([5.0, 6.0]))
    assert func.jvp(call, (torch.tensor(5.0),), (torch.tensor(2.0),))[1].any().item() is False


def test_members_are_not_written_to_what_all_share() -> None:
    for change in (ROW.clone().fill_, ROW.clone().clamp_):
        with pytest.raises(RuntimeError, match="vmap"):
            func.vmap(change)(torch.tensor([5.0, 6.0]))


def test_halves_of_any_dimension() -> None:
    x = torch.arange(24.0).reshape(3, 2, 4)
    for dim in (0, 1, -1, -2):
        expected = torch.stack([torch.nn.functional.glu(member, dim) for member in x])
        assert torch.allclose(
            func.vmap(lambda member, dim=dim: torch.nn.functional.glu(member, dim))(x), expected
        )


def test_tensors_cannot_be_built_from_members():
    x = torch.arange(3.0)
    with pytest.raises(RuntimeError, match="item"):
        torch.vmap(lambda b: torch.tensor([b, b]))(x)
    assert torch.tensor([x[1], torch.nn.Parameter(x[2])]).tolist() == [1, 2]
