"""Samples of random numbers whose parameters are tensors or numbers. tests/torch_py compares values."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


@samples("continuous_inplace")
def continuous_inplace(make: Make) -> Iterator[SampleInput]:
    if make.is_floating:
        for tensor in (make(3, 4), make(), make(0), make(3, 4, layout="transposed")):
            yield SampleInput(tensor)
        yield SampleInput(make(5), median=1.0, sigma=2.0)
        yield SampleInput(make(5), mean=0.5, std=0.25)


@error_samples("continuous_inplace")
def continuous_inplace_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3), sigma=-1.0), RuntimeError, "sigma")
    yield ErrorInput(SampleInput(make(3), std=-1.0), RuntimeError, "std")


@samples("geometric_inplace")
def geometric_inplace(make: Make) -> Iterator[SampleInput]:
    if make.is_floating or make.is_integral:
        for tensor in (make(3, 4), make(), make(3, 4, layout="transposed")):
            yield SampleInput(tensor, 0.4)


@error_samples("geometric_inplace")
def geometric_inplace_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3), 1.5), RuntimeError, "p")


@samples("bernoulli_by_tensor")
def bernoulli_by_tensor(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(3, 4), make(3, 4, low=0.1, high=0.9, dtype="float64", requires_grad=False))


@samples("bernoulli_p")
def bernoulli_p(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(3, 4), 0.3)
    yield SampleInput(make(), 1.0)


@error_samples("bernoulli_p")
def bernoulli_p_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3), 1.5), RuntimeError, "p")


@samples("poisson")
def poisson(make: Make) -> Iterator[SampleInput]:
    if make.is_floating:
        yield SampleInput(make(3, 4, low=0.5, high=30.0))
        yield SampleInput(make(low=0.5, high=3.0))


@error_samples("poisson")
def poisson_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make.values([-1.0])), RuntimeError, "rate")


@samples("binomial")
def binomial(make: Make) -> Iterator[SampleInput]:
    if make.is_floating:
        yield SampleInput(make.values([3.0, 50.0, 0.0]), make.values([0.5, 0.9, 0.3]))


@samples("standard_gamma")
def standard_gamma(make: Make) -> Iterator[SampleInput]:
    if make.is_floating and not make.requires_grad:
        yield SampleInput(make(3, 4, low=0.1, high=5.0))


@samples("standard_gamma_grad")
def standard_gamma_grad(make: Make) -> Iterator[SampleInput]:
    if make.dtype_name in ("float32", "float64") and not make.requires_grad:
        yield SampleInput(make(3, 4, low=0.5, high=5.0), make(3, 4, low=0.1, high=6.0))


@samples("sample_dirichlet")
def sample_dirichlet(make: Make) -> Iterator[SampleInput]:
    if make.is_floating and not make.requires_grad:
        yield SampleInput(make(3, 4, low=0.5, high=5.0))


@samples("bernoulli")
def bernoulli(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(3, 4, low=0.1, high=0.9))
    yield SampleInput(make(low=0.1, high=0.9))
    if make.is_floating:
        yield SampleInput(make.values([0.0, 1.0, 1.0, 0.0]))


@error_samples("bernoulli")
def bernoulli_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make.values([0.5, 1.5])), RuntimeError, "0.*1|p")


@samples("multinomial")
def multinomial(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(4, low=0.1, high=1.0), 2)
    yield SampleInput(make(2, 4, low=0.1, high=1.0), 4)
    yield SampleInput(make(4, low=0.1, high=1.0), 9, True)


@error_samples("multinomial")
def multinomial_errors(make: Make) -> Iterator[ErrorInput]:
    weights = make(4, low=0.1, high=1.0)
    yield ErrorInput(SampleInput(weights, 5), RuntimeError, "5|replacement|sample")
    yield ErrorInput(SampleInput(weights, 0), RuntimeError, "0|sample")
    yield ErrorInput(SampleInput(make.values([0.5, -0.5]), 1), RuntimeError, "< 0|negative|probabilit")
