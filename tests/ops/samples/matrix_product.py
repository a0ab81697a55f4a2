"""Samples of products of matrices."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


@samples("mm")
def mm(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 3), make(3, 4))
    yield SampleInput(make(2, 3, layout="transposed"), make(3, 4))
    yield SampleInput(make(2, 3), make(3, 4, layout="transposed"))
    yield SampleInput(make(2, 3, layout="transposed"), make(3, 4, layout="transposed"))
    yield SampleInput(make(2, 3, layout="strided"), make(3, 2, layout="strided"))
    yield SampleInput(make(2, 0), make(0, 3))
    yield SampleInput(make(0, 2), make(2, 3))
    yield SampleInput(make(1, 1), make(1, 1))
    if not make.requires_grad:
        yield SampleInput(make(3, 4, layout="expanded"), make(4, 2, layout="expanded"))
        yield SampleInput(make(33, 17), make(17, 21))


@error_samples("mm")
def mm_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3), make(4, 2)), RuntimeError, "2x3.*4x2|3.*4")
    yield ErrorInput(SampleInput(make(3), make(3, 2)), RuntimeError, "matri|2")
    yield ErrorInput(SampleInput(make(2, 3), make(3)), RuntimeError, "matri|2")
    yield ErrorInput(SampleInput(make(2, 3), make(3, 2, dtype="float64")), RuntimeError, "dtype|float")


@samples("bmm")
def bmm(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 2, 3), make(2, 3, 2))
    yield SampleInput(make(2, 2, 3, layout="transposed"), make(2, 3, 2))
    yield SampleInput(make(2, 2, 3), make(2, 3, 2, layout="transposed"))
    yield SampleInput(make(0, 2, 3), make(0, 3, 2))
    yield SampleInput(make(2, 2, 0), make(2, 0, 3))
    if not make.requires_grad:
        yield SampleInput(make(3, 2, 4, layout="expanded"), make(3, 4, 2))
        yield SampleInput(make(3, 2, 4, layout="strided"), make(3, 4, 2, layout="strided"))


@error_samples("bmm")
def bmm_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 2, 3), make(3, 3, 2)), RuntimeError, "batch|2")
    yield ErrorInput(SampleInput(make(2, 2, 3), make(2, 4, 2)), RuntimeError, "4|3")
    yield ErrorInput(SampleInput(make(2, 3), make(2, 3, 2)), RuntimeError, "3")


@samples("addmm")
def addmm(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 4), make(2, 3), make(3, 4))
    yield SampleInput(make(4), make(2, 3), make(3, 4))
    yield SampleInput(make(), make(2, 3), make(3, 4))
    yield SampleInput(
        make(2, 1), make(2, 3, layout="transposed"), make(3, 4, layout="transposed"), beta=2, alpha=3
    )
    yield SampleInput(make(2, 4), make(2, 3), make(3, 4), beta=0)
    yield SampleInput(make(2, 4, layout="transposed"), make(2, 0), make(0, 4), beta=2)
    if make.is_inexact:
        yield SampleInput(make(2, 4), make(2, 3), make(3, 4), beta=0.5, alpha=-1.5)


@error_samples("addmm")
def addmm_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 4), make(2, 3), make(4, 4)), RuntimeError, "2x3.*4x4|3.*4")
    yield ErrorInput(SampleInput(make(3, 4), make(2, 3), make(3, 4)), RuntimeError, "3.*2|2.*3|expand")


@samples("baddbmm")
def baddbmm(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 2, 2), make(2, 2, 3), make(2, 3, 2))
    yield SampleInput(make(2), make(2, 2, 3), make(2, 3, 2), beta=2, alpha=3)
    yield SampleInput(make(2, 1, 2), make(2, 2, 3, layout="transposed"), make(2, 3, 2), beta=0)
    yield SampleInput(make(1), make(0, 2, 3), make(0, 3, 2))


@error_samples("baddbmm")
def baddbmm_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2), make(2, 2, 3), make(2, 4, 2)), RuntimeError, "4|3")
    yield ErrorInput(SampleInput(make(3), make(2, 2, 3), make(2, 3, 2)), RuntimeError, "3.*2|2.*3|expand")


@samples("mv")
def mv(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 3), make(3))
    yield SampleInput(make(2, 3, layout="transposed"), make(3, layout="strided"))
    yield SampleInput(make(0, 3), make(3))
    yield SampleInput(make(2, 0), make(0))
    if not make.requires_grad:
        yield SampleInput(make(19, 35), make(35))


@error_samples("mv")
def mv_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3), make(2)), RuntimeError, "3.*2|2.*3")
    yield ErrorInput(SampleInput(make(2, 3), make(3, 1)), RuntimeError, "vector|1")


@samples("addmv")
def addmv(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2), make(2, 3), make(3))
    yield SampleInput(make(), make(2, 3), make(3), beta=2, alpha=3)
    yield SampleInput(make(2), make(2, 3, layout="transposed"), make(3), beta=0)


@error_samples("addmv")
def addmv_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2), make(2, 3), make(2)), RuntimeError, "3|2")
    yield ErrorInput(SampleInput(make(3), make(2, 3), make(3)), RuntimeError, "3|2")


@samples("matmul")
def matmul(make: Make) -> Iterator[SampleInput]:
    shapes = [
        ((3,), (3,)),
        ((2, 3), (3,)),
        ((3,), (3, 2)),
        ((2, 3), (3, 2)),
        ((2, 2, 3), (3,)),
        ((2, 2, 3), (3, 2)),
        ((3,), (2, 3, 2)),
        ((2, 2, 3), (2, 3, 2)),
        ((2, 1, 2, 3), (2, 3, 2)),
        ((0, 3), (3, 2)),
    ]

    for first, second in shapes:
        yield SampleInput(make(*first), make(*second))
    yield SampleInput(make(2, 2, 3, layout="transposed"), make(3, 2, layout="transposed"))

    if not make.requires_grad:
        yield SampleInput(make(2, 0, 3), make(3, 2))
        yield SampleInput(make(2, 2, 0), make(0, 2))
        yield SampleInput(make(4, 5, 6), make(6, 7))


@error_samples("matmul")
def matmul_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(), make(3)), RuntimeError, "1")
    yield ErrorInput(SampleInput(make(2, 3), make(2, 3)), RuntimeError, "2x3|3.*2")
    yield ErrorInput(SampleInput(make(2, 2, 3), make(3, 3, 2)), RuntimeError, "2.*3|batch")
    yield ErrorInput(SampleInput(make(3), make(2)), RuntimeError, "3.*2|size")


@samples("tensordot")
def tensordot(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 3), make(3, 2), [1], [0])
    yield SampleInput(make(2, 3, 2), make(3, 2, 2), [1, 0], [0, 2])
    yield SampleInput(make(2, 3), make(2), [], [])
    yield SampleInput(make(2, 3), make(1, 4), [1], [0])  # a dimension of size 1 broadcasts
    yield SampleInput(make(2, 1), make(3, 2), [1], [0])


@error_samples("tensordot")
def tensordot_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3), make(2, 3), [1], [0]), RuntimeError, "3.*2|size|dimension")
    yield ErrorInput(SampleInput(make(2, 3), make(2, 3), [1], [0, 1]), RuntimeError, "dim")


@samples("kron")
def kron(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 3), make(3, 2))
    yield SampleInput(make(2), make(2, 3))
    yield SampleInput(make(), make(2, 2))
    yield SampleInput(make(2, 0), make(2, 2))


@samples("addbmm")
def addbmm(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 2), make(3, 2, 2), make(3, 2, 2))
    yield SampleInput(make(2, 3), make(2, 2, 1, layout="transposed"), make(2, 1, 3), beta=2, alpha=3)
    yield SampleInput(make(3), make(2, 2, 1), make(2, 1, 3), beta=0)
    if not make.is_bool:
        yield SampleInput(make(2, 3), make(0, 2, 1), make(0, 1, 3))


@error_samples("addbmm")
def addbmm_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 2), make(3, 2, 2), make(2, 2, 2)), RuntimeError, "batches")
    yield ErrorInput(SampleInput(make(2, 2), make(3, 2, 2), make(3, 3, 2)), RuntimeError, "2x2|2.*3")
    yield ErrorInput(SampleInput(make(2, 2), make(2, 2), make(3, 2, 2)), RuntimeError, "3D")


@samples("_scaled_mm")
def _scaled_mm(make: Make) -> Iterator[SampleInput]:
    if make.dtype_name != "float32" or make.requires_grad:
        return
    for low, high in (("float8_e4m3fn", "float8_e4m3fn"), ("float8_e5m2", "float8_e4m3fn")):
        left = make(16, 32).to(getattr(make.torch, low))
        right = make(16, 32).to(getattr(make.torch, high)).t()
        single = make.values(2.0), make.values(0.5)
        yield SampleInput(left, right, *single, out_dtype=make.torch.float32)
        yield SampleInput(left, right, *single, make(16), out_dtype=make.torch.bfloat16)
        yield SampleInput(left, right, make(16, 1), make(1, 16), out_dtype=make.torch.float32)


@error_samples("_scaled_mm")
def _scaled_mm_errors(make: Make) -> Iterator[ErrorInput]:
    left = make(4, 8, dtype="float32").to(make.torch.float8_e4m3fn)
    one = make.tensor(1.0, "float32")
    yield ErrorInput(SampleInput(make(4, 8), make(8, 4), one, one), ValueError, "scaling configuration")
    yield ErrorInput(SampleInput(left, left.t(), one, one.double()), ValueError, "scaling configuration")
    yield ErrorInput(SampleInput(left, left, one, one), RuntimeError, "cannot be multiplied")
    yield ErrorInput(
        SampleInput(left, left.t(), one, one, make(3, dtype="float32")), RuntimeError, "size 4.*3"
    )


@samples("_addmm_activation")
def _addmm_activation(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(4), make(2, 3), make(3, 4))
    yield SampleInput(make(2, 1), make(2, 3, layout="transposed"), make(3, 4), beta=2, alpha=3)
    yield SampleInput(make(2, 4), make(2, 0), make(0, 4))
    yield SampleInput(make(45), make(17, 40), make(40, 45))
    if make.is_inexact:
        yield SampleInput(make(4), make(2, 3), make(3, 4), use_gelu=True)
        yield SampleInput(make(17, 45), make(17, 300), make(300, 45), beta=0.5, use_gelu=True)
        yield SampleInput(make(4), make(2, 3), make(3, 4), beta=0, use_gelu=True)


@error_samples("_addmm_activation")
def _addmm_activation_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(4), make(2, 3), make(4, 4)), RuntimeError, "2x3.*4x4|3.*4")
    yield ErrorInput(SampleInput(make(3, 4), make(2, 3), make(3, 4)), RuntimeError, "3.*2|2.*3|expand")
    yield ErrorInput(SampleInput(make(4), make(3), make(3, 4)), RuntimeError, "matri")
