"""Lazy modules and uninitialized parameters, before and after their first input."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from tests.subject import torch

nn = torch.nn

CASES = [
    *[(f"LazyConv{t}{rank}d", (4, 2), rank) for t in ("", "Transpose") for rank in (1, 2, 3)],
    *[(f"Lazy{kind}Norm{rank}d", (), rank) for kind in ("Batch", "Instance") for rank in (1, 2, 3)],
    ("LazyLinear", (4,), 1),
]


def an_input(rank: int) -> Any:
    return torch.randn((2, 3) + (5,) * rank)


@pytest.mark.parametrize("name, arguments, rank", CASES)
def test_first_call_turns_the_module_into_the_plain_layer(name: str, arguments: Any, rank: int) -> None:
    module = getattr(nn, name)(*arguments)
    assert module.has_uninitialized_params()

    waiting = list(module.parameters())
    x = an_input(rank)
    result = module(x)

    assert type(module) is getattr(nn, name.removeprefix("Lazy"))
    # An optimizer made before still holds them.
    assert all(kept is now for kept, now in zip(waiting, module.parameters()))
    assert all(type(parameter) is nn.Parameter for parameter in module.parameters())

    result.sum().backward()
    assert all(parameter.grad is not None for parameter in module.parameters())

    assert not module._forward_pre_hooks and not module._load_state_dict_pre_hooks
    assert module(x).shape == result.shape


@pytest.mark.parametrize("name, arguments, rank", CASES)
def test_sizes_from_a_state_dict(name: str, arguments: Any, rank: int) -> None:
    trained = getattr(nn, name)(*arguments)
    expected = trained(an_input(rank))
    fresh = getattr(nn, name)(*arguments)
    fresh.load_state_dict(trained.state_dict())
    assert not fresh.has_uninitialized_params()
    x = an_input(rank)
    assert torch.equal(fresh.eval()(x), trained.eval()(x))
    assert type(fresh) is type(trained) and repr(fresh) == repr(trained)
    assert expected.shape == fresh(x).shape


def test_state_dict_and_copies_of_waiting_modules() -> None:
    module = nn.Sequential(nn.LazyLinear(3), nn.LazyLinear(2))
    state = module.state_dict()
    assert list(state) == ["0.weight", "0.bias", "1.weight", "1.bias"]
    assert repr(state["0.weight"]) == "<UninitializedParameter>"
    for other in (copy.deepcopy(module), pickle.loads(pickle.dumps(module))):
        assert other[0].weight is not module[0].weight
        assert other(torch.ones(1, 7)).shape == (1, 2) and other[0].in_features == 7
    assert module[0].has_uninitialized_params()
    assert nn.LazyLinear(3).load_state_dict(nn.LazyLinear(3).state_dict()).missing_keys == []


@pytest.mark.parametrize(
    "use, error, message",
    [
        (lambda p: p.shape, RuntimeError, "Can't access the shape of an uninitialized parameter"),
        (lambda p: p + 1, ValueError, "Attempted to use an uninitialized parameter in add"),
        (lambda p: p.sum(), ValueError, "Attempted to use an uninitialized parameter in sum"),
        (lambda p: torch.relu(p), ValueError, "Attempted to use an uninitialized parameter in relu"),
        (lambda p: p.numel(), ValueError, "Attempted to use an uninitialized parameter in .*numel"),
        (lambda p: p.dim(), ValueError, "Attempted to use an uninitialized parameter in .*dim"),
        (lambda p: p.tolist(), ValueError, "Attempted to use an uninitialized parameter in"),
        (lambda p: p.share_memory_(), RuntimeError, "Can't share memory on an uninitialized parameter"),
    ],
)
def test_waiting_parameters_cannot_be_used(use: Any, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        use(nn.LazyLinear(3).weight)


def test_waiting_modules_cannot_be_shared() -> None:
    with pytest.raises(RuntimeError, match="Can't share memory on an uninitialized parameter"):
        nn.Sequential(nn.Linear(2, 2), nn.LazyLinear(3)).share_memory()


def test_conversions_of_waiting_modules() -> None:
    module = nn.LazyLinear(3, dtype=torch.float64)
    assert module.weight.dtype == torch.float64
    assert module(torch.ones(1, 2, dtype=torch.float64)).dtype == torch.float64
    module = nn.LazyLinear(3).double()
    module(torch.ones(1, 2, dtype=torch.float64))
    assert module.weight.dtype == torch.float64


@pytest.mark.parametrize(
    "make, shape, error, message",
    [
        (
            lambda: nn.LazyConv2d(3, 2),
            (2, 3),
            RuntimeError,
            r"Expected 3D \(unbatched\) or 4D \(batched\) input to LazyConv2d",
        ),
        (lambda: nn.LazyBatchNorm2d(), (2, 3), ValueError, "expected 4D input"),
        (
            lambda: nn.LazyConv2d(4, 1, groups=2),
            (1, 3, 4, 4),
            ValueError,
            "in_channels must be divisible by groups",
        ),
    ],
)
def test_first_inputs_that_do_not_fit(make: Any, shape: Any, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        make()(torch.ones(shape))


def test_own_lazy_module() -> None:
    class Scale(nn.modules.lazy.LazyModuleMixin, nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.factor = nn.UninitializedParameter()

        def initialize_parameters(self, x: Any) -> None:
            self.factor.materialize(x.shape[-1:])
            with torch.no_grad():
                self.factor.fill_(2)

        def forward(self, x: Any) -> Any:
            return x * self.factor

    assert torch.equal(Scale()(torch.ones(2, 3)), torch.full((2, 3), 2.0))

    class Forgetful(Scale):
        def initialize_parameters(self, x: Any) -> None:
            pass

    with pytest.raises(RuntimeError, match="has not been fully initialized"):
        Forgetful()(torch.ones(1))


@pytest.mark.parametrize("name", ["type", "is_shared", "share_memory_", "requires_grad_", "dim"])
def test_uninitialized_parameters(name: str) -> None:
    with pytest.raises((ValueError, RuntimeError)):
        getattr(nn.parameter.UninitializedParameter(), name)()


def test_lazy_transposed_convolution_takes_an_output_size() -> None:
    layer = nn.LazyConvTranspose2d(3, 2, stride=2)
    assert layer(torch.ones(1, 4, 3, 3), output_size=[7, 7]).shape == (1, 3, 7, 7)
