"""`ExponentialFamily`, the base class of distributions with density h(x) exp(<eta, t(x)> - A(eta))."""

from __future__ import annotations

from typing import Any

import torch_py as torch
from torch_py import Tensor
from torch_py.distributions.distribution import Distribution
from torch_py.distributions.utils import _sum_rightmost

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    """Base class of exponential families.

    Subclasses define the natural parameters eta, the log normalizer A and the mean of log h; entropy and
    divergences follow from these.

    The gradient of A is the mean of t(x), so entropy = A(eta) - <eta, grad A(eta)> - E[log h(x)] (Nielsen and
    Nock, Entropies and cross-entropies of exponential families, 2010).

    Args:
        batch_shape: the shape of the parameters; default ()
        event_shape: the shape of one draw; default ()
        validate_args: whether arguments are checked; default None, which is True unless Python runs with -O

    Example:
        >>> isinstance(torch.distributions.Gamma(1.0, 1.0), torch.distributions.ExponentialFamily)
        True
    """

    _parameters: tuple[str, ...] = ()

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        raise NotImplementedError

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        raise NotImplementedError

    @property
    def _mean_carrier_measure(self) -> Any:
        raise NotImplementedError

    def entropy(self) -> Tensor:
        parameters = [parameter.detach().requires_grad_() for parameter in self._natural_params]
        with torch.enable_grad():
            normalizer = self._log_normalizer(*parameters)
            gradients = torch.autograd.grad(normalizer.sum(), parameters, create_graph=True)

        result = normalizer - self._mean_carrier_measure
        for parameter, gradient in zip(parameters, gradients):
            result = result - _sum_rightmost(parameter * gradient, parameter.dim() - len(self._batch_shape))
        return result
