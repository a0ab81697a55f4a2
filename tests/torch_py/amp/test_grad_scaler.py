"""torch.amp.GradScaler: steps with scaled losses, steps that are skipped, states and pickles."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import pytest

from tests.subject import torch


def scaled_step(scaler: Any, optimizer: Any, loss: Any) -> None:
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()


def test_scaler_steps_as_without() -> None:
    weight, other = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=2)
    for _ in range(2):
        scaled_step(scaler, torch.optim.SGD([weight], lr=0.1), (weight**2).sum())
        optimizer = torch.optim.SGD([other], lr=0.1)
        optimizer.zero_grad()
        (other**2).sum().backward()
        optimizer.step()
    torch.testing.assert_close(weight, other)
    assert scaler.get_scale() == 2048.0 and scaler.state_dict()["_growth_tracker"] == 0


def test_scaler_leaves_out_steps_that_overflow() -> None:
    weight = torch.ones(3, requires_grad=True)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    optimizer = torch.optim.SGD([weight], lr=0.1)
    scaled_step(scaler, optimizer, (weight * float("inf")).sum())
    assert weight.tolist() == [1, 1, 1] and scaler.get_scale() == 512.0
    scaled_step(scaler, optimizer, weight.sum())
    assert weight.tolist() != [1, 1, 1]


def test_scaler_unscales_for_clipping() -> None:
    weight = torch.ones(3, requires_grad=True)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    optimizer = torch.optim.SGD([weight], lr=0.1)

    scaler.scale(weight.sum()).backward()
    scaler.unscale_(optimizer)
    assert weight.grad.tolist() == [1, 1, 1]

    with pytest.raises(RuntimeError, match="already been called on this optimizer"):
        scaler.unscale_(optimizer)

    scaler.step(optimizer)
    with pytest.raises(RuntimeError, match="already been called since the last update"):
        scaler.step(optimizer)
    scaler.update()


def test_scaler_state_crosses() -> None:
    scaler = torch.amp.GradScaler("cpu", init_scale=64.0)
    scaler.scale(torch.ones(1, requires_grad=True))

    other = torch.amp.GradScaler("cpu")
    other.load_state_dict(scaler.state_dict())
    assert other.get_scale() == 64.0

    assert set(scaler.state_dict()) == {
        "scale",
        "growth_factor",
        "backoff_factor",
        "growth_interval",
        "_growth_tracker",
    }

    disabled = torch.amp.GradScaler("cpu", enabled=False)
    assert disabled.state_dict() == {} and disabled.get_scale() == 1.0 and disabled.scale(3) == 3

    with pytest.raises(RuntimeError, match="The source state dict is empty"):
        scaler.load_state_dict({})


@pytest.mark.parametrize("settings", [{"growth_factor": 1.0}, {"backoff_factor": 1.0}])
def test_scaler_settings(settings: Any) -> None:
    with pytest.raises(AssertionError, match="factor must be"):
        torch.amp.GradScaler("cpu", **settings)


def test_scaler_of_lists_and_bad_outputs() -> None:
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0)
    assert [float(each) for each in scaler.scale([torch.tensor(1.0), torch.tensor(2.0)])] == [2, 4]
    with pytest.raises(ValueError, match="outputs must be a Tensor or an iterable of Tensors"):
        scaler.scale(3)
    with pytest.raises(ValueError, match="FP16"):
        weight = torch.ones(2, dtype=torch.float16, requires_grad=True)
        scaler.scale(weight.float().sum()).backward()
        scaler.unscale_(torch.optim.SGD([weight], lr=0.1))


def test_cuda_scaler_without_cuda_is_disabled() -> None:
    if torch.cuda.is_available():
        pytest.skip("there is CUDA")
    with pytest.warns(UserWarning, match="CUDA is not available"):
        assert not torch.amp.GradScaler().is_enabled()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        torch.amp.GradScaler(enabled=False)


def test_scalers_are_pickled_between_iterations() -> None:
    scaler = torch.amp.GradScaler("cpu", init_scale=8.0)
    weight = torch.ones(3, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=0.1)

    scaler.scale(weight.sum()).backward()
    scaler.unscale_(optimizer)

    for give in (pickle.dumps, copy.deepcopy):
        with pytest.raises(AssertionError, match="pickled at the beginning"):
            give(scaler)

    scaler.step(optimizer)
    scaler.update(4.0)

    for again in (pickle.loads(pickle.dumps(scaler)), copy.deepcopy(scaler)):
        assert again.get_scale() == 4 and again.state_dict() == scaler.state_dict()
        assert again.scale(torch.ones(2)).tolist() == [4, 4]


def test_new_scales() -> None:
    scaler = torch.amp.GradScaler("cpu")
    scaler.scale(torch.ones(2))
    scaler.update(torch.tensor(8.0))
    assert scaler.get_scale() == 8
    for wrong in (torch.ones(2), torch.ones(1, requires_grad=True)):
        with pytest.raises(AssertionError, match="new_scale should be a float"):
            scaler.update(wrong)
    assert scaler.get_scale() == 8


def test_found_inf_is_told() -> None:
    scaler = torch.amp.GradScaler("cpu")
    weight = torch.ones(3, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=0.1)
    scaler.scale((weight * float("inf")).sum()).backward()
    assert not scaler._found_inf_per_device(optimizer)
    scaler.unscale_(optimizer)
    assert [found.item() for found in scaler._found_inf_per_device(optimizer).values()] == [1]
