"""TorchVersion: comparison of version numbers."""

import pytest

import torch_py as torch


@pytest.mark.parametrize(
    "other",
    [
        "2.13.0",
        "2.13",
        (2, 13),
        "2.13.0+cpu",
        "2.13.0+zzz",
        "abc",
        (2, 14),
        "2.13.0a0",
        "2.12.9",
        "2.9",
        "v2.13",
    ],
)
def test_versions_compare_as_the_peers(other):
    peer = pytest.importorskip("torch.torch_version").TorchVersion("2.13.0+cpu")
    ours = torch.torch_version.TorchVersion("2.13.0+cpu")
    for name in ("__lt__", "__le__", "__eq__", "__ge__", "__gt__"):
        assert getattr(ours, name)(other) is getattr(peer, name)(other), name
