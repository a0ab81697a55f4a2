"""Kernels of pooling, padding, resampling, searching and counting: what samples leave out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.subject import WITH_PEER, torch

pytestmark = pytest.mark.skipif(WITH_PEER, reason="compares our devices")

F = torch.nn.functional


def _agree(function: Callable[..., Any], *inputs: Any, tolerance: float = 1e-5) -> None:
    """The results and the gradients of floating inputs are the same on both devices."""
    results = []
    for device in ("cpu", "cuda"):
        copies = [x.detach().to(device).requires_grad_(x.is_floating_point()) for x in inputs]
        out = function(*copies)
        gradients = []
        if out.requires_grad:
            weight = torch.linspace(-1.0, 2.0, out.numel(), dtype=torch.float64).view(out.shape)
            (out * weight.to(out)).sum().backward()
            gradients = [x.grad.cpu() for x in copies if x.is_floating_point() and x.grad is not None]
        results.append([out.detach().cpu(), *gradients])

    for here, there in zip(*results, strict=True):
        torch.testing.assert_close(there, here, rtol=tolerance, atol=tolerance, equal_nan=True)


def _images(*sizes: int, dtype: Any = torch.float32) -> Any:
    return torch.randn(*sizes, generator=torch.Generator().manual_seed(1), dtype=torch.float64).to(dtype)


_POOLS: dict[str, Callable[[Any], Any]] = {
    "max": lambda x: F.max_pool2d(x, 3, 2, 1),
    "dilated max": lambda x: F.max_pool2d(x, (2, 3), 1, 1, dilation=(3, 2), ceil_mode=True),
    "adaptive max": lambda x: F.adaptive_max_pool2d(x, (5, 3)),
    "average": lambda x: F.avg_pool2d(x, 3, 2, 1),
    "average without padding": lambda x: F.avg_pool2d(x, 3, 2, 1, ceil_mode=True, count_include_pad=False),
    "average with a divisor": lambda x: F.avg_pool2d(x, 3, 1, divisor_override=5),
    "adaptive average": lambda x: F.adaptive_avg_pool2d(x, (4, 5)),
    "reflected": lambda x: F.pad(x, (3, 2, 1, 4), mode="reflect"),
    "replicated": lambda x: F.pad(x, (-2, 2, 1, -3), mode="replicate"),
    "circular": lambda x: F.pad(x, (3, -2, 5, 4), mode="circular"),
    "constant": lambda x: F.pad(x, (3, -2, -1, 4, 1, 0), value=2.5),
    "bilinear": lambda x: F.interpolate(x, scale_factor=1.7, mode="bilinear"),
    "aligned bicubic": lambda x: F.interpolate(x, size=(23, 6), mode="bicubic", align_corners=True),
    "antialiased": lambda x: F.interpolate(x, size=(5, 30), mode="bicubic", antialias=True),
    "nearest": lambda x: F.interpolate(x, size=(9, 40), mode="nearest"),
    "columns": lambda x: F.unfold(x, (3, 2), dilation=2, padding=1, stride=2),
    "columns and back": lambda x: F.fold(F.unfold(x, 3, padding=1), x.shape[-2:], 3, padding=1),
    "shuffled": lambda x: F.pixel_shuffle(x, 2),
}


@pytest.mark.parametrize("name", _POOLS)
def test_layouts(name: str):
    images = _images(2, 4, 13, 17)
    _agree(_POOLS[name], images)
    _agree(_POOLS[name], images.contiguous(memory_format=torch.channels_last))
    _agree(_POOLS[name], images.transpose(-1, -2)[:, :, ::2])
    _agree(_POOLS[name], images.bfloat16(), tolerance=2e-2)


@pytest.mark.parametrize("name", ["max", "average", "bilinear", "antialiased", "adaptive average"])
def test_gradients_have_equal_bits(name: str):
    images = _images(3, 5, 33, 35).to("cuda").requires_grad_()
    first, second = (torch.autograd.grad(_POOLS[name](images).square().sum(), images)[0] for _ in range(2))
    assert torch.equal(first, second)


def test_max_pool_of_many_equal_places():
    grad = _images(2, 3, 40, 40)
    indices = torch.zeros(2, 3, 40, 40, dtype=torch.int64)

    def backward(device: str) -> Any:
        images = torch.zeros(2, 3, 41, 41, device=device)
        return torch.ops.aten.max_pool2d_with_indices_backward(
            grad.to(device), images, [2], [1], [0], [1], False, indices.to(device)
        )

    assert torch.equal(backward("cuda").cpu(), backward("cpu"))


def test_unpool_reports_places_and_goes_on():
    values = torch.ones(1, 1, 2, 2, device="cuda")
    places = torch.tensor([[[[0, 3], [99, 8]]]], device="cuda")
    with pytest.raises(RuntimeError, match="99"):
        F.max_unpool2d(values, places, 2, output_size=(4, 4))
        torch.cuda.synchronize()

    places[0, 0, 1, 0] = 5
    assert F.max_unpool2d(values, places, 2, output_size=(4, 4)).sum().item() == 4


def test_searchsorted_reports_sorters_and_goes_on():
    sequence = torch.tensor([3.0, 1.0, 2.0], device="cuda")
    value = torch.tensor([1.5], device="cuda")
    with pytest.raises(RuntimeError, match="7"):
        torch.searchsorted(sequence, value, sorter=torch.tensor([7, 7, 7], device="cuda"))
        torch.cuda.synchronize()

    assert torch.searchsorted(sequence, value, sorter=torch.tensor([1, 2, 0], device="cuda")).item() == 1


@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
def test_grid_sample(mode: str, padding: str):
    grid = _images(2, 6, 7, 2)
    _agree(
        lambda x, g: F.grid_sample(x, g, mode, padding, align_corners=False),
        _images(2, 3, 9, 8),
        grid,
        tolerance=1e-4,
    )


def test_grid_sample_gradients_have_equal_bits():
    images = _images(2, 3, 5, 5).to("cuda").requires_grad_()
    grid = _images(2, 40, 40, 2).to("cuda") * 0.3
    first, second = (
        torch.autograd.grad(F.grid_sample(images, grid, align_corners=True).sum(), images)[0]
        for _ in range(2)
    )
    assert torch.equal(first, second)


@pytest.mark.parametrize("p", [0.0, 1.0, 2.0, 3.5, float("inf")])
@pytest.mark.parametrize("width", [1, 31, 100])
def test_cdist(p: float, width: int):
    _agree(lambda a, b: torch.cdist(a, b, p), _images(2, 5, width), _images(3, 1, 7, width)[:, 0][:1])


def test_cdist_of_many_rows():
    _agree(lambda a, b: torch.cdist(a, b), _images(2, 40, 9) + 3, _images(2, 30, 9), tolerance=1e-3)


def test_counts():
    numbers = torch.randint(0, 50, (5000,), generator=torch.Generator().manual_seed(2))
    weights = _images(5000).double()
    _agree(torch.bincount, numbers)
    _agree(lambda n: torch.bincount(n, minlength=70), numbers.int())
    _agree(lambda n: torch.bincount(n, weights.to(n.device)), numbers)
    _agree(lambda n: torch.bincount(n, weights.to(n.device, torch.float32)), numbers)

    first, second = (torch.bincount(numbers.cuda(), weights.cuda()) for _ in range(2))
    assert torch.equal(first, second)
    with pytest.raises(RuntimeError, match="non-negative"):
        torch.bincount(-numbers.cuda())


def test_histograms():
    points = _images(3000)
    _agree(lambda x: torch.histc(x.detach(), 20, -1, 1), points)
    _agree(lambda x: torch.histogram(x.detach(), 13, range=(-1.0, 2.0))[0], points)
    _agree(lambda x: torch.histogram(x.detach(), 13, weight=x.detach().abs(), range=(-1.0, 2.0))[0], points)
    _agree(lambda x: torch.histogramdd(x.detach().view(-1, 3), [3, 4, 5])[0], points)


def test_empty():
    _agree(lambda x: F.max_pool2d(x, 2), _images(0, 3, 8, 8))
    _agree(lambda x: F.interpolate(x, size=(3, 3)), _images(0, 3, 8, 8))
    _agree(lambda x: F.pad(x, (1, 1)), _images(0, 3))
    _agree(lambda x: torch.searchsorted(x.detach(), x.detach()), _images(0))
    _agree(lambda x: torch.bincount(x, minlength=3), torch.zeros(0, dtype=torch.int64))
