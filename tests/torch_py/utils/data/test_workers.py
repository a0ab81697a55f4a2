"""DataLoader with worker processes: the same batches as without them, and processes that end."""

from __future__ import annotations

import gc
import importlib
import math
import os
import random
import warnings
from collections import namedtuple
from collections.abc import Iterator
from typing import Any

import numpy
import pytest

from tests.subject import WITH_PEER, only_torch_py, torch

data: Any = importlib.import_module(f"{torch.__name__}.utils.data")
DataLoader = data.DataLoader
SECONDS = 120  # for processes on a busy machine
Pair = namedtuple("Pair", "image label")


class Images(data.Dataset):
    """Examples of some size, with their numbers."""

    def __init__(self, count: int = 10, *shape: int) -> None:
        self.images = torch.arange(float(count * math.prod(shape))).reshape(count, *shape)

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: int) -> Any:
        return Pair(self.images[index], index)


class Range(data.IterableDataset):
    """Numbers, divided among the workers when `divided`."""

    def __init__(self, count: int, divided: bool = True) -> None:
        self.count = count
        self.divided = divided

    def __iter__(self) -> Iterator[int]:
        info = data.get_worker_info()
        if info is None or not self.divided:
            return iter(range(self.count))
        return iter(range(info.id, self.count, info.num_workers))


class Facts(data.Dataset):
    """What a worker knows about itself, and numbers from its generators."""

    def __len__(self) -> int:
        return 8

    def __getitem__(self, index: int) -> list[Any]:
        info = data.get_worker_info()
        drawn = [int(torch.randint(10**6, ())), random.randrange(10**6), int(numpy.random.randint(10**6))]

        return [
            index,
            info.id,
            info.num_workers,
            info.seed,
            len(info.dataset),
            torch.initial_seed(),
            torch.get_num_threads(),
            *drawn,
        ]


def equal(a: Any, b: Any) -> bool:
    if isinstance(a, torch.Tensor):
        return a.dtype == b.dtype and torch.equal(a, b)
    if isinstance(a, (tuple, list)):
        return type(a) is type(b) and len(a) == len(b) and all(equal(x, y) for x, y in zip(a, b))
    return bool(a == b)


def numbers(loader: Any) -> list[Any]:
    return [batch.tolist() for batch in loader]


# -- the same batches
# ------------------------------------------------------------


@pytest.mark.parametrize("shape", [(), (3,), (40, 50), (3, 64, 64)], ids=str)
@pytest.mark.parametrize(
    "options",
    [{}, {"persistent_workers": True}, {"drop_last": True, "prefetch_factor": 5}, {"batch_size": None}],
    ids=str,
)
def test_batches_as_without_workers(shape: tuple[int, ...], options: dict[str, Any]) -> None:
    dataset = Images(10, *shape)
    keywords: dict[str, Any] = {"batch_size": 3, **options}
    alone = {name: value for name, value in keywords.items() if name in ("batch_size", "drop_last")}
    expected = list(DataLoader(dataset, **alone))
    loader = DataLoader(dataset, num_workers=2, timeout=SECONDS, **keywords)
    assert len(loader) == len(expected)
    for _ in range(2):
        assert equal(list(loader), expected)


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_other_ways_to_start_workers(method: str) -> None:
    loader = DataLoader(
        Images(6, 70, 70), batch_size=2, num_workers=2, multiprocessing_context=method, timeout=SECONDS
    )
    assert equal(list(loader), list(DataLoader(Images(6, 70, 70), batch_size=2)))


def test_batches_that_are_ready_first() -> None:
    loader = DataLoader(Images(20, 3), batch_size=2, num_workers=2, in_order=False, timeout=SECONDS)
    batches = sorted(loader, key=lambda batch: int(batch.label[0]))
    assert equal(batches, list(DataLoader(Images(20, 3), batch_size=2)))


@pytest.mark.parametrize(
    "options",
    [
        {"shuffle": True},
        {"shuffle": True, "generator": True},
        {"sampler": data.RandomSampler(range(8), replacement=True, num_samples=12)},
        {"batch_sampler": [[1, 2], [5], [7, 7, 0]], "batch_size": 1},
    ],
    ids=["shuffle", "generator", "sampler", "batch_sampler"],
)
def test_order_and_seed_do_not_depend_on_workers(options: dict[str, Any]) -> None:
    orders, following = [], []
    for workers in (0, 2):
        torch.manual_seed(11)
        keywords = {"batch_size": 3, **options}
        if "generator" in options:
            keywords["generator"] = torch.Generator().manual_seed(3)
        loader = DataLoader(range(8), num_workers=workers, **keywords)
        orders.append([numbers(loader), numbers(loader)])
        following.append(int(torch.randint(10**9, ())))
    assert orders[0] == orders[1] and following[0] == following[1]


@only_torch_py
@pytest.mark.parametrize(
    "options", [{}, {"shuffle": True}, {"shuffle": True, "persistent_workers": True}], ids=str
)
def test_seeds_are_those_of_pytorch(options: dict[str, Any]) -> None:
    peer: Any = pytest.importorskip("torch")
    peer_data: Any = importlib.import_module("torch.utils.data")

    class PeerFacts(peer_data.Dataset):
        __len__ = Facts.__len__

        def __getitem__(self, index: int) -> list[Any]:
            info = peer_data.get_worker_info()
            drawn = [int(peer.randint(10**6, ())), random.randrange(10**6), int(numpy.random.randint(10**6))]

            return [
                index,
                info.id,
                info.num_workers,
                info.seed,
                len(info.dataset),
                peer.initial_seed(),
                peer.get_num_threads(),
                *drawn,
            ]

    def epochs(library: Any, loader: Any) -> list[Any]:
        library.manual_seed(7)
        return [[[column.tolist() for column in batch] for batch in loader] for _ in range(2)] + [
            int(library.randint(10**9, ()))
        ]

    keywords: dict[str, Any] = {"batch_size": 2, "num_workers": 2, "timeout": SECONDS, **options}
    assert epochs(torch, DataLoader(Facts(), **keywords)) == epochs(
        peer, peer_data.DataLoader(PeerFacts(), **keywords)
    )


def test_a_worker_has_one_thread_and_its_number() -> None:
    batches = list(DataLoader(Facts(), batch_size=4, num_workers=2, timeout=SECONDS))
    assert [batch[1].tolist() for batch in batches] == [[0] * 4, [1] * 4]
    seeds = [set(batch[3].tolist()) for batch in batches]
    assert len(seeds[0] | seeds[1]) == 2 and max(seeds[1]) - max(seeds[0]) == 1
    assert all(set(batch[6].tolist()) == {1} and set(batch[4].tolist()) == {8} for batch in batches)
    assert data.get_worker_info() is None


# -- streams
# ------------------------------------------------------------


def test_streams() -> None:
    assert numbers(DataLoader(Range(7), batch_size=2, num_workers=2, timeout=SECONDS)) == [
        [0, 2],
        [1, 3],
        [4, 6],
        [5],
    ]
    assert numbers(DataLoader(Range(7), batch_size=2, num_workers=2, drop_last=True, timeout=SECONDS)) == [
        [0, 2],
        [1, 3],
        [4, 6],
    ]

    everywhere = DataLoader(
        Range(3, False), batch_size=None, num_workers=2, collate_fn=torch.tensor, timeout=SECONDS
    )
    assert sorted(numbers(everywhere)) == [0, 0, 1, 1, 2, 2]

    loader = DataLoader(Range(4), num_workers=2, persistent_workers=True, timeout=SECONDS)
    assert [numbers(loader) for _ in range(3)] == [[[0], [1], [2], [3]]] * 3


def test_streams_shorter_than_the_number_of_workers() -> None:
    assert numbers(DataLoader(Range(1), num_workers=2, timeout=SECONDS)) == [[0]]
    assert numbers(DataLoader(Range(0), num_workers=2, timeout=SECONDS)) == []
    assert sorted(numbers(DataLoader(Range(5), num_workers=2, in_order=False, timeout=SECONDS))) == [
        [0],
        [1],
        [2],
        [3],
        [4],
    ]


class Measured(Range):
    def __len__(self) -> int:
        return 2


@pytest.mark.parametrize("workers", [0, 1])
def test_a_stream_longer_than_it_said(workers: int) -> None:
    loader = DataLoader(Measured(3), num_workers=workers)
    assert len(loader) == 2
    with pytest.warns(UserWarning, match="was reported to be 2.*but 3 samples have been fetched"):
        assert len(list(loader)) == 3


# -- objects that travel
# ------------------------------------------------------------


def everything(batch: list[Any]) -> dict[str, Any]:
    big = torch.arange(20000.0)

    return {
        "text": ["a" * 200000, b"bytes"],
        "views": (big, big[100:200], big[:2]),
        "small views": (batch[0].image, batch[0].image[:1]),
        "transposed": torch.arange(20000).reshape(100, 200).t(),
        "parameter": torch.nn.Parameter(torch.ones(3)),
        "leaf": torch.ones(30000, requires_grad=True),
        "array": numpy.arange(5),
        "empty": torch.empty(0, 4),
        "part": torch.ones(1000, 1000)[3, :5],
        "none": None,
        "many": [torch.full((5000,), float(index)) for index in range(150)],
    }


def test_any_object_travels() -> None:
    expected = everything([Images(1, 3)[0]])
    for batch in DataLoader(
        Images(4, 3), batch_size=2, num_workers=2, collate_fn=everything, timeout=SECONDS
    ):
        assert batch["text"] == expected["text"]
        assert batch["none"] is None
        assert numpy.array_equal(batch["array"], expected["array"])

        for name in ("transposed", "empty", "part"):
            assert torch.equal(batch[name], expected[name]) and batch[name].shape == expected[name].shape
        assert batch["transposed"].stride() == (1, 200)
        assert type(batch["parameter"]) is torch.nn.Parameter
        assert batch["leaf"].requires_grad
        assert batch["leaf"].is_leaf
        assert [float(tensor.sum()) for tensor in batch["many"]] == [5000.0 * index for index in range(150)]

        big, middle, start = batch["views"]
        middle[0] = -1
        start[0] = -2
        assert big[100] == -1 and big[0] == -2


class Giving(data.Dataset):
    """Examples given to the constructor."""

    def __init__(self, *examples: Any) -> None:
        self.examples = examples

    def __len__(self) -> int:
        return len(self.examples)

    def __getitem__(self, index: Any) -> Any:
        return self.examples[int(index)]


class Shapes(data.Dataset):
    def __len__(self) -> int:
        return 2

    def __getitem__(self, index: int) -> Any:
        return torch.empty(20000, device="meta")


def test_batches_without_memory() -> None:
    (batch,) = data.DataLoader(Shapes(), batch_size=2, num_workers=1)
    assert batch.is_meta and batch.shape == (2, 20000)


def test_what_was_shared_stays_shared() -> None:
    shared = torch.zeros(100).share_memory_()
    for received in DataLoader(Giving(shared, shared), batch_size=None, num_workers=1, timeout=SECONDS):
        received.add_(1)
        assert received.is_shared()
    assert shared.tolist() == [2] * 100


@only_torch_py
def test_more_descriptors_than_a_message_takes() -> None:
    tensors = [torch.full((2,), float(index)).share_memory_() for index in range(300)]
    (received,) = DataLoader(
        Giving(*tensors), batch_size=300, num_workers=1, collate_fn=list, timeout=SECONDS
    )
    assert [tensor.tolist() for tensor in received] == [[index, index] for index in range(300)]


@only_torch_py
def test_batches_that_are_kept_stay_as_they_are() -> None:
    loader = DataLoader(Images(24, 3, 40, 40), batch_size=2, num_workers=2, timeout=SECONDS)
    expected = list(DataLoader(Images(24, 3, 40, 40), batch_size=2))
    kept = list(loader)
    parts = [batch.image[0, 0, :2] for batch in loader]
    assert equal(kept, expected) and equal(parts, [batch.image[0, 0, :2] for batch in expected])


@only_torch_py
def test_a_batch_is_memory_of_the_main_process() -> None:
    loader = DataLoader(Images(8, 100, 100), batch_size=2, num_workers=1, timeout=SECONDS)
    for batch, plain in zip(loader, DataLoader(Images(8, 100, 100), batch_size=2)):
        batch.image.mul_(2)
        assert torch.equal(batch.image, plain.image * 2)
        assert not batch.image.is_shared() and batch.image.share_memory_().is_shared()


def segments(batch: list[Any]) -> list[int]:
    worker = importlib.import_module("torch_py.utils.data._utils.worker")
    return [worker.current_pool().count()[0], torch.stack([example.image for example in batch])]


@only_torch_py
def test_segments_are_used_again() -> None:
    loader = DataLoader(
        Images(200, 100, 100), batch_size=2, num_workers=1, collate_fn=segments, timeout=SECONDS
    )
    assert (
        max(count for count, _ in loader) <= 6
    )  # two ahead, one in the loop, one on its way back, one being filled


@only_torch_py
def test_a_child_of_the_main_process_keeps_its_view() -> None:
    loader = iter(DataLoader(Images(60, 100, 100), batch_size=2, num_workers=1, timeout=SECONDS))
    batch = next(loader)
    total = float(batch.image.sum())

    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.close(write)
            os.read(read, 1)  # until the main process has used all batches
            code = int(float(batch.image.sum()) != total)
        finally:
            os._exit(code)

    os.close(read)
    del batch
    assert sum(1 for _ in loader) == 29
    os.close(write)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


# -- options
# ------------------------------------------------------------


def test_worker_init_fn() -> None:
    def start(worker: int) -> None:
        data.get_worker_info().dataset.images += 100 * worker

    dataset = Images(4)
    loader = DataLoader(dataset, num_workers=2, worker_init_fn=start, timeout=SECONDS)
    assert [batch.image.item() for batch in loader] == [0, 101, 2, 103]
    assert dataset.images.tolist() == [0, 1, 2, 3]


def test_persistent_workers_stay() -> None:
    loader = DataLoader(
        Giving(*range(4)),
        num_workers=2,
        persistent_workers=True,
        collate_fn=lambda batch: os.getpid(),
        timeout=SECONDS,
    )

    first = list(loader)
    halfway = iter(loader)
    next(halfway)
    assert list(loader) == first and len(set(first)) == 2  # the unfinished pass does not disturb the next

    workers = list(loader._iterator._workers)
    del loader, halfway
    assert not any(worker.is_alive() for worker in workers)


def test_fresh_workers_otherwise() -> None:
    loader = DataLoader(
        Giving(*range(4)), num_workers=2, collate_fn=lambda batch: os.getpid(), timeout=SECONDS
    )
    assert not set(loader) & set(loader) and os.getpid() not in set(loader)


def test_loaders_within_loaders() -> None:
    outer = DataLoader(range(3), num_workers=2, timeout=SECONDS)
    inner = DataLoader(range(2), num_workers=1, timeout=SECONDS)
    pairs = [(int(a), int(b)) for a in outer for b in inner]
    assert pairs == [(a, b) for a in range(3) for b in range(2)]
    same = DataLoader(range(3), num_workers=1, timeout=SECONDS)
    assert [(int(a), int(b)) for a, b in zip(same, same)] == [(0, 0), (1, 1), (2, 2)]


def test_many_indices_in_a_request() -> None:
    count = 300000
    loader = DataLoader(
        range(count), batch_sampler=[list(range(count))] * 4, num_workers=2, collate_fn=sum, timeout=SECONDS
    )
    assert list(loader) == [count * (count - 1) // 2] * 4


def test_indices_that_are_tensors() -> None:
    loader = DataLoader(Giving(5, 6, 7), sampler=torch.tensor([2, 0]), num_workers=1, timeout=SECONDS)
    assert numbers(loader) == [[7], [5]]


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is an accelerator")
def test_pinned_memory_needs_an_accelerator() -> None:
    with pytest.warns(UserWarning, match="no accelerator is found"):
        assert [batch.tolist() for batch in DataLoader(range(2), pin_memory=True, num_workers=1)] == [
            [0],
            [1],
        ]


def test_settings_cannot_be_changed_later() -> None:
    loader = DataLoader(range(3))
    for name in ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers"):
        message = f"{name} attribute should not be set after DataLoader is initialized"
        with pytest.raises(ValueError, match=message):
            setattr(loader, name, None)
    loader.num_workers = 1
    loader.prefetch_factor = 1
    loader.multiprocessing_context = "fork"
    assert loader.multiprocessing_context.get_start_method() == "fork" and numbers(loader) == [[0], [1], [2]]


def test_prefetch_factor_of_zero_is_refused() -> None:
    with pytest.raises(AssertionError, match="prefetch_factor"):
        list(DataLoader(range(3), num_workers=1, prefetch_factor=0))


CONSTRUCTORS: list[dict[str, Any]] = [
    {"num_workers": -1},
    {"timeout": -1},
    {"prefetch_factor": 2},
    {"num_workers": 1, "prefetch_factor": -1},
    {"persistent_workers": True},
    {"shuffle": True, "sampler": [0]},
    {"batch_sampler": [[0]], "batch_size": 3},
    {"batch_sampler": [[0]], "drop_last": True},
    {"batch_sampler": [[0]], "shuffle": True},
    {"batch_sampler": [[0]], "sampler": [0]},
    {"batch_size": None, "drop_last": True},
    {"num_workers": 1000},
    {"multiprocessing_context": "spawn"},
    {"num_workers": 1, "multiprocessing_context": "foo"},
    {"num_workers": 1, "multiprocessing_context": 3},
    {"batch_size": 0},
    {"batch_size": 1.5},
    {"batch_size": True},
    {"drop_last": 3},
    {"num_workers": "a"},
    {"timeout": "a"},
    {"num_workers": 2, "prefetch_factor": "a"},
]


@only_torch_py
@pytest.mark.parametrize("keywords", CONSTRUCTORS, ids=str)
def test_what_the_constructor_says_is_what_pytorch_says(keywords: dict[str, Any]) -> None:
    pytest.importorskip("torch")
    peer: Any = importlib.import_module("torch.utils.data")

    def outcome(loader: Any) -> Any:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                loader(list(range(10)), **keywords)
            except Exception as error:
                return type(error), str(error)
        return [(warning.category, str(warning.message)) for warning in caught]

    said = outcome(DataLoader)
    assert said == outcome(peer.DataLoader) and said


def test_no_descriptors_or_segments_are_left() -> None:
    if WITH_PEER:
        pytest.skip("counts what torch_py opens")

    def traces() -> tuple[int, int, list[str]]:
        gc.collect()
        with open("/proc/self/maps") as maps:
            mapped = sum("memfd:torch_py" in line for line in maps)
        return (
            len(os.listdir("/proc/self/fd")),
            mapped,
            [name for name in os.listdir("/dev/shm") if "torch_py" in name],
        )

    before = traces()
    for _ in range(2):
        list(DataLoader(Images(10, 3, 64, 64), batch_size=2, num_workers=2, timeout=SECONDS))
    iterator = iter(DataLoader(Images(10, 3, 64, 64), batch_size=2, num_workers=2, timeout=SECONDS))
    next(iterator)
    workers = iterator._workers
    del iterator
    assert not any(worker.is_alive() for worker in workers)
    del workers
    assert traces() == before
