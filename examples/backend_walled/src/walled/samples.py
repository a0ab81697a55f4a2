"""Arguments that the kernels are tested with, by the names of their operators."""

from __future__ import annotations

from collections.abc import Iterator

from torch_py.testing.operators import Make, SampleInput, samples
from torch_py.testing.operators.samples.binary import pairs
from torch_py.testing.operators.samples.unary import tensors


@samples("add_Tensor")
@samples("mul_Tensor")
def products(make: Make) -> Iterator[SampleInput]:
    for left, right in pairs(make):
        yield SampleInput(left, right)


@samples("sub_Tensor")
def differences(make: Make) -> Iterator[SampleInput]:
    yield from products(make)
    yield SampleInput(make(3), make(3), alpha=2)


@samples("div_Tensor")
def quotients(make: Make) -> Iterator[SampleInput]:
    for left, right in pairs(make, other={"away_from": (0,)}):
        yield SampleInput(left, right)


@samples("neg")
@samples("relu")
def elements(make: Make) -> Iterator[SampleInput]:
    for tensor in tensors(make, away_from=(0,)):
        yield SampleInput(tensor)


@samples("_threshold_backward")
def masks(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 3), make(2, 3, away_from=(0,)))


@samples("copy_")
def copies(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 3), make(2, 3))
    yield SampleInput(make(4, 3, layout="transposed"), make(3))
    yield SampleInput(make(3), make(3, dtype="float64").real)


@samples("fill__Scalar")
def constants(make: Make) -> Iterator[SampleInput]:
    for tensor in tensors(make):
        if 0 not in tensor.stride() or tensor.numel() < 2:
            yield SampleInput(tensor, 1)


@samples("mm")
def matrices(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 3), make(3, 4))
    yield SampleInput(make(2, 3, layout="transposed"), make(3, 4, layout="strided"))
    yield SampleInput(make(2, 0), make(0, 4))


@samples("addmm")
def sums_of_matrices(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 4), make(2, 3), make(3, 4))
    yield SampleInput(make(4), make(2, 3), make(3, 4), beta=2, alpha=3)
    yield SampleInput(make(2, 1), make(2, 3), make(3, 4))
    yield SampleInput(make(), make(2, 3), make(3, 4))


@samples("sum")
def sums(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(3, 4))
    yield SampleInput(make(3, 4, layout="transposed"), 0)
    yield SampleInput(make(2, 3, 4), [0, 2], True)
    yield SampleInput(make(0, 3), 0)
    yield SampleInput(make())


@samples("_log_softmax")
def scores(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(3, 4), 1, False)
    yield SampleInput(make(3, 4, layout="transposed"), 0, False)
    yield SampleInput(make(2, 3, 4), -2, False)
    yield SampleInput(make(), 0, False)


@samples("_log_softmax_backward_data")
def gradients_of_scores(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(3, 4), make(3, 4, low=-3.0, high=-0.5), 1, make.dtype)
    yield SampleInput(make(2, 3, 4), make(2, 3, 4, low=-3.0, high=-0.5), 0, make.dtype)
