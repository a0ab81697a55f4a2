"""Functions, products and norms of matrices."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.matrices import hermitian, plain, regular
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


@samples("matrix_exp")
def matrix_exp(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(plain(make, 3, 3))
    yield SampleInput(plain(make, 2, 2, 2, transposed=True))
    yield SampleInput(plain(make, 1, 1))
    yield SampleInput(make(0, 0))
    if not make.requires_grad:
        yield SampleInput(make.values([[1.0, 20.0], [0.0, -1.0]]))
        yield SampleInput(make(2, 0, 0))
        yield SampleInput(make.values([[[0.0, 0.0], [0.0, 0.0]], [[0.0, 9.0], [-9.0, 0.0]]]))


@error_samples("matrix_power")
def matrix_power_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3), 2), RuntimeError, "square")
    yield ErrorInput(SampleInput(make(3), 2), RuntimeError, "2 dimensions")


@error_samples("matrix_exp")
def matrix_exp_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3)), RuntimeError, "square")
    yield ErrorInput(SampleInput(make(3)), RuntimeError, "2 dimensions")


@samples("matrix_power")
def matrix_power(make: Make) -> Iterator[SampleInput]:
    for exponent in (1, 2, 3, 5) if make.requires_grad else (0, 1, 2, 3, 5):
        yield SampleInput(plain(make, 2, 2), exponent)
    yield SampleInput(plain(make, 2, 2, 2), 4)
    if make.is_inexact:
        yield SampleInput(regular(make, 2, 2), -1)
        yield SampleInput(regular(make, 2, 2), -3)
    yield SampleInput(make(0, 0), 2)


@samples("multi_dot")
def multi_dot(make: Make) -> Iterator[SampleInput]:
    yield SampleInput([plain(make, 2, 3), plain(make, 3, 2)])
    yield SampleInput([plain(make, 2, 3), plain(make, 3, 1), plain(make, 1, 2)])
    yield SampleInput([plain(make, 3), plain(make, 3, 2), plain(make, 2)])
    if not make.requires_grad:
        yield SampleInput([plain(make, 4, 6), plain(make, 6, 2), plain(make, 2, 7), plain(make, 7, 3)])
        yield SampleInput([plain(make, 2, 0), plain(make, 0, 3)])


@error_samples("multi_dot")
def multi_dot_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput([make(2, 2)]), RuntimeError, "at least 2 tensors")
    yield ErrorInput(SampleInput([make(2, 2), make(2, 2, 2), make(2, 2)]), RuntimeError, "must be 2D")
    yield ErrorInput(SampleInput([make(2, 3), make(2, 3)]), RuntimeError, "cannot be multiplied")


@samples("chain_matmul")
def chain_matmul(make: Make) -> Iterator[SampleInput]:
    yield SampleInput([plain(make, 2, 3), plain(make, 3, 2)])
    yield SampleInput([plain(make, 2, 3), plain(make, 3, 1), plain(make, 1, 2)])


@samples("kron")
def kron(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 3), make(3, 2))
    yield SampleInput(make(2), make(2, 3))
    yield SampleInput(make(), make(2, 2))
    yield SampleInput(make(2, 0), make(2, 2))


@samples("trace")
def trace(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(3, 3))
    yield SampleInput(make(2, 4, layout="transposed"))
    yield SampleInput(make(0, 3))


@error_samples("trace")
def trace_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3)), RuntimeError, "expected a matrix.*dim 1")


@samples("inner")
def inner(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(3), make(3))
    yield SampleInput(make(2, 3), make(3))
    yield SampleInput(make(2, 3), make(2, 2, 3))
    yield SampleInput(make(), make(2, 2))


@error_samples("inner")
def inner_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3), make(2, 2)), RuntimeError, "last dimension must match")


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


@samples("addr")
def addr(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 3), make(2), make(3))
    if not make.is_bool:
        yield SampleInput(make(3), make(2), make(3), beta=2, alpha=3)
    yield SampleInput(make(), make(2), make(2, layout="strided"), beta=0)
    yield SampleInput(make(0, 2), make(0), make(2))


@error_samples("addr")
def addr_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 2), make(2, 2), make(2)), RuntimeError, "1-D")
    yield ErrorInput(SampleInput(make(3, 3), make(2), make(2)), RuntimeError, "expand|size")


@samples("vdot")
def vdot(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(4), make(4))
    yield SampleInput(make(0), make(0))
    yield SampleInput(make(5, layout="strided"), make(5))


@error_samples("vdot")
def vdot_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3), make(4)), RuntimeError, "3|size")
    yield ErrorInput(SampleInput(make(2, 2), make(2)), RuntimeError, "1D")


@samples("bilinear")
def bilinear(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(plain(make, 2, 3), plain(make, 2, 2), plain(make, 2, 3, 2), plain(make, 2))
    yield SampleInput(plain(make, 2, 2, 1), plain(make, 2, 2, 2), plain(make, 3, 1, 2))
    yield SampleInput(plain(make, 2), plain(make, 2), plain(make, 1, 2, 2), plain(make, 1))
    yield SampleInput(make(0, 2), make(0, 2), plain(make, 3, 2, 2))


@error_samples("bilinear")
def bilinear_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3), make(2, 2), make(2, 2, 2)), RuntimeError, "got 3 but expected 2")
    yield ErrorInput(SampleInput(make(2, 3), make(3, 2), make(2, 3, 2)), RuntimeError, "batch")


@samples("linalg_cross")
def linalg_cross(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 3), make(2, 3))
    yield SampleInput(make(3, 2), make(3, 2), dim=0)
    yield SampleInput(make(1, 3), make(2, 3, layout="transposed"))
    yield SampleInput(make(0, 3), make(0, 3))


@error_samples("linalg_cross")
def linalg_cross_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3), make(3)), RuntimeError, "same number of dimensions")
    yield ErrorInput(SampleInput(make(3, 2), make(3, 2)), RuntimeError, "must have length 3. Got 2 and 2")


@samples("cross")
def cross(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 3), make(2, 3))
    yield SampleInput(make(3, 3), make(3, 3))
    yield SampleInput(make(3, 2), make(3, 2), 0)
    yield SampleInput(make(3), make(3), dim=-1)


@error_samples("cross")
def cross_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 2), make(2, 2)), RuntimeError, "no dimension of size 3")


@samples("vecdot")
def vecdot(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 3), make(2, 3))
    yield SampleInput(make(2, 3), make(3))
    yield SampleInput(make(2, 3), make(2, 1), dim=0)
    yield SampleInput(make(2, 0), make(2, 0))


@error_samples("vecdot")
def vecdot_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2), make(2, dtype="float64")), RuntimeError, "same dtype")
    yield ErrorInput(SampleInput(make(2), make(3)), RuntimeError, "2|3")


@samples("linalg_diagonal")
def linalg_diagonal(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 3))
    yield SampleInput(make(2, 3, 4), offset=1)
    yield SampleInput(make(2, 3, 2), offset=-1, dim1=0, dim2=1)


@samples("linalg_vander")
def linalg_vander(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(3, low=0.5, high=2.0))
    yield SampleInput(make(2, 2, low=0.5, high=2.0), N=4)
    yield SampleInput(make(3, low=0.5, high=2.0), N=2)


@error_samples("linalg_vander")
def linalg_vander_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3), N=1), RuntimeError, "greater than 1")


# Norms


@samples("vector_norm")
def vector_norm(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 3, away_from=(0.0,)))
    yield SampleInput(make(2, 3, away_from=(0.0,)), 1, 0)
    yield SampleInput(make(2, 3, away_from=(0.0,)), 3.5, dim=-1, keepdim=True)
    yield SampleInput(make(2, 3, 2, away_from=(0.0,)), ord=2, dim=(0, 2))
    yield SampleInput(plain(make, 2, 3), float("inf"), dim=1)
    yield SampleInput(plain(make, 2, 3), -float("inf"), dim=1)
    yield SampleInput(make(2, 3, away_from=(0.0,)), -2)
    yield SampleInput(make(away_from=(0.0,)))
    yield SampleInput(make(0))
    if not make.requires_grad:
        yield SampleInput(make(2, 3), 0)
        yield SampleInput(make(2, 0), dim=1)
        if make.is_floating:
            yield SampleInput(make(2, 3), dtype=make.torch.float64)


@error_samples("vector_norm")
def vector_norm_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(0), float("inf")), RuntimeError, "identity")
    yield ErrorInput(SampleInput(make(0, 2), float("inf"), dim=0), RuntimeError, "dimension 0")
    yield ErrorInput(SampleInput(make(2, dtype="int64")), RuntimeError, "floating point or complex.*Long")
    yield ErrorInput(SampleInput(make(2), dtype=make.torch.complex64), RuntimeError, "real for real")
    yield ErrorInput(
        SampleInput(make(2, dtype="float64"), dtype=make.torch.float32), RuntimeError, "narrowing"
    )


@samples("powsum")
def powsum(make: Make) -> Iterator[SampleInput]:
    if not make.is_inexact:
        return
    yield SampleInput(make(2, 3, away_from=(0.0,)))
    yield SampleInput(make(2, 3, away_from=(0.0,)), 1)
    yield SampleInput(make(2, 3, 2, away_from=(0.0,)), 3, dim=(0, 2))
    yield SampleInput(make(2, 3, away_from=(0.0,)), 2.5, dim=-1, keepdim=True)
    yield SampleInput(make(away_from=(0.0,)), 2)
    if not make.requires_grad:
        yield SampleInput(make(2, 3), 0)
        yield SampleInput(make(0))
        if make.is_floating:
            yield SampleInput(make(2, 3), 3, dtype=make.torch.float64)


@error_samples("powsum")
def powsum_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2), dtype=make.torch.complex64), RuntimeError, "real for real")


@samples("matrix_norm")
def matrix_norm(make: Make) -> Iterator[SampleInput]:
    for order in (1, -1, float("inf"), -float("inf")) if make.is_inexact else ():
        yield SampleInput(make.values([[1.0, -2.1, 3.3], [0.5, 1.2, -4.0]]), order)
    if make.is_inexact and make.dtype_name not in ("float16", "bfloat16"):
        yield SampleInput(regular(make, 2, 3), 2)
        yield SampleInput(regular(make, 2, 2, 2), -2, keepdim=True)
        yield SampleInput(regular(make, 2, 3), "nuc")
        yield SampleInput(regular(make, 2, 3, 2), "nuc", dim=(0, 1))
    yield SampleInput(make(2, 3, away_from=(0.0,)), "fro")
    yield SampleInput(make(2, 3, 2, away_from=(0.0,)), dim=(0, 2))
    yield SampleInput(make(2, 3, 2, away_from=(0.0,)), 1, dim=(2, 0), keepdim=True)
    if not make.requires_grad:
        yield SampleInput(make(0, 3), 1)
        yield SampleInput(make(3, 0), 1)


@error_samples("matrix_norm")
def matrix_norm_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2), 1), RuntimeError, "2 dimensions")
    yield ErrorInput(SampleInput(make(2, 2), 3), RuntimeError, "Order 3 not supported")
    yield ErrorInput(SampleInput(make(2, 2), "max"), RuntimeError, "Order max not supported")
    yield ErrorInput(SampleInput(make(2, 2), 1, dim=(0, 0)), RuntimeError, "must be different")
    yield ErrorInput(SampleInput(make(2, 2), 1, dim=(0,)), RuntimeError, "2-tuple")
    yield ErrorInput(SampleInput(make(2, 2, dtype="int64"), 1), RuntimeError, "floating point")


@samples("linalg_norm")
def linalg_norm(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 3, 2, away_from=(0.0,)))
    yield SampleInput(make(3, away_from=(0.0,)), 3)
    yield SampleInput(make(2, 3, away_from=(0.0,)), 1)
    yield SampleInput(make(2, 3, 2, away_from=(0.0,)), 3, dim=1)
    yield SampleInput(make(2, 3, 2, away_from=(0.0,)), 1, dim=(0, 2), keepdim=True)
    yield SampleInput(make(2, 3, away_from=(0.0,)), "fro")
    yield SampleInput(make(2, 3, 2, away_from=(0.0,)), dim=(0, 1))


@error_samples("linalg_norm")
def linalg_norm_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 2, 2), 2), RuntimeError, "1D or 2D. Got 3D")
    yield ErrorInput(SampleInput(make(2, 2, 2), 2, dim=(0, 1, 2)), RuntimeError, "length 1 or 2")
    yield ErrorInput(SampleInput(make(2, 2), "x"), RuntimeError, "Order x not supported")


@samples("nuclear_norm")
def nuclear_norm(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(regular(make, 2, 3))
    yield SampleInput(regular(make, 3, 2), keepdim=True)
    yield SampleInput(regular(make, 2, 3, 2), (0, 1))
    yield SampleInput(regular(make, 2, 2, 3), (1, 2), keepdim=True)


@samples("frobenius_norm")
def frobenius_norm(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 3, away_from=(0.0,)), 1)
    yield SampleInput(make(2, 3, 2, away_from=(0.0,)), (0, 2), keepdim=True)


@samples("norm_except_dim")
def norm_except_dim(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 3, away_from=(0.0,)))
    yield SampleInput(make(2, 3, 2, away_from=(0.0,)), 2, 2)
    yield SampleInput(make(2, 3, away_from=(0.0,)), 3, -1)
    yield SampleInput(make(3, away_from=(0.0,)), pow=1)


@samples("linalg_cond")
def linalg_cond(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(regular(make, 3, 3))
    yield SampleInput(regular(make, 3, 2), -2)
    yield SampleInput(regular(make, 2, 2, 2), 1)
    yield SampleInput(regular(make, 2, 2), float("inf"))
    yield SampleInput(regular(make, 2, 2), "fro")
    yield SampleInput(regular(make, 2, 2), "nuc")
    if not make.requires_grad:
        yield SampleInput(make.values([[0.0, 0.0], [0.0, 0.0]]), 1)
        if make.is_inexact and make.dtype_name not in ("float16", "bfloat16"):
            yield SampleInput(make(0, 0))


@error_samples("linalg_cond")
def linalg_cond_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 2), 3), RuntimeError, "invalid norm type: 3")
    yield ErrorInput(SampleInput(make(2, 2), "x"), RuntimeError, "invalid norm type: x")
    yield ErrorInput(SampleInput(make(2, 3), 1), RuntimeError, "square")


@samples("matrix_rank")
def matrix_rank(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(regular(make, 3, 3))
    yield SampleInput(make.values([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]]))
    yield SampleInput(hermitian(make, 2, 2, 2), hermitian=True)
    yield SampleInput(regular(make, 2, 3), atol=3.0)
    yield SampleInput(regular(make, 2, 3), rtol=0.9)
    yield SampleInput(regular(make, 2, 3), 3.0)
    yield SampleInput(regular(make, 2, 3), make.tensor(3.0, "float32"))
    yield SampleInput(regular(make, 2, 2, 3), atol=make.tensor([0.1, 3.0], "float32"))
    yield SampleInput(make(0, 3))


@error_samples("matrix_rank")
def matrix_rank_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3)), RuntimeError, "2 dimensions")
