"""Random operators inside vmap: PyTorch's numbers for the same seed, and the calls that are refused."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import torch_py as torch

# Functions of a module and one member of a batch of vectors.
DRAWS = {
    "randn": lambda torch, row: row + torch.randn(4),
    "randn_many_sizes": lambda torch, row: row[0] + torch.randn(2, 3),
    "rand_of_tuple": lambda torch, row: row + torch.rand((4,)),
    "rand_keyword": lambda torch, row: row + torch.rand(size=(4,)),
    "randint": lambda torch, row: row + torch.randint(0, 100, (4,)),
    "randint_high": lambda torch, row: row + torch.randint(100, (4,)),
    "normal": lambda torch, row: row + torch.normal(0.0, 1.0, (4,)),
    "randn_like": lambda torch, row: row + torch.randn_like(row),
    "normal_": lambda torch, row: row.clone().normal_(),
    "uniform_": lambda torch, row: row.clone().uniform_(-1, 1),
    "bernoulli_": lambda torch, row: row.clone().bernoulli_(0.3),
}


def batch(module):
    return module.arange(12.0).reshape(3, 4)


@pytest.mark.parametrize("name", DRAWS)
def test_different_numbers_are_pytorchs(name: str):
    peer = pytest.importorskip("torch")
    results = []
    for module in (torch, peer):
        module.manual_seed(3)
        draw = partial(DRAWS[name], module)
        results.append(module.func.vmap(draw, randomness="different")(batch(module)).numpy())
    np.testing.assert_array_equal(*results)


@pytest.mark.parametrize("name", ["randn", "randint", "randn_like", "normal_", "uniform_"])
def test_members_differ_or_share(name: str):
    def drawn(randomness: str):
        return torch.func.vmap(lambda row: DRAWS[name](torch, row), randomness=randomness)(torch.zeros(3, 4))

    different, same = drawn("different"), drawn("same")
    assert not torch.equal(different[0], different[1])
    assert torch.equal(same[0], same[1]) and torch.equal(same[0], same[2])


@pytest.mark.parametrize("name", DRAWS)
def test_error_is_the_default(name: str):
    with pytest.raises(RuntimeError, match="random operation while in randomness error mode"):
        torch.func.vmap(lambda row: DRAWS[name](torch, row))(batch(torch))


def test_filling_a_tensor_from_outside():
    outside = torch.zeros(4)
    with pytest.raises(RuntimeError, match="different inplace randomness on an unbatched tensor"):
        torch.func.vmap(lambda row: row + outside.normal_(), randomness="different")(batch(torch))
    assert torch.equal(outside, torch.zeros(4))
    torch.func.vmap(lambda row: row + outside.normal_(), randomness="same")(batch(torch))
    assert not torch.equal(outside, torch.zeros(4))


def test_random_permutations_differ():
    torch.manual_seed(0)
    found = torch.func.vmap(lambda row: torch.randperm(50), randomness="different")(batch(torch))
    assert found.shape == (3, 50) and not torch.equal(found[0], found[1])
    assert torch.equal(found.sort(-1).values, torch.arange(50).expand(3, 50))


def test_inner_vmap_inside_of_outer():
    def inner(row):
        return torch.func.vmap(lambda x: x + torch.randn(()), randomness="different")(row)

    torch.manual_seed(0)
    found = torch.func.vmap(inner, randomness="different")(torch.zeros(3, 4))
    assert found.shape == (3, 4) and len(set(found.flatten().tolist())) == 12


def test_dropout_after_training_draws_nothing():
    result = torch.func.vmap(
        lambda row: torch.nn.functional.dropout(torch.ones(4), 0.5, training=False) + row
    )(batch(torch))
    assert torch.equal(result, batch(torch) + 1)


def test_outside_again():
    with pytest.raises(RuntimeError):
        torch.func.vmap(lambda row: torch.randn(3))(batch(torch))
    assert torch.randn(3).shape == (3,)
