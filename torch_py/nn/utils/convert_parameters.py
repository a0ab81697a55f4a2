"""All parameters as one vector, and back."""

from __future__ import annotations

from collections.abc import Iterable

from torch_py._C import _torch
from torch_py._tensor import Tensor


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """Returns the elements of all parameters as one vector.

    Args:
        parameters: the tensors

    Example:
        >>> nn.utils.parameters_to_vector([torch.tensor([[1.0, 2.0]]), torch.tensor([3.0])])
        tensor([1., 2., 3.])
    """
    return _torch.cat([parameter.reshape(-1) for parameter in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Makes the parameters views of consecutive parts of `vec`.

    Args:
        vec: the vector
        parameters: the parameters, in order

    Example:
        >>> weight = nn.Parameter(torch.zeros(2))
        >>> nn.utils.vector_to_parameters(torch.tensor([1.0, 2.0]), [weight])
        >>> weight.data
        tensor([1., 2.])
    """
    start = 0
    for parameter in parameters:
        parameter.data = vec[start : start + parameter.numel()].view_as(parameter).data
        start += parameter.numel()
