"""What pruning methods have in common: masks, the hook that applies them, and several on one parameter."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

from torch_py._C import _torch
from torch_py._tensor import Tensor
from torch_py.nn.modules.module import Module

__all__ = ["BasePruningMethod", "PruningContainer"]


class BasePruningMethod(ABC):
    """Base of the pruning methods.

    Subclasses set PRUNING_TYPE ('unstructured', 'structured' or 'global') and define `compute_mask`.

    Example:
        >>> issubclass(nn.utils.prune.L1Unstructured, nn.utils.prune.BasePruningMethod)
        True
    """

    PRUNING_TYPE: str
    _tensor_name: str

    def __call__(self, module: Module, inputs: tuple[Any, ...]) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Returns a mask in the shape of the importance scores `t`: one where an element stays.

        What `default_mask` has dropped stays dropped.
        """

    def apply_mask(self, module: Module) -> Tensor:
        """Returns the original parameter times its mask."""
        original = getattr(module, f"{self._tensor_name}_orig")
        return getattr(module, f"{self._tensor_name}_mask").to(dtype=original.dtype) * original

    def prune(
        self, t: Tensor, default_mask: Tensor | None = None, importance_scores: Tensor | None = None
    ) -> Tensor:
        """Returns `t` times the mask of this method; no module is involved."""
        scores = _checked_scores(importance_scores, t)
        return t * self.compute_mask(scores, _torch.ones_like(t) if default_mask is None else default_mask)

    @classmethod
    def apply(
        cls, module: Module, name: str, *args: Any, importance_scores: Tensor | None = None, **kwargs: Any
    ) -> BasePruningMethod:
        """Prunes the parameter `name` of `module`, further if it is pruned already; `args` go to the
        constructor. Returns the hook."""
        method = cls(*args, **kwargs)
        method._tensor_name = name
        earlier = list(_hooks_on(module, name))
        if len(earlier) > 1:
            raise AssertionError(
                f"Avoid adding multiple pruning hooks to the same tensor {name} of module {module}. Use a "
                "PruningContainer."
            )

        first = not earlier
        if first:
            original = getattr(module, name)
            default = _torch.ones_like(original)
        else:
            original = getattr(module, f"{name}_orig")
            default = getattr(module, f"{name}_mask").detach().clone()
        scores = _checked_scores(importance_scores, getattr(module, name))

        # A second method joins the first in a container, which takes the place of the hook.
        hook: BasePruningMethod = method
        if not first:
            number, before = earlier[0]
            del module._forward_pre_hooks[number]
            hook = before if isinstance(before, PruningContainer) else PruningContainer(before)
            hook.add_pruning_method(method)
        try:
            mask = hook.compute_mask(scores, default_mask=default)
        except Exception:
            if not first:  # the parameter stays pruned as before
                module.register_forward_pre_hook(before)
            raise

        if first:
            module.register_parameter(f"{name}_orig", original)
            del module._parameters[name]
        module.register_buffer(f"{name}_mask", mask)
        setattr(module, name, hook.apply_mask(module))
        module.register_forward_pre_hook(hook)

        return hook

    def remove(self, module: Module) -> None:
        """Makes the pruning of a parameter permanent: it is a plain parameter again, with the zeros.

        Args:
            module: the module
            name: the parameter

        Raises:
            ValueError: it is not pruned

        Example:
            >>> layer = nn.utils.prune.l1_unstructured(nn.Linear(2, 1), "weight", amount=1)
            >>> layer = nn.utils.prune.remove(layer, "weight")
            >>> int((layer.weight == 0).sum())
            1
        """
        name = self._tensor_name
        masked = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)

        original = module._parameters.pop(f"{name}_orig")
        original.data = masked.data
        del module._buffers[f"{name}_mask"]
        setattr(module, name, original)


class PruningContainer(BasePruningMethod):
    """Several pruning methods on one parameter, each applied to what the earlier ones left.

    Args:
        args: the methods

    Example:
        >>> len(nn.utils.prune.PruningContainer())
        0
    """

    def __init__(self, *args: Any) -> None:
        self._pruning_methods: tuple[BasePruningMethod, ...] = ()
        methods = args if len(args) != 1 or isinstance(args[0], BasePruningMethod) else tuple(args[0])
        if methods:
            self._tensor_name = methods[0]._tensor_name
        for method in methods:
            self.add_pruning_method(method)

    def add_pruning_method(self, method: BasePruningMethod) -> None:
        """Adds a method; raises TypeError if it is not one, ValueError if it acts on another parameter."""
        if not isinstance(method, BasePruningMethod):
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if self._tensor_name != method._tensor_name:
            raise ValueError(
                f"Can only add pruning methods acting on the parameter named '{self._tensor_name}' to "
                f"PruningContainer {self}. Found '{method._tensor_name}'"
            )
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Iterator[BasePruningMethod]:
        return iter(self._pruning_methods)

    def __getitem__(self, index: int) -> BasePruningMethod:
        return self._pruning_methods[index]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Returns the mask of the newest method, computed on the elements or slices that are left."""
        newest = self._pruning_methods[-1]
        left = _remaining(newest, t, default_mask)
        mask = default_mask.clone()
        mask[left] = newest.compute_mask(t[left], default_mask=default_mask[left]).to(mask.dtype)
        return mask


def _hooks_on(module: Module, name: str) -> Iterator[tuple[int, BasePruningMethod]]:
    """Yields the pruning hooks of one parameter with their numbers."""
    for number, hook in list(module._forward_pre_hooks.items()):
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            yield number, hook


def _remaining(method: BasePruningMethod, t: Tensor, mask: Tensor) -> Any:
    """Returns an index of the elements or slices that `method` may still drop."""
    if method.PRUNING_TYPE == "unstructured":
        return mask == 1
    if method.PRUNING_TYPE == "global":
        return (slice(None),) * t.dim()
    if method.PRUNING_TYPE != "structured":
        raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
    dim = getattr(method, "dim", 0) % t.dim()
    alive = mask.movedim(dim, 0).flatten(1).sum(dim=1) != 0
    return (slice(None),) * dim + (alive,)


def _checked_scores(scores: Tensor | None, t: Tensor) -> Tensor:
    """Returns the importance scores, by default the parameter itself.

    Raises AssertionError for another shape.
    """
    if scores is not None and scores.shape != t.shape:
        raise AssertionError(
            f"importance_scores should have the same shape as parameter {t.shape}, got {scores.shape}"
        )
    return t if scores is None else scores
