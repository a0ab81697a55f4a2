"""Sizes and numbers that are each legal, but together overflow, loop or exhaust memory."""

import signal
import subprocess
import sys

import numpy
import pytest

import torch_py as torch
import torch_py.nn.functional as F
from tests.subject import not_sanitized

LEAST = -(2**63)
MOST = 2**63 - 1


def test_arange_of_the_least_integer_backwards():
    with pytest.raises(RuntimeError, match="overflow"):
        torch.arange(0, LEAST, -1)
    assert torch.arange(LEAST, LEAST + 3).tolist() == [LEAST, LEAST + 1, LEAST + 2]
    assert torch.arange(0, LEAST, LEAST).tolist() == [0]


@pytest.mark.parametrize("dtype, large", [(torch.float32, 3e38), (torch.float64, 1.7e308)])
def test_histogram_of_numbers_whose_distance_is_infinite(dtype, large):
    values = torch.tensor([large, -large, 0.0, 0.0], dtype=dtype)
    edges = torch.tensor([-large, -large / 2, 0, large / 2, large], dtype=dtype)
    assert torch.histogram(values, edges)[0].tolist() == [1, 0, 2, 1]
    if dtype == torch.float32:  # the edges themselves are computed in double
        assert torch.histogram(values, 4)[0].tolist() == [1, 0, 2, 1]
        assert torch.histc(values, 4).tolist() == [1, 0, 2, 1]


@pytest.mark.parametrize("ceil_mode", [False, True])
@pytest.mark.parametrize("count_include_pad", [False, True])
@pytest.mark.parametrize("kernel, stride, padding", [(1500, 1, 0), (1500, 1, 700), (1501, 2, 3)])
def test_average_over_wide_windows(kernel, stride, padding, count_include_pad, ceil_mode):
    values = numpy.random.default_rng(0).standard_normal((2, 1, 5000))
    x = torch.tensor(values, requires_grad=True)
    result = F.avg_pool1d(x, kernel, stride, padding, ceil_mode, count_include_pad)
    weight = torch.linspace(-1, 2, result.shape[-1], dtype=torch.float64)
    (result * weight).sum().backward()

    expected = numpy.empty(result.shape)
    gradient = numpy.zeros(values.shape)
    for j in range(result.shape[-1]):
        start = j * stride - padding
        stop = min(j * stride - padding + kernel, 5000 + padding)
        inside = slice(max(start, 0), min(stop, 5000))
        count = stop - start if count_include_pad else inside.stop - inside.start
        expected[..., j] = values[..., inside].sum(-1) / count
        gradient[..., inside] += weight[j].item() / count

    numpy.testing.assert_allclose(result.detach().numpy(), expected, atol=1e-12)
    numpy.testing.assert_allclose(x.grad.numpy(), gradient, atol=1e-12)


@pytest.mark.parametrize("override", [None, 7])
def test_average_over_wide_windows_of_two_dimensions(override):
    x = torch.randn(1, 2, 4, 2400, dtype=torch.float64).requires_grad_()
    result = F.avg_pool2d(x, (3, 600), 1, (1, 0), divisor_override=override)

    padded = numpy.pad(x.detach().numpy(), ((0, 0), (0, 0), (1, 1), (0, 0)))
    windows = numpy.lib.stride_tricks.sliding_window_view(padded, (3, 600), (2, 3))
    expected = windows.sum((-2, -1)) / (override or 1800)
    numpy.testing.assert_allclose(result.detach().numpy(), expected, atol=1e-10)

    result.sum().backward()
    reached = numpy.outer(
        [2, 3, 3, 2], numpy.minimum(600, numpy.minimum(numpy.arange(2400) + 1, 2400 - numpy.arange(2400)))
    )
    numpy.testing.assert_allclose(x.grad.numpy()[0, 1], reached / (override or 1800), atol=1e-12)

    channels_last = x.detach().float().to(memory_format=torch.channels_last)
    single = F.avg_pool2d(channels_last, (3, 600), 1, (1, 0), divisor_override=override)
    assert single.is_contiguous(memory_format=torch.channels_last)
    torch.testing.assert_close(single, result.detach().float())


def test_strides_of_elements_that_do_not_exist():
    assert torch.empty_strided((0, 3), (1, 2**62)).tolist() == []
    assert torch.ones(1).as_strided((1, 1), (2**62, 2**62)).tolist() == [[1.0]]


IN_LITTLE_MEMORY_AND_TIME = """
import resource
import torch_py as torch
import torch_py.nn.functional as F
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
x = torch.ones(1, 1, 300000, requires_grad=True)
F.avg_pool1d(x, 3001, 1).sum().backward()
assert abs(x.grad[0, 0, 150000].item() - 1) < 1e-4
assert F.max_pool2d(torch.ones(1, 1, 1), 2**31 - 1, 2**31 - 1, padding=2**30 - 1).shape == (1, 1, 1)
assert torch.combinations(torch.arange(3), 2**40).shape[0] == 0
for batch_sizes in [[2**60], [2**31], [2**62, 2**62], [2, 2]]:
    try:
        torch._pad_packed_sequence(torch.ones(3, 2), torch.tensor(batch_sizes), False, 0.0, 0)
    except RuntimeError as error:
        assert "batch_sizes" in str(error), error
    else:
        raise AssertionError(batch_sizes)
print("done")
"""


@not_sanitized
def test_little_memory_and_time():
    run = subprocess.run(
        [sys.executable, "-c", IN_LITTLE_MEMORY_AND_TIME],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.stdout == "done\n", run.stderr


def test_columns_whose_number_overflows():
    # (2 ** 32 + 1) * 2 ** 32 windows: more than an int64 counts.
    image = torch.zeros(1, 1, 3, 2, device="meta")
    with pytest.raises(RuntimeError, match="overflows"):
        F.unfold(image, 1, padding=2**31 - 1)
    with pytest.raises(RuntimeError, match="overflows|too small|match"):
        F.fold(torch.zeros(1, 1, 1), (2**40, 2**40), 1)


def test_segments_whose_ends_overflow():
    for offsets in ([MOST, LEAST], [0, MOST], [2, 1, 3]):
        with pytest.raises(RuntimeError, match="reach outside the data"):
            torch.segment_reduce(torch.ones(3), "sum", offsets=torch.tensor(offsets))
    with pytest.raises(RuntimeError, match="reach outside the data"):
        torch.segment_reduce(torch.ones(3), "sum", lengths=torch.tensor([5, MOST]), unsafe=True)
    assert torch.segment_reduce(torch.ones(3), "sum", offsets=torch.tensor([1, 3, 3])).tolist() == [2, 0]


@pytest.mark.parametrize("reduce", ["sum", "mean", "max", "min", "prod"])
def test_segments_of_very_different_lengths(reduce):
    lengths = [30000, 0, 1, 2] + [1] * 9000
    offsets = [5, *(5 + numpy.cumsum(lengths))]
    values = numpy.random.default_rng(0).uniform(0.9, 1.1, (offsets[-1] + 3, 2))
    x = torch.tensor(values, requires_grad=True)
    result = torch.segment_reduce(x, reduce, offsets=torch.tensor(offsets), axis=0)

    calculate = getattr(numpy, reduce)
    expected = [calculate(values[a:b], 0) for a, b in zip(offsets, offsets[1:], strict=False) if b > a]
    numpy.testing.assert_allclose(result.detach().numpy()[[0, *range(2, len(lengths))]], expected, rtol=1e-9)

    nothing = {"sum": 0, "mean": numpy.nan, "max": -numpy.inf, "min": numpy.inf, "prod": 1}[reduce]
    numpy.testing.assert_equal(result[1].detach().numpy(), [nothing] * 2)

    result[2:].sum().backward()
    inside = slice(offsets[2], offsets[-1])
    assert not x.grad[: offsets[2]].any() and not x.grad[offsets[-1] :].any()
    assert (x.grad[inside].sum(0) > 8999).all()


def test_sharing_while_signals_arrive():
    arrived = []
    previous = signal.signal(signal.SIGALRM, lambda *_: arrived.append(1))
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    try:
        for _ in range(3):
            assert torch.ones(48 << 20, dtype=torch.uint8).share_memory_().is_shared()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    assert arrived


def test_adaptive_pooling_to_an_endless_dimension():
    with pytest.raises(RuntimeError, match="dimension 1 being empty"):
        F.adaptive_max_pool2d(torch.ones(3, 0, 3, 4), [0, 2**62])
    assert F.adaptive_max_pool2d(torch.ones(3, 1, 3, 4), [0, 2**62]).shape == (3, 1, 0, 2**62)
    with pytest.raises(RuntimeError, match="Storage size calculation overflowed"):
        F.adaptive_max_pool3d(torch.ones(3, 1, 3, 4, 4), [1, 1, 2**62])


def test_more_chunks_than_memory():
    with pytest.raises(RuntimeError, match="chunk: cannot make 4611686018427387904 tensors"):
        torch.ones(0).chunk(2**62)
