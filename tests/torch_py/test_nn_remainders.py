"""Deprecated modules, a layer with its loss, weights of huber_loss, dictionaries of parameters."""

from __future__ import annotations

import pytest

from tests.subject import torch

nn, F = torch.nn, torch.nn.functional


def test_older_names() -> None:
    with pytest.warns(FutureWarning, match="Container"):
        container = nn.Container(a=nn.Linear(1, 2))
    assert list(container.state_dict()) == ["a.weight", "a.bias"]
    with pytest.warns(FutureWarning, match="NLLLoss2d"):
        loss = nn.NLLLoss2d(reduction="sum")
    assert isinstance(loss, nn.NLLLoss) and loss.reduction == "sum"


@pytest.mark.parametrize("shape", [(), (2,), (2, 3)])
@pytest.mark.parametrize("bias", [False, True])
def test_linear_cross_entropy(shape: tuple[int, ...], bias: bool) -> None:
    layer = nn.LinearCrossEntropyLoss(4, 3, out_features=shape, bias=bias, label_smoothing=0.1)
    x, target = torch.randn(5, 4), torch.randint(0, 3, (5, *shape))
    scores = layer.linear(x).reshape(5, 3, *shape)
    torch.testing.assert_close(layer(x, target), F.cross_entropy(scores, target, label_smoothing=0.1))
    assert "in_features=4, num_classes=3" in repr(layer)
    layer(x, target).backward()
    assert layer.linear.weight.grad.shape == layer.linear.weight.shape


def test_linear_cross_entropy_refuses() -> None:
    weight = torch.randn(3, 4)
    with pytest.raises(RuntimeError, match="dimensionality 1 or 2"):
        F.linear_cross_entropy(torch.randn(2, 5, 4), weight, torch.zeros(2, 5, dtype=torch.int64))
    with pytest.raises(RuntimeError, match="ignore_index cannot be specified"):
        F.linear_cross_entropy(torch.randn(5, 4), weight, torch.rand(5, 3), ignore_index=1)
    one = F.linear_cross_entropy(torch.ones(4), weight, torch.tensor(1))
    torch.testing.assert_close(one, F.cross_entropy(weight.sum(1), torch.tensor(1)))


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_weighted_huber_loss(reduction: str) -> None:
    a, b, weight = torch.randn(3, 2), torch.randn(3, 2), torch.rand(3, 2)
    plain = F.huber_loss(a, b, "none", 0.5) * weight
    expected = plain if reduction == "none" else getattr(plain, reduction)()
    torch.testing.assert_close(F.huber_loss(a, b, reduction, 0.5, weight), expected)


def test_parameter_dictionaries() -> None:
    parameters = nn.ParameterDict({"a": torch.ones(1), "b": torch.zeros(1)})
    assert parameters.setdefault("c", torch.ones(2)).shape == (2,) and list(reversed(parameters)) == [
        "c",
        "b",
        "a",
    ]
    assert parameters.popitem()[0] == "c" and list(parameters.copy()) == ["a", "b"]
    assert list((parameters | nn.ParameterDict({"d": torch.ones(1)})).keys()) == ["a", "b", "d"]
    parameters.clear()
    assert len(parameters) == 0 and not list(parameters.parameters())


@pytest.mark.parametrize("name", ["type", "is_shared", "share_memory_", "requires_grad_", "dim"])
def test_uninitialized_parameters(name: str) -> None:
    with pytest.raises((ValueError, RuntimeError)):
        getattr(nn.parameter.UninitializedParameter(), name)()


def test_rates_that_are_no_numbers() -> None:
    x, nan = [nn.Parameter(torch.ones(2, 2))], float("nan")
    torch.optim.SGD(x, lr=nan, momentum=nan, weight_decay=nan)
    for kind in (torch.optim.Adam, torch.optim.RMSprop, torch.optim.Adagrad, torch.optim.LBFGS):
        with pytest.raises(ValueError, match="Invalid learning rate: nan"):
            kind(x, lr=nan)
    with pytest.raises(ValueError, match="Invalid learning rate: -1"):
        torch.optim.SGD(x, lr=-1)
