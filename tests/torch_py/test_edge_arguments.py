"""Arguments at the limit of what an operator takes: overflowing sizes, shared memory, values out of range.

Expected values and messages are those of PyTorch.
"""

from __future__ import annotations

import math
from typing import Any

import pytest

from tests.subject import WITH_PEER, only_torch_py, torch

F = torch.nn.functional
HUGE = 2**63 - 1
OVERFLOW = "without overflow"
OVERLAP = "to a single memory location"

REFUSED = [
    # sizes and counts
    ("torch.ones(4).expand(2**62, 4)", RuntimeError, "numel: integer multiplication overflow"),
    ("torch.ones(1, 1).expand(2**32, 2**32)", RuntimeError, "numel: integer multiplication overflow"),
    (
        "torch.ones(1).as_strided((2**33, 2**31), (0, 0))",
        RuntimeError,
        "numel: integer multiplication overflow",
    ),
    ("torch.empty((0, 2**62, 2**62))", RuntimeError, "Stride calculation overflowed"),
    ("torch.arange(-2**63, 2**63 - 1, 1)", RuntimeError, "invalid size, possible overflow"),
    (
        "F.conv2d(image, kernel, dilation=2**62)",
        RuntimeError,
        "Kernel size can't be greater than actual input size",
    ),
    (
        "F.conv2d(image, kernel, padding=2**62)",
        RuntimeError,
        "expected padding to be at most 4611686018427387903",
    ),
    ("F.max_pool2d(image, 2**62 + 1, padding=2**61)", RuntimeError, OVERFLOW),
    ("F.max_pool2d(image, 2, stride=2**40)", RuntimeError, OVERFLOW),
    ("F.avg_pool2d(image, 2, stride=2**40)", RuntimeError, OVERFLOW),
    ("F.pad(torch.ones(3), (-5, 6))", RuntimeError, r"narrow\(\): length must be non-negative"),
    ("F.pad(torch.ones(3), (HUGE, HUGE))", RuntimeError, "overflows|non-negative"),
    ("F.pad(torch.ones(3), (2**62, -2**62))", RuntimeError, r"narrow\(\): length must be non-negative"),
    # dimensions
    ("torch.tensor(1.0).roll(1, 0)", IndexError, "Dimension specified as 0 but tensor has no dimensions"),
    ("torch.ones([1] * 70).flip(69)", RuntimeError, "only tensors with up to 64 dims are supported"),
    ("torch.ones([1] * 70).squeeze((0, 69))", RuntimeError, "only tensors with up to 64 dims are supported"),
    ("torch.zeros(2, 0).amax(1)", IndexError, r"amax\(\): Expected reduction dim 1 to have non-zero size"),
    ("torch.zeros(0, 0).amin(1)", IndexError, r"amin\(\): Expected reduction dim 1 to have non-zero size"),
    # values outside the range of a dtype
    ("torch.tensor([3], dtype=torch.int8) ** 300", RuntimeError, "type int8_t without overflow"),
    ("torch.ones(3).half().scatter(0, torch.tensor([1]), 70000)", RuntimeError, OVERFLOW),
    ("torch.tensor([3], dtype=torch.uint8).pow_(256)", RuntimeError, "type uint8_t without overflow"),
    (
        "torch.tensor([3], dtype=torch.uint8) ** -1",
        RuntimeError,
        "Integers to negative integer powers are not allowed",
    ),
    ("torch.where(condition, torch.tensor([1], dtype=torch.uint8), 300)", RuntimeError, OVERFLOW),
    ("torch.where(condition, torch.tensor([1], dtype=torch.int8), -129)", RuntimeError, OVERFLOW),
    ("torch.where(condition, 300, torch.tensor([1], dtype=torch.int8))", RuntimeError, OVERFLOW),
    ("torch.where(condition, torch.tensor([1.0]), 1e100)", RuntimeError, OVERFLOW),
    ("torch.linspace(0, 300, 4, dtype=torch.uint8)", RuntimeError, "type uint8_t without overflow"),
    ("torch.linspace(0, 1e10, 4, dtype=torch.float16)", RuntimeError, "type (c10::)?Half without overflow"),
    ("torch.zeros(3, dtype=torch.float16).fill_(1e10)", RuntimeError, "type (c10::)?Half without overflow"),
    (
        "torch.zeros(3, dtype=torch.bfloat16).fill_(1e100)",
        RuntimeError,
        "type (c10::)?BFloat16 without overflow",
    ),
    ("torch.ones(2, 3).half() @ torch.ones(3, 2)", RuntimeError, "got: (c10::)?Half != float"),
    (
        "torch.ones(2, 3).permute(0)",
        RuntimeError,
        r"^permute\((sparse_coo)?\): .* is not equal to len\(dims\) = 1",
    ),
    ("torch.full((2,), 1e100)", RuntimeError, "type float without overflow"),
    ("torch.zeros(3, dtype=torch.complex64).fill_(1e100)", RuntimeError, OVERFLOW),
    ("torch.zeros(3, dtype=torch.int64).fill_(1e19)", RuntimeError, "type int64_t without overflow"),
    ("torch.ones(3, dtype=torch.float16).masked_fill(torch.ones(3) > 0, 1e10)", RuntimeError, OVERFLOW),
    # memory that is read and written
    ("x.__setitem__(torch.tensor([1, 2, 3]), x[:3])", RuntimeError, OVERLAP),
    ("places.__setitem__(places[:3], torch.tensor([7, 8, 9]))", RuntimeError, OVERLAP),
    ("torch.cumsum(x[:5], 0, out=x[1:])", RuntimeError, OVERLAP),
    ("torch.cat([x[:3], x[:2]], out=x[1:])", RuntimeError, OVERLAP),
    ("torch.gather(x[:5], 0, torch.arange(5), out=x[1:])", RuntimeError, OVERLAP),
    ("torch.max(x, 0, out=(x[0], torch.tensor(0)))", RuntimeError, OVERLAP),
    ("x[:1].expand(3).copy_(torch.ones(3))", RuntimeError, OVERLAP),
    ("x[:1].expand(3).add_(1)", RuntimeError, OVERLAP),
    # out= of another dtype
    (
        "torch.topk(x, 1, out=(empty(), empty(torch.uint8)))",
        RuntimeError,
        "Expected out tensor to have dtype long int, but got unsigned char",
    ),
    (
        "torch.max(x, 0, out=(empty(), empty(torch.int32)))",
        RuntimeError,
        "Expected out tensor to have dtype long int, but got int",
    ),
    (
        "torch.topk(x, 1, out=(empty(torch.float64), empty(torch.int64)))",
        RuntimeError,
        "to have dtype float, but got double",
    ),
    (
        "torch.argmax(x, out=empty(torch.int32))",
        RuntimeError,
        "Expected out tensor to have dtype long int, but got int",
    ),
    (
        "torch.mm(torch.ones(2, 2), torch.ones(2, 2), out=empty(torch.float64))",
        RuntimeError,
        "to have dtype float, but got double",
    ),
    # index_copy
    ("torch.zeros(3, 4).index_copy(0, zero, torch.ones(1, 1))", RuntimeError, "must have same slice shapes"),
    ("torch.zeros(3, 4).index_copy(0, zero, torch.tensor(1.0))", RuntimeError, "must have same slice shapes"),
    ("torch.zeros(3, 4).index_copy(0, zero, torch.ones(4))", IndexError, "their dimensionality must match"),
    (
        "torch.zeros(3, 4).index_copy(0, zero - 1, torch.ones(1, 4))",
        IndexError,
        "index -1 is out of bounds for dimension 0 with size 3",
    ),
    (
        "torch.zeros(3).index_copy(0, torch.tensor([0, 1]), torch.tensor(1.0))",
        IndexError,
        "index should have one element",
    ),
    # batch_norm
    (
        "F.batch_norm(rows, torch.ones(3, dtype=torch.int64), torch.ones(3), training=True)",
        RuntimeError,
        "mixed dtype",
    ),
    (
        "F.batch_norm(rows, torch.ones(3, dtype=torch.float64), torch.ones(3), training=True)",
        RuntimeError,
        "mixed dtype",
    ),
    ("F.batch_norm(rows, torch.ones(1, 3), torch.ones(1, 3), training=True)", RuntimeError, "1 dim"),
    ("normalize(torch.ones(3))", RuntimeError, "at least 2 dimensions|running_mean should contain"),
    ("normalize(torch.tensor(3.0))", RuntimeError, "at least 2 dimensions|running_mean should contain"),
    # dtypes
    (
        "torch.maximum(torch.ones(1, dtype=torch.complex64), torch.ones(1))",
        RuntimeError,
        "maximum not implemented for complex",
    ),
    (
        "torch.minimum(torch.ones(1), torch.ones(1, dtype=torch.complex64))",
        RuntimeError,
        "minimum not implemented for complex",
    ),
    ("torch.argmax(torch.ones(1, dtype=torch.complex64))", RuntimeError, "does not support complex input"),
    ("torch.max(torch.ones(1, dtype=torch.complex64), 0)", RuntimeError, "does not support complex input"),
    ("torch.min(torch.ones(1, dtype=torch.complex64), 0)", RuntimeError, "does not support complex input"),
    ("torch.topk(torch.ones(1, dtype=torch.bool), 1)", RuntimeError, "topk does not support"),
    (
        "-torch.ones(1, dtype=torch.bool)",
        RuntimeError,
        "Negation, the `-` operator, on a bool tensor is not supported",
    ),
    ("torch.relu(torch.ones(1, dtype=torch.bool))", RuntimeError, "Boolean inputs not supported for relu"),
    ("F.hardtanh(torch.ones(1, dtype=torch.bool))", RuntimeError, "Bool inputs not supported for hardtanh"),
    ("F.hardtanh(torch.ones(1, dtype=torch.uint8))", RuntimeError, "unsigned type with negative limits"),
    ("torch.arange(0, 1, 0.1, dtype=torch.int64)", ValueError, "step must be nonzero"),
    # tensors without elements to read
    (
        "torch.ones(2).copy_(torch.ones(2, device='meta'))",
        NotImplementedError,
        "Cannot copy out of meta tensor; no data!",
    ),
    (
        "torch.ones(2, device='meta').to('cpu')",
        NotImplementedError,
        "Cannot copy out of meta tensor; no data!",
    ),
    (
        "torch.ones(1, device='meta').item()",
        RuntimeError,
        r"Tensor.item\(\) cannot be called on meta tensors",
    ),
]


def names() -> dict[str, Any]:
    """The names that calls in the tables below use."""
    return {
        # the library
        "torch": torch,
        "F": F,
        "HUGE": HUGE,
        # tensors and functions
        "x": torch.arange(6.0),
        "places": torch.arange(10),
        "zero": torch.tensor([0]),
        "image": torch.ones(1, 1, 4, 4),
        "kernel": torch.ones(1, 1, 2, 2),
        "rows": torch.ones(2, 3),
        "condition": torch.tensor([True]),
        "normalize": lambda x: torch.batch_norm(
            x, None, None, torch.zeros(3), torch.ones(3), True, 0.1, 1e-5, False
        ),
        "empty": lambda dtype=torch.float32: torch.empty(0, dtype=dtype),
    }


@pytest.mark.parametrize("call, error, message", REFUSED)
def test_refused(call: str, error: type[Exception], message: str):
    with pytest.raises(error, match=message):
        eval(call, names())


@pytest.mark.parametrize("name", ["gelu", "silu", "elu", "softplus", "hardswish", "mish", "logsigmoid"])
@pytest.mark.parametrize("dtype", [torch.int64, torch.bool])
def test_smooth_activations_take_no_integers(name: str, dtype: Any):
    with pytest.raises(NotImplementedError, match="not implemented for '(Long|Bool)'"):
        getattr(F, name)(torch.ones(1, dtype=dtype))


@pytest.mark.parametrize("name", ["hypot", "logaddexp"])
def test_functions_of_two_floats_take_no_integers(name: str):
    with pytest.raises(NotImplementedError, match="not implemented for 'Long'"):
        getattr(torch, name)(torch.tensor([3]), torch.tensor([4]))
    assert getattr(torch, name)(torch.tensor([3]), torch.tensor([4.0])).dtype == torch.float32


def test_hardtanh_of_integers():
    assert F.hardtanh(torch.tensor([-5, 0, 5])).tolist() == [-1, 0, 1]
    assert F.relu6(torch.tensor([-5, 3, 7])).tolist() == [0, 3, 6]


@pytest.mark.skipif(WITH_PEER, reason="PyTorch 2.13 returns views out of bounds")
def test_split_sizes_whose_sum_wraps():
    with pytest.raises(RuntimeError, match="to sum exactly to 6"):
        torch.arange(6).split([HUGE, HUGE, 8])


def test_huge_split_and_chunk():
    assert [piece.tolist() for piece in torch.arange(6).split(HUGE)] == [[0, 1, 2, 3, 4, 5]]
    assert len(torch.arange(6).chunk(2**62)) == 6
    assert torch.arange(6)[:: 2**62].tolist() == [0]
    assert WITH_PEER or torch.arange(6)[::HUGE].tolist() == [0]
    with pytest.raises((RuntimeError, MemoryError)):
        torch.zeros(0).chunk(2**62)


def test_roll_adds_up_repeated_dimensions():
    assert torch.arange(4).roll((1, 1), (0, 0)).tolist() == [2, 3, 0, 1]
    assert torch.arange(4).roll((HUGE, HUGE), (0, 0)).tolist() == [2, 3, 0, 1]
    assert torch.arange(6).view(2, 3).roll((1, 2, -1), (0, 1, 1)).tolist() == [[5, 3, 4], [2, 0, 1]]
    assert torch.tensor(1.0).roll(1).item() == 1.0


def test_many_dimensions():
    x = torch.ones([1] * 70)
    assert x.permute(*range(70)).dim() == x.movedim(0, 69).dim() == x.roll(1, 69).dim() == 70
    with pytest.raises(RuntimeError):
        x.permute(*range(69), 68)


def test_topk_of_a_number():
    values, indices = torch.topk(torch.tensor(1.5), 0)
    assert values.item() == 1.5 and indices.item() == 0


def test_empty_sizes_that_overflow():
    assert torch.empty_strided((0, 2**62, 2**62), (1, 1, 1)).shape == (0, 2**62, 2**62)
    assert torch.ones(0, 1, 1).expand(0, 2**62, 2**62).numel() == 0


def test_steps_beyond_the_input():
    image, kernel = torch.ones(1, 1, 4, 4), torch.ones(1, 1, 2, 2)
    assert F.conv2d(image, kernel, stride=HUGE).tolist() == [[[[4.0]]]]
    assert F.conv2d(image, torch.ones(1, 1, 1, 1), dilation=HUGE).sum().item() == 16
    assert F.max_pool2d(image, 2, stride=2**31 - 1).tolist() == [[[[1.0]]]]


def test_reduced_floats_round_sums_once():
    index = torch.zeros(3000, dtype=torch.int64)
    ones = torch.ones(3000, dtype=torch.float16)
    assert torch.zeros(2, dtype=torch.float16).scatter_add(0, index, ones).tolist() == [3000, 0]
    source = torch.ones(3000, 3, dtype=torch.bfloat16)
    assert torch.zeros(2, 3, dtype=torch.bfloat16).index_add(0, index, source)[0].tolist() == [3008] * 3
    x = torch.zeros(2, dtype=torch.float16, requires_grad=True)
    x.gather(0, index).sum().backward()
    assert x.grad.tolist() == [3000, 0]


@pytest.mark.skipif(WITH_PEER, reason="PyTorch 2.13 rounds these after every term")
def test_reduced_floats_round_once_where_the_peer_does_not():
    index = torch.zeros(3000, dtype=torch.int64)
    x = torch.zeros(2, dtype=torch.float16, requires_grad=True)
    x[index].sum().backward()
    assert x.grad.tolist() == [3000, 0]
    zeros = torch.zeros(2, dtype=torch.bfloat16)
    ones = torch.ones(3000, dtype=torch.bfloat16)
    assert zeros.index_add(0, index, ones).tolist() == [3008, 0]
    assert zeros.index_put_((index,), ones, accumulate=True).tolist() == [3008, 0]


def test_constants_for_expanded_tensors():
    x = torch.zeros(1).expand(3)
    assert x.fill_(2).tolist() == [2, 2, 2]
    assert x.zero_().tolist() == [0, 0, 0]

    x[torch.tensor([True, False, True])] = 5.0
    assert x.tolist() == [5, 5, 5]
    assert x.index_put_((torch.tensor([0, 1]),), torch.tensor([2.0, 3.0]), accumulate=True).tolist() == [
        10,
        10,
        10,
    ]

    rows = torch.zeros(2, 1).expand(2, 3)
    assert rows[1].fill_(4).tolist() == [4, 4, 4] and rows.tolist() == [[0, 0, 0], [4, 4, 4]]


@pytest.mark.skipif(WITH_PEER, reason="PyTorch 2.13 writes values over indices")
def test_outs_that_share_memory():
    both = torch.zeros(0, dtype=torch.int64)
    with pytest.raises(RuntimeError, match="several of the out tensors"):
        torch.topk(torch.arange(3), 1, out=(both, both))


def test_addmv_without_the_product():
    nan = torch.full((2, 2), math.nan)
    ones = torch.ones(2)
    assert torch.addmv(ones, nan, ones, alpha=0).tolist() == [1, 1]
    assert torch.addmv(ones, nan, ones, alpha=0, beta=0).tolist() == [0, 0]


def test_index_copy_of_numbers():
    assert torch.zeros(3).index_copy(0, torch.tensor([1]), torch.tensor(1.0)).tolist() == [0, 1, 0]
    assert torch.zeros(()).index_copy(0, torch.tensor(0), torch.tensor(1.0)).item() == 1


def test_any_and_all_over_no_dimensions():
    x = torch.tensor([[0.0, 2.0]])
    assert x.any(()).tolist() == x.all(dim=[]).tolist() == [[False, True]]
    assert x.any(dim=[], keepdim=True).tolist() == [[False, True]]
    assert x.sum(dim=[]).item() == 2 and x.all(dim=None).item() is False


def test_running_variance_of_one_value():
    variance = torch.ones(3)
    torch.batch_norm(torch.ones(1, 3), None, None, torch.zeros(3), variance, True, 0.1, 1e-5, False)
    assert all(math.isnan(value) for value in variance.tolist())


def test_indexing_of_meta_tensors():
    x = torch.ones(3, 4, device="meta")
    assert x[torch.tensor([5])].shape == (1, 4)
    assert x[torch.tensor([5, 6], device="meta")].shape == (2, 4)
    assert x[torch.tensor([True, False, True])].shape == (2, 4)


def test_complex_logsumexp():
    result = torch.logsumexp(torch.tensor([1 + 2j, -3 + 1j, 0.5j]), 0)
    expected = torch.log(torch.exp(torch.tensor([1 + 2j, -3 + 1j, 0.5j])).sum())
    assert abs(result.item() - expected.item()) < 1e-6


def test_count_nonzero_of_one_dimension():
    assert (
        torch.ones(3, 2).count_nonzero(0).tolist()
        == torch.count_nonzero(torch.ones(3, 2), dim=0).tolist()
        == [3, 3]
    )


# Private operators, which derivatives call, check their arguments, too.
PRIVATE = [
    "ops._scatter_reduce_(torch.zeros(3), 0, torch.tensor([0, 5]), torch.ones(2), 'sum')",
    "ops._arange_fill_(torch.zeros(4, 4).t()[:, :2], 0, 1)",
    "ops._linspace_fill_(torch.zeros(1).expand(1000), 0, 1)",
    "ops._split_backward([None, None], [4], 2, 0)",
    "ops._split_backward([torch.ones(1)], [2**62], 1, 0)",
    "ops._unbind_backward([], [4], 0)",
    "ops._unbind_backward([None], [], 0)",
    "ops._convolution_double_backward([], image, image, kernel, False, [1], [0], [1], False, [0], 1)",
    "ops._numbers_as_complex(torch.tensor(1.0))",
    "ops._batch_norm_train_backward(image, image, None, None, torch.zeros(0), torch.zeros(0))",
    "ops._layer_norm_backward(rows, rows, [3], torch.zeros(9), torch.zeros(9), None, None)",
    "torch.ones(2, 3).masked_fill(torch.tensor(True, device='meta'), 3)",
    "torch.trunc(torch.ones(2, device='meta'), out=torch.ones(2))",
]


@pytest.mark.skipif(WITH_PEER, reason="operators of this package only")
@pytest.mark.parametrize("call", PRIVATE)
def test_private_operators_check_their_arguments(call: str):
    with pytest.raises((RuntimeError, IndexError)):
        eval(call, {**names(), "ops": torch._C._ops})


@only_torch_py
def test_statistics_of_a_norm_have_no_gradient():
    x = torch.randn(4, 4, requires_grad=True)
    for results in (
        torch._C._ops._batch_norm_train(x, None, None, 1e-5),
        torch._C._ops._layer_norm(x, [4], None, None, 1e-5),
    ):
        for statistic in results[1:]:
            if statistic.requires_grad:
                assert torch.autograd.grad(statistic.sum(), x, retain_graph=True, allow_unused=True) == (
                    None,
                )


def test_bounds_that_a_dtype_cannot_hold() -> None:
    with pytest.raises(RuntimeError, match="can't be safely cast"):
        torch.linspace(2, torch.tensor(-1 + 0j), 3, dtype=torch.float64)
    with pytest.raises(RuntimeError, match="without overflow"):
        torch.addmv(
            torch.zeros(2, dtype=torch.uint8),
            torch.ones(2, 3, dtype=torch.uint8),
            torch.ones(3, dtype=torch.uint8),
            alpha=70000,
        )


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
def test_integers_wrap_around(dtype: str):
    kind = getattr(torch, dtype)
    low, high = torch.iinfo(kind).min, torch.iinfo(kind).max
    x = torch.tensor([low, high], dtype=kind)
    zero = torch.tensor([0, 0])
    one = torch.ones(2, dtype=kind)

    assert (-x).tolist() == [low, -high]
    assert torch.abs(x).tolist() == [low, high]
    assert torch.square(x).tolist() == [0, 1]
    assert torch.addcmul(x, x, x, value=3).tolist() == [low, low + 2]
    assert x.clone().index_add_(0, zero, x).tolist() == [high, high]
    assert x.clone().scatter_add_(0, zero + 1, one).tolist() == [low, low + 1]
    assert x.clone().scatter_reduce_(0, zero, x, "prod").tolist() == [0, high]
    assert x.clone().index_put_((zero + 1,), one, accumulate=True).tolist() == [low, low + 1]


@only_torch_py
def test_numbers_that_overflow_without_elements():
    """PyTorch does not look at the number on the meta device."""
    x = torch.ones(3, dtype=torch.half, device="meta")
    with pytest.raises(RuntimeError, match=OVERFLOW):
        x.scatter(0, torch.zeros(1, dtype=torch.long, device="meta"), 70000)
