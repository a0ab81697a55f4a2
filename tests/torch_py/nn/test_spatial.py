"""Convolution, pooling, padding and interpolation: results and errors are PyTorch's."""

from __future__ import annotations

import math
import warnings
from typing import Any

import pytest

from tests.subject import WITH_PEER, only_torch_py, torch

nn = torch.nn
F = torch.nn.functional


@pytest.fixture(scope="module")
def peer() -> Any:
    module = pytest.importorskip("torch", reason="PyTorch is not installed")
    if WITH_PEER:
        pytest.skip("PyTorch would be compared with itself")
    return module


def made(module: Any, *shape: int) -> Any:
    """A tensor of different numbers, the same in every library."""
    count = 1
    for size in shape:
        count *= size
    return ((module.arange(count, dtype=module.float64) * 37 % (count + 1)) / max(count, 1) * 4 - 2).reshape(
        shape
    )


def outcome(module: Any, text: str) -> Any:
    """The result of ``text``, or the type of its error.

    In it, x(...) makes a tensor of different numbers and y(shape, value) one of equal numbers.
    """

    names = {
        "torch": module,
        "nn": module.nn,
        "F": module.nn.functional,
        "x": lambda *shape: made(module, *shape),
        "y": lambda shape, value: module.full(shape, value, dtype=module.float64),
    }

    module.manual_seed(0)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return eval(text, names)
        except Exception as error:
            return type(error).__name__


def assert_equal(ours: Any, theirs: Any, context: str) -> None:
    if isinstance(theirs, str) or isinstance(ours, str):
        assert ours == theirs, context
        return

    if isinstance(theirs, tuple):
        assert len(ours) == len(theirs), context
        for first, second in zip(ours, theirs):
            assert_equal(first, second, context)
        return

    assert tuple(ours.shape) == tuple(theirs.shape), context
    assert ours.detach().flatten().tolist() == pytest.approx(
        theirs.detach().flatten().tolist(), abs=1e-6, nan_ok=True
    ), context


LAYERS = """
nn.Conv1d(2, 4, 3, padding=1)|2,2,7
nn.Conv1d(2, 4, 2, padding="same", padding_mode="reflect")|2,7
nn.Conv2d(2, 4, 3, padding=1, dilation=2, groups=2, bias=False)|1,2,7,6
nn.Conv2d(2, 4, (1, 2), padding="valid")|1,2,7,6
nn.Conv3d(2, 4, 3, padding="same", padding_mode="circular")|1,2,4,5,4
nn.Conv3d(2, 4, (1, 2, 3), stride=(1, 2, 1), padding=(0, 1, 1), padding_mode="replicate")|1,2,4,5,4
nn.ConvTranspose1d(2, 4, 3, dilation=2, groups=2)|1,2,5
nn.ConvTranspose2d(2, 4, 3, stride=2, output_padding=1, bias=False)|1,2,4,3
nn.ConvTranspose3d(2, 3, 2, stride=2)|2,2,3,2
nn.MaxPool1d(2)|1,2,7
nn.MaxPool2d(3, 2, 1, ceil_mode=True)|2,7,6
nn.MaxPool3d(2, return_indices=True)|1,2,4,5,4
nn.AvgPool1d(2)|1,2,7
nn.AvgPool2d(3, 2, 1, count_include_pad=False)|1,2,7,6
nn.AvgPool3d(3, divisor_override=2)|1,2,4,5,4
nn.LPPool1d(1.5, 2, ceil_mode=True)|1,2,7
nn.LPPool2d(2, 3)|1,2,7,6
nn.LPPool3d(2, (1, 2, 2), 1)|1,2,4,5,4
nn.AdaptiveAvgPool1d(3)|1,2,7
nn.AdaptiveAvgPool2d((None, 2))|1,2,7,6
nn.AdaptiveAvgPool3d(1)|1,2,4,5,4
nn.AdaptiveMaxPool1d(2, return_indices=True)|1,2,7
nn.AdaptiveMaxPool2d((1, None))|1,2,7,6
nn.AdaptiveMaxPool3d(2)|1,2,4,5,4
nn.Fold((4, 5), 2)|1,8,12
nn.Unfold(2, padding=1)|1,2,4,3
nn.Upsample(scale_factor=2)|1,2,3
nn.Upsample(scale_factor=(2.5, 1.2))|1,2,3,4
nn.Upsample(size=(3, 4), mode="bilinear", align_corners=True)|1,2,5,6
nn.UpsamplingNearest2d(scale_factor=2)|1,2,3,4
nn.UpsamplingBilinear2d(size=3)|1,2,5,6
nn.PixelShuffle(2)|1,8,2,3
nn.PixelUnshuffle(2)|1,2,4,6
nn.ChannelShuffle(2)|1,4,2,3
nn.ReflectionPad1d(2)|2,5
nn.ReflectionPad2d((1, 2, 3, 0))|1,2,4,5
nn.ReflectionPad3d(1)|1,2,3,4,5
nn.ReplicationPad1d((1, 0))|2,5
nn.ReplicationPad2d(2)|1,2,4,5
nn.ReplicationPad3d(1)|2,3,4,5
nn.CircularPad1d(1)|2,5
nn.CircularPad2d((1, 2, 0, 1))|1,2,4,5
nn.CircularPad3d(2)|1,2,3,4,5
nn.ConstantPad1d(2, 1.5)|2,5
nn.ConstantPad2d((1, -1, 0, 2), -1)|1,2,4,5
nn.ConstantPad3d(1, 0.5)|1,2,3,4,5
nn.ZeroPad1d((1, 0))|2,5
nn.ZeroPad2d(2)|1,2,4,5
nn.ZeroPad3d(1)|1,2,3,4,5
"""


@pytest.mark.parametrize("line", LAYERS.strip().split("\n"))
def test_layers(line: str, peer: Any) -> None:
    """repr, names and values of parameters, and results agree."""
    text, shape = line.rsplit("|", 1)
    ours, theirs = (outcome(module, text) for module in (torch, peer))
    assert repr(ours) == repr(theirs)
    assert list(ours.state_dict()) == list(theirs.state_dict())
    for name, value in ours.state_dict().items():
        assert_equal(value, theirs.state_dict()[name], f"{text}: {name}")
    call = f"{text}.to(torch.float64)(x({shape}))"
    assert_equal(outcome(torch, call), outcome(peer, call), call)


CALLS = """
F.interpolate(x(1, 2, 5), scale_factor=1.7)
F.interpolate(x(1, 2, 5), scale_factor=1.7, mode="linear")
F.interpolate(x(1, 2, 5), scale_factor=1.7, mode="linear", recompute_scale_factor=True)
F.interpolate(x(1, 2, 3, 4), 5)
F.interpolate(x(1, 2, 3, 4), (5, 2), mode="area")
F.interpolate(x(1, 2, 3, 4), scale_factor=[2.3, 0.6], mode="nearest")
F.interpolate(x(1, 2, 3, 4), scale_factor=[2.3, 0.6], mode="nearest-exact")
F.interpolate(x(1, 2, 3, 4), scale_factor=[2.3, 0.6], mode="bilinear")
F.interpolate(x(1, 2, 3, 4), scale_factor=[2.3, 0.6], mode="bicubic", align_corners=True)
F.interpolate(x(1, 2, 13, 14), (5, 6), mode="bilinear", antialias=True)
F.interpolate(x(1, 2, 13, 14), (5, 16), mode="bicubic", antialias=True)
F.interpolate(x(1, 2, 3, 4, 2), 5, mode="trilinear")
F.interpolate(x(1, 2, 3, 4, 2), scale_factor=1.5, mode="nearest")
F.interpolate(x(1, 2, 3, 4, 2), scale_factor=1.5, mode="area")
F.interpolate(x(1, 2, 3, 4), 5, scale_factor=2)
F.interpolate(x(1, 2, 3, 4))
F.interpolate(x(1, 2, 3, 4), (5, 6, 7))
F.interpolate(x(1, 2, 3, 4), 5, mode="linear")
F.interpolate(x(1, 2, 3), 5, mode="bilinear")
F.interpolate(x(1, 2, 3), 5, mode="cubic")
F.interpolate(x(2, 3), 5)
F.interpolate(x(1, 2, 3, 4), 5, align_corners=True)
F.interpolate(x(1, 2, 3), 5, mode="linear", antialias=True)
F.interpolate(x(1, 2, 3, 4), 5, recompute_scale_factor=True)
F.upsample(x(1, 2, 3, 4), scale_factor=2, mode="bilinear")
F.upsample_nearest(x(1, 2, 3, 4), scale_factor=2)
F.upsample_bilinear(x(1, 2, 3, 4), scale_factor=2)
F.grid_sample(x(1, 2, 3, 4), x(1, 5, 2, 2))
F.grid_sample(x(1, 2, 3, 4), x(1, 5, 2, 2), mode="bicubic", padding_mode="reflection", align_corners=True)
F.grid_sample(x(1, 2, 3, 4, 2), x(1, 5, 2, 3, 3), mode="nearest", padding_mode="border", align_corners=False)
F.grid_sample(x(1, 2, 3, 4), x(1, 5, 2, 2), mode="cubic")
F.grid_sample(x(1, 2, 3, 4), x(1, 5, 2, 2), padding_mode="wrap")
F.affine_grid(x(2, 2, 3), (2, 1, 3, 4))
F.affine_grid(x(1, 3, 4), (1, 1, 2, 3, 4), align_corners=True)
F.affine_grid(x(2, 2, 3), (2, 1, 3))
F.affine_grid(x(2, 3, 3), (2, 1, 3, 4))
F.pad(x(2, 3), (1, 1), value=2.5)
F.pad(x(2, 3), (1, 1), mode="constant", value=None)
F.pad(x(2, 3), (1, 1), "mirror")
F.pad(x(2, 3), (1, 1, 1, 1), "reflect")
F.pad(x(2, 3), (1, 1), "reflect", 1.0)
F.max_pool1d(x(1, 2, 6), 2, return_indices=True)
F.max_pool2d(x(1, 2, 6, 5), kernel_size=2, stride=None)
F.max_pool3d(x(1, 2, 6, 5, 4), (1, 2, 2), return_indices=True)
F.max_pool1d_with_indices(x(1, 2, 6), 2)
F.avg_pool1d(x(1, 2, 6), 2, stride=None)
F.avg_pool2d(x(1, 2, 6, 5), kernel_size=2, stride=None)
F.avg_pool2d(x(1, 2, 6, 5), 3, 1, padding=1)
F.avg_pool3d(x(1, 2, 6, 5, 4), 2)
F.adaptive_avg_pool1d(x(1, 2, 6), 4)
F.adaptive_avg_pool2d(x(1, 2, 6, 5), 3)
F.adaptive_avg_pool3d(x(1, 2, 6, 5, 4), (None, 2, 1))
F.adaptive_max_pool2d(x(1, 2, 6, 5), (None, 3), return_indices=True)
F.adaptive_max_pool2d(x(5), 3)
F.max_unpool1d(*F.max_pool1d(x(1, 2, 6), 2, return_indices=True), 2)
F.max_unpool2d(*F.max_pool2d(x(1, 2, 7, 6), 2, return_indices=True), 2, output_size=(1, 2, 7, 6))
F.max_unpool2d(*F.max_pool2d(x(1, 2, 7, 6), 2, return_indices=True), 2, output_size=(9, 6))
F.max_unpool3d(*F.max_pool3d(x(1, 2, 4, 6, 4), 2, return_indices=True), 2)
nn.MaxUnpool1d(2)(*F.max_pool1d(x(1, 2, 6), 2, return_indices=True))
nn.MaxUnpool2d(3, 2, 1)(*F.max_pool2d(x(1, 2, 7, 5), 3, 2, 1, return_indices=True), output_size=[7, 5])
F.fractional_max_pool2d(x(1, 2, 7, 6), 2, output_ratio=(0.5, 0.4), _random_samples=y((1, 2, 2), 0.3))
F.fractional_max_pool2d(x(1, 2, 7, 6), (2, 3), (3, 2), return_indices=True, _random_samples=y((1, 2, 2), 0.7))
F.fractional_max_pool3d(x(1, 1, 7, 6, 5), 2, 3, _random_samples=y((1, 1, 3), 0.6))
F.fractional_max_pool2d(x(1, 2, 7, 6), 2)
nn.FractionalMaxPool2d(2)
nn.FractionalMaxPool2d(2, output_ratio=1.5)
F.unfold(x(1, 2, 4, 5), 2, dilation=2)
F.unfold(x(2, 4, 5), (2, 3), padding=(1, 0), stride=2)
F.fold(x(1, 8, 12), (4, 5), 2)
F.fold(x(8, 12), (4, 5), (2, 2))
F.conv1d(x(1, 2, 5), x(3, 2, 2), stride=2)
F.conv2d(x(1, 2, 5, 4), x(3, 2, 2, 2), padding="same")
F.conv3d(x(1, 2, 5, 4, 3), x(3, 2, 2, 2, 2), x(3), padding=1)
F.conv_transpose1d(x(1, 2, 5), x(2, 3, 2), stride=2)
F.conv_transpose3d(x(1, 2, 3, 2, 2), x(2, 3, 2, 2, 2), stride=2, output_padding=1)
F.conv_tbc(x(5, 2, 3), x(2, 3, 4), x(4), 1)
torch.conv1d(x(1, 2, 5), x(3, 2, 2))
torch.pixel_shuffle(x(1, 4, 2, 2), 2)
nn.ConvTranspose2d(2, 3, 3, 2).double()(x(1, 2, 3, 4), output_size=(8, 9))
nn.ConvTranspose2d(2, 3, 3, 2).double()(x(1, 2, 3, 4), output_size=(1, 3, 7, 10))
nn.ConvTranspose2d(2, 3, 3, 2).double()(x(1, 2, 3, 4), output_size=(9, 9))
nn.ConvTranspose2d(2, 3, 3, padding_mode="reflect")
nn.Conv1d(2, 3, 2, stride=2, padding="same")
nn.Conv1d(2, 3, 2, groups=2)
nn.Conv1d(3, 4, 2, groups=2)
nn.Conv1d(2, 3, 2, groups=0)
nn.Conv1d(2, 3, 2, padding_mode="mirror")
"""


@pytest.mark.parametrize("call", CALLS.strip().split("\n"))
def test_calls(call: str, peer: Any) -> None:
    """Values, or the types of errors, agree."""
    assert_equal(outcome(torch, call), outcome(peer, call), call)


def test_bytes_are_interpolated_as_image_libraries_do(peer: Any) -> None:
    for mode in ("nearest", "nearest-exact", "bilinear", "bicubic"):
        results = []
        for module in (torch, peer):
            image = (module.arange(3 * 9 * 11) * 73 % 256).to(module.uint8).reshape(1, 3, 9, 11)
            results.append(
                module.nn.functional.interpolate(image, size=(5, 23), mode=mode).flatten().tolist()
            )
        assert max(abs(ours - theirs) for ours, theirs in zip(*results)) == 0, mode


@pytest.mark.parametrize("coordinate", [float("inf"), float("-inf"), float("nan")])
def test_cubic_sample_at_no_finite_coordinate_is_nan(coordinate: float, peer: Any) -> None:
    for module in (torch, peer):
        image = module.ones(1, 1, 3, 4)
        grid = module.tensor([[[[coordinate, 0.0], [0.25, 0.5]]]])
        sample = module.nn.functional.grid_sample
        result = sample(image, grid, mode="bicubic", padding_mode="border", align_corners=False)
        assert result.isnan().flatten().tolist() == [True, False], module.__name__


def test_random_steps_of_fractional_pooling() -> None:
    pooled, places = nn.FractionalMaxPool2d(2, output_ratio=0.5, return_indices=True)(torch.randn(2, 3, 9, 8))
    assert tuple(pooled.shape) == tuple(places.shape) == (2, 3, 4, 4)


def test_convolutions_can_be_subclassed() -> None:
    class Standardised(nn.Conv2d):
        def forward(self, input: Any) -> Any:
            weight = self.weight - self.weight.mean(dim=(1, 2, 3), keepdim=True)
            return self._conv_forward(input, weight, self.bias)

    result = Standardised(1, 2, 3, padding=1, padding_mode="replicate", bias=False)(torch.ones(1, 1, 4, 4))
    assert result.abs().max().item() < 1e-6


def test_fold_of_booleans_is_a_disjunction() -> None:
    columns = torch.zeros(1, 4, 2, dtype=torch.bool)
    columns[0, 0, 1] = columns[0, 1, 0] = True  # the same element, seen from two windows
    assert F.fold(columns, (2, 3), 2).tolist() == [[[[False, True, False], [False, False, False]]]]


def test_small_integers_of_convolutions_wrap() -> None:
    found = F.conv1d(
        torch.tensor([[[3, 5, 2**30]]], dtype=torch.int32), torch.tensor([[[2, 3]]], dtype=torch.int32)
    )
    assert found.tolist() == [[[21, -1073741814]]]


def test_interpolate_refuses_float_sizes() -> None:
    with pytest.raises(TypeError):
        F.interpolate(torch.ones(2, 4, 8), size=1.5)


@only_torch_py  # PyTorch refuses empty images
def test_transposed_convolution_of_empty_images_is_its_bias() -> None:
    found = F.conv_transpose1d(torch.ones(4, 0), torch.ones(4, 1, 2), torch.tensor([1.0, 2.0]), 3, 0, 2, 2, 2)
    assert found.tolist() == [[1.0] * found.shape[1], [2.0] * found.shape[1]]


def test_max_unpool_checks_sizes() -> None:
    x = torch.ones(1, 2, 4)
    indices = torch.zeros(1, 2, 4, dtype=torch.int64)
    with pytest.raises(ValueError, match="non-negative spatial dimensions"):
        F.max_unpool1d(x, indices, 2, padding=5)
    with pytest.raises(IndexError):
        F.max_unpool3d(x[0], indices[0], 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert F.max_unpool1d(x, indices, 2).shape == (1, 2, 8)


def test_lp_pool_of_zeros_has_zero_gradient() -> None:
    x = torch.tensor([[0.0, 0.0, -2.0, 0.0]], requires_grad=True)
    F.lp_pool1d(x, 2.0, 2).sum().backward()
    assert x.grad.tolist() == [[0.0, 0.0, -1.0, 0.0]]


@pytest.mark.parametrize("norm_type, expected", [(math.inf, 3.0), (-math.inf, 0.25)])
def test_lp_pool_of_infinite_norm(norm_type: float, expected: float) -> None:
    assert F.lp_pool2d(torch.tensor([[[-3.0, 0.5], [0.25, 1.0]]]), norm_type, 2).item() == expected
