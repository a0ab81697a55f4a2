"""Random numbers on a device: seeds, states, generators."""

from __future__ import annotations

import pytest

from tests.subject import torch


def draw(count: int = 5, **options: object) -> list[float]:
    return torch.rand(count, device="cuda", **options).tolist()


def test_seeds_repeat():
    torch.cuda.manual_seed(3)
    assert torch.cuda.initial_seed() == 3
    first, second = draw(), draw()
    assert first != second
    torch.cuda.manual_seed(3)
    assert draw() == first
    torch.manual_seed(3)
    assert draw() == first and torch.cuda.initial_seed() == 3
    torch.cuda.manual_seed_all(4)
    assert draw() != first
    torch.cuda.seed()
    assert torch.cuda.initial_seed() != 4
    torch.cuda.seed_all()


def test_negative_seeds_wrap():
    torch.cuda.manual_seed_all(-1)
    assert torch.cuda.initial_seed() == 2**64 - 1


def test_states_are_seed_and_counter():
    torch.cuda.manual_seed(7)
    state = torch.cuda.get_rng_state()
    assert state.is_cpu and state.dtype == torch.uint8 and state.numel() == 16
    assert int.from_bytes(bytes(state[:8].tolist()), "little") == 7
    assert int.from_bytes(bytes(state[8:].tolist()), "little") == 0
    first = draw()
    assert torch.cuda._get_rng_state_offset() > 0
    torch.cuda.set_rng_state(state)
    assert draw() == first
    torch.cuda.set_rng_state_all(torch.cuda.get_rng_state_all())
    with pytest.raises(RuntimeError, match="wrong size"):
        torch.cuda.set_rng_state(torch.zeros(3, dtype=torch.uint8))


def test_devices_have_their_own_generators(two_devices):
    torch.cuda.manual_seed_all(5)
    first = torch.rand(3, device="cuda:0").tolist()
    assert torch.rand(3, device="cuda:1").tolist() == first
    state = torch.cuda.get_rng_state(1)
    torch.rand(3, device="cuda:1")
    assert not torch.cuda.get_rng_state("cuda:1").equal(state)
    assert len(torch.cuda.default_generators) == torch.cuda.device_count()
    assert torch.cuda.default_generators[1].device == torch.device("cuda", 1)


def test_generators():
    generator = torch.Generator("cuda")
    assert generator.device == torch.device("cuda", 0)
    generator.manual_seed(11)
    first = draw(generator=generator)
    copy = generator.clone_state()
    assert draw(generator=copy) == draw(generator=generator)
    generator.manual_seed(11)
    assert draw(generator=generator) == first

    generator.set_offset(8)
    assert generator.get_offset() == 8 and generator.get_state().numel() == 16
    with pytest.raises(RuntimeError, match="multiple of 4"):
        generator.set_offset(3)


def test_drawing_moves_only_the_devices_generator():
    state = torch.get_rng_state()
    draw()
    torch.randn(3, device="cuda")
    torch.ones(3, device="cuda").bernoulli_(0.5)
    assert torch.get_rng_state().equal(state)


def test_fork_rng_restores_devices():
    torch.cuda.manual_seed(1)
    with torch.random.fork_rng(devices=[0]):
        inside = draw()
    assert draw() == inside
    with torch.random.fork_rng(devices=[]):
        after = draw()
    assert draw() != after


def test_checkpoints_draw_again():
    dropout = torch.nn.Dropout(0.5)
    there = torch.ones(64, device="cuda", requires_grad=True)
    for reentrant in (True, False):
        there.grad = None
        result = torch.utils.checkpoint.checkpoint(lambda x: dropout(x) * 3, there, use_reentrant=reentrant)
        result.sum().backward()
        assert there.grad.equal(result.detach())
