"""Random numbers. Tests compare shapes and dtypes here; tests/torch_py looks at distributions and
reproducibility."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


@samples("random_inplace")
def random_inplace(make: Make) -> Iterator[SampleInput]:
    """Operators take those samples whose arguments they have."""
    for tensor in (make(3, 4), make(), *make.layouts(3, 4)):
        if 0 not in tensor.stride() or tensor.numel() < 2:
            yield SampleInput(tensor)
    if make.is_floating:
        yield SampleInput(make(0))
    yield SampleInput(make(5), to=4)
    yield SampleInput(make(5), 2, 7)
    yield SampleInput(make(5), mean=1.0, std=2.0)
    yield SampleInput(make(5), p=0.3)
    yield SampleInput(make(5), lambd=0.5)


@error_samples("random_inplace")
def random_inplace_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3), mean=0.0, std=-1.0), RuntimeError, "std.*-1")
    yield ErrorInput(SampleInput(make(3), p=1.5), RuntimeError, "p.*1.5")
    yield ErrorInput(SampleInput(make(3), lambd=-1.0), RuntimeError, "lambd")
    yield ErrorInput(SampleInput(make(3), to=-1), RuntimeError, "-1")


@samples("random_size")
def random_size(make: Make) -> Iterator[SampleInput]:
    for shape in ((2, 3), (), (0,), (70,)):
        yield SampleInput(shape)
    if make.is_inexact:
        yield SampleInput((2, 3), dtype=make.dtype)


@samples("random_like")
def random_like(make: Make) -> Iterator[SampleInput]:
    if make.is_inexact:
        for tensor in (make(3, 4), make(), make(0), *make.layouts(3, 4)):
            yield SampleInput(tensor)
    yield SampleInput(make(2, 3), dtype=make.torch.float64)


@samples("random_like_generator")
def random_like_generator(make: Make) -> Iterator[SampleInput]:
    for sample in random_like(make):
        yield SampleInput(*sample.positional, generator=make.generator(), **sample.kwargs)


@samples("randint")
def randint(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(5, (2, 3))
    yield SampleInput(1, ())
    if not make.is_bool:
        yield SampleInput(5, (0,), dtype=make.dtype)


@error_samples("randint")
def randint_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(0, (2,)), RuntimeError, "0")


@samples("randint_low")
def randint_low(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(-3, 5, (2, 3))
    yield SampleInput(2, 3, (70,))


@error_samples("randint_low")
def randint_low_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(3, 3, (2,)), RuntimeError, "3")


@samples("randperm")
def randperm(make: Make) -> Iterator[SampleInput]:
    for n in (0, 1, 9):
        yield SampleInput(n)
    yield SampleInput(5, dtype=make.torch.int32)


@error_samples("randperm")
def randperm_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(-1), RuntimeError, "-1|non-negative")


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


@samples("normal_float")
def normal_float(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(0.0, 1.0, (2, 3))
    if make.is_floating:
        yield SampleInput(1.0, 2.0, (4,), dtype=make.dtype)


@error_samples("normal_float")
def normal_float_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(0.0, -1.0, (2,)), RuntimeError, "std|-1")
