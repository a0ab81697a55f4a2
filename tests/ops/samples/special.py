"""Special functions, each over the numbers for which it is interesting."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.ops.samples.binary import binary_samples, pairs
from tests.ops.samples.make import Make
from tests.ops.samples.pointwise import tensors, unary_samples
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


@samples("unary_nonzero_float")
def unary_nonzero_float(make: Make) -> Iterator[SampleInput]:
    yield from unary_samples(make, away_from=(0,))
    if not make.requires_grad:
        yield SampleInput(make(33, low=-25.0, high=25.0))


@samples("unary_probability")
def unary_probability(make: Make) -> Iterator[SampleInput]:
    yield from unary_samples(make, low=0.05, high=0.95)
    if make.is_floating and not make.requires_grad:
        yield SampleInput(make.values([0.0, 1.0, 1e-4, 0.01, 0.09, 0.11, 0.5, 0.89, 0.91, 0.99, -0.1, 1.1]))


@samples("logit")
def logit(make: Make) -> Iterator[SampleInput]:
    inside: dict[str, Any] = {"low": 0.1, "high": 0.9}
    yield from unary_samples(make, **inside)
    yield SampleInput(make(2, 3, **inside), 0.01)
    yield SampleInput(make(2, 3, low=-0.5, high=1.5, away_from=(0.2, 0.8)), eps=0.2)
    if make.is_floating and not make.requires_grad:
        yield SampleInput(make.extremes(), 0.1)
        yield SampleInput(make.values([0.0, 1.0]))


@samples("xlogy")
def xlogy(make: Make) -> Iterator[SampleInput]:
    positive = {"low": 0.3, "high": 2.5}
    yield from binary_samples(make, other=positive)
    yield SampleInput(make(2, 3), 2)
    yield SampleInput(1.5, make(2, 3, **positive))
    if make.is_floating and not make.requires_grad:
        yield SampleInput(make.values([0, 0, 0, 1, 1, -1]), make.values([0, -1, float("nan"), 0, -1, 0.5]))


@samples("zeta")
def zeta(make: Make) -> Iterator[SampleInput]:
    """No gradient for the exponent."""
    for shape in ((2, 3), (), (0,), (71,)):
        yield SampleInput(
            make(*shape, low=1.5, high=4.0, requires_grad=False), make(*shape, low=0.3, high=4.0)
        )
    yield SampleInput(
        make(2, 1, low=2.0, high=4.0, requires_grad=False), make(3, low=0.5, high=3.0, layout="strided")
    )
    yield SampleInput(2, make(2, 3, low=0.5, high=3.0))
    yield SampleInput(make(2, 3, low=2.0, high=4.0, requires_grad=False), 1.5)
    if make.is_floating and not make.requires_grad:
        yield SampleInput(
            make.values([1.0, 0.5, 2.0, 2.5, 3.0, 2.0]), make.values([1.0, 1.0, 0.0, -0.5, -0.5, -1.0])
        )


@samples("polygamma")
def polygamma(make: Make) -> Iterator[SampleInput]:
    for order in range(4):
        for tensor in tensors(make, low=0.3, high=4.0):
            yield SampleInput(order, tensor)
    if make.is_floating:
        yield SampleInput(1, make.values([-0.5, -1.25, -7.75, 0.25, 20.5]))


@samples("polygamma_inplace")
def polygamma_inplace(make: Make) -> Iterator[SampleInput]:
    for order in (0, 1, 2):
        yield SampleInput(make(2, 3, low=0.5, high=3.0), order)


@error_samples("polygamma")
def polygamma_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(-1, make(2)), RuntimeError, "negative n")


@samples("mvlgamma")
def mvlgamma(make: Make) -> Iterator[SampleInput]:
    for tensor in tensors(make, low=1.6, high=5.0):
        yield SampleInput(tensor, 1)
        yield SampleInput(tensor, 4)


@error_samples("mvlgamma")
def mvlgamma_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2), 0), RuntimeError, "greater than or equal to 1")


# Signs, neighbours, parts


@samples("unary_real_only")
def unary_real_only(make: Make) -> Iterator[SampleInput]:
    if not make.is_complex:
        yield from unary_samples(make, away_from=(0,))


@samples("unary_nonzero_real")
def unary_nonzero_real(make: Make) -> Iterator[SampleInput]:
    for sample in unary_samples(make, away_from=(-2, -1, -0.5, 0, 0.5, 1, 2)):
        if make.is_floating:
            yield sample


@samples("signbit")
def signbit(make: Make) -> Iterator[SampleInput]:
    """Without nan, whose sign conversions between dtypes do not keep."""
    if not make.is_complex:
        yield from unary_samples(make, extremes=False)
    if make.is_floating:
        yield SampleInput(make.extremes()[1:])


@samples("copysign")
def copysign(make: Make) -> Iterator[SampleInput]:
    yield from binary_samples(make, extremes=False, away_from=(0,))
    if make.is_floating and not make.requires_grad:
        yield SampleInput(make.extremes().reshape(-1, 1), make.extremes()[1:])
    for number in (2, -1.5):
        yield SampleInput(make(2, 3, away_from=(0,)), number)


@samples("binary_float_nan")
def binary_float_nan(make: Make) -> Iterator[SampleInput]:
    """Pairs whose elements differ, and where no gradient is taken all extremes."""
    for shape in ((2, 3), (), (0,)):
        yield SampleInput(make(*shape, low=-2.0, high=-1.0), make(*shape, low=1.0, high=2.0))
    yield SampleInput(make(2, 1, low=1.0, high=2.0), make(3, low=-2.0, high=-1.0))
    if make.is_floating and not make.requires_grad:
        yield SampleInput(make(71), make(71))
        yield SampleInput(make(5, 4, layout="transposed"), make(5, 4, layout="strided"))
        yield SampleInput(make.extremes().reshape(-1, 1), make.extremes())


@samples("binary_same_dtype")
def binary_same_dtype(make: Make) -> Iterator[SampleInput]:
    if make.is_complex:
        return
    yield SampleInput(make(2, 3), make(2, 3))
    yield SampleInput(make(), make())
    yield SampleInput(make(2, 1), make(3))
    yield SampleInput(make(0), make(1))
    yield SampleInput(make.values([0, 1, 0, 1]), make.values([1, 1, 0, 0]))
    yield SampleInput(make(5, 4, layout="transposed"), make(5, 4, layout="strided"))
    if make.is_floating:
        yield SampleInput(make.extremes(), make(16))


@error_samples("binary_same_dtype")
def binary_same_dtype_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2), make(2, dtype="float64")), RuntimeError, "different dtypes")
    yield ErrorInput(
        SampleInput(make(2, dtype="complex64"), make(2, dtype="complex64")), RuntimeError, "complex"
    )


@samples("binary_integer_only")
def binary_integer_only(make: Make) -> Iterator[SampleInput]:
    if not make.is_integral:
        return
    for shape in ((2, 3), (), (0,), (71,)):
        yield SampleInput(make(*shape, low=-9.0, high=9.0), make(*shape, low=-9.0, high=9.0))
    yield SampleInput(make(2, 1), make(3))
    yield SampleInput(make(5, 4, layout="transposed"), make(5, 4, layout="strided"))
    yield SampleInput(make.values([0, 0, 6, 12]), make.values([0, 4, 0, 18]))
    for dtype in ("int32", "uint8"):
        yield SampleInput(make(2, 3), make(2, 3, dtype=dtype))


@samples("ldexp")
def ldexp(make: Make) -> Iterator[SampleInput]:
    for pair in pairs(make):
        yield SampleInput(*pair)
    if not make.requires_grad:
        yield SampleInput(make(2, 3), make(2, 3, dtype="int64"))
        yield SampleInput(make(2, 3, dtype="int64"), make(2, 3))


@samples("complex_parts")
def complex_parts(make: Make) -> Iterator[SampleInput]:
    if make.dtype_name not in ("float32", "float64"):
        return
    for shape in ((2, 3), (), (0,), (71,)):
        yield SampleInput(make(*shape), make(*shape))
    yield SampleInput(make(2, 1), make(3))
    yield SampleInput(make(5, 4, layout="transposed"), make(5, 4, layout="strided"))


@error_samples("complex_parts")
def complex_parts_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2), make(2, dtype="float64")), RuntimeError, "Float.*Double")
    yield ErrorInput(
        SampleInput(make(2, dtype="int64"), make(2, dtype="int64")),
        RuntimeError,
        "Half, Float or Double.*Long",
    )
    yield ErrorInput(SampleInput(make(2), make(3)), RuntimeError, "2.*3|3.*2")


# Powers and rounding


@samples("float_power")
def float_power(make: Make) -> Iterator[SampleInput]:
    yield from binary_samples(make, extremes=False, other={"low": -2.0, "high": 2.0}, low=0.3, high=2.0)


@samples("float_power_number")
def float_power_number(make: Make) -> Iterator[SampleInput]:
    for base in (2, 1.5, 1j) if make.is_complex else (2, 1.5):
        yield SampleInput(base, make(2, 3))


@samples("float_power_by_number")
def float_power_by_number(make: Make) -> Iterator[SampleInput]:
    for exponent in (2, 3, 0, 0.5, -1.5):
        yield SampleInput(make(2, 3, low=0.3, high=2.0, away_from=(0,)), exponent)


@samples("float_power_inplace")
def float_power_inplace(make: Make) -> Iterator[SampleInput]:
    if make.dtype_name in ("float64", "complex128"):
        yield SampleInput(make(2, 3, low=0.3, high=2.0), make(2, 3))
        yield SampleInput(make(2, 3, low=0.3, high=2.0), make(3))


@samples("float_power_by_number_inplace")
def float_power_by_number_inplace(make: Make) -> Iterator[SampleInput]:
    if make.dtype_name in ("float64", "complex128"):
        yield SampleInput(make(2, 3, low=0.3, high=2.0), 2.5)


@error_samples("float_power_inplace")
def float_power_inplace_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2), make(2)), RuntimeError, "Float.*Double")


@samples("round_decimals")
def round_decimals(make: Make) -> Iterator[SampleInput]:
    if not make.is_floating:
        return
    for decimals in (2, 0, -1):
        for tensor in tensors(make, low=-40.0, high=40.0):
            yield SampleInput(tensor, decimals=decimals)
    if not make.requires_grad and make.dtype_name != "float16":  # 1e4 * 1000 is no float16
        yield SampleInput(make.extremes(), decimals=3)


@samples("clamp_bound")
def clamp_bound(make: Make) -> Iterator[SampleInput]:
    for shape in ((2, 3), (), (0, 3)):
        yield SampleInput(make(*shape, low=-3.0, high=3.0), make(*shape, low=-0.4, high=0.4))
    yield SampleInput(make(2, 3), make(3, low=-0.4, high=0.4))
    yield SampleInput(make(2, 3), make(low=-0.4, high=0.4))
    yield SampleInput(make(2, 1, low=-3.0, high=3.0), make(1, 3, low=-0.4, high=0.4))
    yield from with_extremes(make)


def with_extremes(make: Make) -> Iterator[SampleInput]:
    if make.is_floating and not make.requires_grad:
        yield SampleInput(make.extremes().reshape(-1, 1), make.extremes())


@samples("is_nonzero")
def is_nonzero(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(requires_grad=False))
    yield SampleInput(make.values([0]).detach())
    yield SampleInput(make(1, 1, requires_grad=False))


@error_samples("is_nonzero")
def is_nonzero_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2)), RuntimeError, "more than one")
    yield ErrorInput(SampleInput(make(0)), RuntimeError, "no values")


# Activations


@samples("celu")
def celu(make: Make) -> Iterator[SampleInput]:
    yield from unary_samples(make, low=-4.0, high=4.0, away_from=(0,))
    yield SampleInput(make(2, 3, away_from=(0,)), 1.7)
    yield SampleInput(make(2, 3, away_from=(0,)), alpha=0.3)


@error_samples("celu")
def celu_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2), 0), RuntimeError, "alpha cannot be 0")


@samples("shrink")
def shrink(make: Make) -> Iterator[SampleInput]:
    yield from unary_samples(make, away_from=(-0.5, 0.5))
    yield SampleInput(make(2, 3, away_from=(-0.8, 0.8)), 0.8)
    yield SampleInput(make(2, 3, away_from=(0,)), lambd=0)


@samples("threshold")
def threshold(make: Make) -> Iterator[SampleInput]:
    for tensor in tensors(make, away_from=(1,)):
        yield SampleInput(tensor, 1, 2)
    if make.is_floating:
        yield SampleInput(make(2, 3, away_from=(-0.5,)), -0.5, 0.25)
    if make.is_floating and not make.requires_grad:
        yield SampleInput(make.extremes(), 0, -1)


@samples("glu")
def glu(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 4))
    yield SampleInput(make(4, 3), 0)
    yield SampleInput(make(2), dim=0)
    yield SampleInput(make(3, 0))
    yield SampleInput(make(2, 4, 3, layout="transposed"), 1)
    yield SampleInput(make(3, 6, layout="strided"), -1)


@error_samples("glu")
def glu_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3)), RuntimeError, "even.*3")
    yield ErrorInput(SampleInput(make()), RuntimeError, "scalars")
    yield ErrorInput(SampleInput(make(2, 4), 2), IndexError, "2")


@samples("prelu")
def prelu(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 3, away_from=(0,)), make(1))
    yield SampleInput(make(2, 3, away_from=(0,)), make())
    yield SampleInput(make(2, 3, away_from=(0,)), make(3))
    yield SampleInput(make(2, 3, 4, away_from=(0,)), make(3))
    yield SampleInput(make(away_from=(0,)), make(1))
    yield SampleInput(make(0, 3), make(3))
    yield SampleInput(make(2, 3, 4, away_from=(0,), layout="transposed"), make(3, layout="strided"))


@error_samples("prelu")
def prelu_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3), make(2)), RuntimeError, "2.*3")
    yield ErrorInput(SampleInput(make(2, 3), make(1, 3)), RuntimeError, "ndim = 2")
    yield ErrorInput(SampleInput(make(2, 3), make(3, dtype="float64")), RuntimeError, "Float and Double")
    yield ErrorInput(SampleInput(make(), make(2)), RuntimeError, "zero-dim")


@samples("rrelu")
def rrelu(make: Make) -> Iterator[SampleInput]:
    yield from unary_samples(make, away_from=(0,))
    yield SampleInput(make(2, 3, away_from=(0,)), 0.1, 0.5)


@error_samples("rrelu")
def rrelu_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2), 0.5, 0.1), RuntimeError, "[Ll]ower bound")


@samples("incomplete_gamma")
def incomplete_gamma(make: Make) -> Iterator[SampleInput]:
    """No gradient for the first argument."""
    positive: dict[str, Any] = {"low": 0.3, "high": 4.0}
    for shape in ((2, 3), (), (0,), (71,)):
        yield SampleInput(make(*shape, requires_grad=False, **positive), make(*shape, **positive))
    yield SampleInput(make(2, 1, requires_grad=False, **positive), make(3, layout="strided", **positive))
    if make.is_floating and not make.requires_grad:
        yield SampleInput(make(9, low=20.0, high=200.0), make(9, low=20.0, high=200.0))
        yield SampleInput(make.values([0, 0, 1, -1, 1, 2]), make.values([0, 1, 0, 1, -1, float("inf")]))


@samples("polynomial")
def polynomial(make: Make) -> Iterator[SampleInput]:
    for shape in ((2, 3), (), (0,)):
        yield SampleInput(make(*shape, low=-1.5, high=1.5), make.integers(*shape, low=-1, high=7))
    yield SampleInput(make(2, 1, low=-1.5, high=1.5), make.integers(3, high=4))
    yield SampleInput(make(2, 3, low=-1.5, high=1.5), 4)
    yield SampleInput(0.75, make.integers(5, high=9))
