"""Forward-mode differentiation: inside a `dual_level`, tensors can carry a tangent."""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

from torch_py import _C
from torch_py._functorch.forward_mode import dual, has_gradient
from torch_py._functorch.levels import current_level, inside, is_at, new_level
from torch_py._tensor import Tensor

__all__ = [
    "UnpackedDualTensor",
    "dual_level",
    "enter_dual_level",
    "exit_dual_level",
    "make_dual",
    "unpack_dual",
]


class _Entered(threading.local):
    """The active level of each thread, as its context manager and its number."""

    def __init__(self) -> None:
        self.levels: list[Any] = []


_STATE = _Entered()


class UnpackedDualTensor(NamedTuple):
    """A tensor without its tangent, and the tangent.

    Args:
        primal: the tensor without its tangent
        tangent: the tangent, or None

    Example:
        >>> import torch_py.autograd.forward_ad as forward_ad
        >>> forward_ad.UnpackedDualTensor(torch.tensor(1.0), None).tangent is None
        True
    """

    primal: Tensor
    tangent: Tensor | None


def enter_dual_level() -> int:
    """Begins a level and returns 0, the only level. Raises RuntimeError inside another level.

    Example:
        >>> import torch_py.autograd.forward_ad as forward_ad
        >>> forward_ad.enter_dual_level()
        0
        >>> forward_ad.exit_dual_level()
    """
    if _STATE.levels:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    context = new_level()
    _STATE.levels.append((context, context.__enter__()))
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """Ends the level; all tangents in it are gone.

    Args:
        level: the level to end; default None, the present one

    Example:
        >>> import torch_py.autograd.forward_ad as forward_ad
        >>> level = forward_ad.enter_dual_level()
        >>> forward_ad.exit_dual_level(level=level)
    """
    if not _STATE.levels:
        raise RuntimeError("Trying to exit a forward AD level that was not entered: no dual_level is active")
    _STATE.levels.pop()[0].__exit__(None, None, None)


class dual_level:
    """The block in which tensors can have tangents: ``with dual_level():``.

    Example:
        >>> import torch_py.autograd.forward_ad as forward_ad
        >>> with forward_ad.dual_level():
        ...     x = forward_ad.make_dual(torch.tensor(3.0), torch.tensor(1.0))
        ...     forward_ad.unpack_dual(x**2).tangent
        tensor(6.)
    """

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, *exception: object) -> None:
        exit_dual_level()


def _level() -> int:
    if not _STATE.levels:
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to "
            "enter_dual_level() first."
        )
    return int(_STATE.levels[-1][1])


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """`tensor` with `tangent`, which has the same shape and dtype.

    Raises ValueError unless both are floating point or complex.

    Args:
        tensor: the value
        tangent: the direction, of the same shape and dtype
        level: the level; default None, the present one

    Example:
        >>> import torch_py.autograd.forward_ad as forward_ad
        >>> with forward_ad.dual_level():
        ...     x = forward_ad.make_dual(torch.tensor(3.0), torch.tensor(1.0))
        ...     forward_ad.unpack_dual(x).tangent
        tensor(1.)
    """
    if not has_gradient(tensor):
        raise ValueError(f"Expected primal to be floating point or complex, but got: {tensor.dtype}")
    if not has_gradient(tangent):
        raise ValueError(f"Expected tangent to be floating point or complex, but got: {tangent.dtype}")
    return dual(tensor, tangent, _level())


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """The value and the tangent of `tensor`; the tangent is None if it has none.

    Args:
        tensor: the tensor
        level: the level; default None, the present one

    Example:
        >>> import torch_py.autograd.forward_ad as forward_ad
        >>> with forward_ad.dual_level():
        ...     forward_ad.unpack_dual(torch.tensor(3.0)).tangent is None
        True
    """
    if not _STATE.levels or not is_at(tensor, current_level()):
        return UnpackedDualTensor(tensor, None)
    return UnpackedDualTensor(inside(tensor), _C._tangent(tensor))
