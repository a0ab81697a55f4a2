"""Saving and loading of tensors on a device."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from typing import Any

import pytest

from tests.subject import torch


def saved(value: Any, **options: Any) -> bytes:
    file = io.BytesIO()
    torch.save(value, file, **options)
    return file.getvalue()


def loaded(data: bytes, **options: Any) -> Any:
    return torch.load(io.BytesIO(data), **options)


@pytest.mark.parametrize("zipped", [True, False])
def test_tensors_come_back_to_their_device(zipped):
    there = torch.arange(6.0, device="cuda").reshape(2, 3)
    data = saved({"a": there, "b": there[1], "c": torch.ones(2)}, _use_new_zipfile_serialization=zipped)
    back = loaded(data)
    assert back["a"].device == there.device and back["a"].equal(there) and back["c"].is_cpu
    back["a"].fill_(7)
    assert back["b"].tolist() == [7.0] * 3  # one storage


def test_map_location():
    data = saved(torch.arange(3, device="cuda"))
    for place in ("cpu", torch.device("cpu"), {"cuda:0": "cpu"}, lambda storage, location: storage.cpu()):
        assert loaded(data, map_location=place).device.type == "cpu"
    for place in ("cuda", "cuda:0", torch.device("cuda"), lambda storage, location: None):
        back = loaded(data, map_location=place)
        assert back.device == torch.device("cuda", 0) and back.tolist() == [0, 1, 2]
    host = saved(torch.arange(3))
    assert loaded(host, map_location="cuda").is_cuda
    assert loaded(host, map_location=lambda storage, location: storage.cuda()).is_cuda


def test_map_location_to_another_device(two_devices):
    data = saved(torch.arange(3, device="cuda:1"))
    assert loaded(data).device == torch.device("cuda", 1)
    assert loaded(data, map_location={"cuda:1": "cuda:0"}).device == torch.device("cuda", 0)
    with pytest.raises(RuntimeError, match=r"CUDA device 99 but torch.cuda.device_count\(\) is"):
        loaded(data, map_location="cuda:99")


def test_modules_and_optimizers():
    layer = torch.nn.Linear(2, 2).cuda()
    optimizer = torch.optim.Adam(layer.parameters())
    layer(torch.ones(1, 2, device="cuda")).sum().backward()
    optimizer.step()

    other = torch.nn.Linear(2, 2)
    other.load_state_dict(loaded(saved(layer.state_dict()), map_location="cpu"))
    assert other.weight.is_cpu and other.weight.equal(layer.weight.cpu())
    again = torch.optim.Adam(layer.parameters())
    again.load_state_dict(loaded(saved(optimizer.state_dict())))
    state = again.state[layer.weight]
    assert state["exp_avg"].is_cuda and state["exp_avg"].equal(optimizer.state[layer.weight]["exp_avg"])


def test_loading_without_cuda_says_what_to_do(tmp_path):
    torch.save(torch.ones(2, device="cuda"), tmp_path / "file")
    program = f"""
import json
import torch_py as torch
try:
    torch.load({str(tmp_path / "file")!r})
except RuntimeError as error:
    print(json.dumps([str(error), torch.load({str(tmp_path / "file")!r}, map_location="cpu").tolist()]))
"""
    surroundings = {name: value for name, value in os.environ.items() if name != "TORCH_PY_CUDA_LIBRARY"}
    # A library that is not there: a checkout may have one of its own.
    surroundings["TORCH_PY_CUDA_LIBRARY"] = str(tmp_path / "missing.so")
    done = subprocess.run(
        [sys.executable, "-c", program], env=surroundings, capture_output=True, text=True, check=True
    )
    message, values = json.loads(done.stdout)
    assert "torch.cuda.is_available() is False" in message and "map_location" in message
    assert values == [1.0, 1.0]
