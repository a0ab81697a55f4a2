"""Sobol sequences compared with PyTorch: points, scrambling and refusals."""

from __future__ import annotations

import pytest

from tests.subject import torch

peer = pytest.importorskip("torch")
pytest.importorskip("scipy")


def engines(*arguments, **keywords):
    return [module.quasirandom.SobolEngine(*arguments, **keywords) for module in (torch, peer)]


def drawn(engine, module):
    """Points before, between and after jumps, as lists."""
    parts = [
        engine.draw(1),
        engine.draw(5),
        engine.fast_forward(7).draw(3, dtype=module.float64),
        engine.draw(0),
        engine.reset().draw_base2(3),
    ]
    return [part.tolist() for part in parts], engine.num_generated, engine.quasi.tolist()


@pytest.mark.parametrize("dimension", [1, 2, 40])
@pytest.mark.parametrize(
    "options", [{}, {"scramble": True, "seed": 5}, {"scramble": True, "seed": 0}], ids=str
)
def test_points_are_pytorchs(dimension, options):
    ours, theirs = engines(dimension, **options)
    assert drawn(ours, torch) == drawn(theirs, peer) and repr(ours) == repr(theirs)
    assert ours.sobolstate.tolist() == theirs.sobolstate.tolist()
    assert ours.shift.tolist() == theirs.shift.tolist()


def test_scrambling_without_seed_draws_from_the_default_generator():
    torch.manual_seed(3), peer.manual_seed(3)
    ours, theirs = engines(4, scramble=True)
    assert ours.draw(6).tolist() == theirs.draw(6).tolist() and torch.rand(1).item() == peer.rand(1).item()


def test_points_go_into_out():
    out = torch.empty(0)
    assert torch.quasirandom.SobolEngine(2).draw(4, out=out) is out
    assert out.shape == (4, 2)
    assert out[1].tolist() == [0.5, 0.5]


def test_jump_at_the_beginning():
    ours, theirs = engines(3)
    assert ours.fast_forward(5).draw(2).tolist() == theirs.fast_forward(5).draw(2).tolist()


@pytest.mark.parametrize(
    "call",
    [
        lambda module: module.quasirandom.SobolEngine(0),
        lambda module: module.quasirandom.SobolEngine(21202),
        lambda module: module.quasirandom.SobolEngine(2).draw(0),
        lambda module: module.quasirandom.SobolEngine(2).draw(2, dtype=module.int32),
        lambda module: module.quasirandom.SobolEngine(2).fast_forward(4).draw_base2(3),
    ],
    ids=["none", "too many", "no points", "integers", "no power of two"],
)
def test_refusals_are_pytorchs(call):
    with pytest.raises(Exception) as theirs:
        call(peer)
    with pytest.raises(type(theirs.value)):
        call(torch)
