"""Checks inside kernels: class and words of the errors, and the operator and argument that they name."""

from __future__ import annotations

import pytest

from tests.subject import torch

F = torch.nn.functional


def cuda(values, **options):
    return torch.tensor(values, device="cuda", **options)


def table(*sizes):
    return torch.zeros(*sizes, device="cuda")


OUTSIDE = [0, 7, 1]
# What is called, the class of the error, its words, and the place that they end with.
INDEXING = {
    "index": (
        lambda: table(5, 4)[cuda(OUTSIDE)],
        IndexError,
        "index 7 is out of bounds for dimension 0 with size 5",
        "argument 'indices' of index",
    ),
    "index_second": (
        lambda: table(5, 4)[:, cuda(OUTSIDE)],
        IndexError,
        "index 7 is out of bounds for dimension 1 with size 4",
        "argument 'indices' of index",
    ),
    "index_pair": (
        lambda: table(9, 4)[cuda(OUTSIDE), cuda(OUTSIDE)],
        IndexError,
        "index 7 is out of bounds for dimension 1 with size 4",
        "argument 'indices' of index",
    ),
    "index_put": (
        lambda: table(5, 4).index_put_((cuda(OUTSIDE),), table(3, 4)),
        IndexError,
        "index 7 is out of bounds for dimension 0 with size 5",
        "argument 'indices' of index_put_",
    ),
    "index_put_accumulate": (
        lambda: table(5, 4).index_put_((cuda([0, -6]),), table(2, 4), accumulate=True),
        IndexError,
        "index -6 is out of bounds for dimension 0 with size 5",
        "argument 'indices' of index_put_",
    ),
    "index_select": (
        lambda: torch.index_select(table(5, 4), 1, cuda(OUTSIDE)),
        IndexError,
        "index 7 is out of bounds for dimension 1 with size 4",
        "argument 'index' of index_select",
    ),
    "embedding": (
        lambda: F.embedding(cuda(OUTSIDE), table(5, 4)),
        IndexError,
        "index 7 is out of bounds for dimension 0 with size 5",
        "argument 'index' of index_select, called by embedding",
    ),
    "gather": (
        lambda: torch.gather(table(5, 4), 0, cuda([OUTSIDE])),
        RuntimeError,
        "index 7 is out of bounds for dimension 0 with size 5",
        "argument 'index' of gather",
    ),
    "scatter": (
        lambda: table(5, 4).scatter_(1, cuda([OUTSIDE]), table(1, 3)),
        RuntimeError,
        "index 7 is out of bounds for dimension 1 with size 4",
        "argument 'index' of scatter_",
    ),
    "scatter_number": (
        lambda: table(5, 4).scatter(1, cuda([OUTSIDE]), 2.0),
        RuntimeError,
        "index 7 is out of bounds for dimension 1 with size 4",
        "argument 'index' of scatter",
    ),
    "scatter_add": (
        lambda: table(5, 4).scatter_add_(0, cuda([OUTSIDE]), table(1, 3)),
        RuntimeError,
        "index 7 is out of bounds for dimension 0 with size 5",
        "argument 'index' of scatter_add_",
    ),
    "scatter_reduce": (
        lambda: table(5, 4).scatter_reduce_(0, cuda([OUTSIDE]), table(1, 3), "amax"),
        RuntimeError,
        "index 7 is out of bounds for dimension 0 with size 5",
        "argument 'index' of _scatter_reduce_, called by scatter_reduce_",
    ),
    "index_add": (
        lambda: table(5, 4).index_add_(0, cuda(OUTSIDE), table(3, 4)),
        RuntimeError,
        "index 7 is out of bounds for dimension 0 with size 5",
        "argument 'index' of index_add_",
    ),
    "index_add_vector": (
        lambda: table(5).index_add(0, cuda(OUTSIDE), table(3)),
        IndexError,
        "index 7 is out of bounds for dimension 0 with size 5",
        "argument 'index' of index_add",
    ),
}
OTHERS = {
    "nll_loss": (
        lambda: F.nll_loss(table(2, 4), cuda([0, 9])),
        IndexError,
        "Target 9 is out of bounds: labels are 0 to 3",
        "argument 'target' of nll_loss_forward, called by nll_loss_nd",
    ),
    "cross_entropy": (
        lambda: F.cross_entropy(table(2, 4), cuda([0, 9])),
        IndexError,
        "Target 9 is out of bounds: labels are 0 to 3",
        "argument 'target' of nll_loss_forward, called by cross_entropy_loss",
    ),
    "max_unpool": (
        lambda: F.max_unpool2d(table(1, 1, 1, 1), cuda([[[[77]]]]), 2),
        RuntimeError,
        "Found an invalid max index: 77 is not in 0 to 3",
        "argument 'indices' of _max_unpool, called by max_unpool2d",
    ),
    "sorter": (
        lambda: torch.searchsorted(table(3), table(1), sorter=cuda([9, 9, 9])),
        RuntimeError,
        "value 9 is not in the valid range [0, 3)",
        "argument 'sorter' of searchsorted",
    ),
    "bag_index": (
        lambda: F.embedding_bag(cuda(OUTSIDE), table(5, 4), cuda([0, 2])),
        RuntimeError,
        "value 7 is not in the valid range [0, 5)",
        "argument 'indices' of _embedding_bag_bags, called by embedding_bag",
    ),
    "bag_offset": (
        lambda: F.embedding_bag(cuda([0, 1, 2]), table(5, 4), cuda([0, 9])),
        RuntimeError,
        "value 9 is not in the valid range [0, 4)",
        "argument 'offsets' of _embedding_bag_bags, called by embedding_bag",
    ),
    "poisson": (
        lambda: torch.poisson(cuda([1.0, -2.5])),
        RuntimeError,
        "invalid Poisson rate, expected rate to be non-negative, got -2.5",
        "argument 'self' of poisson",
    ),
    "floor_divide": (
        lambda: cuda([3, 4]) // cuda([1, 0]),
        RuntimeError,
        "ZeroDivisionError",
        "argument 'other' of floor_divide",
    ),
    "remainder": (
        lambda: cuda([3, 4]).remainder_(cuda([1, 0])),
        RuntimeError,
        "ZeroDivisionError",
        "argument 'other' of remainder_",
    ),
}
CASES = {**INDEXING, **OTHERS}


@pytest.mark.parametrize("case", CASES)
def test_a_failed_check_says_what_was_wrong_and_where(case):
    call, kind, words, place = CASES[case]
    with pytest.raises(kind) as raised:
        call()
        torch.cuda.synchronize()
    assert type(raised.value) is kind
    name, comma, caller = place.partition(",")
    assert str(raised.value) == f"{words} ({name} on cuda:0{comma}{caller})"

    # The process can go on.
    torch.cuda.synchronize()
    assert torch.ones(3, device="cuda").sum().item() == 3


@pytest.mark.parametrize("case", sorted(INDEXING))
def test_the_class_and_the_numbers_are_those_of_the_cpu(case, monkeypatch):
    call, kind, words, _ = INDEXING[case]
    monkeypatch.setitem(globals(), "cuda", torch.tensor)
    monkeypatch.setitem(globals(), "table", torch.zeros)
    with pytest.raises(kind) as raised:
        call()
    number = words.split()[1]
    assert type(raised.value) is kind and f"index {number} " in str(raised.value)


@pytest.mark.parametrize("values", [[0.5, -1.0], [0.5, float("nan")], [float("inf"), 1.0]])
def test_probabilities_are_checked_as_on_the_cpu(values):
    for make in (cuda, torch.tensor):
        with pytest.raises(RuntimeError, match="contains either `inf`, `nan` or element < 0"):
            torch.multinomial(make(values), 1)
            torch.cuda.synchronize()
    with pytest.raises(RuntimeError, match="sum of probabilities <= 0"):
        torch.multinomial(cuda([0.0, 0.0]), 1)
        torch.cuda.synchronize()


def test_of_several_failed_checks_the_first_is_raised():
    with pytest.raises(IndexError, match="index 7 .*argument 'index' of index_select"):
        torch.index_select(table(5), 0, cuda([7]))
        torch.gather(table(5), 0, cuda([9]))
        torch.cuda.synchronize()
    torch.cuda.synchronize()


def test_backward_names_its_own_operator():
    x = table(2, 4).requires_grad_()
    target = cuda([0, 1])
    loss = F.nll_loss(x, target)
    target.data.fill_(8)
    with pytest.raises(IndexError, match=r"Target 8 .*\(argument 'target' of nll_loss_backward on cuda:0\)"):
        loss.backward()
        torch.cuda.synchronize()


def test_replays_of_a_graph_report():
    index = cuda([0, 1])
    source = table(3)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        torch.index_select(source, 0, index)
    graph.replay()
    torch.cuda.synchronize()
    index.fill_(5)
    graph.replay()
    with pytest.raises(IndexError, match="index 5 is out of bounds .*argument 'index' of index_select"):
        torch.cuda.synchronize()
