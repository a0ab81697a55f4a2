"""torch.nn.utils.prune: which weights are masked, norms of structures, errors that change nothing."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from tests.subject import torch

nn = torch.nn


prune = importlib.import_module(f"{torch.__name__}.nn.utils.prune")


def numbered(rows: int = 3, columns: int = 4) -> Any:
    layer = nn.Linear(columns, rows)
    layer.weight.data = torch.arange(float(rows * columns)).view(rows, columns) - 5
    return layer


def test_pruning_once_and_again() -> None:
    layer = numbered()
    original = layer.weight
    hook = prune.L1Unstructured.apply(layer, "weight", 3)

    assert layer.weight_mask.tolist() == [[1, 1, 1, 1], [0, 0, 0, 1], [1, 1, 1, 1]]
    assert list(layer.state_dict()) == ["bias", "weight_orig", "weight_mask"]
    assert layer.weight_orig is original

    prune.ln_structured(layer, "weight", 1, 2, 0)
    assert layer.weight_mask.tolist() == [[1, 1, 1, 1], [0, 0, 0, 0], [1, 1, 1, 1]]
    prune.l1_unstructured(layer, "weight", 0.5)
    assert layer.weight_mask.tolist() == [[1, 0, 0, 0], [0, 0, 0, 0], [0, 1, 1, 1]]

    assert isinstance(next(iter(layer._forward_pre_hooks.values())), prune.PruningContainer) and isinstance(
        hook, prune.L1Unstructured
    )

    layer(torch.ones(1, 4)).sum().backward()
    assert layer.weight_orig.grad.tolist() == layer.weight_mask.tolist()

    expected = layer.weight.detach().clone()
    assert prune.is_pruned(layer)
    prune.remove(layer, "weight")
    assert not prune.is_pruned(layer) and layer.weight is original and torch.equal(layer.weight, expected)


@pytest.mark.parametrize("n", [2, "fro"])
def test_norms_of_structured_pruning(n: Any) -> None:
    layer = prune.ln_structured(numbered(), "weight", 1, n, 0)
    assert layer.weight_mask.tolist() == [[1, 1, 1, 1], [0, 0, 0, 0], [1, 1, 1, 1]]


def test_global_pruning() -> None:
    a, b = numbered(2, 2), numbered(2, 2)
    b.weight.data += 2
    prune.global_unstructured([(a, "weight"), (b, "weight")], prune.L1Unstructured, amount=3)
    # a is -5 to -2, b is -3 to 0: the three nearest to zero are b's -0, -1 and one of the two -2
    dropped = [4 - int(layer.weight_mask.sum()) for layer in (a, b)]
    assert sum(dropped) == 3 and dropped[1] >= 2 and b.weight[1].tolist() == [0, 0]


def test_random_pruning_drops_the_largest_draws() -> None:
    torch.manual_seed(0)
    draws = torch.rand(16)
    torch.manual_seed(0)
    layer = prune.random_unstructured(torch.nn.utils.skip_init(nn.Linear, 4, 4), "weight", 5)
    assert torch.equal(layer.weight_mask.flatten() == 0, draws >= draws.topk(5).values[-1])


@pytest.mark.parametrize("count", [0, 2, 0.25, 1.0])
def test_random_pruning_drops_as_many_as_asked(count: Any) -> None:
    layer = numbered(4, 4)
    prune.random_unstructured(layer, "weight", count)
    assert int((layer.weight_mask == 0).sum()) == (count if isinstance(count, int) else round(count * 16))
    layer = numbered(4, 4)
    prune.random_structured(layer, "weight", count, dim=1)
    assert int((layer.weight_mask.sum(0) == 0).sum()) == (
        count if isinstance(count, int) else round(count * 4)
    )


@pytest.mark.parametrize(
    "act, error, message",
    [
        (
            lambda layer: prune.l1_unstructured(layer, "weight", 1.5),
            ValueError,
            "amount=1.5 should either be a float in the range",
        ),
        (lambda layer: prune.l1_unstructured(layer, "weight", -1), ValueError, "amount=-1 should"),
        (lambda layer: prune.l1_unstructured(layer, "weight", "1"), TypeError, "Invalid type for amount: 1"),
        (
            lambda layer: prune.l1_unstructured(layer, "weight", 100),
            ValueError,
            "amount=100 should be smaller than the number of parameters",
        ),
        (
            lambda layer: prune.ln_structured(layer, "bias", 1, 2, 0),
            ValueError,
            "Structured pruning can only be applied to a multidimensional",
        ),
        (lambda layer: prune.ln_structured(layer, "weight", 1, 2, 5), IndexError, "Invalid index 5"),
        (
            lambda layer: prune.custom_from_mask(layer, "weight", torch.ones(1)),
            AssertionError,
            "the mask must have the shape",
        ),
        (
            lambda layer: prune.remove(layer, "weight"),
            ValueError,
            "has to be pruned before pruning can be removed",
        ),
        (
            lambda layer: prune.global_unstructured(3, prune.L1Unstructured),
            TypeError,
            "parameters is not an Iterable",
        ),
    ],
)
def test_bad_pruning_changes_nothing(act: Any, error: type, message: str) -> None:
    layer = numbered()
    with pytest.raises(error, match=message):
        act(layer)
    assert list(layer.state_dict()) == ["weight", "bias"] and not layer._forward_pre_hooks
