"""Modules as functions of their parameters, as the package `functorch` had them before `functional_call`."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from torch_py import _C
from torch_py._functorch.modules import functional_call
from torch_py._tensor import Tensor
from torch_py.nn.modules.module import Module

__all__ = [
    "FunctionalModule",
    "FunctionalModuleWithBuffers",
    "combine_state_for_ensemble",
    "make_functional",
    "make_functional_with_buffers",
]


def _taken_out(model: Module, tracked: bool) -> tuple[Module, tuple[Any, ...], tuple[Tensor, ...]]:
    """A copy of `model`, its parameters, and its buffers."""
    stateless = copy.deepcopy(model)
    parameters: list[Any] = list(stateless.parameters())
    if not tracked:
        parameters = [parameter.detach() for parameter in parameters]
    return stateless, tuple(parameters), tuple(stateless.buffers())


class FunctionalModule(Module):
    """A function of parameters and inputs: ``module(params, *inputs)``."""

    def __init__(
        self, stateless_model: Module, param_names: tuple[str, ...], names_map: dict[str, list[str]]
    ) -> None:
        super().__init__()
        self.stateless_model = stateless_model
        self.param_names = param_names
        self.names_map = names_map

    @staticmethod
    def _create_from(
        model: Module, disable_autograd_tracking: bool = False
    ) -> tuple[FunctionalModule, tuple[Any, ...]]:
        stateless, parameters, _ = _taken_out(model, not disable_autograd_tracking)
        names = tuple(name for name, _ in model.named_parameters())
        return FunctionalModule(stateless, names, {name: [name] for name in names}), parameters

    def forward(self, params: Sequence[Tensor], *args: Any, **kwargs: Any) -> Any:
        """The output of the module with these parameters."""
        return functional_call(self.stateless_model, dict(zip(self.param_names, params)), args, kwargs)


class FunctionalModuleWithBuffers(Module):
    """A function of parameters, buffers and inputs: ``module(params, buffers, *inputs)``."""

    def __init__(
        self, stateless_model: Module, param_names: tuple[str, ...], buffer_names: tuple[str, ...]
    ) -> None:
        super().__init__()
        self.stateless_model = stateless_model
        self.param_names = param_names
        self.buffer_names = buffer_names
        self.all_names_map = {name: [name] for name in (*param_names, *buffer_names)}

    @staticmethod
    def _create_from(
        model: Module, disable_autograd_tracking: bool = False
    ) -> tuple[FunctionalModuleWithBuffers, tuple[Any, ...], tuple[Tensor, ...]]:
        stateless, parameters, buffers = _taken_out(model, not disable_autograd_tracking)
        names = tuple(name for name, _ in model.named_parameters())
        buffer_names = tuple(name for name, _ in model.named_buffers())
        return FunctionalModuleWithBuffers(stateless, names, buffer_names), parameters, buffers

    def forward(self, params: Sequence[Tensor], buffers: Sequence[Tensor], *args: Any, **kwargs: Any) -> Any:
        """The output of the module with these parameters and buffers."""
        state = dict(zip((*self.param_names, *self.buffer_names), (*params, *buffers)))
        return functional_call(self.stateless_model, state, args, kwargs)


def make_functional(model: Module, disable_autograd_tracking: bool = False) -> tuple[Any, tuple[Any, ...]]:
    """A function of the parameters of `model`, and the parameters.

    With `disable_autograd_tracking`, these do not require gradients. Raises RuntimeError for a model with
    buffers.

    >>> function, params = make_functional(torch.nn.Linear(2, 3))
    >>> function(params, torch.ones(2)).shape
    torch.Size([3])
    """
    if next(model.buffers(), None) is not None:
        raise RuntimeError(
            "make_functional(model): `model` has buffers. Please use make_functional_with_buffers(model) "
            "instead."
        )
    return FunctionalModule._create_from(model, disable_autograd_tracking)


def make_functional_with_buffers(
    model: Module, disable_autograd_tracking: bool = False
) -> tuple[Any, tuple[Any, ...], tuple[Tensor, ...]]:
    """A function of the parameters and buffers of `model`, the parameters, and the buffers."""
    return FunctionalModuleWithBuffers._create_from(model, disable_autograd_tracking)


def combine_state_for_ensemble(
    models: Sequence[Module],
) -> tuple[Any, tuple[Tensor, ...], tuple[Tensor, ...]]:
    """A function for models of the same structure, and their parameters and buffers, stacked for `vmap`.

    Raises RuntimeError without models, for models of several classes, or in several modes.
    """
    if len(models) == 0:
        raise RuntimeError("combine_state_for_ensemble: Expected at least one model, got 0.")
    if len({model.training for model in models}) > 1:
        raise RuntimeError(
            "combine_state_for_ensemble: Expected all models to have the same training/eval mode."
        )
    if len({type(model) for model in models}) > 1:
        raise RuntimeError("combine_state_for_ensemble: Expected all models to be of the same class.")

    made = [make_functional_with_buffers(model) for model in models]
    parameters = tuple(_C._torch.stack(list(column)) for column in zip(*(row[1] for row in made)))
    buffers = tuple(_C._torch.stack(list(column)) for column in zip(*(row[2] for row in made)))
    return made[0][0], parameters, buffers
