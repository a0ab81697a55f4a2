"""Names of devices: which ones parse, and where devices that are absent are refused."""

from __future__ import annotations

import pytest

from tests.subject import torch
from tests.torch_py.outcomes import outcome

CALLS = {
    "accelerator": lambda t: str(t._C._get_accelerator()),
    "accelerator checked": lambda t: t._C._get_accelerator(True),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_accelerator_agrees_with_pytorch(call):
    peer = pytest.importorskip("torch")
    assert outcome(call, torch) == outcome(call, peer)


NAMED = "xpu mps hpu mtia ipu xla hip ve fpga maia lazy vulkan".split()


@pytest.mark.parametrize("name", NAMED)
def test_device_names_parse_and_are_refused_when_used(name):
    peer = pytest.importorskip("torch")
    assert (
        repr(torch.device(name, 1)) == repr(peer.device(name, 1)) and torch.device(f"{name}:1").type == name
    )
    for use in (
        lambda t: t.empty(2, device=name),
        lambda t: t.ones(2).to(name),
        lambda t: t.nn.Linear(2, 2).to(name),
    ):
        found, expected = outcome(use, torch), outcome(use, peer)
        assert issubclass(found, expected), (found, expected)


@pytest.mark.parametrize("name", ["nope", "mps:", "MPS", "xpu:01", ":1"])
def test_malformed_device_names_are_refused(name):
    with pytest.raises(RuntimeError, match="device string"):
        torch.device(name)
