"""Sobol sequences: points that fill the unit cube more evenly than random ones."""

from __future__ import annotations

from typing import Any

from torch_py import _C
from torch_py._tensor import Tensor

__all__ = ["SobolEngine"]

_torch: Any = _C._torch


def _directions(dimension: int, bits: int) -> Tensor:
    """Direction numbers of Joe and Kuo (SIAM J.

    Sci. Comput. 30, 2008), dimension by bits: SciPy brings their table.
    """
    try:
        from scipy.stats import qmc  # type: ignore[import-untyped]
    except ImportError as error:
        raise ImportError(
            "torch.quasirandom.SobolEngine takes its direction numbers from SciPy: pip install scipy"
        ) from error
    table = qmc.Sobol(dimension, scramble=False, bits=bits)._sv
    return _C.tensor(table.astype("int64"))


class SobolEngine:
    """Points of a Sobol sequence in [0, 1)^dimension, one after the other; with `scramble` in a random order
    that keeps them even.

    `dimension` is at most MAXDIM, else ValueError. `seed` makes scrambling repeatable; without it the default
    generator is used. Points have 30 bits. Needs SciPy.
    """

    MAXBIT = 30
    MAXDIM = 21201

    def __init__(self, dimension: int, scramble: bool = False, seed: int | None = None) -> None:
        if not 1 <= dimension <= self.MAXDIM:
            raise ValueError(f"Supported range of dimensionality for SobolEngine is [1, {self.MAXDIM}]")
        self.seed = seed
        self.scramble = scramble
        self.dimension = dimension
        self.sobolstate = _directions(dimension, self.MAXBIT)
        self.shift = _torch.zeros(dimension, dtype=_C.int64)
        if scramble:
            self._scramble()
        self.quasi = self.shift.clone()  # the latest point, as integers of MAXBIT bits
        self.num_generated = 0

    def draw(self, n: int = 1, out: Tensor | None = None, dtype: Any = None) -> Tensor:
        """The next `n` points, shape (n, dimension), of `dtype` or the
        default one; into `out` if it is given."""
        if n < (1 if self.num_generated == 0 else 0):
            raise RuntimeError(
                f"SobolEngine.draw: trying to create tensor with negative dimension {n - 1}: [{n - 1}, "
                f"{self.dimension}]"
            )

        dtype = _C.get_default_dtype() if dtype is None else dtype
        if not dtype.is_floating_point:
            raise NotImplementedError(f"SobolEngine.draw is not implemented for {dtype}")

        points = self._points(self.num_generated, n)
        if n:
            self.quasi = points[-1].clone()
        self.num_generated += n

        result = points.to(dtype) * 2.0**-self.MAXBIT
        if out is None:
            return result
        out.resize_(result.shape).copy_(result)
        return out

    def draw_base2(self, m: int, out: Tensor | None = None, dtype: Any = None) -> Tensor:
        """The next 2**m points, which together with those before must be a power of two, as the points are
        even then: else ValueError."""
        total = self.num_generated + 2**m
        if total & (total - 1):
            raise ValueError(
                "The balance properties of Sobol' points require n to be a power of 2. "
                f"{self.num_generated} points have been previously generated, then: "
                f"n={self.num_generated}+2**{m}={total}. "
                "If you still want to do this, please use 'SobolEngine.draw()' instead."
            )
        return self.draw(2**m, out=out, dtype=dtype)

    def reset(self) -> SobolEngine:
        """Back to the first point."""
        self.quasi = self.shift.clone()
        self.num_generated = 0
        return self

    def fast_forward(self, n: int) -> SobolEngine:
        """Leaves `n` points out."""
        self.num_generated += n
        if self.num_generated:
            self.quasi = self._points(self.num_generated - 1, 1)[0]
        return self

    def _points(self, first: int, count: int) -> Tensor:
        """Point i is the exclusive or of the directions at the bits of i's Gray code."""
        index = _torch.arange(first, first + count)
        gray = index ^ (index >> 1)
        points = _torch.zeros(count, 1, dtype=_C.int64) ^ self.shift
        for bit in range(max((first + count).bit_length(), 1)):
            chosen = (gray >> bit) & 1
            points ^= chosen.unsqueeze(1) * self.sobolstate[:, bit]
        return points  # type: ignore[no-any-return]

    def _scramble(self) -> None:
        """A random shift, and a random lower triangular matrix over the bits for each dimension (Matousek, J.

        Complexity 14, 1998).
        """
        generator = None
        if self.seed is not None:
            generator = _C.Generator()
            generator.manual_seed(self.seed)
        bits = self.MAXBIT
        size = (self.dimension, self.MAXBIT)
        weights = 2 ** _torch.arange(bits)
        self.shift = (_torch.randint(2, size, generator=generator) * weights).sum(1)
        matrices = _torch.randint(2, (*size, bits), generator=generator).tril()
        matrices.diagonal(dim1=1, dim2=2).fill_(1)
        # Rows of the matrices and bits of the directions both go from the highest bit down.
        digits = (self.sobolstate.unsqueeze(2) >> _torch.arange(bits - 1, -1, -1)) & 1
        mixed = (matrices.unsqueeze(1) * digits.unsqueeze(2)).sum(3) % 2
        self.sobolstate = (mixed * weights.flip(0)).sum(2)

    def __repr__(self) -> str:
        parts = [f"dimension={self.dimension}"] + (["scramble=True"] if self.scramble else [])
        return f"SobolEngine({', '.join(parts + ([f'seed={self.seed}'] if self.seed is not None else []))})"
