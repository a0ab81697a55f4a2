"""Calls that random ones found to differ from PyTorch (`python -m tools.fuzz --peer`); expected values are
those of PyTorch."""

from __future__ import annotations

import cmath
import math
import warnings
from typing import Any

import pytest

from tests.subject import only_torch_py, torch

F = torch.nn.functional


def close(found: Any, expected: Any) -> bool:
    return bool(
        torch.allclose(found, torch.tensor(expected, dtype=found.dtype), rtol=1e-5, atol=1e-6, equal_nan=True)
    )


# Shapes and dtypes


def test_slices_of_numbers_are_an_index_error() -> None:
    number = torch.tensor(1.0)
    for call in (lambda: torch.slice_copy(number), lambda: torch.slice_scatter(number, torch.ones(2))):
        with pytest.raises(IndexError, match="0-dim"):
            call()


def test_adjoint_of_a_number() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch prefers conj()
        assert torch.tensor(1 + 2j).adjoint().item() == 1 - 2j
    with pytest.raises(RuntimeError, match="1-D tensor"):
        torch.ones(2).adjoint()


def test_taken_elements_are_contiguous() -> None:
    assert torch.take(torch.arange(12.0), torch.tensor([[1, 2], [3, 4]]).t()).stride() == (2, 1)


def test_vandermonde_matrix_of_a_number() -> None:
    assert torch.linalg.vander(torch.tensor(2), N=3).tolist() == [[1, 2, 4]]


def test_nothing_is_rolled_along_any_dimension() -> None:
    assert torch.roll(torch.zeros(0, 3), (1, 2), (4, 5)).shape == (0, 3)


def test_permutation_of_integer_factors() -> None:
    P, L, _ = torch.lu_unpack(torch.ones(2, 2, dtype=torch.int32), torch.tensor([2, 2], dtype=torch.int32))
    assert P.tolist() == [[0, 1], [1, 0]] and P.dtype == L.dtype == torch.int32


def test_columns_of_truth_values() -> None:
    columns = torch.zeros(1, 4, 2, dtype=torch.bool)
    columns[0, 0, 1] = columns[0, 1, 0] = True  # the same element, seen from two windows
    assert F.fold(columns, (2, 3), 2).tolist() == [[[[False, True, False], [False, False, False]]]]


def test_small_integers_of_convolutions_wrap() -> None:
    found = F.conv1d(
        torch.tensor([[[3, 5, 2**30]]], dtype=torch.int32), torch.tensor([[[2, 3]]], dtype=torch.int32)
    )
    assert found.tolist() == [[[21, -1073741814]]]


def test_cumulative_integral_without_elements() -> None:
    nothing = torch.zeros(0, 4, dtype=torch.int64)
    assert (
        torch.cumulative_trapezoid(nothing, dim=0).dtype
        == torch.cumulative_trapezoid(nothing, nothing[:, 0], dim=0).dtype
        == torch.float32
    )


@pytest.mark.parametrize(
    "bias, expected",
    [(2.0, [[5.0] * 4] * 2), ([[1.0], [2.0]], [[4.0] * 4, [5.0] * 4]), ([[1.0] * 4] * 2, [[4.0] * 4] * 2)],
)
def test_bias_that_is_no_vector(bias: Any, expected: Any) -> None:
    values = torch.tensor(bias, requires_grad=True)
    found = F.linear(torch.ones(2, 3), torch.ones(4, 3), values)
    assert found.tolist() == expected
    found.sum().backward()
    assert values.grad.shape == values.shape and values.grad.sum().item() == 8


def test_bias_of_the_size_of_the_result() -> None:
    assert (
        F.linear(torch.ones(5, 2, 3), torch.ones(4, 3), torch.ones(5, 2, 4)).tolist() == [[[4.0] * 4] * 2] * 5
    )
    with pytest.raises(RuntimeError, match="expand"):
        F.linear(torch.ones(2, 3), torch.ones(4, 3), torch.ones(5, 2, 4))


def test_bounds_that_a_dtype_has_not() -> None:
    with pytest.raises(RuntimeError, match="can't be safely cast"):
        torch.linspace(2, torch.tensor(-1 + 0j), 3, dtype=torch.float64)
    with pytest.raises(RuntimeError, match="without overflow"):
        torch.addmv(
            torch.zeros(2, dtype=torch.uint8),
            torch.ones(2, 3, dtype=torch.uint8),
            torch.ones(3, dtype=torch.uint8),
            alpha=70000,
        )


def test_truth_values_have_no_gradient_of_differences() -> None:
    with pytest.raises(RuntimeError, match="bool"):
        torch.gradient(torch.ones(4, dtype=torch.bool), spacing=[torch.arange(4.0)])


# Values


def test_interpolation_of_complex_numbers() -> None:
    start, end = torch.tensor([1 + 1j, 2 - 1j]), torch.tensor([3 - 1j, 0j])
    assert close(torch.lerp(start, end, 0.25), [1.5 + 0.5j, 1.5 - 0.75j])
    assert close(torch.lerp(start, end, torch.tensor([0.5j, 1 + 0j])), [2 + 2j, 0j])
    assert close(start.clone().lerp_(end, 1.0), [3 - 1j, 0j])


def test_interpolation_of_complex_numbers_has_a_gradient() -> None:
    inputs = tuple(
        torch.tensor(values, dtype=torch.complex128, requires_grad=True)
        for values in ([1 + 1j, 2j], [3 - 1j, 1.0], [0.2 + 0.1j, 0.9j])
    )
    assert torch.autograd.gradcheck(torch.lerp, inputs)
    assert torch.autograd.gradcheck(lambda a, b: torch.lerp(a, b, 0.3), inputs[:2])


def test_complex_sums_of_exponentials() -> None:
    a, b = (
        torch.tensor([1 + 2j, -300 + 1j, -math.inf + 0j]),
        torch.tensor([0.5 - 1j, -301 + 0j, -math.inf + 0j]),
    )
    found = torch.logaddexp(a, b)
    assert close(found[:1], torch.log(torch.exp(a[:1]) + torch.exp(b[:1])).tolist())
    assert (
        close(found[1:2], [-300 + cmath.log(cmath.exp(1j) + cmath.exp(-1))])
        and found[2].real.item() == -math.inf
    )
    pair = tuple(
        torch.tensor([value], dtype=torch.complex128, requires_grad=True) for value in (1 + 0.5j, 0.5 - 1j)
    )
    assert torch.autograd.gradcheck(torch.logaddexp, pair)


@pytest.mark.parametrize("degree, expected", [(-0.5, 1.0), (0.5, 1.0), (-1.0, 0.0), (1.5, 3.0)])
def test_degrees_are_cut_off(degree: float, expected: float) -> None:
    assert torch.special.legendre_polynomial_p(torch.tensor([3.0]), degree).item() == expected


def test_narrow_numbers_are_rounded_to_decimals_in_float32() -> None:
    assert torch.round(torch.tensor([-4.34375, 6.34375], dtype=torch.bfloat16), decimals=1).tolist() == [
        -4.3125,
        6.3125,
    ]


def test_sign_of_the_determinant_of_nan() -> None:
    sign, logarithm = torch.linalg.slogdet(torch.full((2, 2), math.nan))
    assert sign.item() == 0 and math.isnan(logarithm.item())
    assert torch.linalg.slogdet(torch.tensor([[0.0, 1.0], [-2.0, 0.0]]))[0].item() == 1


@only_torch_py  # PyTorch sorts nan with a comparison that has no order, and finds it where it comes first
def test_nan_is_the_most_frequent_element_only_where_there_is_nothing_else() -> None:
    assert torch.mode(torch.tensor([math.nan, math.nan, 1.0])).values.item() == 1
    value, index = torch.mode(torch.tensor([math.nan, 2.0, math.nan, 2.0]))
    assert (value.item(), index.item()) == (2, 3)
    assert math.isnan(torch.mode(torch.tensor([math.nan, math.nan])).values.item())


@pytest.mark.parametrize("scale", [1e-8, 1e-4, 1.0, 1e8])
def test_running_variance_of_small_and_large_numbers(scale: float) -> None:
    x = torch.tensor([[1.0], [2.0], [4.0], [5.0]]) * scale
    running = torch.zeros(1)
    F.batch_norm(x, torch.zeros(1), running, training=True, momentum=1.0)
    assert math.isclose(running.item(), 10 / 3 * scale**2, rel_tol=1e-5)


# Losses


@pytest.mark.parametrize(
    "target, dtype",
    [(torch.float64, torch.float32), (torch.bool, torch.float32), (torch.int64, torch.float32)],
)
def test_huber_loss_has_the_dtype_of_the_input(target: Any, dtype: Any) -> None:
    assert F.huber_loss(torch.tensor([3.0, 1.0]), torch.tensor([1, 0]).to(target)).dtype == dtype


def test_losses_that_do_not_fit_into_the_input() -> None:
    with pytest.raises(RuntimeError, match="can't be cast to the desired output type Long"):
        F.huber_loss(torch.tensor([3]), torch.tensor([1.0]))
    with pytest.raises(RuntimeError, match="can't be cast to the desired output type Char"):
        F.soft_margin_loss(torch.tensor([3], dtype=torch.int8), torch.tensor([1.0]))
    with pytest.raises(RuntimeError, match="doesn't match the broadcast shape"):
        F.soft_margin_loss(torch.tensor(3.0), torch.tensor([1.0, -1.0]))
    assert (
        F.soft_margin_loss(torch.tensor([3.0]), torch.tensor([1.0], dtype=torch.float64)).dtype
        == torch.float32
    )


def test_absolute_losses_of_truth_values() -> None:
    assert F.smooth_l1_loss(torch.tensor([3.0, 1.0]), torch.tensor([True, True])).item() == 0.75
    with pytest.raises(NotImplementedError):
        F.smooth_l1_loss(torch.tensor([3]), torch.tensor([1]))


def test_cross_entropy_of_truth_values_and_logits() -> None:
    logits, labels = torch.tensor([0.5, -1.0]), torch.tensor([0, 1])
    loss = F.binary_cross_entropy_with_logits
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output type Long"):
        loss(logits, labels)
    assert loss(logits, labels.double()).dtype == torch.float64
    assert loss(logits, labels.half()).dtype == torch.float16
    assert loss(logits, labels.float(), weight=torch.ones(2, dtype=torch.float64)).dtype == torch.float32


def test_cross_entropy_wants_one_dtype() -> None:
    with pytest.raises(RuntimeError, match="Found dtype Double but expected Float"):
        F.binary_cross_entropy(torch.tensor([0.5]), torch.tensor([1.0], dtype=torch.float64))


def test_labels_that_are_no_integers() -> None:
    with pytest.raises(
        RuntimeError,
        match="expected target dtype to be Long or Byte, but got Float|expected scalar type Long but found "
        "Float",
    ):
        F.cross_entropy(torch.ones(3, 4), torch.tensor([0.0, 1.0, 2.0]))


# Attention


def test_mask_beside_causality() -> None:
    """Batches of heads take both, everything else either."""
    x = torch.arange(12.0).reshape(1, 1, 3, 4) / 10
    mask = torch.tensor([[0.0, 1.0, 2.0], [3.0, 0.0, 1.0], [1.0, 1.0, 1.0]])
    both = mask + torch.full((3, 3), -math.inf).triu(1)
    found = F.scaled_dot_product_attention(x, x, x, attn_mask=mask, is_causal=True)
    assert torch.allclose(found, F.scaled_dot_product_attention(x, x, x, attn_mask=both))
    assert (
        F.scaled_dot_product_attention(x, x, x, attn_mask=mask > 0, is_causal=True)[0, 0, 0].tolist()
        == [0.0] * 4
    )
    with pytest.raises(RuntimeError, match="Explicit attn_mask should not be set when is_causal=True"):
        F.scaled_dot_product_attention(x[0, 0], x[0, 0], x[0, 0], attn_mask=mask, is_causal=True)
    with pytest.raises(RuntimeError, match="Explicit attn_mask should not be set when is_causal=True"):
        F.scaled_dot_product_attention(x, x, x, attn_mask=mask, is_causal=True, dropout_p=0.5)


def test_attention_refuses_a_probability_above_one() -> None:
    with pytest.raises(ValueError, match=r"between 0 and 1, but got 2\.0"):
        torch.nn.MultiheadAttention(4, 2, dropout=2.0)(*[torch.ones(2, 4)] * 3)


# Lists, warnings


@only_torch_py
@pytest.mark.parametrize("lists", [([], 1), ([], 0), (1, 2)])
def test_loops_of_optimizers_compare_their_lists(lists: Any) -> None:
    parameters, gradients = (
        ([] if not count else [torch.ones(2)] * count) for count in ((lists[0] or 0), lists[1])
    )
    settings = {
        "lr": 0.1,
        "weight_decay": 0.0,
        "momentum": 0.0,
        "dampening": 0.0,
        "nesterov": False,
        "maximize": False,
        "is_first_step": True,
    }
    loop = torch._C._ops._sgd_loop_
    if len(parameters) == len(gradients):
        loop(parameters, gradients, [], **settings, grad_scale=None)
    else:
        with pytest.raises(RuntimeError, match="expected lists of"):
            loop(parameters, gradients, [], **settings, grad_scale=None)


_WARNS = """
import warnings
import numpy as np
import torch_py as torch
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for _ in range(2):
        spectrum = torch.stft(torch.ones(20), 8, return_complex=True)
        torch.istft(spectrum, 8)
        torch.tensor([np.ones(2), np.zeros(2)])
    torch.stft(torch.ones(20), 8, window=torch.ones(8), return_complex=True)
print(*sorted(str(warning.message)[:30] for warning in caught), sep="|")
"""


@only_torch_py
def test_warnings_come_once() -> None:
    import subprocess
    import sys

    done = subprocess.run([sys.executable, "-c", _WARNS], capture_output=True, text=True, timeout=120)
    assert done.stdout.split("|")[0].startswith("A window was not provided"), done.stderr
    assert [text[:8] for text in done.stdout.strip().split("|")] == ["A window", "A window", "Creating"]


def test_modules_that_read_alike_are_shown_once() -> None:
    nn = torch.nn
    shown = repr(nn.ModuleList([nn.ReLU(), nn.ReLU(), nn.Sequential(nn.Tanh())]))
    assert shown == "ModuleList(\n  (0-1): 2 x ReLU()\n  (2): Sequential(\n    (0): Tanh()\n  )\n)"
    assert repr(nn.ModuleList()) == "ModuleList()"


def test_layers_without_bias_have_a_gradient() -> None:
    layer = torch.nn.Linear(3, 2, bias=False)
    layer(torch.ones(2, 3)).sum().backward()
    assert layer.weight.grad.tolist() == [[2.0] * 3] * 2


def test_sizes_are_integers() -> None:
    with pytest.raises(TypeError):
        F.interpolate(torch.ones(2, 4, 8), size=1.5)


@only_torch_py  # PyTorch refuses empty images
def test_transposed_convolution_of_empty_images_is_its_bias() -> None:
    found = F.conv_transpose1d(torch.ones(4, 0), torch.ones(4, 1, 2), torch.tensor([1.0, 2.0]), 3, 0, 2, 2, 2)
    assert found.tolist() == [[1.0] * found.shape[1], [2.0] * found.shape[1]]


def test_sizes_before_pooling() -> None:
    x, indices = torch.ones(1, 2, 4), torch.zeros(1, 2, 4, dtype=torch.int64)
    with pytest.raises(ValueError, match="non-negative spatial dimensions"):
        F.max_unpool1d(x, indices, 2, padding=5)
    with pytest.raises(IndexError):
        F.max_unpool3d(x[0], indices[0], 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert F.max_unpool1d(x, indices, 2).shape == (1, 2, 8)
