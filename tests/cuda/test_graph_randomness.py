"""Random numbers in graphs: new ones in each replay, the same from the same seed, counters that move on."""

from __future__ import annotations

import sys

import pytest

from tests.subject import torch

F = torch.nn.functional


def generator():
    return torch.cuda.default_generators[0]


def captured(function, *generators):
    graph = torch.cuda.CUDAGraph()
    for each in generators:
        graph.register_generator_state(each)
    with torch.cuda.graph(graph):
        result = function()
    return graph, result


def replayed(graph, result):
    graph.replay()
    torch.cuda.synchronize()
    return result.tolist()


# Each draws from the generator that it is given, or from the default one.
DRAWS = {
    "dropout": lambda g: F.dropout(torch.ones(64, device="cuda"), 0.5),
    "rand": lambda g: torch.rand(16, device="cuda", generator=g),
    "normal_": lambda g: torch.empty(16, device="cuda").normal_(1.0, 2.0, generator=g),
    "randint": lambda g: torch.randint(1 << 30, (16,), device="cuda", generator=g),
    "bernoulli_": lambda g: torch.empty(64, device="cuda").bernoulli_(0.5, generator=g),
    "exponential_": lambda g: torch.empty(16, device="cuda").exponential_(generator=g),
    "randperm": lambda g: torch.randperm(50, device="cuda", generator=g),
    "poisson": lambda g: torch.poisson(torch.full((32,), 50.0, device="cuda"), generator=g),
}


@pytest.mark.parametrize("name", DRAWS)
def test_each_replay_draws_new_numbers_and_a_seed_repeats_them(name):
    torch.cuda.manual_seed(5)
    graph, result = captured(lambda: DRAWS[name](None))
    first = [replayed(graph, result) for _ in range(3)]
    assert first[0] != first[1] != first[2] != first[0]
    if name == "randperm":
        assert all(sorted(numbers) == list(range(50)) for numbers in first)

    torch.cuda.manual_seed(5)
    assert [replayed(graph, result) for _ in range(3)] == first
    torch.cuda.manual_seed(6)
    assert replayed(graph, result) not in first


@pytest.mark.parametrize("name", DRAWS)
def test_replays_draw_what_calls_would_draw(name):
    torch.cuda.manual_seed(11)
    called = [DRAWS[name](None).tolist() for _ in range(2)]
    graph, result = captured(lambda: DRAWS[name](None))
    torch.cuda.manual_seed(11)
    assert [replayed(graph, result) for _ in range(2)] == called


def test_counters_move_on_with_replays_and_not_with_the_capture():
    torch.cuda.manual_seed(3)
    torch.rand(10, device="cuda")
    before = generator().get_offset()
    torch.rand(100, device="cuda")
    of_one_call = generator().get_offset() - before
    generator().set_offset(before)

    graph, result = captured(lambda: torch.rand(100, device="cuda") + torch.rand(100, device="cuda"))
    assert generator().get_offset() == before and generator().initial_seed() == 3
    for replays in (1, 2, 3):
        graph.replay()
        assert generator().get_offset() == before + replays * 2 * of_one_call

    # A call after a replay goes on where the replay ended; the state brings both back.
    state = torch.cuda.get_rng_state()
    first = torch.rand(8, device="cuda").tolist(), replayed(graph, result)
    torch.cuda.set_rng_state(state)
    assert (torch.rand(8, device="cuda").tolist(), replayed(graph, result)) == first
    assert first[0] != first[1][:8]


def test_two_draws_of_one_graph_differ():
    torch.cuda.manual_seed(1)
    graph, result = captured(
        lambda: torch.stack([torch.rand(8, device="cuda"), torch.rand(8, device="cuda")])
    )
    one, other = replayed(graph, result)
    assert one != other and all(0 <= number < 1 for number in one + other)


def test_own_generators_take_part_once_they_are_registered():
    own = torch.Generator("cuda").manual_seed(21)
    with pytest.raises(RuntimeError, match="register_generator_state"):
        captured(lambda: torch.rand(8, device="cuda", generator=own))
    torch.cuda.synchronize()

    called = torch.rand(8, device="cuda", generator=torch.Generator("cuda").manual_seed(21)).tolist()
    graph, result = captured(lambda: torch.rand(8, device="cuda", generator=own), own)
    default = generator().get_offset()
    assert replayed(graph, result) == called != replayed(graph, result)
    assert generator().get_offset() == default


def test_a_graph_keeps_the_generators_that_it_draws_from():
    own = torch.Generator("cuda")
    references = sys.getrefcount(own)
    graph = torch.cuda.CUDAGraph()
    graph.register_generator_state(own)
    assert sys.getrefcount(own) == references + 1
    del graph
    assert sys.getrefcount(own) == references


def test_nothing_drawn_leaves_the_counter():
    graph, _ = captured(lambda: torch.ones(3, device="cuda") + 1)
    before = generator().get_offset()
    graph.replay()
    assert generator().get_offset() == before


def test_graphs_of_one_pool_draw_in_the_order_of_their_replays():
    torch.cuda.manual_seed(8)
    called = [torch.rand(6, device="cuda").tolist() for _ in range(3)]
    first, one = captured(lambda: torch.rand(6, device="cuda"))
    second, other = captured(lambda: torch.rand(6, device="cuda"))
    torch.cuda.manual_seed(8)
    assert [replayed(second, other), replayed(first, one), replayed(second, other)] == called


class Block(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.rand(16, device="cuda") + 1)

    def forward(self, x):
        return F.dropout(x * self.weight, 0.5, self.training)


def test_graphed_callables_with_dropout():
    torch.manual_seed(2)
    module = Block()
    graphed = torch.cuda.make_graphed_callables(module, (torch.ones(4, 16, device="cuda"),))
    x = torch.rand(4, 16, device="cuda") + 1

    results = []
    for _ in range(3):
        module.zero_grad()
        result = graphed(x)
        result.sum().backward()
        # The gradient belongs to the mask of this very forward.
        assert torch.allclose(module.weight.grad, (result.ne(0) * 2 * x).sum(0))
        results.append(result.tolist())
    assert results[0] != results[1] != results[2]

    torch.cuda.manual_seed(7)
    once = graphed(x).tolist()
    torch.cuda.manual_seed(7)
    assert graphed(x).tolist() == once
    torch.cuda.manual_seed(7)
    assert F.dropout(x * module.weight, 0.5).tolist() == once

    module.eval()
    assert torch.equal(graphed(x), x * module.weight)
