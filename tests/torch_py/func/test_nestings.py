"""Transforms inside of one another, and around `torch.autograd.grad`."""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.subject import torch

Function = Callable[[Any], Any]


def rising(*shape: int) -> Any:
    return torch.arange(float(np.prod(shape))).reshape(shape) * 0.37 + 0.3


def test_vmap_of_autograd_grad_of_a_graph_recorded_outside():
    x = rising(3).requires_grad_()
    unused = rising(2).requires_grad_()
    y = x**2

    def product(weight: Any) -> Any:
        return torch.autograd.grad(y, x, weight, retain_graph=True)[0]

    torch.testing.assert_close(torch.vmap(product)(torch.eye(3)), torch.diag(2 * x.detach()))
    torch.testing.assert_close(
        torch.vmap(torch.vmap(product))(torch.eye(3)[None]), torch.diag(2 * x.detach())[None]
    )

    def with_unused(weight: Any) -> Any:
        return torch.autograd.grad(y, (x, unused), weight, retain_graph=True, allow_unused=True)[1]

    with pytest.raises(ValueError, match="must only return Tensors"):
        torch.vmap(with_unused)(torch.eye(3))
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        torch.vmap(product)(torch.ones(2, 4))


@pytest.mark.parametrize("transform", [torch.func.grad, torch.func.hessian])
def test_a_surrounding_no_grad_keeps_no_graph(transform: Any):
    x = rising(3).requires_grad_()
    with torch.no_grad():
        found = transform(lambda t: (t**3).sum())(x)
    assert not found.requires_grad
    assert transform(lambda t: (t**4).sum())(x).requires_grad


def test_vjp_and_jacrev_in_no_grad_keep_no_graph():
    x = rising(3).requires_grad_()
    with torch.no_grad():
        value, product = torch.func.vjp(torch.exp, x)
        gradient = product(torch.ones(3))[0]
        jacobian = torch.func.jacrev(torch.exp)(x)
    assert not value.requires_grad
    assert not gradient.requires_grad
    assert not jacobian.requires_grad
    torch.testing.assert_close(gradient, x.detach().exp())
    torch.testing.assert_close(jacobian, torch.diag(x.detach().exp()))


def test_no_grad_inside_counts_for_what_is_around_it():
    def without(x: Any) -> Any:
        with torch.no_grad():
            slope = torch.func.grad(lambda t: t**3)(x)
        return slope * x

    x = torch.tensor(2.0)
    torch.testing.assert_close(torch.func.grad(without)(x), torch.tensor(12.0))


def test_in_place_changes_under_forward_over_reverse():
    def changed(x: Any) -> Any:
        return x.clone().mul_(x).mul_(x).add_(1).sum()

    x = rising(3)
    torch.testing.assert_close(torch.func.hessian(changed)(x), torch.diag(6 * x))
    moved = torch.func.jvp(torch.func.grad(changed), (x,), (torch.ones(3),))[1]
    torch.testing.assert_close(moved, 6 * x)


def test_the_cost_of_nested_vmap_grows_slowly():
    """Each level costs about as much as the one before: 12 levels within 40 times 3 levels."""

    def seconds(levels: int) -> float:
        function: Function = lambda t: (t.sin() * t).sum()  # noqa: E731
        for _ in range(levels):
            function = torch.vmap(function)
        x = rising(3).reshape((1,) * levels + (3,))

        def once() -> float:
            start = time.perf_counter()
            function(x)
            return time.perf_counter() - start

        return min(once() for _ in range(5))

    assert seconds(12) < 40 * seconds(3)


# Every transform around every other, compared with PyTorch

FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "product": lambda t, x: x.sin() * x,
    "cumsum": lambda t, x: x.cumsum(0).flip(0),
    "slices": lambda t, x: x[1:] * x[:-1],
    "softmax": lambda t, x: t.softmax(x, -1),
    "gather": lambda t, x: x.gather(0, t.tensor([2, 0])),
    "where": lambda t, x: t.where(x > 1, x * x, -x),
    "outer": lambda t, x: t.outer(x, x),
    "linear": lambda t, x: t.nn.functional.linear(x, t.ones(2, 3)),
    "largest": lambda t, x: x.max(),
    "reshaped": lambda t, x: x.reshape(3, 1).T.contiguous() * x,
}

TRANSFORMS: dict[str, Callable[[Any, Function], Function]] = {
    "vmap": lambda t, f: lambda x: t.vmap(f)(t.stack([x, x * 0.5 + 0.1])),
    "vmap 1": lambda t, f: lambda x: t.vmap(f, in_dims=1, out_dims=-1)(t.stack([x, x * 0.5 + 0.1], 1)),
    "vmap None": lambda t, f: (
        lambda x: t.vmap(lambda s, y: f(y) * s, in_dims=(0, None))(t.tensor([1.0, 2.0]), x)
    ),
    "chunks": lambda t, f: lambda x: t.vmap(f, chunk_size=2)(t.stack([x, x * 0.5, x * 2])),
    "grad": lambda t, f: t.func.grad(lambda x: f(x).sum()),
    "jacrev": lambda t, f: t.func.jacrev(f),
    "jacfwd": lambda t, f: t.func.jacfwd(f),
    "hessian": lambda t, f: t.func.hessian(lambda x: f(x).sum()),
    "jvp": lambda t, f: lambda x: t.func.jvp(f, (x,), (x * 0.3 + 1,))[1],
    "vjp": lambda t, f: lambda x: t.func.vjp(f, x)[1](f(x) * 0 + x.sum())[0],
    "no_grad": lambda t, f: t.no_grad()(f),
}


@pytest.mark.parametrize("outer", TRANSFORMS)
@pytest.mark.parametrize("inner", TRANSFORMS)
def test_two_transforms_agree_with_pytorch(inner: str, outer: str):
    peer = pytest.importorskip("torch")
    import torch_py

    dice = random.Random(f"{inner} {outer}")
    for name, between in itertools.product(
        dice.sample(sorted(FUNCTIONS), 4), (None, dice.choice(["grad", "vmap"]))
    ):
        names = [inner, *([between] if between else []), outer]
        expected = nested(peer, names, name)
        if expected is None:
            continue  # PyTorch cannot do it
        found = nested(torch_py, names, name)
        assert found is not None, f"{names} of {name}"
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5, err_msg=f"{names} of {name}")


def nested(module: Any, names: list[str], function: str) -> Any:
    transformed: Function = lambda x: FUNCTIONS[function](module, x)  # noqa: E731
    for name in names:
        transformed = TRANSFORMS[name](module, transformed)
    try:
        result = transformed(module.arange(3.0) * 0.37 + 0.3).detach()
    except (RuntimeError, NotImplementedError, ValueError):
        return None

    is_zero = getattr(result, "_is_zerotensor", None)  # PyTorch's zeros without memory
    return np.zeros(tuple(result.shape)) if is_zero is not None and is_zero() else result.numpy()


def test_each_member_weights_a_graph_recorded_outside():
    x = rising(3).requires_grad_()
    y = x**2 + x[0]
    weights = torch.arange(6.0).reshape(2, 3)
    rows = torch.vmap(lambda weight: torch.autograd.grad(y, x, weight, retain_graph=True)[0])(weights)
    for row, weight in zip(rows, weights):
        torch.testing.assert_close(row, torch.autograd.grad(y, x, weight, retain_graph=True)[0])
    assert not rows[0].equal(rows[1])
