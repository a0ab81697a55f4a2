"""Datasets, samplers and the DataLoader; a seed visits examples in PyTorch's order."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterator
from typing import Any

import numpy
import pytest

from tests.subject import torch

data = __import__(f"{torch.__name__}.utils.data", fromlist=["data"])
DataLoader = data.DataLoader


def test_batches_in_order() -> None:
    x = torch.arange(5)
    y = torch.arange(5.0) * 2
    batches = list(DataLoader(data.TensorDataset(x, y), batch_size=2))
    assert [batch[0].tolist() for batch in batches] == [[0, 1], [2, 3], [4]]
    assert batches[2][1].tolist() == [8.0]
    assert len(DataLoader(x, batch_size=2)) == 3 and len(DataLoader(x, batch_size=2, drop_last=True)) == 2
    assert [value.item() for value in DataLoader(x, batch_size=None)] == [0, 1, 2, 3, 4]


def test_shuffled_as_pytorch_shuffles() -> None:
    torch.manual_seed(0)
    assert [batch.tolist() for batch in DataLoader(list(range(7)), batch_size=3, shuffle=True)] == [
        [0, 4, 1],
        [5, 2, 6],
        [3],
    ]
    assert torch.rand(1).item() == pytest.approx(0.30742281675338745)
    generator = torch.Generator()
    generator.manual_seed(3)
    loader = DataLoader(list(range(5)), batch_size=2, shuffle=True, drop_last=True, generator=generator)
    assert [batch.tolist() for batch in loader] == [[2, 4], [3, 0]]


def test_samplers() -> None:
    generator = torch.Generator()
    generator.manual_seed(1)
    assert list(data.RandomSampler(range(5), replacement=True, num_samples=6, generator=generator)) == [
        0,
        4,
        4,
        3,
        3,
        3,
    ]

    torch.manual_seed(0)
    assert list(data.WeightedRandomSampler([0.1, 0.9, 0.5], 5)) == [2, 2, 1, 2, 1]
    assert list(data.BatchSampler(data.SequentialSampler(range(5)), 2, True)) == [[0, 1], [2, 3]]
    assert sorted(data.SubsetRandomSampler([3, 5, 7])) == [3, 5, 7]

    with pytest.raises(ValueError, match="positive integer"):
        data.BatchSampler(range(3), 0, False)


def test_random_split_and_concatenation() -> None:
    torch.manual_seed(0)
    parts = data.random_split(range(7), [0.5, 0.5])
    assert [list(part.indices) for part in parts] == [[4, 0, 5, 3], [2, 6, 1]]
    with pytest.raises(ValueError, match="does not equal the length"):
        data.random_split(range(3), [1, 1])
    joined = data.ConcatDataset([range(2), range(10, 13)])
    assert [joined[index] for index in range(5)] == [0, 1, 10, 11, 12] and joined[-1] == 12
    assert data.Subset(range(10), [3, 4])[1] == 4


def test_collate() -> None:
    Point = namedtuple("Point", "x y")
    batch = [
        {
            "a": 1,
            "b": 1.5,
            "c": "text",
            "d": torch.ones(2),
            "e": numpy.ones(2),
            "f": (1, 2),
            "g": Point(1, 2.0),
        },
        {
            "a": 2,
            "b": 2.5,
            "c": "more",
            "d": torch.zeros(2),
            "e": numpy.zeros(2),
            "f": (3, 4),
            "g": Point(3, 4.0),
        },
    ]

    result = data.default_collate(batch)
    assert result["a"].tolist() == [1, 2]
    assert result["b"].dtype == torch.float64
    assert result["c"] == ["text", "more"]
    assert result["d"].shape == (2, 2) and result["e"].dtype == torch.float64
    assert [column.tolist() for column in result["f"]] == [[1, 3], [2, 4]] and type(
        result["g"]
    ).__name__ == "Point"

    assert data.default_collate([(1, "a"), (2, "b")])[1] == ("a", "b")  # not a list, but the column itself

    with pytest.raises(TypeError, match="must contain tensors"):
        data.default_collate([object()])
    with pytest.raises(RuntimeError, match="equal size"):
        data.default_collate([[1], [1, 2]])


def test_streams_and_own_collate() -> None:
    class Stream(data.IterableDataset):
        def __iter__(self) -> Iterator[int]:
            return iter(range(5))

    assert [batch.tolist() for batch in DataLoader(Stream(), batch_size=2)] == [[0, 1], [2, 3], [4]]
    assert list(DataLoader(range(4), batch_size=2, collate_fn=sum)) == [1, 5]
    with pytest.raises(ValueError, match="IterableDataset"):
        DataLoader(Stream(), shuffle=True)


@pytest.mark.parametrize(
    "keywords",
    [
        {"shuffle": True, "sampler": [0]},
        {"batch_sampler": [[0]], "batch_size": 2},
        {"batch_size": None, "drop_last": True},
        {"num_workers": -1},
    ],
)
def test_options_that_exclude_one_another(keywords: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        DataLoader(range(3), **keywords)


def test_size_mismatch() -> None:
    with pytest.raises(AssertionError):
        data.TensorDataset(torch.ones(2), torch.ones(3))


def test_an_empty_dataset_cannot_be_shuffled():
    message = "num_samples should be a positive integer value, but got num_samples=0"
    with pytest.raises(ValueError, match=message):
        DataLoader([], shuffle=True)
    assert len(DataLoader([])) == 0
