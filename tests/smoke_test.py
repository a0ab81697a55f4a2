"""One test of every kind, in seconds: whether the build works at all. `make smoke` runs this file."""

from __future__ import annotations

import io
from typing import Any

from tests.subject import torch


def test_creation_and_arithmetic() -> None:
    x = torch.arange(6, dtype=torch.float32).reshape(2, 3)
    assert (x * 2 + 1).tolist() == [[1, 3, 5], [7, 9, 11]]
    assert (x @ x.t()).tolist() == [[5, 14], [14, 50]]
    assert repr(x[0]) == "tensor([0., 1., 2.])"


def test_views_share_memory() -> None:
    x = torch.zeros(2, 3)
    x.t()[1].fill_(5)
    assert x.tolist() == [[0, 5, 0], [0, 5, 0]]


def test_indexing() -> None:
    x = torch.arange(10)
    assert x[2:8:3].tolist() == [2, 5] and x[x > 7].tolist() == [8, 9]
    x[torch.tensor([0, 1])] = -1
    assert x[:3].tolist() == [-1, -1, 2]


def test_reductions() -> None:
    x = torch.tensor([[1.0, 5.0], [3.0, 2.0]])
    assert x.sum().item() == 11 and x.mean(0).tolist() == [2.0, 3.5] and x.argmax(1).tolist() == [1, 0]


def test_numpy_shares_memory() -> None:
    x = torch.zeros(3)
    x.numpy()[1] = 7
    assert x.tolist() == [0, 7, 0]


def test_autograd() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (x**3).sum()
    (first,) = torch.autograd.grad(y, x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    assert first.tolist() == [3.0, 12.0] and second.tolist() == [6.0, 12.0]


def test_training_step() -> None:
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Conv2d(1, 2, 3),
        torch.nn.BatchNorm2d(2),
        torch.nn.ReLU(),
        torch.nn.Flatten(),
        torch.nn.Linear(72, 2),
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    images = torch.randn(4, 1, 8, 8)
    labels = torch.tensor([0, 1, 0, 1])

    def step() -> Any:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        return loss.item()

    losses = [step() for _ in range(10)]
    assert losses[-1] < losses[0] / 2


def test_save_and_load() -> None:
    file = io.BytesIO()
    torch.save({"x": torch.ones(2)}, file)
    file.seek(0)
    assert torch.load(file)["x"].tolist() == [1.0, 1.0]


def test_seed_gives_the_same_numbers() -> None:
    torch.manual_seed(1)
    first = torch.randn(5)
    torch.manual_seed(1)
    assert torch.equal(torch.randn(5), first)


def test_errors_are_exceptions() -> None:
    for wrong in (
        lambda: torch.ones(2) + torch.ones(3),
        lambda: torch.ones(2)[5],
        lambda: torch.ones(2, 3) @ torch.ones(2, 3),
    ):
        try:
            wrong()
        except (RuntimeError, IndexError) as error:
            assert str(error)
        else:
            raise AssertionError("no exception")
