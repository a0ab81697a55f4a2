"""Kernels of rows on CUDA: long and many rows, layouts, accuracy, and that nothing runs on the host.

`tests/ops/test_cuda.py` compares all operators on small samples; these cases need more elements than those.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from tests.subject import WITH_PEER, torch

pytestmark = [
    pytest.mark.skipif(WITH_PEER, reason="compares our devices"),
    pytest.mark.skipif("TORCH_PY_CUDA_LIBRARY" not in os.environ, reason="make test-cuda runs these"),
]

F = torch.nn.functional
# Errors relative to results of about 1, against float64: a few roundings of the dtype.
ROUNDING = {torch.float32: 4e-6, torch.float64: 1e-12, torch.float16: 2e-3, torch.bfloat16: 1.6e-2}
DTYPES = list(ROUNDING)
# Around the limits of warps, packs, registers and memory: see aten/native/cuda/Rows.cuh.
LENGTHS = [1, 31, 32, 33, 128, 132, 1024, 5000, 8192, 8193, 20000]


@pytest.fixture(autouse=True)
def on_the_device() -> Iterator[None]:
    """Every operator of a test has a kernel of its own."""
    torch.manual_seed(0)
    torch.cuda.reset_host_fallbacks()
    yield
    copied = set(torch.cuda.host_fallbacks()) & ROW_OPERATORS
    assert not copied, f"ran on the host: {copied}"


ROW_OPERATORS = {
    "logsumexp",
    "_nansum",
    "_softmax",
    "_log_softmax",
    "_softmax_backward_data",
    "_log_softmax_backward_data",
    "_layer_norm",
    "_layer_norm_backward",
    "group_norm",
    "rms_norm",
    "_batch_norm_apply",
    "_batch_norm_train",
    "_batch_norm_train_backward",
    "nll_loss_forward",
    "nll_loss_backward",
    "norm.ScalarOpt_dim",
    "var.correction",
    "std.correction",
    "var_mean.correction",
    "std_mean.correction",
    "_sgd_loop_",
    "_adam_loop_",
    "_adagrad_loop_",
    "_count_steps_loop_",
    "_amp_unscale_loop_",
    "_amp_update_scale_loop_",
}


def array(tensor: Any) -> Any:
    return tensor.detach().cpu().double().numpy()


def assert_close(got: Any, expected: Any, tolerance: float) -> None:
    """Of tensors; NaN where both have it."""
    found, wanted = array(got), array(expected)
    assert found.shape == wanted.shape
    np.testing.assert_array_equal(np.isnan(found), np.isnan(wanted))
    error = np.abs(found - wanted) / np.maximum(1, np.abs(wanted))
    assert np.nanmax(error, initial=0) <= tolerance


def compare(function: Callable[..., Any], *inputs: Any, tolerance: float | None = None) -> None:
    """Values and gradients of `function` on CUDA with those in float64 on the CPU."""
    limit = ROUNDING[inputs[0].dtype] if tolerance is None else tolerance
    exact = [x.double().clone().requires_grad_() for x in inputs]
    ours = [x.cuda().requires_grad_() for x in inputs]

    expected = function(*exact)
    got = function(*ours)
    assert got.device.type == "cuda"
    assert_close(got, expected, limit)

    incoming = torch.randn(expected.shape, dtype=torch.float64)
    expected.backward(incoming)
    got.backward(incoming.to(got.dtype).cuda())
    for mine, theirs in zip(ours, exact, strict=True):
        # Relative to the largest gradient: those that are sums may cancel.
        largest = float(np.abs(array(theirs.grad)).max(initial=1))
        assert_close(mine.grad, theirs.grad, 8 * limit * largest)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax_of_rows(name: str, length: int, dtype: Any) -> None:
    x = (3 * torch.randn(2, length, dtype=torch.float64)).to(dtype)
    tolerance = ROUNDING[dtype] * (1 if name == "softmax" else 4)
    compare(lambda t: getattr(torch, name)(t, -1), x, tolerance=tolerance)


@pytest.mark.parametrize("shape", [(300, 5), (7, 40, 3), (2, 33, 64), (1, 2, 1), (0, 4, 3), (3, 0, 4)])
@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax_across_columns(name: str, shape: tuple[int, ...]) -> None:
    x = torch.randn(shape)
    for dim in range(len(shape)):
        compare(lambda t, dim=dim: getattr(torch, name)(t, dim), x, tolerance=2e-5)


def test_softmax_of_many_rows_and_of_rows_that_are_not_aligned() -> None:
    compare(lambda t: torch.softmax(t, 1), torch.randn(3000, 7))
    memory = torch.randn(4 * 128 + 1)
    compare(lambda t: torch.softmax(t[1:].view(4, 128), 1), memory)
    compare(lambda t: torch.softmax(t.T, 1), torch.randn(40, 65))


@pytest.mark.parametrize("length", [1, 132, 8193, 20000])
def test_formula_over_rows(length: int) -> None:
    """logsumexp, of which the generator makes a kernel: in registers, in memory, and in packs."""
    for dtype in (torch.float32, torch.bfloat16):
        compare(lambda t: torch.logsumexp(t, 1), (3 * torch.randn(2, length)).to(dtype))


@pytest.mark.parametrize("shape", [(300, 5), (7, 40, 3), (1, 2, 1)])
def test_formula_over_columns_and_several_dimensions(shape: tuple[int, ...]) -> None:
    x = torch.randn(shape)
    for dim in (*range(len(shape)), (0, len(shape) - 1), ()):
        compare(lambda t, dim=dim: torch.logsumexp(t, dim), x)
    compare(lambda t: torch.logsumexp(t[1:].view(4, 128), 1), torch.randn(4 * 128 + 1))


def test_formula_over_rows_without_elements_and_without_rows() -> None:
    x = torch.randn(3, 0, 4)
    for dim in (0, 1, 2, (0, 1), ()):
        assert torch.equal(torch.logsumexp(x.cuda(), dim).cpu(), torch.logsumexp(x, dim))


def test_formula_over_complex_rows() -> None:
    x = torch.randn(3, 600, dtype=torch.complex64)
    for dim in (0, 1):
        difference = torch.logsumexp(x.cuda(), dim).cpu() - torch.logsumexp(x.to(torch.complex128), dim)
        assert difference.abs().max().item() < 1e-5


@pytest.mark.parametrize("length", [40, 9001])
def test_softmax_of_extreme_rows(length: int) -> None:
    low = torch.full((length,), -torch.inf)
    some = low.clone()
    some[length - 1] = 1.0
    high = torch.randn(length)
    high[3] = torch.inf
    nan = torch.randn(length)
    nan[5] = torch.nan
    large = torch.randn(length) + 1e4

    x = torch.stack([low, some, high, nan, large])
    for function in (torch.softmax, torch.log_softmax, torch.logsumexp):
        assert_close(function(x.cuda(), 1), function(x, 1), 2e-5)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("length", [*LENGTHS[1:], 20001])
def test_layer_norm(length: int, dtype: Any) -> None:
    x = (torch.randn(3, length, dtype=torch.float64) + 2).to(dtype)
    weight = torch.randn(length, dtype=torch.float64).to(dtype)
    bias = torch.randn(length, dtype=torch.float64).to(dtype)
    compare(lambda *t: F.layer_norm(t[0], (length,), *t[1:]), x, weight, bias, tolerance=4 * ROUNDING[dtype])


def test_layer_norm_sums_the_gradients_of_many_rows() -> None:
    weight, bias = torch.randn(2, 10)
    x = torch.randn(3000, 10)
    compare(lambda *t: F.layer_norm(t[0], (10,), *t[1:]), x, weight, bias, tolerance=2e-5)


def test_layer_norm_with_parameters_of_float() -> None:
    weight, bias = torch.randn(2, 96)
    x = torch.randn(4, 96).bfloat16()
    exact = F.layer_norm(x.double(), (96,), weight.double(), bias.double())
    assert_close(F.layer_norm(x.cuda(), (96,), weight.cuda(), bias.cuda()), exact, ROUNDING[x.dtype])


def test_layer_norm_far_from_zero() -> None:
    compare(lambda t: F.layer_norm(t, (5000,)), torch.randn(2, 5000) + 1000, tolerance=5e-4)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(2, 6, 7, 5), (3, 4, 64), (1, 8, 33, 40), (5, 2)])
def test_group_norm(shape: tuple[int, ...], dtype: Any) -> None:
    x = torch.randn(shape, dtype=torch.float64).to(dtype)
    weight, bias = (torch.randn(shape[1], dtype=torch.float64).to(dtype) for _ in range(2))
    with torch.no_grad():
        got = F.group_norm(x.cuda(), 2, weight.cuda(), bias.cuda())
    assert_close(got, F.group_norm(x.double(), 2, weight.double(), bias.double()), 4 * ROUNDING[dtype])


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("length", [1, 33, 5000, 8196])
def test_rms_norm(length: int, dtype: Any) -> None:
    x, weight = (torch.randn(n, length, dtype=torch.float64).to(dtype) for n in (3, 1))
    with torch.no_grad():
        got = F.rms_norm(x.cuda(), (length,), weight[0].cuda(), 1e-5)
    assert_close(got, F.rms_norm(x.double(), (length,), weight[0].double(), 1e-5), 4 * ROUNDING[dtype])


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("last", [False, True], ids=["contiguous", "channels_last"])
@pytest.mark.parametrize("shape", [(4, 3, 7, 7), (2, 8, 50, 50), (3, 33, 4, 4), (40, 16, 1, 1)])
def test_batch_norm(shape: tuple[int, ...], last: bool, dtype: Any) -> None:
    x = (torch.randn(shape, dtype=torch.float64) + 1).to(dtype)
    if last:
        x = x.to(memory_format=torch.channels_last)
    parameter = torch.float64 if dtype == torch.float64 else torch.float32
    weight, bias = (torch.randn(shape[1], dtype=parameter) for _ in range(2))

    def normalized(*t: Any) -> Any:
        wide = torch.float64 if t[0].dtype == torch.float64 else parameter
        return F.batch_norm(t[0], None, None, t[1].to(wide), t[2].to(wide), True)

    compare(normalized, x, weight, bias, tolerance=8 * ROUNDING[dtype])


def test_batch_norm_of_values_far_from_zero_that_begin_with_another() -> None:
    x = torch.randn(3, 2, 3000) + 1000
    x[0, :, 0] = -5000
    mean, var = torch.zeros(2), torch.ones(2)
    mine = [mean.cuda(), var.cuda()]
    F.batch_norm(x.cuda(), *mine, training=True, momentum=1.0)
    assert_close(mine[0], x.double().mean((0, 2)), 1e-6)
    assert_close(mine[1], x.double().var((0, 2)), 1e-5)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("shape", [(9000, 3), (50, 16), (2, 5, 7, 3), (1, 1)])
def test_nll_loss(shape: tuple[int, ...], reduction: str, dtype: Any) -> None:
    x = torch.randn(shape, dtype=torch.float64).to(dtype)
    weight = (torch.rand(shape[1], dtype=torch.float64) + 0.5).to(dtype)
    target = torch.randint(0, shape[1], (shape[0], *shape[2:]))
    if target.numel() > 1:
        target.view(-1)[::7] = -100

    def loss(t: Any) -> Any:
        arguments = (tensor.to(t.device) for tensor in (target, weight.to(t.dtype)))
        return F.nll_loss(t, *arguments, reduction=reduction)

    compare(loss, x)


def test_labels_out_of_range_are_reported_and_the_device_stays_usable() -> None:
    x = torch.randn(4, 3, device="cuda")
    with pytest.raises(IndexError, match="nll_loss"):
        F.nll_loss(x, torch.tensor([0, 3, 1, 2], device="cuda"))
        torch.cuda.synchronize()
    loss = F.nll_loss(x, torch.tensor([0, 2, 1, 2], device="cuda"))
    assert_close(loss, F.nll_loss(x.cpu(), torch.tensor([0, 2, 1, 2])), 1e-6)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(70000,), (2, 20000), (600, 33), (5, 8192), (3, 1)])
def test_norms(shape: tuple[int, ...], dtype: Any) -> None:
    x = torch.randn(shape, dtype=torch.float64).to(dtype)
    exact = x.double()
    with torch.no_grad():
        assert_close(torch.norm(x.cuda(), 2, -1), torch.norm(exact, 2, -1), ROUNDING[dtype])
        assert_close(torch.norm(x.cuda(), 2, -1, True), torch.norm(exact, 2, -1, True), ROUNDING[dtype])


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(
    ("shape", "dim"),
    [((70000,), 0), ((2, 20000), 1), ((20000, 3), 0), ((600, 33), 1), ((4, 5, 600), (0, 2)), ((3, 1), None)],
)
def test_variances_and_means(shape: tuple[int, ...], dim: Any, dtype: Any) -> None:
    x = (torch.randn(shape, dtype=torch.float64) + 1).to(dtype)
    exact = array(x)
    for keepdim in (False, True):
        expected = exact.var(dim, keepdims=keepdim), exact.mean(dim, keepdims=keepdim)
        for found, root in (
            (torch.var_mean(x.cuda(), dim, correction=0, keepdim=keepdim), False),
            (torch.std_mean(x.cuda(), dim, correction=0, keepdim=keepdim), True),
        ):
            spread, mean = (torch.as_tensor(number) for number in expected)
            assert_close(found[0], spread.sqrt() if root else spread, ROUNDING[dtype])
            assert_close(found[1], mean, ROUNDING[dtype])
    assert_close(x.cuda().std(dim), torch.as_tensor(exact.std(dim, ddof=1)), ROUNDING[dtype])


@pytest.mark.parametrize("dim", [0, 1, None])
def test_variances_far_from_zero_of_lanes_that_begin_with_another_number(dim: Any) -> None:
    x = torch.randn(300, 500) + 30000
    x[0] = x[:, 0] = -5000
    for tensor in (x, torch.randn(300, 500) + 30000):
        exact = array(tensor)
        spread, mean = torch.var_mean(tensor.cuda(), dim)
        np.testing.assert_allclose(array(spread), exact.var(dim, ddof=1), rtol=1e-6)
        np.testing.assert_allclose(array(mean), exact.mean(dim), rtol=1e-6)


def test_variances_of_what_is_not_finite() -> None:
    x = torch.tensor([[torch.inf, 1.0, 2.0], [1.0, torch.inf, 2.0], [torch.nan, 1.0, 2.0], [3.0, 3.0, 3.0]])
    spread, mean = torch.var_mean(x.cuda(), 1)
    assert_close(spread, torch.tensor([torch.nan, torch.nan, torch.nan, 0.0]), 0)
    assert mean[:2].isinf().all()
    assert mean[2].isnan()
    assert mean[3].item() == 3


def parameters_like(shapes: list[tuple[int, ...]], device: str, dtype: Any) -> list[Any]:
    torch.manual_seed(1)
    found = []
    for shape in shapes:
        parameter = torch.randn(shape).to(device=device, dtype=dtype).requires_grad_()
        parameter.grad = torch.randn(shape).to(device=device, dtype=dtype)
        found.append(parameter)
    return found


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("SGD", {"lr": 0.1}),
        ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.01}),
        ("Adam", {"lr": 0.01, "weight_decay": 0.01, "amsgrad": True}),
        ("AdamW", {"lr": 0.01, "maximize": True}),
        ("Adagrad", {"lr": 0.1, "lr_decay": 0.1}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_fused_steps(kind: str, options: dict[str, Any], dtype: Any) -> None:
    # More tensors than one launch takes, of more elements than one block takes.
    shapes = [(1 + k % 5, 1 + k % 7) for k in range(130)] + [(70, 130), (4096,), ()]
    results = []
    for device in ("cpu", "cuda"):
        parameters = parameters_like(shapes, device, dtype)
        optimizer = getattr(torch.optim, kind)(parameters, fused=True, **options)
        for _ in range(3):
            optimizer.step()
        results.append(parameters)
    for expected, got in zip(*results, strict=True):
        assert_close(got, expected, 4 * ROUNDING[dtype])


def test_a_step_reads_scale_and_found_inf_on_the_device() -> None:
    results = []
    for device in ("cpu", "cuda"):
        parameters = parameters_like([(5,), (40, 3)], device, torch.float32)
        adam = torch.optim.Adam(parameters, lr=0.1, fused=True)
        for found_inf in (0.0, 1.0, 0.0):
            adam.grad_scale = torch.tensor(4.0, device=device)
            adam.found_inf = torch.tensor(found_inf, device=device)
            adam.step()
        results.append(parameters)
    for expected, got in zip(*results, strict=True):
        assert_close(got, expected, 1e-5)


def test_unscaling_finds_what_is_not_finite() -> None:
    for value, expected in ((1.0, 0.0), (torch.inf, 1.0), (torch.nan, 1.0)):
        gradients = [torch.ones(5000, device="cuda"), torch.ones(3, 3, device="cuda").bfloat16().T]
        gradients[0][4999] = value
        found = torch.zeros((), device="cuda")
        torch._amp_foreach_non_finite_check_and_unscale_(gradients, found, torch.tensor(0.5, device="cuda"))
        assert found.item() == expected
        assert gradients[1].cpu().tolist() == [[0.5] * 3] * 3
        assert gradients[0][:4999].cpu().tolist() == [0.5] * 4999


def test_the_scale_shrinks_and_grows_as_on_the_cpu() -> None:
    history = []
    for device in ("cpu", "cuda"):
        scale = torch.tensor(1024.0, device=device)
        tracker = torch.zeros((), dtype=torch.int32, device=device)
        for overflow in (0, 0, 1, 0, 0, 0):
            found = torch.tensor(float(overflow), device=device)
            torch._amp_update_scale_(scale, tracker, found, 2.0, 0.5, 2)
            history.append((device, scale.item(), tracker.item()))
    half = len(history) // 2
    assert [h[1:] for h in history[:half]] == [h[1:] for h in history[half:]]


_EVERYTHING = """
import hashlib
import torch_py as torch
F = torch.nn.functional
torch.manual_seed(0)
x = torch.randn(3, 9001).cuda().requires_grad_()
image = torch.randn(3, 5, 41, 41).cuda().requires_grad_()
weight = torch.randn(9001).cuda().requires_grad_()
results = [torch.softmax(x, 1), torch.log_softmax(x, 0), F.layer_norm(x, (9001,), weight)]
results += [F.batch_norm(image, None, None, training=True), torch.norm(x.detach(), 2, 1)]
results.append(F.nll_loss(x, torch.tensor([1, 2, 9000]).cuda()))
sum((result * result).sum() for result in results).backward()
results += [x.grad, image.grad, weight.grad]
text = b"".join(result.detach().cpu().numpy().tobytes() for result in results)
print(hashlib.sha256(text).hexdigest())
"""


def test_results_do_not_depend_on_the_order_of_threads_and_blocks() -> None:
    """Bit by bit: a missing barrier would show, and so would a sum in another order."""
    digests = set()
    for order in ("ascending", "descending", "shuffled:1"):
        environment = {**os.environ, "TORCH_PY_EMULATION_ORDER": order}
        command = [sys.executable, "-c", _EVERYTHING]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        digests.add(done.stdout)
    assert len(digests) == 1
