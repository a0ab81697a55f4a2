"""Spectral normalization (Miyato et al. 2018) by a hook before forward, the form before parametrizations."""

from __future__ import annotations

from typing import Any, TypeVar

from torch_py._C import _torch
from torch_py._tensor import Tensor
from torch_py.autograd.grad_mode import no_grad
from torch_py.nn import functional as F
from torch_py.nn.modules.module import Module
from torch_py.nn.parameter import Parameter

__all__ = ["SpectralNorm", "remove_spectral_norm", "spectral_norm"]

M = TypeVar("M", bound=Module)


class SpectralNorm:
    """A hook that computes the tensor `name` from the parameter NAME_orig and the singular vectors in the
    buffers NAME_u and NAME_v."""

    _version = 1

    def __init__(
        self, name: str = "weight", n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12
    ) -> None:
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.name = name
        self.n_power_iterations = n_power_iterations
        self.dim = dim
        self.eps = eps

    def reshape_weight_to_matrix(self, weight: Tensor) -> Tensor:
        """Returns the weight as a matrix whose rows are dimension `dim`."""
        return weight.movedim(self.dim, 0).flatten(1) if weight.dim() > 1 else weight.reshape(-1, 1)

    def compute_weight(self, module: Module, do_power_iteration: bool) -> Tensor:
        """Returns the weight divided by its estimated largest singular value."""
        weight, u, v = (getattr(module, f"{self.name}_{part}") for part in ("orig", "u", "v"))
        matrix = self.reshape_weight_to_matrix(weight)

        if do_power_iteration:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(F.normalize(_torch.mv(matrix.t(), u), dim=0, eps=self.eps))
                    u.copy_(F.normalize(_torch.mv(matrix, v), dim=0, eps=self.eps))
                # The next forward may change the buffers before backward needs these values.
                u = u.clone()
                v = v.clone()

        return weight / _torch.dot(u, _torch.mv(matrix, v))

    @staticmethod
    def apply(module: Module, name: str, n_power_iterations: int, dim: int, eps: float) -> SpectralNorm:
        """Registers the hook on a module.

        Raises RuntimeError if the parameter has one already, and ValueError if it is None.
        """
        if any(
            isinstance(hook, SpectralNorm) and hook.name == name
            for hook in module._forward_pre_hooks.values()
        ):
            raise RuntimeError(f"Cannot register two spectral_norm hooks on the same parameter {name}")

        made = SpectralNorm(name, n_power_iterations, dim, eps)
        weight = module._parameters[name]
        if weight is None:
            raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")

        matrix = made.reshape_weight_to_matrix(weight)
        u, v = (F.normalize(matrix.new_empty(size).normal_(0, 1), dim=0, eps=eps) for size in matrix.shape)
        del module._parameters[name]
        module.register_parameter(f"{name}_orig", weight)

        # A plain attribute until the first forward, which is neither trained nor saved.
        setattr(module, name, weight.data)
        module.register_buffer(f"{name}_u", u.detach())
        module.register_buffer(f"{name}_v", v.detach())
        module.register_forward_pre_hook(made)
        module._register_state_dict_hook(made._note_version)
        return made

    def _note_version(
        self, module: Module, state_dict: dict[str, Any], prefix: str, local_metadata: dict[str, Any]
    ) -> None:
        """Notes the version of this hook in the metadata of the state dict."""
        local_metadata.setdefault("spectral_norm", {})[f"{self.name}.version"] = self._version

    def remove(self, module: Module) -> None:
        """Makes the present weight a plain parameter."""
        with no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)

        delattr(module, self.name)
        for part in ("u", "v", "orig"):
            delattr(module, f"{self.name}_{part}")
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module: Module, inputs: tuple[Any, ...]) -> None:
        setattr(module, self.name, self.compute_weight(module, do_power_iteration=module.training))


def spectral_norm(
    module: M, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> M:
    """Divides the parameter `name` by its largest singular value, estimated with `n_power_iterations` steps
    in each forward in training.

    `dim` is the dimension of the outputs: by default 0, or 1 for transposed convolutions.
    `torch.nn.utils.parametrizations.spectral_norm` does the same without a hook. Returns `module`; raises
    RuntimeError the second time, and ValueError unless `n_power_iterations` is positive.

    Args:
        module: the module
        name: the parameter; default 'weight'
        n_power_iterations: the number of steps of the estimate; default 1
        eps: the least norm; default 1e-12
        dim: the dimension of the outputs; default None

    Example:
        >>> layer = nn.utils.spectral_norm(nn.Linear(3, 4))
        >>> layer.weight_orig.shape
        torch.Size([4, 3])
    """
    rows = (1 if getattr(module, "transposed", False) else 0) if dim is None else dim
    SpectralNorm.apply(module, name, n_power_iterations, rows, eps)
    return module


def remove_spectral_norm(module: M, name: str = "weight") -> M:
    """Makes `name` a plain parameter again. Raises ValueError if it has no spectral normalization.

    Args:
        module: the module
        name: the parameter; default 'weight'

    Example:
        >>> layer = nn.utils.remove_spectral_norm(nn.utils.spectral_norm(nn.Linear(3, 4)))
        >>> [name for name, _ in layer.named_parameters()]
        ['bias', 'weight']
    """
    for number, hook in list(module._forward_pre_hooks.items()):
        if isinstance(hook, SpectralNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[number]
            break
    else:
        raise ValueError(f"spectral_norm of '{name}' not found in {module}")

    for number, hook in list(module._state_dict_hooks.items()):
        if getattr(getattr(hook, "__self__", None), "name", None) == name and isinstance(
            hook.__self__, SpectralNorm
        ):
            del module._state_dict_hooks[number]

    return module
