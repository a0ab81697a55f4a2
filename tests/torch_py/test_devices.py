"""Names of devices, refusal of devices that this build does not have, and the current accelerator."""

from __future__ import annotations

import pytest

from tests.subject import torch
from tests.torch_py.outcomes import outcome

ACCELERATOR_CALLS = {
    "accelerator": lambda t: str(t._C._get_accelerator()),
    "accelerator checked": lambda t: t._C._get_accelerator(True),
}
ABSENT_DEVICES = "xpu mps hpu mtia ipu xla hip ve fpga maia lazy vulkan".split()


@pytest.mark.parametrize("call", ACCELERATOR_CALLS.values(), ids=ACCELERATOR_CALLS)
def test_accelerator_agrees_with_pytorch(call):
    peer = pytest.importorskip("torch")
    assert outcome(call, torch) == outcome(call, peer)


@pytest.mark.parametrize("name", ABSENT_DEVICES)
def test_names_of_absent_devices_parse(name):
    peer = pytest.importorskip("torch")
    assert repr(torch.device(name, 1)) == repr(peer.device(name, 1))
    assert torch.device(f"{name}:1").type == name


@pytest.mark.parametrize("name", ABSENT_DEVICES)
def test_use_of_absent_devices_raises_pytorchs_error(name):
    peer = pytest.importorskip("torch")
    uses = (
        lambda t: t.empty(2, device=name),
        lambda t: t.ones(2).to(name),
        lambda t: t.nn.Linear(2, 2).to(name),
    )
    for use in uses:
        found = outcome(use, torch)
        expected = outcome(use, peer)
        assert issubclass(found, expected), (found, expected)


@pytest.mark.parametrize("name", ["nope", "mps:", "MPS", "xpu:01", ":1"])
def test_malformed_device_names_raise(name):
    with pytest.raises(RuntimeError, match="device string"):
        torch.device(name)
