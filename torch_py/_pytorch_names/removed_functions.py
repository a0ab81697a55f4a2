"""Functions that PyTorch has removed but still names. A call raises RuntimeError with the replacement."""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = ["eig", "lstsq", "matrix_rank", "solve", "symeig"]


def _removed(name: str, instead: str) -> NoReturn:
    raise RuntimeError(
        f"This function was deprecated since version 1.9 and is now removed. `torch.{name}` is replaced by "
        f"{instead}"
    )


def solve(input: Any, A: Any, *, out: Any = None) -> NoReturn:
    _removed("solve", "`torch.linalg.solve`, which takes the matrix first and returns the solution only.")


def symeig(input: Any, eigenvectors: bool = False, upper: bool = True, *, out: Any = None) -> NoReturn:
    _removed(
        "symeig",
        "`torch.linalg.eigh` and, for values only, `torch.linalg.eigvalsh`; they read the lower triangle "
        "unless UPLO='U'.",
    )


def eig(input: Any, eigenvectors: bool = False, *, out: Any = None) -> NoReturn:
    _removed(
        "eig", "`torch.linalg.eig` and, for values only, `torch.linalg.eigvals`; their results are complex."
    )


def lstsq(input: Any, A: Any, *, out: Any = None) -> NoReturn:
    _removed(
        "lstsq", "`torch.linalg.lstsq`, which takes the matrix first and does not return the QR factors."
    )


def matrix_rank(input: Any, tol: Any = None, symmetric: bool = False, *, out: Any = None) -> NoReturn:
    _removed("matrix_rank", "`torch.linalg.matrix_rank`, whose parameter `hermitian` was `symmetric` here.")
