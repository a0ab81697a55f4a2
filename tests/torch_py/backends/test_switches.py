"""Switches of torch.backends and torch.accelerator: set inside blocks and restored after them."""

import pytest

import torch_py as torch

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def test_switches_hold_inside_blocks():
    with torch.backends.cudnn.flags(enabled=True, benchmark=True, deterministic=True):
        assert torch.backends.cudnn.benchmark and torch.backends.cudnn.deterministic
    assert not torch.backends.cudnn.benchmark and torch.backends.cudnn.version() is None
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        pass
    with pytest.raises(AssertionError, match="backends"), torch.nn.attention.sdpa_kernel("math"):
        pass
    assert torch.accelerator.current_accelerator() is None
    with pytest.raises(RuntimeError, match="accelerator"):
        torch.accelerator.synchronize()


def test_switches_are_never_frozen():
    backends = torch.backends
    with getattr(backends, "__allow_nonbracketed_mutation")():
        assert not backends.flags_frozen()
