"""Samples of factorizations of matrices: Cholesky, LU, QR, singular and eigenvalues."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.matrices import hermitian, pivots, plain, regular
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


@samples("cholesky")
def cholesky(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(hermitian(make, 3, 3))
    yield SampleInput(hermitian(make, 2, 2, 2), upper=True)
    yield SampleInput(hermitian(make, 1, 1))
    yield SampleInput(hermitian(make, 2, 2, transposed=True))
    yield SampleInput(make(0, 0))
    if not make.requires_grad:
        yield SampleInput(make(2, 0, 0))
        yield SampleInput(hermitian(make, 2, 1, 5, 5))


@error_samples("cholesky")
def cholesky_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3)), RuntimeError, "square matrices, but they are 2 by 3")
    yield ErrorInput(SampleInput(make(3)), RuntimeError, "at least 2 dimensions")
    yield ErrorInput(
        SampleInput(-hermitian(make, 2, 2)),
        make.torch.linalg.LinAlgError,
        "leading minor of order 1 is not positive",
    )
    batch = make.torch.stack([hermitian(make, 2, 2), -hermitian(make, 2, 2)])
    yield ErrorInput(SampleInput(batch), make.torch.linalg.LinAlgError, r"\(Batch element 1\)")


@samples("cholesky_ex")
def cholesky_ex(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(hermitian(make, 3, 3))
    yield SampleInput(hermitian(make, 2, 2, 2), upper=True, check_errors=True)
    yield SampleInput(make(0, 0))


@error_samples("cholesky_ex")
def cholesky_ex_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3)), RuntimeError, "square")
    yield ErrorInput(
        SampleInput(-hermitian(make, 2, 2), check_errors=True),
        make.torch.linalg.LinAlgError,
        "cholesky_ex.*not positive",
    )


@samples("cholesky_solve")
def cholesky_solve(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(plain(make, 3, 2), regular(make, 3, 3))
    yield SampleInput(plain(make, 2, 1), regular(make, 2, 2), upper=True)
    yield SampleInput(plain(make, 2, 2, 1), regular(make, 2, 2))
    yield SampleInput(plain(make, 2, 2), regular(make, 2, 2, 2, transposed=True), True)
    yield SampleInput(make(0, 2), make(0, 0))
    yield SampleInput(make(2, 0), regular(make, 2, 2))


@error_samples("cholesky_solve")
def cholesky_solve_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(4, 2), make(3, 3)), RuntimeError, "3 by 3.*4 by 2")
    yield ErrorInput(SampleInput(make(3, 2), make(3, 2)), RuntimeError, "square")
    yield ErrorInput(SampleInput(make(3), make(3, 3)), RuntimeError, "2 dimensions")


@samples("cholesky_inverse")
def cholesky_inverse(make: Make) -> Iterator[SampleInput]:
    if make.is_complex and make.requires_grad:
        return  # a factor has a real diagonal; tests/torch_py/test_linalg.py has such factors
    yield SampleInput(hermitian(make, 3, 3))
    yield SampleInput(hermitian(make, 2, 2, 2), upper=True)
    yield SampleInput(make(0, 0))


@error_samples("cholesky_inverse")
def cholesky_inverse_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3)), RuntimeError, "square")


@samples("lu_factor")
def lu_factor(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(regular(make, 3, 3))
    yield SampleInput(regular(make, 4, 2))
    yield SampleInput(regular(make, 2, 3))
    yield SampleInput(regular(make, 2, 2, 2), pivot=True)
    yield SampleInput(make(0, 2))
    if not make.requires_grad:
        yield SampleInput(plain(make, 5, 5))
        yield SampleInput(plain(make, 2, 5, 3, transposed=True))


@error_samples("lu_factor")
def lu_factor_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3)), RuntimeError, "2 dimensions")
    yield ErrorInput(SampleInput(make(2, 2), pivot=False), RuntimeError, "without pivoting")
    yield ErrorInput(SampleInput(make.values([[0.0, 0.0], [0.0, 0.0]])), RuntimeError, r"U\[1,1\] is zero")


@samples("lu_factor_ex")
def lu_factor_ex(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(regular(make, 3, 3))
    yield SampleInput(regular(make, 4, 2), check_errors=True)
    yield SampleInput(regular(make, 2, 3))
    yield SampleInput(regular(make, 2, 2, 2))
    if not make.requires_grad:
        yield SampleInput(make.values([[0.0, 0.0], [0.0, 1.0]]))


@error_samples("lu_factor_ex")
def lu_factor_ex_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3)), RuntimeError, "2 dimensions")


@samples("linalg_lu")
def linalg_lu(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(regular(make, 3, 3))
    yield SampleInput(regular(make, 4, 2))
    yield SampleInput(regular(make, 2, 3))
    yield SampleInput(regular(make, 2, 2, 2))
    if not make.requires_grad:
        yield SampleInput(plain(make, 4, 4))
        yield SampleInput(make.values([[0.0, 0.0], [0.0, 0.0]]))


@samples("lu_unpack")
def lu_unpack(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(regular(make, 3, 3), pivots(make, [2, 3, 3]))
    yield SampleInput(regular(make, 4, 2), pivots(make, [3, 2]))
    yield SampleInput(regular(make, 2, 3), pivots(make, [2, 2]))
    yield SampleInput(regular(make, 2, 2, 2), pivots(make, [1, 2], [2, 2]))
    yield SampleInput(regular(make, 2, 2), pivots(make, [1, 2]), unpack_pivots=False)
    if not make.requires_grad:
        yield SampleInput(regular(make, 2, 2), pivots(make, [2, 2]), unpack_data=False)


@error_samples("lu_unpack")
def lu_unpack_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 2), make.integers(2, high=2)), RuntimeError, "int32")
    yield ErrorInput(SampleInput(make(2, 2), pivots(make, [1, 7])), RuntimeError, "between 1 and")


@samples("linalg_lu_solve")
def linalg_lu_solve(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(regular(make, 3, 3), pivots(make, [2, 3, 3]), plain(make, 3, 2))
    yield SampleInput(regular(make, 2, 2), pivots(make, [2, 2]), plain(make, 3, 2), left=False)
    yield SampleInput(regular(make, 2, 2), pivots(make, [2, 2]), plain(make, 2, 1), adjoint=True)
    yield SampleInput(regular(make, 2, 2), pivots(make, [2, 2]), plain(make, 1, 2), left=False, adjoint=True)
    yield SampleInput(
        regular(make, 2, 2, 2, transposed=True), pivots(make, [1, 2], [2, 2]), plain(make, 2, 1)
    )
    yield SampleInput(make(0, 0), pivots(make, []), make(0, 2))


@error_samples("linalg_lu_solve")
def linalg_lu_solve_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(
        SampleInput(make(3, 3), pivots(make, [1, 2, 3]), make(2, 2)), RuntimeError, "3x3 and 2x2"
    )
    yield ErrorInput(SampleInput(make(3, 2), pivots(make, [1, 2]), make(3, 2)), RuntimeError, "square")
    yield ErrorInput(SampleInput(make(2, 2), make.integers(2, high=2), make(2, 2)), RuntimeError, "int32")


@samples("lu_solve")
def lu_solve(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(plain(make, 3, 2), regular(make, 3, 3), pivots(make, [2, 3, 3]))
    yield SampleInput(plain(make, 2, 2, 1), regular(make, 2, 2), pivots(make, [2, 2]))


@samples("linalg_qr")
def linalg_qr(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(regular(make, 3, 3))
    yield SampleInput(regular(make, 4, 2))
    yield SampleInput(regular(make, 2, 3), "reduced")
    yield SampleInput(regular(make, 2, 3), "complete")
    yield SampleInput(regular(make, 2, 2, 2, transposed=True))
    if not make.requires_grad:
        yield SampleInput(regular(make, 4, 2), mode="complete")
        yield SampleInput(regular(make, 4, 2), mode="r")
        yield SampleInput(make(3, 0), mode="complete")
        yield SampleInput(make(0, 3))
        yield SampleInput(make(2, 3, 0))


@error_samples("linalg_qr")
def linalg_qr_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 2), "full"), RuntimeError, "unrecognized mode 'full'")
    yield ErrorInput(SampleInput(make(2)), RuntimeError, "2 dimensions")


@samples("qr")
def qr(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(regular(make, 3, 2))
    yield SampleInput(regular(make, 2, 3), some=False)


@samples("geqrf")
def geqrf(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(regular(make, 3, 3))
    yield SampleInput(regular(make, 2, 4, 2))
    yield SampleInput(regular(make, 2, 3))
    yield SampleInput(make(0, 2))


@error_samples("geqrf")
def geqrf_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2)), RuntimeError, "2 dimensions")


@samples("householder_product")
def householder_product(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(plain(make, 3, 3), plain(make, 3))
    yield SampleInput(plain(make, 4, 2), plain(make, 2))
    yield SampleInput(plain(make, 3, 2), plain(make, 1))
    yield SampleInput(plain(make, 2, 3, 2, transposed=True), plain(make, 2, 2))
    yield SampleInput(make(3, 2), make(0))
    yield SampleInput(make(0, 0), make(0))


@error_samples("householder_product")
def householder_product_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(4, 2), make(3)), RuntimeError, "tau.shape")
    yield ErrorInput(SampleInput(make(2, 4), make(2)), RuntimeError, r"shape\[-2\]")
    yield ErrorInput(SampleInput(make(4), make(2)), RuntimeError, "2 dimensions")


@samples("ormqr")
def ormqr(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(regular(make, 3, 3), plain(make, 3), plain(make, 3, 2))
    yield SampleInput(regular(make, 3, 2), plain(make, 2), plain(make, 3, 4), True, True)
    yield SampleInput(regular(make, 3, 2), plain(make, 2), plain(make, 2, 3), left=False)
    yield SampleInput(regular(make, 2, 3, 2), plain(make, 2, 2), plain(make, 2, 3, 1))


@error_samples("ormqr")
def ormqr_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3, 2), make(2), make(2, 2)), RuntimeError, "shape")


@samples("linalg_svd")
def linalg_svd(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(regular(make, 3, 3))
    yield SampleInput(regular(make, 4, 2), full_matrices=False)
    yield SampleInput(regular(make, 2, 3), False)
    yield SampleInput(regular(make, 2, 2, 2, transposed=True), full_matrices=False)
    if not make.requires_grad:
        yield SampleInput(make(0, 3))
        yield SampleInput(make(2, 0, 3), full_matrices=False)


@error_samples("linalg_svd")
def linalg_svd_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3)), RuntimeError, "2 dimensions")
    yield ErrorInput(SampleInput(make(3, 3), driver="gesvd"), RuntimeError, "driver")
    yield ErrorInput(SampleInput(make.values([[float("nan")]])), make.torch.linalg.LinAlgError, "non-finite")


@samples("linalg_svdvals")
def linalg_svdvals(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(regular(make, 3, 3))
    yield SampleInput(regular(make, 4, 2))
    yield SampleInput(regular(make, 2, 2, 3))
    yield SampleInput(make(0, 3))


@samples("svd")
def svd(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(regular(make, 3, 2))
    yield SampleInput(regular(make, 2, 2), some=False)
    if not make.requires_grad:
        yield SampleInput(regular(make, 3, 2), compute_uv=False)


@samples("linalg_eigh")
def linalg_eigh(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(hermitian(make, 3, 3))
    yield SampleInput(hermitian(make, 2, 2, 2), UPLO="U")
    yield SampleInput(hermitian(make, 3, 3, transposed=True), "L")
    yield SampleInput(hermitian(make, 1, 1))
    yield SampleInput(make(0, 0))


@error_samples("linalg_eigh")
def linalg_eigh_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3)), RuntimeError, "square")
    yield ErrorInput(SampleInput(make(2, 2), UPLO="X"), RuntimeError, "UPLO.*X")


@samples("linalg_eig")
def linalg_eig(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(regular(make, 3, 3))
    yield SampleInput(regular(make, 2, 2, 2, transposed=True))
    yield SampleInput(regular(make, 1, 1))
    yield SampleInput(make(0, 0))
    if not make.requires_grad:
        yield SampleInput(make.values([[1.0, -2.0, 0.0], [3.0, 1.5, 0.5], [0.0, 0.25, 4.0]]))


@error_samples("linalg_eig")
def linalg_eig_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3)), RuntimeError, "square")
    yield ErrorInput(SampleInput(make.values([[float("inf")]])), RuntimeError, "infs or NaNs")
