"""Layers and losses at the edges of what they take: nothing, nan, zeros, sizes and settings that do not
fit."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from tests.subject import only_torch_py, torch

nn = torch.nn
F = torch.nn.functional
optim = torch.optim


@pytest.mark.parametrize("kind", ["RNNCell", "GRUCell", "LSTMCell"])
def test_cells_without_features(kind: str) -> None:
    states = getattr(nn, kind)(4, 0)(torch.ones(2, 4))
    for state in states if isinstance(states, tuple) else (states,):
        assert tuple(state.shape) == (2, 0)


def test_relu_does_not_hide_the_gradient_of_nan() -> None:
    x = torch.tensor([math.nan, 1.0, -1.0, 0.0], requires_grad=True)
    F.relu(x).backward(torch.tensor([3.0, 3.0, 3.0, 3.0]))
    assert x.grad.tolist() == [3.0, 3.0, 0.0, 0.0]


def test_lp_pool_of_zeros_has_no_gradient() -> None:
    x = torch.tensor([[0.0, 0.0, -2.0, 0.0]], requires_grad=True)
    F.lp_pool1d(x, 2.0, 2).sum().backward()
    assert x.grad.tolist() == [[0.0, 0.0, -1.0, 0.0]]


@pytest.mark.parametrize("norm_type, expected", [(math.inf, 3.0), (-math.inf, 0.25)])
def test_lp_pool_of_infinite_norm(norm_type: float, expected: float) -> None:
    assert F.lp_pool2d(torch.tensor([[[-3.0, 0.5], [0.25, 1.0]]]), norm_type, 2).item() == expected


@pytest.mark.parametrize("shape", [(0, 4, 3, 3), (2, 4, 0, 3)])
def test_batch_norm_of_nothing(shape: tuple[int, ...]) -> None:
    layer = nn.BatchNorm2d(4)
    layer(torch.zeros(shape)).sum().backward()
    assert layer.weight.grad.tolist() == layer.bias.grad.tolist() == layer.running_mean.tolist() == [0.0] * 4


def test_rms_norm_keeps_the_dtype_of_its_input() -> None:
    assert F.rms_norm(torch.ones(2, 4, dtype=torch.bfloat16), (4,), torch.ones(4)).dtype == torch.bfloat16


def test_mse_loss_of_a_mask() -> None:
    assert F.mse_loss(torch.tensor([0.5, 1.0]), torch.tensor([True, False])).item() == 0.625


def test_weighted_losses() -> None:
    x, target, weight = torch.tensor([1.0, 2.0, 5.0]), torch.zeros(3), torch.tensor([1.0, 2.0, 3.0])
    assert F.huber_loss(x, target, weight=weight).item() == pytest.approx(17 / 3)  # the mean over elements
    assert F.mse_loss(x, target, weight=weight).item() == pytest.approx(84 / 6)  # over weights


def test_lazy_transposed_convolution_takes_an_output_size() -> None:
    layer = nn.LazyConvTranspose2d(3, 2, stride=2)
    assert layer(torch.ones(1, 4, 3, 3), output_size=[7, 7]).shape == (1, 3, 7, 7)


@only_torch_py
def test_a_first_step_that_is_skipped_leaves_no_momentum() -> None:
    parameter = nn.Parameter(torch.ones(3))
    sgd = optim.SGD([parameter], lr=0.5, momentum=0.9, fused=True)
    for found_inf in (1.0, 0.0):
        sgd.found_inf, sgd.grad_scale = torch.tensor(found_inf), torch.tensor(1.0)
        parameter.grad = torch.ones(3)
        sgd.step()
        assert parameter.tolist() == ([1.0] * 3 if found_inf else [0.5] * 3)
    assert sgd.state[parameter]["momentum_buffer"].tolist() == [1.0] * 3
    assert parameter.tolist() == [0.5] * 3


@pytest.mark.parametrize("truthy", [1, "yes"])
@pytest.mark.parametrize("kind", ["SGD", "Adam", "AdamW", "Adagrad"])
def test_maximize_is_taken_by_its_truth(kind: str, truthy: Any) -> None:
    parameter = nn.Parameter(torch.zeros(2))
    optimizer = getattr(optim, kind)([parameter], lr=0.1, maximize=truthy)
    parameter.grad = torch.ones(2)
    optimizer.step()
    assert (parameter > 0).all()


_REFUSED: list[tuple[type[Exception], str, Callable[[], Any]]] = [
    (IndexError, "Dimension out of range", lambda: nn.Unflatten(1, (2, 2))(torch.ones(4))),
    (TypeError, "unflattened_size", lambda: nn.Unflatten(1, 4)),
    (TypeError, "unflattened_size", lambda: nn.Unflatten(1, (2.0, 2))),
    (ValueError, "eps", lambda: F.batch_norm(torch.ones(2, 4), None, None, training=True, eps=0.0)),
    (ValueError, "eps", lambda: F.batch_norm(torch.ones(2, 4), torch.ones(4), torch.ones(4), eps=-1.0)),
    (ValueError, "more than 1 value", lambda: F.group_norm(torch.ones(1, 2), 2)),
    (ValueError, "at least 3 dimensions", lambda: F.rms_norm(torch.ones(2, 4), (1, 2, 4))),
    (ValueError, "3D input", lambda: nn.CircularPad1d(1)(torch.ones(4))),
    (ValueError, "groups", lambda: nn.LazyConv1d(4, 2, groups=0)),
    (ValueError, "input_size", lambda: nn.LSTM(0, 3)),
    (TypeError, "batch_first", lambda: nn.GRU(4, 3, batch_first=1)),
    (TypeError, "bias", lambda: nn.RNN(4, 3, bias="x")),
    (AssertionError, "max_val", lambda: nn.Hardtanh(2.0, 1.0)),
    (ValueError, "same size", lambda: F.mse_loss(torch.ones(3), torch.ones(3), weight=torch.ones(2))),
    (ValueError, "same size", lambda: F.huber_loss(torch.ones(3), torch.ones(3), weight=torch.ones(1))),
    (RuntimeError, "target", lambda: F.binary_cross_entropy(torch.ones(2), torch.tensor([0.5, 1.5]))),
    (ValueError, "batch_size", lambda: F.cross_entropy(torch.ones(2, 4), torch.ones(3, 4))),
    (RuntimeError, "eps", lambda: F.cosine_similarity(torch.ones(2, 4), torch.ones(2, 4), eps=-1.0)),
    (
        RuntimeError,
        "2D input",
        lambda: F.cosine_embedding_loss(torch.ones(2, 4), torch.ones(4), torch.ones(2)),
    ),
    (RuntimeError, "valid range", lambda: F.embedding_bag(torch.tensor([[1, 5]]), torch.ones(5, 2))),
    (
        TypeError,
        "bool",
        lambda: F.grid_sample(torch.ones(1, 1, 2, 2), torch.ones(1, 1, 1, 2), align_corners=1),
    ),
    (ValueError, "betas", lambda: optim.Adam([torch.ones(2)], betas=(0, 0))),
    (TypeError, "float", lambda: F.adaptive_avg_pool2d(torch.ones(2, 4, 4), 1.5)),
]


@pytest.mark.parametrize("number", range(len(_REFUSED)))
def test_refused(number: int) -> None:
    error, words, call = _REFUSED[number]
    with pytest.raises(error, match=words):
        call()
