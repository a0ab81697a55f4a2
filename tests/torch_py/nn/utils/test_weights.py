"""torch.nn.utils over parameters: norms and clipping of gradients, vectors, skip_init, memory formats."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from tests.subject import torch

nn = torch.nn


stateless = importlib.import_module(f"{torch.__name__}.nn.utils.stateless")


def close(a: Any, b: Any, tolerance: float = 1e-5) -> None:
    torch.testing.assert_close(a, b, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("order", [1, 2, 2.5, float("inf")])
def test_norms_of_gradients(order: float) -> None:
    tensors = [torch.randn(3), torch.randn(2, 2)]
    whole = torch.cat([each.flatten() for each in tensors])
    total = nn.utils.get_total_norm(tensors, order)
    close(total, torch.linalg.vector_norm(whole, order))
    parameters = [nn.Parameter(each) for each in tensors]
    for parameter in parameters:
        parameter.grad = parameter.detach().clone()
    nn.utils.clip_grads_with_norm_(parameters, float(total) / 2, total)
    close(parameters[0].grad, tensors[0] / 2, 1e-4)
    with pytest.raises(RuntimeError, match="is non-finite"):
        nn.utils.get_total_norm([torch.tensor([float("nan")])], order, error_if_nonfinite=True)


def test_skip_init() -> None:
    layer = nn.utils.skip_init(nn.Linear, 3, 4)
    assert layer.weight.device.type == "cpu" and layer.weight.shape == (4, 3) and layer.weight.requires_grad
    with pytest.raises(RuntimeError, match="Module must support a 'device' arg"):
        nn.utils.skip_init(nn.ReLU)
    with pytest.raises(RuntimeError, match="Expected a Module"):
        nn.utils.skip_init(int)


def test_memory_format_of_weights() -> None:
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.Linear(2, 2))
    nn.utils.convert_conv2d_weight_memory_format(model, torch.channels_last)
    assert model[0].weight.is_contiguous(memory_format=torch.channels_last)
    assert model[1].weight.is_contiguous()


def test_stateless_call() -> None:
    layer = nn.Linear(2, 2)
    with pytest.warns(FutureWarning, match="torch.func.functional_call"):
        result = stateless.functional_call(
            layer, {"weight": torch.zeros(2, 2), "bias": torch.ones(2)}, torch.ones(1, 2)
        )
    assert result.tolist() == [[1, 1]]


def test_gradient_clipping() -> None:
    parameters = [nn.Parameter(torch.zeros(2)) for _ in range(2)]
    for parameter in parameters:
        parameter.grad = torch.tensor([3.0, 4.0])

    total = nn.utils.clip_grad_norm_(parameters, 1.0)
    assert total.item() == pytest.approx(50**0.5) and parameters[0].grad.tolist() == pytest.approx(
        [0.4242640, 0.5656853], abs=1e-6
    )

    nn.utils.clip_grad_value_(parameters, 0.5)
    assert parameters[1].grad.tolist() == pytest.approx([0.424264, 0.5], abs=1e-6)

    parameters[0].grad.fill_(float("nan"))
    with pytest.raises(RuntimeError, match="non-finite"):
        nn.utils.clip_grad_norm_(parameters, 1.0, error_if_nonfinite=True)


def test_parameters_as_a_vector() -> None:
    model = nn.Linear(2, 1)
    vector = nn.utils.parameters_to_vector(model.parameters())
    nn.utils.vector_to_parameters(torch.zeros_like(vector), model.parameters())
    assert vector.shape == (3,) and model.weight.tolist() == [[0.0, 0.0]]
