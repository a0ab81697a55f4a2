"""Devices: the current one, blocks, properties, peers."""

from __future__ import annotations

import threading

import pytest

from tests.subject import torch


def test_there_are_devices_once_the_library_is_there():
    assert torch.cuda.is_available() and torch.cuda.device_count() > 0
    assert torch.accelerator.is_available() and torch.accelerator.current_accelerator() == torch.device(
        "cuda"
    )
    assert torch.backends.cuda.is_built() and torch.has_cuda
    assert torch.version.cuda.split(".")[0].isdigit()


def test_use_initialises():
    torch.cuda.init()
    assert torch.cuda.is_initialized()
    done = []
    torch.cuda._lazy_call(lambda: done.append(1))
    assert done == [1]


def test_properties_name_the_device():
    found = torch.cuda.get_device_properties(0)
    assert torch.cuda.get_device_name() == found.name
    assert torch.cuda.get_device_capability("cuda:0") == (found.major, found.minor)
    assert found.total_memory == torch.cuda.mem_get_info()[1] and found.warp_size == 32
    assert found.name in repr(found) and repr(found).startswith("_CudaDeviceProperties(")
    with pytest.raises(AssertionError, match="Invalid device id"):
        torch.cuda.get_device_properties(99)
    with pytest.raises(AttributeError, match="no_such"):
        found.no_such  # noqa: B018


def test_blocks_select_a_device_and_restore_it(two_devices):
    with torch.cuda.device(1):
        assert torch.cuda.current_device() == 1
        assert torch.ones(1, device="cuda").device == torch.device("cuda", 1)
        with torch.cuda.device("cuda:0"):
            assert torch.cuda.current_device() == 0
        with torch.cuda.device(None), torch.cuda.device(-1):
            assert torch.cuda.current_device() == 1
    assert torch.cuda.current_device() == 0

    there = torch.ones(1, device="cuda:1")
    with torch.cuda.device_of(there):
        assert torch.cuda.current_device() == 1
    with torch.cuda.device_of(torch.ones(1)):
        assert torch.cuda.current_device() == 0
    with torch.accelerator.device_index(1):
        assert torch.accelerator.current_device_index() == 1
    assert torch.cuda.current_device() == 0


def test_the_current_device_is_the_threads_own(two_devices):
    torch.cuda.set_device(1)
    seen = []
    thread = threading.Thread(target=lambda: seen.append(torch.cuda.current_device()))
    thread.start()
    thread.join()
    assert seen == [0] and torch.cuda.current_device() == 1


def test_wrong_devices_are_refused():
    with pytest.raises(RuntimeError, match="invalid device ordinal"):
        torch.cuda.set_device(99)
    with pytest.raises(ValueError, match="Expected a cuda device"):
        torch.cuda.set_device("cpu")
    with pytest.raises(ValueError, match="device"):
        torch.cuda.set_device("cuda")
    with pytest.raises((RuntimeError, AssertionError)):
        torch.ones(1, device="cuda:99")
    assert torch.ones(1, device="cuda").device.index == 0


def test_default_device():
    try:
        torch.set_default_device("cuda")
        assert torch.ones(2).device == torch.device("cuda", 0)
        assert torch.tensor([1.0]).is_cuda and torch.arange(3).is_cuda
    finally:
        torch.set_default_device(None)
    with torch.device("cuda"):
        assert torch.zeros(1).is_cuda
    assert torch.zeros(1).is_cpu
    assert torch.device("cuda") != torch.device("cuda:0") and torch.device(0) == torch.device("cuda:0")


def test_peers(two_devices):
    assert isinstance(torch.cuda.can_device_access_peer(0, 1), bool)
    with pytest.raises(AssertionError, match="Invalid device id"):
        torch.cuda.can_device_access_peer(0, 99)
