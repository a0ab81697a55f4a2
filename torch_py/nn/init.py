"""Initial values of parameters.

Every function fills its argument in place, without recording gradients, and returns it.

For a weight (out, in, *kernel), `fan_in` is in * kernel elements and `fan_out` is out * kernel elements.
Sources: Glorot & Bengio 2010 (xavier), He et al. 2015 (kaiming), Saxe et al. 2013 (orthogonal).
"""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable
from typing import ParamSpec

from torch_py import _C, linalg
from torch_py._C import Generator, _torch
from torch_py._tensor import Tensor
from torch_py.autograd.grad_mode import no_grad

P = ParamSpec("P")

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


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fills a tensor with random numbers from the uniform distribution over [a, b).

    Args:
        tensor: the tensor to fill, in place, without a record for gradients
        a: the least number; default 0.0
        b: the end; default 1.0
        generator: the source of random numbers; default None, the default generator

    Example:
        >>> nn.init.uniform_(torch.empty(3, 3), -1.0, 1.0).shape
        torch.Size([3, 3])
    """
    with no_grad():
        return tensor.uniform_(a, b, generator=generator)


def normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Fills a tensor with random numbers from a normal distribution.

    Args:
        tensor: the tensor to fill, in place, without a record for gradients
        mean: the mean; default 0.0
        std: the standard deviation; default 1.0
        generator: the source of random numbers; default None, the default generator

    Example:
        >>> nn.init.normal_(torch.empty(3, 3), std=0.02).shape
        torch.Size([3, 3])
    """
    with no_grad():
        return tensor.normal_(mean, std, generator=generator)


# PyTorch's names for the same functions, which other packages import.
_no_grad_uniform_ = uniform_
_no_grad_normal_ = normal_

# If at least this share of the distribution is inside the bounds, drawing values again is cheaper than
# inverting the cumulative distribution.
_REDRAW_FROM = 0.3


def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Generator | None = None,
) -> Tensor:
    """Fills a tensor with random numbers from a normal distribution, limited to [a, b]: numbers outside are
    drawn again.

    Args:
        tensor: the tensor to fill, in place, without a record for gradients
        mean: the mean; default 0.0
        std: the standard deviation; default 1.0
        a: the least number; default -2.0
        b: the largest number; default 2.0
        generator: the source of random numbers; default None, the default generator

    Example:
        >>> nn.init.trunc_normal_(torch.empty(3, 3)).abs().max() <= 2
        tensor(True)
    """

    def below(x: float) -> float:
        return (1.0 + math.erf((x - mean) / std / math.sqrt(2.0))) / 2.0

    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            "trunc_normal_: mean is more than 2 std from [a, b]; the distribution of values may be "
            "incorrect.",
            stacklevel=2,
        )

    with no_grad():
        if below(b) - below(a) >= _REDRAW_FROM:
            return _redrawn(tensor, mean, std, a, b, generator)
        tensor.uniform_(2 * below(a) - 1, 2 * below(b) - 1, generator=generator)
        return tensor.copy_(_inverse_erf(tensor)).mul_(std * math.sqrt(2.0)).add_(mean).clamp_(min=a, max=b)


def _redrawn(
    tensor: Tensor, mean: float, std: float, a: float, b: float, generator: Generator | None
) -> Tensor:
    """Fills the tensor with normal values and draws those outside [a, b] again."""
    tensor.normal_(mean, std, generator=generator)
    while bool((outside := (tensor < a) | (tensor > b)).any()):
        again = _torch.empty_like(tensor).normal_(mean, std, generator=generator)
        tensor.copy_(_torch.where(outside, again, tensor))
    return tensor


def _inverse_erf(tensor: Tensor) -> Tensor:
    """Inverse error function in float64: Winitzki's closed form (2008), off by 0.4 %, then three steps of
    Newton's method, each of which squares the error."""
    y = tensor.to(_C.float64).clamp(min=-1 + 1e-15, max=1 - 1e-15)
    c = 0.147
    log = (1 - y * y).log()
    half = 2 / (math.pi * c) + log / 2
    x = ((half * half - log / c).sqrt() - half).sqrt() * y.sign()
    for _ in range(3):
        x = x - (x.erf() - y) * (math.sqrt(math.pi) / 2) * (x * x).exp()
    return x


def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fills a tensor with a number.

    Args:
        tensor: the tensor to fill, in place, without a record for gradients
        val: the number

    Example:
        >>> nn.init.constant_(torch.empty(2), 0.5)
        tensor([0.5000, 0.5000])
    """
    with no_grad():
        return tensor.fill_(val)


def ones_(tensor: Tensor) -> Tensor:
    """Fills a tensor with ones.

    Args:
        tensor: the tensor to fill, in place, without a record for gradients

    Example:
        >>> nn.init.ones_(torch.empty(2))
        tensor([1., 1.])
    """
    return constant_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Fills a tensor with zeros.

    Args:
        tensor: the tensor to fill, in place, without a record for gradients

    Example:
        >>> nn.init.zeros_(torch.empty(2))
        tensor([0., 0.])
    """
    return constant_(tensor, 0.0)


def eye_(tensor: Tensor) -> Tensor:
    """Fills a matrix with ones on its diagonal and zeros elsewhere, so that a linear layer returns its input.

    Args:
        tensor: the tensor to fill, in place, without a record for gradients

    Raises:
        ValueError: the tensor does not have 2 dimensions

    Example:
        >>> nn.init.eye_(torch.empty(2, 3))
        tensor([[1., 0., 0.],
                [0., 1., 0.]])
    """
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    with no_grad():
        return tensor.copy_(_torch.eye(*tensor.shape, dtype=tensor.dtype, device=tensor.device))


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Fills the weight of a convolution so that it returns its input channels, as far as there are outputs
    for them.

    Args:
        tensor: the tensor to fill, in place, without a record for gradients
        groups: the number of groups of channels; default 1

    Raises:
        ValueError: the tensor does not have 3, 4 or 5 dimensions

    Example:
        >>> nn.init.dirac_(torch.empty(2, 2, 3))
        tensor([[[0., 1., 0.],
                 [0., 0., 0.]],
        <BLANKLINE>
                [[0., 0., 0.],
                 [0., 1., 0.]]])
    """
    if not 3 <= tensor.dim() <= 5:
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    if tensor.shape[0] % groups != 0:
        raise ValueError("dim 0 must be divisible by groups")

    per_group = tensor.shape[0] // groups
    center = tuple(size // 2 for size in tensor.shape[2:])
    with no_grad():
        tensor.zero_()
        for group in range(groups):
            for channel in range(min(per_group, tensor.shape[1])):
                position = (group * per_group + channel, channel, *center)
                tensor[position] = 1

    return tensor


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    """Returns `fan_in` and `fan_out` of a weight. Raises ValueError for fewer than two dimensions."""
    if tensor.dim() < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    kernel = math.prod(tensor.shape[2:])
    return tensor.shape[1] * kernel, tensor.shape[0] * kernel


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fills a tensor with uniform random numbers that keep the variance of activations and gradients from
    layer to layer:

        bound = gain · √(6 / (fan_in + fan_out))

    Source: Glorot and Bengio, Understanding the difficulty of training deep feedforward neural networks
    (2010).

    Args:
        tensor: the tensor to fill, in place, without a record for gradients
        gain: a factor, see `calculate_gain`; default 1.0
        generator: the source of random numbers; default None, the default generator

    Raises:
        ValueError: the tensor has fewer than 2 dimensions

    Example:
        >>> nn.init.xavier_uniform_(torch.empty(3, 3)).abs().max() <= 1
        tensor(True)
    """
    bound = math.sqrt(3.0) * _xavier_std(tensor, gain)
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fills a tensor with normal random numbers that keep the variance of activations and gradients from
    layer to layer:

        std = gain · √(2 / (fan_in + fan_out))

    Source: Glorot and Bengio, Understanding the difficulty of training deep feedforward neural networks
    (2010).

    Args:
        tensor: the tensor to fill, in place, without a record for gradients
        gain: a factor, see `calculate_gain`; default 1.0
        generator: the source of random numbers; default None, the default generator

    Raises:
        ValueError: the tensor has fewer than 2 dimensions

    Example:
        >>> nn.init.xavier_normal_(torch.empty(3, 3)).shape
        torch.Size([3, 3])
    """
    return normal_(tensor, 0.0, _xavier_std(tensor, gain), generator)


def _xavier_std(tensor: Tensor, gain: float) -> float:
    return gain * math.sqrt(2.0 / float(sum(_calculate_fan_in_and_fan_out(tensor))))


def _calculate_correct_fan(tensor: Tensor, mode: str) -> int:
    """Returns the fan that `mode` names. Other packages import this function."""
    if mode.lower() not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode.lower()} not supported, please use one of ['fan_in', 'fan_out']")
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return fan_in if mode.lower() == "fan_in" else fan_out


def _kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    return calculate_gain(nonlinearity, a) / math.sqrt(_calculate_correct_fan(tensor, mode))


def _kaiming(
    tensor: Tensor, a: float, mode: str, nonlinearity: str, fill: Callable[[float], Tensor]
) -> Tensor:
    """Calls `fill` with the standard deviation; warns for a tensor without elements and leaves it."""
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=3)
        return tensor
    return fill(_kaiming_std(tensor, a, mode, nonlinearity))


def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Fills a tensor with uniform random numbers that keep the variance of activations behind a rectifier:

        bound = gain · √(3 / fan)

    Source: He et al., Delving deep into rectifiers (2015).

    Args:
        tensor: the tensor to fill, in place, without a record for gradients
        a: the slope of the rectifier for negative numbers, with 'leaky_relu'; default 0
        mode: the fan: 'fan_in' (default) keeps the variance forward, 'fan_out' backward
        nonlinearity: the name of the function that follows, see `calculate_gain`; default 'leaky_relu'
        generator: the source of random numbers; default None, the default generator

    Example:
        >>> nn.init.kaiming_uniform_(torch.empty(3, 3), nonlinearity="relu").abs().max() <= 1.4143
        tensor(True)
    """

    def fill(std: float) -> Tensor:
        bound = math.sqrt(3.0) * std
        return uniform_(tensor, -bound, bound, generator)

    return _kaiming(tensor, a, mode, nonlinearity, fill)


def kaiming_normal_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Fills a tensor with normal random numbers that keep the variance of activations behind a rectifier:

        std = gain / √fan

    Source: He et al., Delving deep into rectifiers (2015).

    Args:
        tensor: the tensor to fill, in place, without a record for gradients
        a: the slope of the rectifier for negative numbers, with 'leaky_relu'; default 0
        mode: the fan: 'fan_in' (default) keeps the variance forward, 'fan_out' backward
        nonlinearity: the name of the function that follows, see `calculate_gain`; default 'leaky_relu'
        generator: the source of random numbers; default None, the default generator

    Example:
        >>> nn.init.kaiming_normal_(torch.empty(3, 3)).shape
        torch.Size([3, 3])
    """
    return _kaiming(tensor, a, mode, nonlinearity, lambda std: normal_(tensor, 0.0, std, generator))


def orthogonal_(tensor: Tensor, gain: float = 1, generator: Generator | None = None) -> Tensor:
    """Fills a tensor with a random matrix whose rows or columns, whichever are fewer, are orthonormal. Later
    dimensions count as columns.

    Args:
        tensor: the tensor to fill, in place, without a record for gradients
        gain: a factor; default 1
        generator: the source of random numbers; default None, the default generator

    Raises:
        ValueError: the tensor has fewer than 2 dimensions

    Example:
        >>> nn.init.orthogonal_(torch.empty(3, 3)).det().abs().round()
        tensor(1.)
    """
    if tensor.dim() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor

    rows = tensor.shape[0]
    columns = tensor.numel() // tensor.shape[0]

    flat = tensor.new_empty((rows, columns)).normal_(0, 1, generator=generator)
    if rows < columns:
        basis = _orthonormal_columns(flat.t()).t()
    else:
        basis = _orthonormal_columns(flat)

    with no_grad():
        return tensor.copy_(basis.reshape(tensor.shape)).mul_(gain)


def _orthonormal_columns(matrix: Tensor) -> Tensor:
    """Returns Q of the QR decomposition in which R has a positive diagonal: Q is uniformly distributed."""
    Q, R = linalg.qr(matrix)  # type: ignore[attr-defined]
    return Q * R.diagonal().sign()


def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Generator | None = None) -> Tensor:
    """Fills a matrix with normal random numbers, and sets a part of every column to zero.

    Args:
        tensor: the tensor to fill, in place, without a record for gradients
        sparsity: the share of zeros
        std: the standard deviation of the others; default 0.01
        generator: the source of random numbers; default None, the default generator

    Raises:
        ValueError: the tensor does not have 2 dimensions

    Example:
        >>> (nn.init.sparse_(torch.empty(4, 2), sparsity=0.5) == 0).sum(dim=0)
        tensor([2, 2])
    """
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")

    rows, columns = tensor.shape
    with no_grad():
        tensor.normal_(0, std, generator=generator)
        for column in range(columns):
            order = _torch.randperm(rows, generator=generator, device=tensor.device)
            tensor[order[: math.ceil(sparsity * rows)], column] = 0
    return tensor


def _deprecated(name: str, fill: Callable[P, Tensor]) -> Callable[P, Tensor]:
    """Returns `fill` under its older name, without the underscore, which warns."""

    @functools.wraps(fill)
    def called(*args: P.args, **kwargs: P.kwargs) -> Tensor:
        warnings.warn(
            f"`nn.init.{name}` is now deprecated in favor of `nn.init.{name}_`.", FutureWarning, stacklevel=2
        )
        return fill(*args, **kwargs)

    called.__name__ = called.__qualname__ = name
    return called


uniform = _deprecated("uniform", uniform_)
normal = _deprecated("normal", normal_)
constant = _deprecated("constant", constant_)
eye = _deprecated("eye", eye_)
dirac = _deprecated("dirac", dirac_)
xavier_uniform = _deprecated("xavier_uniform", xavier_uniform_)
xavier_normal = _deprecated("xavier_normal", xavier_normal_)
kaiming_uniform = _deprecated("kaiming_uniform", kaiming_uniform_)
kaiming_normal = _deprecated("kaiming_normal", kaiming_normal_)
orthogonal = _deprecated("orthogonal", orthogonal_)
sparse = _deprecated("sparse", sparse_)
