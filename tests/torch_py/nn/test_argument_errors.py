"""Layers, losses and optimizers refuse arguments that do not fit, with messages that name them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.subject import torch

nn = torch.nn
F = torch.nn.functional
optim = torch.optim


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
