"""channels_last inputs give channels_last results wherever PyTorch's do."""

from __future__ import annotations

import pytest

from tests.subject import torch

F = torch.nn.functional
CASES = {
    "where": lambda x: torch.where(x > 0, x, -x),
    "flip": lambda x: x.flip(2),
    "clamp by tensors": lambda x: x.clamp(torch.tensor(0.0), torch.tensor(1.0)),
    "cat": lambda x: torch.cat([x, x], 1),
    "stack": lambda x: torch.stack([x, x])[0],
    "stack of channels": lambda x: torch.stack([x, x], 1)[:, 0],
    "group_norm": lambda x: F.group_norm(x, 2),
    "batch_norm": lambda x: F.batch_norm(x, torch.zeros(4), torch.ones(4)),
    "conv2d": lambda x: F.conv2d(x, torch.ones(3, 4, 2, 2)),
    "max_pool2d": lambda x: F.max_pool2d(x, 2),
}


@pytest.mark.parametrize("case", CASES)
def test_keeps_channels_last(case):
    x = torch.arange(240.0).reshape(2, 4, 6, 5)
    result = CASES[case](x.to(memory_format=torch.channels_last))
    assert result.stride(1) == 1 or not result.is_contiguous()
    assert torch.allclose(result, CASES[case](x), atol=1e-5)


@pytest.mark.parametrize("shapes", [((2, 3), 0), ((2, 3), 1), ((2, 3), 2), ((), 0), ((0,), 0), ((2, 0), 1)])
def test_stack(shapes):
    shape, dim = shapes
    rows = [torch.arange(float(torch.Size(shape).numel())).reshape(shape) + i for i in range(3)]
    result = torch.stack(rows, dim)
    assert result.shape == (*shape[:dim], 3, *shape[dim:])
    assert all(torch.equal(result.select(dim, i), rows[i]) for i in range(3))
