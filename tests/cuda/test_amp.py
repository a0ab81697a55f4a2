"""Automatic dtypes and scaled losses on a device."""

from __future__ import annotations

import pickle

import pytest

from tests.subject import torch


def test_autocast():
    x = torch.ones(2, 2, device="cuda")
    with torch.autocast("cuda"):
        assert torch.is_autocast_enabled("cuda") and not torch.is_autocast_enabled("cpu")
        assert (x @ x).dtype == torch.float16
        assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == torch.float32
        with torch.autocast("cuda", enabled=False):
            assert (x @ x).dtype == torch.float32
    with torch.autocast("cuda", dtype=torch.bfloat16):
        assert (x @ x).dtype == torch.bfloat16
    with pytest.warns(UserWarning, match="CUDA Autocast only supports"):
        torch.autocast("cuda", dtype=torch.float64)
    assert torch.cuda.is_bf16_supported()


def test_scaler_keeps_its_state_on_the_device():
    weight = torch.ones(3, device="cuda", requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=0.5)
    scaler = torch.amp.GradScaler("cuda", init_scale=8.0, growth_interval=1)
    assert scaler.is_enabled()

    scaler.scale((weight * 2).sum()).backward()
    assert weight.grad.tolist() == [16.0] * 3 and scaler._scale.is_cuda
    scaler.unscale_(optimizer)
    assert weight.grad.tolist() == [2.0] * 3
    assert [flag.is_cuda for flag in scaler._found_inf_per_device(optimizer).values()] == [True]
    scaler.step(optimizer)
    scaler.update()
    assert weight.tolist() == [0.0] * 3 and scaler.get_scale() == 16.0


def test_scaler_skips_what_overflows():
    weight = torch.ones(1, device="cuda", requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=0.5)
    scaler = torch.amp.GradScaler("cuda", init_scale=4.0)
    scaler.scale(weight.sum() * float("inf")).backward()
    scaler.step(optimizer)
    scaler.update()
    assert weight.tolist() == [1.0] and scaler.get_scale() == 2.0
    assert pickle.loads(pickle.dumps(scaler)).get_scale() == 2.0


def test_scaler_over_devices(two_devices):
    weights = [torch.ones(1, device=f"cuda:{index}", requires_grad=True) for index in range(2)]
    optimizer = torch.optim.SGD(weights, lr=1.0)
    scaler = torch.amp.GradScaler("cuda", init_scale=4.0)
    for loss in scaler.scale([weights[0] * 3, weights[1] * float("inf")]):
        loss.sum().backward()
    scaler.unscale_(optimizer)
    assert {device.index for device in scaler._found_inf_per_device(optimizer)} == {0, 1}
    scaler.step(optimizer)
    scaler.update()
    assert weights[0].item() == 1.0 and scaler.get_scale() == 2.0
