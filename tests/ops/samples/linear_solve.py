"""Samples of linear systems, inverses and least squares."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.matrices import hermitian, plain, regular, singular
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


@samples("inverse")
def inverse(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(regular(make, 3, 3))
    yield SampleInput(regular(make, 2, 2, 2, transposed=True))
    yield SampleInput(regular(make, 1, 1))
    yield SampleInput(make(0, 0))
    if not make.requires_grad:
        yield SampleInput(regular(make, 2, 1, 5, 5))
        yield SampleInput(make(2, 0, 0))


@error_samples("inverse")
def inverse_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3)), RuntimeError, "square matrices, but they are 2 by 3")
    yield ErrorInput(SampleInput(make(3)), RuntimeError, "at least 2 dimensions")
    yield ErrorInput(SampleInput(singular(make)), make.torch.linalg.LinAlgError, "singular")


@samples("linalg_inv_ex")
def linalg_inv_ex(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(regular(make, 3, 3))
    yield SampleInput(regular(make, 2, 2, 2), check_errors=True)
    yield SampleInput(make(0, 0))


@error_samples("linalg_inv_ex")
def linalg_inv_ex_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3)), RuntimeError, "square")
    yield ErrorInput(
        SampleInput(singular(make), check_errors=True), make.torch.linalg.LinAlgError, "inv_ex.*singular"
    )


def solve_pairs(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(regular(make, 3, 3), plain(make, 3, 2))
    yield SampleInput(regular(make, 3, 3), plain(make, 3))
    yield SampleInput(regular(make, 2, 2, 2), plain(make, 2, 1))
    yield SampleInput(regular(make, 2, 3, 3, transposed=True), plain(make, 2, 3))
    yield SampleInput(regular(make, 2, 2), plain(make, 3, 2), left=False)
    yield SampleInput(regular(make, 2, 2), plain(make, 2, 2, 2, transposed=True))
    yield SampleInput(make(0, 0), make(0, 3))
    yield SampleInput(regular(make, 2, 2), make(2, 0))


@samples("linalg_solve")
def linalg_solve(make: Make) -> Iterator[SampleInput]:
    yield from solve_pairs(make)
    if not make.requires_grad:
        yield SampleInput(regular(make, 3, 1, 5, 5), plain(make, 2, 5, 3))


@error_samples("linalg_solve", "linalg_solve_ex")
def linalg_solve_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3, 3), make(4, 2)), RuntimeError, "3x3 and 4x2")
    yield ErrorInput(SampleInput(make(2, 3), make(2, 2)), RuntimeError, "square")
    yield ErrorInput(SampleInput(make(2, 2), make(2, 2, dtype="float64")), RuntimeError, "same dtype")
    yield ErrorInput(SampleInput(make(2, 2), make(2), left=False), RuntimeError, "left=False")


@samples("linalg_solve_ex")
def linalg_solve_ex(make: Make) -> Iterator[SampleInput]:
    yield from solve_pairs(make)
    yield SampleInput(regular(make, 2, 2), plain(make, 2, 2), check_errors=True)


@samples("solve_triangular")
def solve_triangular(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(regular(make, 3, 3), plain(make, 3, 2), upper=True)
    yield SampleInput(regular(make, 3, 3, transposed=True), plain(make, 3, 2), upper=False)
    yield SampleInput(regular(make, 2, 2), plain(make, 3, 2), upper=True, left=False)
    yield SampleInput(
        regular(make, 2, 2, 2), plain(make, 2, 1, transposed=True), upper=False, unitriangular=True
    )
    yield SampleInput(regular(make, 2, 2), plain(make, 2, 2, 2), upper=False, left=False)
    yield SampleInput(make(0, 0), make(0, 2), upper=True)


@error_samples("solve_triangular")
def solve_triangular_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3, 3), make(2, 2), upper=True), RuntimeError, "3x3 and 2x2")
    yield ErrorInput(SampleInput(make(2, 3), make(2, 2), upper=True), RuntimeError, "square")
    yield ErrorInput(SampleInput(make(2, 2), make(2), upper=True), RuntimeError, "2 dimensions")


@samples("triangular_solve")
def triangular_solve(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(plain(make, 3, 2), regular(make, 3, 3))
    yield SampleInput(plain(make, 2, 2), regular(make, 2, 2), upper=False, transpose=True)
    yield SampleInput(plain(make, 2, 1), regular(make, 2, 2, 2), unitriangular=True)


@samples("linalg_lstsq")
def linalg_lstsq(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(regular(make, 4, 2), plain(make, 4, 3))
    yield SampleInput(regular(make, 4, 2), plain(make, 4))
    yield SampleInput(regular(make, 2, 4), plain(make, 2, 1), driver="gels")
    yield SampleInput(regular(make, 4, 2), plain(make, 4, 1), driver="gels")
    yield SampleInput(regular(make, 2, 3, 2), plain(make, 2, 3, 2), driver="gelsd")
    yield SampleInput(regular(make, 3, 2), plain(make, 3, 1), rcond=1e-4, driver="gelss")

    if not make.requires_grad:
        yield SampleInput(regular(make, 2, 4, 2), plain(make, 2, 4))
        yield SampleInput(
            make.values([[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]), plain(make, 3, 1), driver="gelsd"
        )
        yield SampleInput(make(0, 2), make(0, 3))


@error_samples("linalg_lstsq")
def linalg_lstsq_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(4, 2), make(3, 2)), RuntimeError, r"size\(-2\)")
    yield ErrorInput(SampleInput(make(4, 2), make(4, 2), driver="gelsx"), RuntimeError, "gelsy")
    yield ErrorInput(SampleInput(make(4), make(4)), RuntimeError, "2 dimensions")
    yield ErrorInput(SampleInput(make(4, 2), make(4, 2, dtype="float64")), RuntimeError, "dtype")


@samples("linalg_pinv")
def linalg_pinv(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(regular(make, 3, 3))
    yield SampleInput(regular(make, 4, 2))
    yield SampleInput(regular(make, 2, 3), atol=0.1, rtol=0.01)
    yield SampleInput(regular(make, 2, 2, 2), rcond=1e-3)
    yield SampleInput(regular(make, 2, 2), 1e-3)
    if not make.requires_grad:
        yield SampleInput(hermitian(make, 3, 3), hermitian=True)
        yield SampleInput(make(0, 3))
        yield SampleInput(regular(make, 2, 3), rtol=make.tensor(0.5, "float32"))
        yield SampleInput(regular(make, 2, 3), rcond=make.tensor(0.5, "float32"))
        yield SampleInput(regular(make, 2, 2, 2), atol=make.tensor([0.1, 3.0], "float32"))


@error_samples("linalg_pinv")
def linalg_pinv_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3)), RuntimeError, "2 dimensions")


@samples("pinverse")
def pinverse(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(regular(make, 3, 2))
    yield SampleInput(regular(make, 2, 2), rcond=1e-4)


@samples("tensorinv")
def tensorinv(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(
        regular(make, 6, 6).reshape(2, 3, 6).detach().requires_grad_(make.requires_grad and make.is_inexact)
    )
    yield SampleInput(
        regular(make, 4, 4).reshape(4, 2, 2).detach().requires_grad_(make.requires_grad and make.is_inexact),
        ind=1,
    )


@error_samples("tensorinv")
def tensorinv_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3, 4)), RuntimeError, "4 != 6")
    yield ErrorInput(SampleInput(make(2, 3, 6), ind=0), RuntimeError, "strictly positive")


@samples("tensorsolve")
def tensorsolve(make: Make) -> Iterator[SampleInput]:
    requires_grad = make.requires_grad and make.is_inexact
    yield SampleInput(
        regular(make, 6, 6).reshape(2, 3, 6).detach().requires_grad_(requires_grad), plain(make, 2, 3)
    )
    yield SampleInput(
        regular(make, 4, 4).reshape(2, 2, 4).transpose(0, 2).detach().requires_grad_(requires_grad),
        plain(make, 2, 2),
        dims=[0],
    )


@error_samples("tensorsolve")
def tensorsolve_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(5, 2, 3), make(5)), RuntimeError, "6 != 5")
