"""Weight normalization by a hook before forward, the form before parametrizations."""

from __future__ import annotations

import warnings
from typing import Any, TypeVar

from torch_py._C import _torch
from torch_py._tensor import Tensor
from torch_py.nn.modules.module import Module
from torch_py.nn.parameter import Parameter

__all__ = ["WeightNorm", "remove_weight_norm", "weight_norm"]

M = TypeVar("M", bound=Module)


class WeightNorm:
    """A hook that computes the tensor `name` of a module from its parameters NAME_g and NAME_v."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name = name
        self.dim = -1 if dim is None else dim

    def compute_weight(self, module: Module) -> Tensor:
        """Returns g · v / |v|."""
        g = getattr(module, f"{self.name}_g")
        v = getattr(module, f"{self.name}_v")
        return v * (g / _torch.norm_except_dim(v, 2, self.dim))

    @staticmethod
    def apply(module: Module, name: str, dim: int | None) -> WeightNorm:
        """Registers the hook on a module. Raises RuntimeError if the parameter has one already."""
        if any(
            isinstance(hook, WeightNorm) and hook.name == name for hook in module._forward_pre_hooks.values()
        ):
            raise RuntimeError(f"Cannot register two weight_norm hooks on the same parameter {name}")

        made = WeightNorm(name, dim)
        weight = getattr(module, name)
        del module._parameters[name]
        module.register_parameter(f"{name}_g", Parameter(_torch.norm_except_dim(weight, 2, made.dim).data))
        module.register_parameter(f"{name}_v", Parameter(weight.data))
        setattr(module, name, made.compute_weight(module))
        module.register_forward_pre_hook(made)

        return made

    def remove(self, module: Module) -> None:
        """Makes the present weight a plain parameter."""
        weight = self.compute_weight(module)
        delattr(module, self.name)
        del module._parameters[f"{self.name}_g"], module._parameters[f"{self.name}_v"]
        setattr(module, self.name, Parameter(weight.data))

    def __call__(self, module: Module, inputs: tuple[Any, ...]) -> None:
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module: M, name: str = "weight", dim: int | None = 0) -> M:
    """Replaces the parameter `name` of `module` by g · v / |v| with parameters NAME_g and NAME_v: one g for
    each slice along `dim`, or one for all if `dim` is None.

    Deprecated: `torch.nn.utils.parametrizations.weight_norm` does the same without a hook. Raises
    RuntimeError the second time.

    Args:
        module: the module
        name: the parameter; default 'weight'
        dim: the dimension of slices with a length of their own; default 0

    Example:
        >>> layer = nn.utils.weight_norm(nn.Linear(3, 4))
        >>> layer.weight_g.shape
        torch.Size([4, 1])
    """
    warnings.warn(
        "`torch.nn.utils.weight_norm` is deprecated in favor of "
        "`torch.nn.utils.parametrizations.weight_norm`.",
        FutureWarning,
        stacklevel=2,
    )
    WeightNorm.apply(module, name, dim)
    return module


def remove_weight_norm(module: M, name: str = "weight") -> M:
    """Makes `name` a plain parameter again. Raises ValueError if it has no weight normalization.

    Args:
        module: the module
        name: the parameter; default 'weight'

    Example:
        >>> layer = nn.utils.remove_weight_norm(nn.utils.weight_norm(nn.Linear(3, 4)))
        >>> sorted(name for name, _ in layer.named_parameters())
        ['bias', 'weight']
    """
    for number, hook in list(module._forward_pre_hooks.items()):
        if isinstance(hook, WeightNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[number]
            return module
    raise ValueError(f"weight_norm of '{name}' not found in {module}")
