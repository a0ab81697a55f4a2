"""Convolutions too large for the samples of tests/ops: every way to read windows, in several chunks."""

from __future__ import annotations

import numpy
import pytest

import torch_py

torch = pytest.importorskip("torch")

# name: input, weight, stride, padding, dilation, groups
FORWARD = {
    "shifted planes in parts": ((3, 64, 20, 21), (5, 64, 3, 3), 1, 1, 1, 1),
    "shifted planes of several samples": ((9, 6, 9, 11), (8, 3, 5, 3), 1, (2, 1), 1, 2),
    "shifted by more than the plane": ((2, 3, 9, 8), (4, 3, 3, 3), 1, (12, 10), (12, 10), 1),
    "shifted lines": ((5, 4, 150), (6, 4, 7), 1, 3, 1, 1),
    "short lines": ((19, 5, 7, 6), (4, 5, 3, 4), 2, (1, 2), 1, 1),
    "short lines in parts": ((2, 40, 80, 7), (3, 40, 4, 3), (1, 2), (2, 0), (1, 2), 1),
    "short lines, groups": ((19, 6, 5, 5), (4, 3, 2, 3), (1, 2), 1, (2, 1), 2),
    "long lines": ((2, 30, 9, 60), (4, 30, 3, 3), (1, 2), (0, 2), (2, 1), 1),
    "long lines, step 3": ((2, 4, 11, 100), (6, 2, 2, 5), 3, 2, 1, 2),
    "three dimensions": ((3, 4, 6, 7, 5), (5, 4, 3, 2, 3), (1, 2, 1), (1, 0, 2), (2, 1, 1), 1),
    "three dimensions in parts": ((2, 24, 8, 7, 9), (3, 24, 2, 3, 2), 1, 1, 1, 1),
    "points": ((5, 6, 9, 9), (8, 6, 1, 1), 1, 0, 1, 1),
    "points of small planes": ((70, 6, 2, 3), (8, 3, 1, 1), 1, 0, 1, 2),
    "the whole input": ((70, 6, 4, 3), (8, 6, 4, 3), 1, 0, 1, 1),
    "the whole input, groups": ((7, 6, 4, 3), (8, 3, 4, 3), 2, 0, 1, 2),
    "depthwise": ((3, 6, 12, 13), (12, 1, 3, 3), 1, 1, 1, 6),
    "depthwise, step 2": ((3, 6, 12, 13), (6, 1, 3, 2), 2, 1, 1, 6),
    "depthwise, several vectors": ((2, 67, 9, 10), (67, 1, 3, 3), 1, 2, 2, 67),
    "depthwise, more than one block": ((1, 130, 6, 7), (130, 1, 3, 5), 2, 1, 1, 130),
    "depthwise line": ((2, 40, 60), (40, 1, 5), 3, 2, 1, 40),
    "depthwise, several bands": ((1, 3, 300, 200), (3, 1, 3, 3), 1, 1, 1, 3),
    "depthwise, step 2 of lines": ((2, 5, 13, 30), (5, 1, 3, 3), (2, 1), 1, 1, 5),
    "depthwise, three dimensions": ((2, 16, 5, 9, 8), (16, 1, 3, 3, 2), 1, 1, 1, 16),
    "depthwise, wide borders": ((2, 32, 9, 8), (32, 1, 3, 3), 1, (12, 10), (12, 10), 32),
    "depthwise, long lines": ((1, 8, 2, 4500), (8, 1, 3, 5), 1, (1, 2), 1, 8),
    "a long line of one channel": ((1, 1, 5000), (6, 1, 9), 1, 4, 1, 1),
    "groups of two, step 2": ((2, 80, 9, 11), (80, 2, 3, 3), 2, 1, 1, 40),
    "groups of four": ((2, 48, 9, 11), (48, 4, 3, 3), 1, 1, 1, 12),
    "groups of eight": ((2, 136, 7, 9), (136, 8, 3, 3), 1, 1, 1, 17),
    "groups of eight in three dimensions": ((1, 48, 3, 7, 6), (48, 8, 2, 3, 3), 1, 1, 1, 6),
    "few outputs": ((2, 40, 9, 33), (3, 40, 3, 3), 1, 1, 1, 1),
    "two channels": ((2, 2, 30, 40), (9, 2, 3, 3), 1, (2, 4), (2, 4), 1),
    "borders of small images": ((3, 34, 7, 7), (40, 34, 3, 3), 1, 1, 1, 1),
    "images smaller than the window": ((2, 16, 3, 3), (32, 16, 5, 5), 1, 2, 1, 1),
    "narrow groups": ((2, 66, 9, 11), (99, 2, 3, 3), 1, 1, 1, 33),
    "narrow groups of more channels": ((2, 36, 9, 11), (12, 3, 3, 2), (2, 1), 1, 1, 12),
    "groups of points": ((2, 24, 9, 11), (48, 4, 1, 1), 2, 0, 1, 6),
    "wide groups": ((2, 62, 9, 11), (66, 31, 3, 3), 1, 1, 1, 2),
    "one channel": ((3, 1, 20, 31), (33, 1, 5, 5), 1, 2, 1, 1),
    "three channels, step 3": ((2, 3, 25, 28), (31, 3, 7, 7), 3, 3, 1, 1),
    "odd channels": ((2, 33, 13, 16), (31, 33, 3, 3), 1, 1, 2, 1),
    "one output": ((2, 5, 13, 29), (1, 5, 3, 3), 2, 0, 1, 1),
    "padding larger than the image": ((2, 5, 3, 4), (7, 5, 3, 3), (2, 1), (9, 6), 2, 1),
    "steps larger than the window": ((2, 5, 17, 19), (7, 5, 2, 2), 5, 1, 1, 1),
    "steps that share a factor with the dilation": ((2, 5, 17, 19), (7, 5, 3, 3), 4, 3, 6, 1),
    "a long line": ((1, 40, 3000), (34, 40, 3), 1, 1, 1, 1),
    "a tile of samples": ((40, 24, 3, 3), (32, 24, 2, 2), 1, 0, 1, 1),
}
# The same with output_padding.
TRANSPOSED = {
    "from points": ((70, 6, 1, 1), (6, 8, 4, 3), 1, 0, 1, 1, 0),
    "from points, groups": ((7, 6, 1, 1), (6, 4, 4, 3), 1, 0, 1, 2, 0),
    "short lines": ((19, 6, 5, 4), (6, 4, 4, 3), 2, 1, 1, 1, 1),
    "long lines in parts": ((2, 6, 30, 29), (6, 20, 3, 4), 2, (1, 0), 1, 1, 0),
    "same size": ((3, 5, 30, 10), (5, 7, 3, 3), 1, 1, 1, 1, 0),
    "three dimensions": ((2, 4, 5, 3, 4), (4, 3, 2, 3, 2), 2, 1, 1, 2, (1, 0, 1)),
}


def results(library, arrays, dtype, channels_last, function, arguments):
    """The output and the gradients of input, weight and bias."""
    x, weight, bias, grad = (library.from_numpy(array).to(getattr(library, dtype)) for array in arrays)
    if channels_last:
        layout = library.channels_last if x.dim() == 4 else library.channels_last_3d
        x = x.to(memory_format=layout)
        weight = weight.to(memory_format=layout)
    leaves = [each.detach().requires_grad_() for each in (x, weight, bias)]
    output = getattr(library.nn.functional, function)(*leaves, **arguments)
    return [output.detach().double().numpy()] + [
        each.double().numpy() for each in library.autograd.grad(output, leaves, grad)
    ]


def compare(function, input_size, weight_size, outputs, arguments, dtype, channels_last):
    draw = numpy.random.default_rng(0)
    x, weight = (torch.empty(size, device="meta") for size in (input_size, weight_size))
    output_size = tuple(getattr(torch.nn.functional, function)(x, weight, **arguments).shape)
    arrays = [draw.standard_normal(size) for size in (input_size, weight_size, (outputs,), output_size)]
    ours = results(torch_py, arrays, dtype, channels_last, function, arguments)
    theirs = results(torch, arrays, "float64", False, function, arguments)
    for mine, expected in zip(ours, theirs):
        scale = max(1.0, float(abs(expected).max())) if expected.size else 1.0
        numpy.testing.assert_allclose(
            mine, expected, rtol=0, atol=scale * (1e-12 if dtype == "float64" else 3e-6)
        )


@pytest.mark.parametrize(
    ("dtype", "channels_last"), [("float64", False), ("float32", False), ("float32", True)]
)
@pytest.mark.parametrize("name", FORWARD)
def test_convolution(name, dtype, channels_last):
    size, weight, stride, padding, dilation, groups = FORWARD[name]
    if channels_last and len(size) == 3:
        pytest.skip("no such layout")
    arguments = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    compare(f"conv{len(size) - 2}d", size, weight, weight[0], arguments, dtype, channels_last)


@pytest.mark.parametrize(
    ("dtype", "channels_last"), [("float64", False), ("float32", False), ("float32", True)]
)
@pytest.mark.parametrize("name", TRANSPOSED)
def test_transposed_convolution(name, dtype, channels_last):
    size, weight, stride, padding, dilation, groups, output_padding = TRANSPOSED[name]
    arguments = {
        "stride": stride,
        "padding": padding,
        "dilation": dilation,
        "groups": groups,
        "output_padding": output_padding,
    }
    compare(
        f"conv_transpose{len(size) - 2}d", size, weight, weight[1] * groups, arguments, dtype, channels_last
    )


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("channels_last", [False, True])
@pytest.mark.parametrize("name", FORWARD)
def test_reduced_floats_are_rounded_once(name, channels_last, dtype):
    """Products of small integers are exact, so results are those of float64, rounded."""
    size, weight, stride, padding, dilation, groups = FORWARD[name]
    if channels_last and len(size) == 3:
        pytest.skip("no such layout")
    arguments = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    function = f"conv{len(size) - 2}d"
    metas = (torch.empty(each, device="meta") for each in (size, weight))
    output_size = tuple(getattr(torch.nn.functional, function)(*metas, **arguments).shape)

    draw = numpy.random.default_rng(0)
    sizes = (size, weight, (weight[0],), output_size)
    arrays = [draw.integers(-2, 3, each).astype("float64") for each in sizes]
    ours = results(torch_py, arrays, dtype, channels_last, function, arguments)
    theirs = results(torch, arrays, "float64", False, function, arguments)
    for mine, expected in zip(ours, theirs):
        rounded = torch.from_numpy(expected).to(getattr(torch, dtype)).double().numpy()
        numpy.testing.assert_array_equal(mine, rounded)


@pytest.mark.parametrize(("width", "stride"), [(5, 1), (5, 2), (12, 1), (12, 2), (40, 1), (40, 2)])
def test_values_outside_all_windows_do_not_matter(width, stride):
    """The kernel must not multiply elements of the next line by 0, which would turn inf into NaN.

    In memory, they follow the last element of a line.
    """
    x = torch_py.ones(2, 3, 8, width)
    x[:, :, 4:] = float("inf")
    result = torch_py.nn.functional.conv2d(x, torch_py.ones(2, 3, 3, 3), stride=stride, padding=1)
    expected = torch.nn.functional.conv2d(
        torch.from_numpy(x.numpy()), torch.ones(2, 3, 3, 3), stride=stride, padding=1
    )
    numpy.testing.assert_array_equal(result.numpy(), expected.numpy())


@pytest.mark.parametrize("function", [torch_py.nn.functional.conv2d, torch_py.nn.functional.conv_transpose2d])
@pytest.mark.parametrize("groups", [1, 4])
def test_channels_last_is_kept(function, groups):
    x = torch_py.ones(2, 4, 6, 5).to(memory_format=torch_py.channels_last)
    result = function(x, torch_py.ones(4, 4 // groups, 3, 3), padding=1, groups=groups)
    assert result.is_contiguous(memory_format=torch_py.channels_last)


@pytest.mark.parametrize("padding", [2, (1, 2)])
def test_input_without_elements(padding):
    """All windows lie in the padding."""
    weight = torch_py.ones(4, 3, 2, 2)
    result = torch_py.nn.functional.conv2d(
        torch_py.ones(2, 3, 5, 0), weight, torch_py.arange(4.0), padding=padding
    )
    assert result.shape[:2] == (2, 4)
    assert (result == torch_py.arange(4.0)[:, None, None]).all()


def test_windows_far_outside():
    """The second window begins where sums of padding and stride no longer fit."""
    largest = 2**63 - 1
    x, weight = torch_py.ones(1, 1, 1), torch_py.ones(1, 1, 1)
    result = torch_py.nn.functional.conv1d(x, weight, stride=largest - 2, padding=largest // 2)
    assert result.flatten().tolist() == [0.0, 0.0]


@pytest.mark.parametrize("groups", [1, 8, 16])
@pytest.mark.parametrize("channels", [16, 80])
def test_the_number_of_threads_does_not_change_results(channels, groups):
    torch_py.manual_seed(0)
    x = torch_py.randn(6, channels, 20, 20, requires_grad=True)
    weight = torch_py.randn(channels, channels // groups, 3, 3, requires_grad=True)

    before = torch_py.get_num_threads()
    found = []
    try:
        for threads in (1, 2, 3):
            torch_py.set_num_threads(threads)
            output = torch_py.nn.functional.conv2d(x, weight, padding=1, groups=groups)
            found.append([output.detach(), *torch_py.autograd.grad(output, [x, weight], output.detach())])
    finally:
        torch_py.set_num_threads(before)

    for other in found[1:]:
        assert all(torch_py.equal(a, b) for a, b in zip(found[0], other))
