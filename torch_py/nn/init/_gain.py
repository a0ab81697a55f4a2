"""How much layers and activation functions scale values: gains, and numbers of inputs and outputs."""

from __future__ import annotations

import math

from torch_py._tensor import Tensor

__all__ = ["calculate_gain"]


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor that makes up for how much an activation function shrinks values: 1 for linear functions,
    convolutions and the sigmoid, 5/3 for 'tanh', √2 for 'relu', √(2 / (1 + param²)) for 'leaky_relu', 3/4 for
    'selu'.

    Args:
        nonlinearity: the name of the function, as in `nn.functional`
        param: the slope of 'leaky_relu'; default None, 0.01

    Raises:
        ValueError: the name is unknown

    Example:
        >>> nn.init.calculate_gain("tanh")
        1.6666666666666667
    """
    if nonlinearity in _LINEAR:
        return 1.0
    if nonlinearity == "leaky_relu":
        if param is not None and (isinstance(param, bool) or not isinstance(param, (int, float))):
            raise ValueError(f"negative_slope {param} not a valid number")
        slope = 0.01 if param is None else param
        return math.sqrt(2.0 / (1 + slope**2))

    gains = {"tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 3.0 / 4}
    if nonlinearity not in gains:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")

    return gains[nonlinearity]


# Names of nonlinearities, as callers write them.
_LINEAR = (
    "linear",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "sigmoid",
)


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    """Returns `fan_in` and `fan_out` of a weight. Raises ValueError for fewer than two dimensions."""
    if tensor.dim() < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    kernel = math.prod(tensor.shape[2:])
    return tensor.shape[1] * kernel, tensor.shape[0] * kernel


def _calculate_correct_fan(tensor: Tensor, mode: str) -> int:
    """Returns the fan that `mode` names. Other packages import this function."""
    if mode.lower() not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode.lower()} not supported, please use one of ['fan_in', 'fan_out']")
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return fan_in if mode.lower() == "fan_in" else fan_out
