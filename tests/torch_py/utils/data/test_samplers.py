"""Samplers, combined datasets and distributed sampling: orders, lengths and messages are PyTorch's."""

from __future__ import annotations

import importlib
import inspect
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.subject import WITH_PEER, only_torch_py, torch

data: Any = importlib.import_module(f"{torch.__name__}.utils.data")


def stream(module: Any, count: int = 3) -> Any:
    class Numbers(module.IterableDataset):
        def __iter__(self) -> Iterator[int]:
            return iter(range(count))

        def __len__(self) -> int:
            return count

    return Numbers()


def listed(value: Any) -> Any:
    return (
        [listed(item) for item in value]
        if isinstance(value, (list, tuple)) or hasattr(value, "__next__")
        else value
    )


# Calls with a library's torch and torch.utils.data, whose results must agree.
VALUES: dict[str, Callable[[Any, Any], Any]] = {
    "random": lambda t, d: list(d.RandomSampler(range(40))),
    "random, more than there are": lambda t, d: list(d.RandomSampler(range(5), num_samples=13)),
    "random, fewer": lambda t, d: list(d.RandomSampler(range(9), num_samples=4)),
    "random, replacement": lambda t, d: list(d.RandomSampler(range(1000), replacement=True, num_samples=70)),
    "random, generator": lambda t, d: list(d.RandomSampler(range(9), generator=t.Generator().manual_seed(4))),
    "random, twice": lambda t, d: [list(s) for s in [d.RandomSampler(range(9))] for _ in range(2)],
    "subset": lambda t, d: list(d.SubsetRandomSampler([3, 5, 7, 9])),
    "weighted": lambda t, d: list(d.WeightedRandomSampler([0.1, 0.9, 0.5, 0.0], 20)),
    "weighted, no replacement": lambda t, d: list(
        d.WeightedRandomSampler([0.1, 0.9, 0.5], 3, replacement=False)
    ),
    "batches": lambda t, d: [list(d.BatchSampler(range(7), 3, drop)) for drop in (False, True)],
    "lengths of batches": lambda t, d: [
        len(d.BatchSampler(range(7), size, drop)) for size in (1, 3, 7, 8) for drop in (False, True)
    ],
    "stack": lambda t, d: [
        d.StackDataset([1, 2], [3, 4])[0],
        len(d.StackDataset([1, 2])),
        d.StackDataset(a=[1, 2], b=[3, 4])[1],
    ],
    "stack, several": lambda t, d: [
        d.StackDataset([1, 2], [3, 4]).__getitems__([1, 0]),
        d.StackDataset(a=[1, 2]).__getitems__([0, 1]),
    ],
    "subset, several": lambda t, d: d.Subset(d.Subset([5, 6, 7, 8], [3, 1, 0]), [0, 2]).__getitems__([1, 0]),
    "subset by a list": lambda t, d: d.Subset(t.arange(5) * 2, [4, 2])[[0, 1]].tolist(),
    "concat": lambda t, d: [d.ConcatDataset([[1, 2], [3]])[i] for i in (-3, -1, 0, 2)],
    "concat in a loop": lambda t, d: list(d.ConcatDataset([[1, 2], [3]])),
    "concat by +": lambda t, d: len(d.Subset([1, 2], [0]) + d.Subset([1, 2], [1, 0])),
    "concat, sizes": lambda t, d: d.ConcatDataset([[1, 2], [3]]).cumulative_sizes,
    "chain": lambda t, d: [
        list(d.ChainDataset([stream(d), stream(d, 2)])),
        len(d.ChainDataset([stream(d), stream(d)])),
    ],
    "chain by +": lambda t, d: [type(stream(d) + stream(d)).__name__, list(stream(d) + stream(d, 1))],
    "split": lambda t, d: [list(part.indices) for part in d.random_split(range(10), [3, 7])],
    "split, shares": lambda t, d: [list(part.indices) for part in d.random_split(range(11), [0.3, 0.3, 0.4])],
    "split, generator": lambda t, d: [
        list(p.indices) for p in d.random_split(range(6), [2, 4], generator=t.Generator().manual_seed(1))
    ],
    "split, empty part": lambda t, d: [len(part) for part in d.random_split([1, 2], [0.9, 0.1])],
    "tensors": lambda t, d: [
        [x.tolist() for x in d.TensorDataset(t.arange(3), t.ones(3, 1))[1]],
        len(d.TensorDataset(t.ones(4))),
    ],
    "loaded stack": lambda t, d: [
        b["a"].tolist() for b in d.DataLoader(d.StackDataset(a=[1, 2, 3]), batch_size=2)
    ],
}

ERRORS: dict[str, Callable[[Any, Any], Any]] = {
    "weighted, no samples": lambda t, d: d.WeightedRandomSampler([1.0], 0),
    "weighted, replacement": lambda t, d: d.WeightedRandomSampler([1.0], 1, 3),
    "weighted, shape": lambda t, d: d.WeightedRandomSampler(t.ones(2, 2), 1),
    "random of nothing": lambda t, d: d.RandomSampler([]),
    "random, replacement": lambda t, d: d.RandomSampler([1], 3),
    "random, samples": lambda t, d: d.RandomSampler([1], num_samples=-1),
    "batches, drop_last": lambda t, d: d.BatchSampler([1], 1, 3),
    "batches, bool": lambda t, d: d.BatchSampler([1], True, False),
    "no order": lambda t, d: list(iter(d.Sampler())),
    "no length": lambda t, d: len(d.Sampler()),
    "stack of nothing": lambda t, d: d.StackDataset(),
    "stack, lengths": lambda t, d: d.StackDataset([1], [1, 2]),
    "stack, both": lambda t, d: d.StackDataset([1], a=[1]),
    "concat of nothing": lambda t, d: d.ConcatDataset([]),
    "concat of streams": lambda t, d: d.ConcatDataset([stream(d)]),
    "concat, index": lambda t, d: d.ConcatDataset([[1]])[5],
    "chain of lists": lambda t, d: list(d.ChainDataset([stream(d), [1]])),
    "split, shares": lambda t, d: d.random_split([1, 2], [0.5, 0.6]),
    "split, negative": lambda t, d: d.random_split([1, 2], [1.5, -0.5]),
    "split, sizes": lambda t, d: d.random_split([1, 2], [1, 2]),
    "no examples": lambda t, d: d.Dataset()[0],
    "no stream": lambda t, d: d.IterableDataset(),
    "rank": lambda t, d: d.DistributedSampler(range(10), num_replicas=2, rank=5),
}


def outcome(make: Callable[[Any, Any], Any], module: Any, data_module: Any) -> Any:
    module.manual_seed(5)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            value = listed(make(module, data_module))
        except Exception as error:
            value = type(error).__name__

    return (
        value,
        [(warning.category, str(warning.message)) for warning in caught],
        int(module.randint(10**9, ())),
    )


@only_torch_py
@pytest.mark.parametrize("name", VALUES)
def test_values(name: str) -> None:
    peer = pytest.importorskip("torch")
    ours = outcome(VALUES[name], torch, data)
    assert ours == outcome(
        VALUES[name], peer, importlib.import_module("torch.utils.data")
    ) and not isinstance(ours[0], str)


@only_torch_py
@pytest.mark.parametrize("name", ERRORS)
def test_errors(name: str) -> None:
    peer = pytest.importorskip("torch")
    ours = outcome(ERRORS[name], torch, data)
    assert ours[0] == outcome(ERRORS[name], peer, importlib.import_module("torch.utils.data"))[
        0
    ] and isinstance(ours[0], str)


@only_torch_py
@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize(("count", "replicas"), [(10, 2), (11, 3), (2, 5), (7, 1), (9, 4)])
def test_dividing_among_processes(count: int, replicas: int, drop_last: bool, shuffle: bool) -> None:
    peer = pytest.importorskip("torch.utils.data.distributed").DistributedSampler
    for rank in range(replicas):
        samplers = [
            kind(range(count), replicas, rank, shuffle=shuffle, seed=3, drop_last=drop_last)
            for kind in (data.DistributedSampler, peer)
        ]
        for epoch in (0, 4):
            for sampler in samplers:
                sampler.set_epoch(epoch)
            assert list(samplers[0]) == list(samplers[1]) and len(samplers[0]) == len(samplers[1])


def test_without_a_process_group() -> None:
    if WITH_PEER:
        pytest.skip("PyTorch has the package, and raises ValueError without a group")
    with pytest.raises((RuntimeError, ValueError)):
        data.DistributedSampler(range(3))


@only_torch_py
def test_signatures_are_those_of_pytorch() -> None:
    peer: Any = pytest.importorskip("torch.utils.data")
    pipes = {name for name in peer.__all__ if "DataPipe" in name or "datapipe" in name} | {
        "DataChunk",
        "_DatasetKind",
    }
    pipes |= {"argument_validation", "non_deterministic", "runtime_validation", "runtime_validation_disabled"}
    pipes -= {"functional_datapipe"}  # packages decorate classes with it when they are imported
    assert set(peer.__all__) - set(data.__all__) == pipes and set(data.__all__) <= set(peer.__all__)

    for name in data.__all__:
        if name in ("IterableDataset", "Sampler", "random_split", "Dataset"):
            continue  # the default generator of random_split is a different object
        ours, theirs = (
            list(inspect.signature(getattr(module, name)).parameters.values()) for module in (data, peer)
        )
        assert [(p.name, p.kind, p.default) for p in ours] == [(p.name, p.kind, p.default) for p in theirs], (
            name
        )
