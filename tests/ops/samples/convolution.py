"""Samples of convolutions."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


@samples("convolution")
def convolution(make: Make) -> Iterator[SampleInput]:
    """input, weight, bias, stride, padding, dilation, transposed, output_padding, groups."""
    yield SampleInput(make(2, 2, 5, 4), make(3, 2, 3, 2), make(3), (1, 1), (0, 0), (1, 1), False, (0, 0), 1)
    yield SampleInput(make(1, 4, 5, 5), make(4, 2, 2, 2), None, (2, 1), (1, 0), (1, 2), False, (0, 0), 2)
    yield SampleInput(make(2, 2, 6), make(3, 2, 3), make(3), (2,), (1,), (1,), False, (0,), 1)
    yield SampleInput(make(1, 2, 3, 3), make(2, 3, 2, 2), make(3), (2, 2), (1, 0), (1, 1), True, (1, 0), 1)
    yield SampleInput(
        make(1, 1, 3, 3, 3), make(2, 1, 2, 2, 2), None, (1, 1, 1), (0, 1, 0), (1, 1, 1), False, (0, 0, 0), 1
    )


@samples("conv1d")
def conv1d(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 2, 6), make(3, 2, 3), make(3))
    yield SampleInput(make(2, 2, 6), make(3, 2, 3), None, 2, 1)
    yield SampleInput(make(2, 6), make(3, 2, 2), None, 1, 0, 2)
    yield SampleInput(make(1, 4, 5), make(4, 1, 2), make(4), 1, 1, 1, 4)


@samples("conv2d")
def conv2d(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 2, 4, 5), make(3, 2, 3, 3), make(3))
    yield SampleInput(make(2, 2, 4, 5), make(3, 2, 2, 3), None, 2, 1)
    yield SampleInput(make(2, 5, 5), make(3, 2, 2, 2), make(3), (1, 2), (0, 1), (2, 1))
    yield SampleInput(make(1, 4, 4, 4), make(4, 2, 3, 3), make(4), 1, 1, 1, 2)
    yield SampleInput(make(1, 3, 3, 3), make(3, 1, 2, 2), None, 1, 1, 1, 3)
    yield SampleInput(make(1, 2, 3, 3), make(2, 2, 1, 1), make(2))

    if not make.requires_grad:
        yield SampleInput(make(0, 2, 4, 4), make(3, 2, 3, 3), make(3))
        yield SampleInput(make(2, 3, 7, 6, layout="channels_last"), make(4, 3, 3, 3), make(4), 1, 1)
        yield SampleInput(make(2, 3, 7, 6, layout="strided"), make(4, 3, 3, 3, layout="transposed"), make(4))
        yield SampleInput(make(2, 8, 12, 11), make(16, 8, 3, 3), make(16), 1, 1)
        yield SampleInput(make(2, 3, 5, 6), make(4, 3, 3, 2, layout="channels_last"), None)
        yield SampleInput(make(2, 4, 5, 6, layout="channels_last"), make(4, 2, 1, 1), make(4), 1, 0, 1, 2)


@samples("conv3d")
def conv3d(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(1, 2, 3, 3, 3), make(2, 2, 2, 2, 2), make(2))
    yield SampleInput(make(1, 2, 3, 4, 3), make(2, 1, 2, 2, 2), None, (1, 2, 1), (0, 1, 1), 1, 2)
    yield SampleInput(make(2, 3, 3, 1), make(1, 2, 2, 2, 1), make(1), 1, 0, (2, 1, 1))
    if not make.requires_grad:
        yield SampleInput(make(2, 3, 4, 3, 5, layout="channels_last"), make(4, 3, 2, 2, 2), make(4), 1, 1)


@error_samples("conv2d")
def conv2d_errors(make: Make) -> Iterator[ErrorInput]:
    image, weight = make(1, 2, 4, 4), make(3, 2, 3, 3)
    yield ErrorInput(SampleInput(make(1, 3, 4, 4), weight), RuntimeError, "3.*2|2.*3|channels")
    yield ErrorInput(SampleInput(make(4, 4), weight), RuntimeError, "3.*4|dim")
    yield ErrorInput(SampleInput(image, make(3, 2, 5, 5)), RuntimeError, "5|[kK]ernel")
    yield ErrorInput(SampleInput(image, weight, make(2)), RuntimeError, "bias|2")
    yield ErrorInput(SampleInput(image, weight, None, 0), RuntimeError, "stride")
    yield ErrorInput(SampleInput(image, weight, None, 1, -1), RuntimeError, "padding")
    yield ErrorInput(SampleInput(image, weight, None, 1, 0, 1, 2), RuntimeError, "group")
    yield ErrorInput(SampleInput(image, make(3, 2, 3, 3, dtype="float64")), RuntimeError, "type|float|Double")


@samples("conv1d_padding")
def conv1d_padding(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 2, 6), make(3, 2, 3), make(3), 1, "same")
    yield SampleInput(make(2, 2, 6), make(3, 2, 3), None, 2, "valid")
    yield SampleInput(make(2, 2, 6), make(3, 2, 2), None, 1, "same")


@samples("conv2d_padding")
def conv2d_padding(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(1, 2, 4, 5), make(3, 2, 3, 3), make(3), 1, "same")
    yield SampleInput(make(1, 2, 4, 5), make(3, 2, 2, 3), None, 2, "valid")
    yield SampleInput(make(1, 2, 4, 5), make(3, 2, 2, 3), None, 1, "same", (1, 2))


@error_samples("conv2d_padding")
def conv2d_padding_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(1, 2, 4, 5), make(3, 2, 3, 3), None, 2, "same"), RuntimeError, "same")
    yield ErrorInput(
        SampleInput(make(1, 2, 4, 5), make(3, 2, 3, 3), None, 1, "full"), RuntimeError, "full|padding"
    )


@samples("conv3d_padding")
def conv3d_padding(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(1, 2, 3, 3, 3), make(2, 2, 2, 3, 2), make(2), 1, "same")
    yield SampleInput(make(1, 2, 3, 3, 3), make(2, 2, 2, 2, 2), None, 2, "valid")


@samples("conv_transpose2d")
def conv_transpose2d(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(1, 2, 3, 3), make(2, 3, 2, 2), make(3))
    yield SampleInput(make(1, 2, 3, 3), make(2, 3, 3, 2), None, 2, 1, 1)
    yield SampleInput(make(1, 4, 3, 2), make(4, 1, 2, 2), make(2), (1, 2), (1, 0), 0, 2, 1)
    yield SampleInput(make(2, 3, 3), make(2, 1, 2, 2), None, 1, 0, 0, 1, 2)


@error_samples("conv_transpose2d")
def conv_transpose2d_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(1, 3, 3, 3), make(2, 3, 2, 2)), RuntimeError, "3.*2|2.*3|channels")
    yield ErrorInput(
        SampleInput(make(1, 2, 3, 3), make(2, 3, 2, 2), None, 1, 0, 2), RuntimeError, "output.padding"
    )


@samples("conv_transpose1d")
def conv_transpose1d(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 2, 4), make(2, 3, 3), make(3))
    yield SampleInput(make(1, 2, 4), make(2, 3, 3), None, 2, 1, 1)
    yield SampleInput(make(4, 3), make(4, 1, 2), make(2), 3, 0, (2,), 2, (2,))


@error_samples("conv_transpose1d")
def conv_transpose1d_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(1, 3, 3), make(2, 3, 2)), RuntimeError, "3.*2|2.*3|channels")
    yield ErrorInput(SampleInput(make(1, 2, 3), make(2, 3, 2), None, 1, 0, 2), RuntimeError, "output.padding")
    yield ErrorInput(SampleInput(make(1, 1, 2, 3), make(2, 3, 2)), RuntimeError, "2D|3D|dim")


@samples("conv_transpose3d")
def conv_transpose3d(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(1, 2, 2, 2, 2), make(2, 2, 2, 1, 2), make(2))
    yield SampleInput(make(1, 2, 2, 1, 2), make(2, 1, 2, 3, 1), None, (1, 2, 2), (0, 1, 0), (0, 1, 1), 2)
    yield SampleInput(make(2, 2, 2, 1), make(2, 1, 1, 2, 2), None, 1, 0, 0, 1, (1, 2, 1))
    if not make.requires_grad:
        yield SampleInput(make(2, 3, 3, 2, 4, layout="channels_last"), make(3, 2, 2, 2, 2), make(2), 2, 1)


@error_samples("conv_transpose3d")
def conv_transpose3d_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(
        SampleInput(make(1, 3, 2, 2, 2), make(2, 3, 2, 2, 2)), RuntimeError, "3.*2|2.*3|channels"
    )
    yield ErrorInput(SampleInput(make(3, 2, 2), make(3, 3, 2, 2, 2)), RuntimeError, "4D|5D|dim")


@samples("conv_tbc")
def conv_tbc(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(5, 2, 3), make(2, 3, 4), make(4))
    yield SampleInput(make(4, 1, 2), make(3, 2, 2), make(2), 1)


@error_samples("conv_tbc")
def conv_tbc_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(5, 2), make(2, 3, 4), make(4)), RuntimeError, "3 dims")
    yield ErrorInput(SampleInput(make(5, 2, 3), make(2, 4, 4), make(4)), RuntimeError, "channels")
    yield ErrorInput(SampleInput(make(5, 2, 3), make(2, 3, 4), make(3)), RuntimeError, "[bB]ias")
