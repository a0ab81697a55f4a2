"""Matrices for factorizations: well conditioned, with distinct eigenvalues and singular values."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.samples.make import Make


def array(make: Make, *shape: int) -> Any:
    """Elements in [-1, 1), complex if the dtype under test is."""
    real = make.random.uniform(-1, 1, shape)
    return real + 1j * make.random.uniform(-1, 1, shape) if make.is_complex else real


def adjoint(matrix: Any) -> Any:
    return np.conj(np.swapaxes(matrix, -1, -2))


def spread(rows: int, columns: int) -> Any:
    """A diagonal whose elements, and their squares, are far from each other and from 0."""
    diagonal = np.zeros((rows, columns))
    np.fill_diagonal(diagonal, 2.5 * (1 + np.arange(min(rows, columns))))
    return diagonal


def regular(make: Make, *shape: int, transposed: bool = False, scale: float = 1.0) -> Any:
    """Matrices of full rank with distinct singular values.

    Real square ones have distinct real eigenvalues.
    """
    return laid_out(make, scale * (0.4 * array(make, *shape) + spread(*shape[-2:])), transposed)


def hermitian(make: Make, *shape: int, transposed: bool = False) -> Any:
    """Hermitian, positive definite, with distinct eigenvalues."""
    values = 0.4 * array(make, *shape) + spread(*shape[-2:])
    return laid_out(make, (values + adjoint(values)) / 2, transposed)


def plain(make: Make, *shape: int, transposed: bool = False) -> Any:
    """Random matrices, as right-hand sides."""
    return laid_out(make, array(make, *shape), transposed)


def laid_out(make: Make, values: Any, transposed: bool) -> Any:
    """A tensor of these values; with ``transposed`` it is stored column by column."""
    if not transposed:
        return make.values(values)
    tensor = make.tensor(np.ascontiguousarray(np.swapaxes(values, -1, -2)), make.dtype_name).transpose(-1, -2)
    return tensor.requires_grad_() if make.requires_grad and make.is_inexact else tensor


def pivots(make: Make, *rows: Any) -> Any:
    return make.tensor(np.array(rows[0] if len(rows) == 1 else rows), "int32")


def singular(make: Make) -> object:
    """The 2 x 2 matrix of zeros."""
    return make.values([[0.0, 0.0], [0.0, 0.0]])
