"""Graphs: capture, replay, memory, errors."""

from __future__ import annotations

import pytest

from tests.subject import torch


def test_a_replay_computes_from_the_inputs_of_the_moment():
    given = torch.zeros(4, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        assert torch.cuda.is_current_stream_capturing()
        result = given.mul(2).add(1)
    assert not torch.cuda.is_current_stream_capturing()

    for value in (3.0, 5.0):
        given.fill_(value)
        graph.replay()
        torch.cuda.synchronize()
        assert result.tolist() == [2 * value + 1] * 4


def test_graphs_share_memory():
    pool = torch.cuda.graph_pool_handle()
    assert isinstance(pool, tuple) and len(pool) == 2
    given = torch.ones(3, device="cuda")
    first, second = torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph()
    with torch.cuda.graph(first, pool=pool):
        middle = given + 1
    with torch.cuda.graph(second, pool=first.pool()):
        last = middle * 2
    first.replay()
    second.replay()
    torch.cuda.synchronize()
    assert last.tolist() == [4.0] * 3 and tuple(second.pool()) == tuple(pool)


def test_capture_by_hand():
    graph, stream = torch.cuda.CUDAGraph(), torch.cuda.Stream()
    given = torch.ones(2, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        graph.capture_begin()
        result = given + 4
        graph.capture_end()
    graph.replay()
    torch.cuda.synchronize()
    assert result.tolist() == [5.0, 5.0]
    graph.reset()
    with pytest.raises(RuntimeError):
        graph.replay()


def test_what_waits_is_refused_and_the_process_goes_on():
    given = torch.ones(2, device="cuda")
    with pytest.raises(RuntimeError), torch.cuda.graph(torch.cuda.CUDAGraph()):
        given.cpu()
    assert torch.cuda.current_stream() == torch.cuda.default_stream()
    assert (given + 1).tolist() == [2.0, 2.0]


def test_wrong_arguments():
    with pytest.raises(RuntimeError, match="capture error mode"):
        with torch.cuda.graph(torch.cuda.CUDAGraph(), capture_error_mode="no"):
            pass
    with pytest.raises(NotImplementedError, match="annotations"):
        torch.cuda.graph(torch.cuda.CUDAGraph(), enable_annotations=True)
    assert torch.cuda.current_stream() == torch.cuda.default_stream()


def test_functions_as_graphs():
    def both(x, y):
        return x * y, x + y

    sample = torch.ones(3, device="cuda", requires_grad=True), torch.ones(3, device="cuda")
    graphed = torch.cuda.make_graphed_callables(both, sample)
    x = torch.tensor([1.0, 2.0, 3.0], device="cuda", requires_grad=True)
    y = torch.tensor([4.0, 5.0, 6.0], device="cuda")
    product, total = graphed(x, y)
    assert product.tolist() == [4.0, 10.0, 18.0] and total.tolist() == [5.0, 7.0, 9.0]
    (product + total).sum().backward()
    assert x.grad.tolist() == [5.0, 6.0, 7.0]


def test_modules_as_graphs():
    class Scale(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.factor = torch.nn.Parameter(torch.full((3,), 2.0, device="cuda"))

        def forward(self, x):
            return torch.relu(x * self.factor)

    module = Scale()
    graphed = torch.cuda.make_graphed_callables(module, (torch.ones(3, device="cuda"),))
    assert graphed is module
    result = graphed(torch.tensor([1.0, -1.0, 3.0], device="cuda"))
    assert result.tolist() == [2.0, 0.0, 6.0]
    result.sum().backward()
    assert module.factor.grad.tolist() == [1.0, 0.0, 3.0]
    module.eval()
    assert module(torch.ones(3, device="cuda")).tolist() == [2.0] * 3
