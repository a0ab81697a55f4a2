"""AdaptiveLogSoftmaxWithLoss: shapes, losses, predictions and refusals."""

from __future__ import annotations

import pytest

from tests.subject import torch

nn = torch.nn


def layer(**options: object) -> object:
    torch.manual_seed(0)
    return nn.AdaptiveLogSoftmaxWithLoss(8, 20, [5, 10], div_value=2.0, **options)


def test_shapes_of_parameters() -> None:
    shapes = {name: tuple(value.shape) for name, value in layer(head_bias=True).state_dict().items()}
    assert shapes == {
        "head.weight": (7, 8),
        "head.bias": (7,),
        "tail.0.0.weight": (4, 8),
        "tail.0.1.weight": (5, 4),
        "tail.1.0.weight": (2, 8),
        "tail.1.1.weight": (10, 2),
    }


def test_loss_is_that_of_all_probabilities() -> None:
    module = layer()
    x = torch.randn(6, 8, requires_grad=True)
    target = torch.tensor([0, 6, 12, 19, 4, 5])
    result = module(x, target)
    logarithms = module.log_prob(x)

    torch.testing.assert_close(logarithms.exp().sum(1), torch.ones(6))
    torch.testing.assert_close(result.output, logarithms.gather(1, target.unsqueeze(1)).squeeze(1))
    torch.testing.assert_close(result.loss, nn.functional.nll_loss(logarithms, target))

    gradients = [
        torch.autograd.grad(loss, [x, *module.parameters()])
        for loss in (result.loss, nn.functional.nll_loss(module.log_prob(x), target))
    ]
    for ours, expected in zip(*gradients):
        torch.testing.assert_close(ours, expected)


def test_one_vector() -> None:
    module = layer()
    x = torch.randn(8)
    output, loss = module(x, torch.tensor(12))
    assert output.shape == () and bool(output == -loss)
    torch.testing.assert_close(output, module(x.unsqueeze(0), torch.tensor([12])).output[0])


def test_predictions() -> None:
    module = layer()
    x = torch.randn(30, 8) * 5
    assert torch.equal(module.predict(x), module.log_prob(x).argmax(1))


def test_arguments_that_do_not_fit() -> None:
    for cutoffs in ([], [5, 5], [20], [0], [1.5], [10, 5]):
        with pytest.raises(ValueError, match="cutoffs"):
            nn.AdaptiveLogSoftmaxWithLoss(8, 20, cutoffs)

    module = layer()
    x = torch.randn(4, 8)
    for target, message in (
        ([0, 1, 2], "same size"),
        ([0, 1, 2, 20], r"\[0, 20\]"),
        ([0, 1, 2, -1], r"\[-1, 2\]"),
        (3, "0D target"),
    ):
        with pytest.raises(RuntimeError, match=message):
            module(x, torch.tensor(target))

    with pytest.raises(RuntimeError, match="multi-target"):
        module(x, torch.tensor([[3]]))
