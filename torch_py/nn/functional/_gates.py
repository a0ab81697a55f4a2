"""Gated activations, as functions: a value times a gate that depends on the input."""

from __future__ import annotations

from torch_py._C import _nn
from torch_py._tensor import Tensor

__all__ = ["gelu", "glu", "hardswish", "mish", "silu"]

_glu = _nn.glu
_mish = _nn.mish
_mish_in_place = _nn.mish_
_hardswish = _nn.hardswish
_hardswish_in_place = _nn.hardswish_
_silu = _nn.silu
_silu_in_place = _nn.silu_


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """Applies the sigmoid linear unit, also called swish:

        silu(x) = x / (1 + exp(-x))

    Args:
        input: any shape
        inplace: whether to overwrite the input; default False

    Example:
        >>> F.silu(torch.tensor([-1.0, 0.0, 2.0]))
        tensor([-0.2689,  0.0000,  1.7616])
    """
    return _silu_in_place(input) if inplace else _silu(input)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """Applies Mish, a smooth function that lets small negative values through:

        mish(x) = x · tanh(log(1 + exp(x)))

    Args:
        input: any shape
        inplace: whether to overwrite the input; default False

    Example:
        >>> F.mish(torch.tensor([-1.0, 0.0, 2.0]))
        tensor([-0.3034,  0.0000,  1.9440])
    """
    return _mish_in_place(input) if inplace else _mish(input)


gelu = _nn.gelu


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """Applies a piecewise approximation of `silu`:

        hardswish(x) = x · min(max(x + 3, 0), 6) / 6

    Args:
        input: any shape
        inplace: whether to overwrite the input; default False

    Example:
        >>> F.hardswish(torch.tensor([-1.0, 1.0, 4.0]))
        tensor([-0.3333,  0.6667,  4.0000])
    """
    return _hardswish_in_place(input) if inplace else _hardswish(input)


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """Multiplies the first half along a dimension by the sigmoid of the second half:

        glu(a, b) = a · sigmoid(b)

    Args:
        input: any shape
        dim: the dimension that is halved; default -1

    Raises:
        RuntimeError: the size of the dimension is odd

    Example:
        >>> F.glu(torch.tensor([1.0, 2.0, 0.0, 100.0]))
        tensor([0.5000, 2.0000])
    """
    return _glu(input, dim)
