"""Convolutions on CUDA against the CPU: dimensions, groups, strides, layouts, gradients, parts of batches.

They run by cuDNN where it is installed, which the emulation has, and as products of columns.
"""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from tests.subject import only_torch_py, torch

pytestmark = [only_torch_py]

cudnn = torch.backends.cudnn

_CONVOLUTIONS = {
    1: (torch.nn.functional.conv1d, torch.nn.functional.conv_transpose1d),
    2: (torch.nn.functional.conv2d, torch.nn.functional.conv_transpose2d),
    3: (torch.nn.functional.conv3d, torch.nn.functional.conv_transpose3d),
}


@pytest.fixture(autouse=True)
def _without_the_host() -> Any:
    before = dict(torch.cuda.host_fallbacks())
    with cudnn.flags(enabled=True, allow_tf32=False):
        yield
    assert dict(torch.cuda.host_fallbacks()) == before


def compare(function: Any, tensors: list[Any], **options: Any) -> None:
    """Results and gradients."""
    results = []
    for device in ("cpu", "cuda"):
        own = [tensor.to(device).detach().requires_grad_() for tensor in tensors]
        result = function(*own, **options)
        (result * torch.arange(1.0, 1 + result.numel(), device=device).view(result.shape)).sum().backward()
        results.append([result.detach().cpu(), *(tensor.grad.cpu() for tensor in own)])
    for expected, found in zip(*results, strict=True):
        largest = expected.abs().max().item()  # sums of terms of this size may cancel
        torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5 * largest)
        assert found.stride() == expected.stride()


@pytest.mark.parametrize("dims, transposed", list(itertools.product([1, 2, 3], [False, True])))
@pytest.mark.parametrize("groups, kernel", [(1, 3), (2, 2), (4, 3), (1, 1)])
@pytest.mark.parametrize("stride, padding, dilation", [(1, 0, 1), (2, 1, 1), (1, 2, 2), (3, 0, 1)])
@pytest.mark.parametrize("by_cudnn", [True, False])
def test_geometries(
    dims: int,
    transposed: bool,
    groups: int,
    kernel: int,
    stride: int,
    padding: int,
    dilation: int,
    by_cudnn: bool,
):
    cudnn.enabled = by_cudnn
    if kernel == 1 and padding:
        padding = 0
    channels, outputs = (8, 4) if transposed else (4, 8)
    image = torch.randn(2, channels, *(7, 6, 5)[:dims])
    weight = torch.randn(channels if transposed else outputs, 4 // groups, *[kernel] * dims)
    options = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    function = _CONVOLUTIONS[dims][transposed]
    compare(function, [image, weight, torch.randn(outputs)], **options)
    compare(function, [image, weight], **options)


def test_channels_last():
    image = torch.randn(2, 4, 7, 6).to(memory_format=torch.channels_last)
    compare(torch.nn.functional.conv2d, [image, torch.randn(8, 4, 3, 3)], padding=1)
    compare(torch.nn.functional.conv2d, [image, torch.randn(8, 4, 1, 1), torch.randn(8)])


def test_a_batch_in_parts():
    image = torch.randn(70, 16, 48, 48)  # more than 512 MiB of columns
    cudnn.enabled = False
    compare(torch.nn.functional.conv2d, [image, torch.randn(4, 16, 9, 9)])


def test_a_network_learns_as_on_the_cpu():
    def losses(device: str) -> list[float]:
        torch.manual_seed(0)
        network = torch.nn.Sequential(
            torch.nn.Conv2d(1, 8, 3, padding=1),
            torch.nn.BatchNorm2d(8),
            torch.nn.ReLU(),
            torch.nn.MaxPool2d(2),
            torch.nn.Conv2d(8, 16, 3, stride=2),
            torch.nn.ReLU(),
            torch.nn.Flatten(),
            torch.nn.Linear(16 * 9, 10),
        ).to(device)

        images = torch.randn(32, 1, 16, 16).to(device)
        labels = torch.randint(10, (32,)).to(device)
        optimizer = torch.optim.SGD(network.parameters(), lr=0.05, momentum=0.9)

        found = []
        for _ in range(8):
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(network(images), labels)
            loss.backward()
            optimizer.step()
            found.append(loss.item())
        return found

    expected = losses("cpu")
    assert losses("cuda") == pytest.approx(expected, rel=1e-3)
    assert expected[-1] < expected[0]


@pytest.mark.parametrize("kernel", [3, 5, 7])
@pytest.mark.parametrize("stride, padding", [(1, 0), (1, 1), (1, 6), (2, 1), (2, 3)])
def test_depthwise(kernel: int, stride: int, padding: int):
    """Sizes that leave columns of results incomplete."""
    image, weight = torch.randn(3, 5, 14, 9), torch.randn(5, 1, kernel, kernel)
    options = {"stride": stride, "padding": padding, "groups": 5}
    compare(torch.nn.functional.conv2d, [image, weight], **options)
    compare(torch.nn.functional.conv2d, [image[:, :, :8], weight, torch.randn(5)], **options)
    last = image.to(memory_format=torch.channels_last)
    compare(torch.nn.functional.conv2d, [last, weight], **options)


def test_depthwise_in_parts():
    """More results than a block adds up for the gradient of a filter."""
    image, weight = torch.randn(3, 2, 40, 30), torch.randn(2, 1, 3, 3)
    compare(torch.nn.functional.conv2d, [image, weight], padding=1, groups=2)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_depthwise_dtypes(dtype: str):
    """Whole numbers, whose sums are exact."""
    kind = getattr(torch, dtype)
    image, weight, bias = (
        torch.randint(-2, 3, sizes).to(kind) for sizes in ((2, 3, 6, 7), (3, 1, 3, 3), (3,))
    )
    results = []
    for device in ("cpu", "cuda"):
        own = [x.to(device).detach().requires_grad_() for x in (image, weight, bias)]
        result = torch.nn.functional.conv2d(*own, padding=1, groups=3)
        result.backward(torch.ones_like(result))
        results.append([x.cpu() for x in (result.detach(), *(x.grad for x in own))])
    for expected, found in zip(*results, strict=True):
        assert torch.equal(found, expected)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("channels, size", [(4, 4), (4, 5), (40, 2)])
def test_pointwise(dtype: str, channels: int, size: int):
    """By a product for each sample, or where these were large or unaligned, in other ways."""
    kind = getattr(torch, dtype)
    image, weight = torch.randn(3, channels, size, size), torch.randn(6, channels, 1, 1)
    compare(torch.nn.functional.conv2d, [image, weight, torch.randn(6)])
    image, weight = (torch.randint(-2, 3, x.shape).to(kind) for x in (image, weight))
    results = []
    for device in ("cpu", "cuda"):
        own = [x.to(device).detach().requires_grad_() for x in (image, weight)]
        torch.nn.functional.conv2d(*own).sum().backward()
        results.append([x.grad.cpu() for x in own])
    for expected, found in zip(*results, strict=True):
        assert torch.equal(found, expected)
