"""Pruning: parameters are multiplied by masks before every forward.

A pruned parameter NAME becomes the parameter NAME_orig, the buffer NAME_mask and an attribute NAME that a
hook computes before forward. A method chooses the elements that stay (`compute_mask`); several methods on one
parameter form a PruningContainer.
"""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any

from torch_py import _C
from torch_py._C import _torch
from torch_py._functional import norm
from torch_py._tensor import Tensor
from torch_py.nn.modules.module import Module

__all__ = [
    "BasePruningMethod",
    "CustomFromMask",
    "Identity",
    "L1Unstructured",
    "LnStructured",
    "PruningContainer",
    "RandomStructured",
    "RandomUnstructured",
    "custom_from_mask",
    "global_unstructured",
    "identity",
    "is_pruned",
    "l1_unstructured",
    "ln_structured",
    "random_structured",
    "random_unstructured",
    "remove",
]


def _hooks_on(module: Module, name: str) -> Iterator[tuple[int, BasePruningMethod]]:
    """Yields the pruning hooks of one parameter with their numbers."""
    for number, hook in list(module._forward_pre_hooks.items()):
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            yield number, hook


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


class Identity(BasePruningMethod):
    """Drops nothing, but makes the parameter a masked one.

    Example:
        >>> nn.utils.prune.Identity.PRUNING_TYPE
        'unstructured'
    """

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return default_mask


class _ByAmount(BasePruningMethod):
    """Drops an amount: a number of elements if it is an integer, otherwise a share."""

    def __init__(self, amount: float) -> None:
        _check_amount(amount)
        self.amount = amount

    def _count(self, size: int) -> int:
        """Returns how many of `size` elements to drop. Raises ValueError if there are too few."""
        if isinstance(self.amount, numbers.Integral) and self.amount > size:
            raise ValueError(
                f"amount={self.amount} should be smaller than the number of parameters to prune={size}"
            )
        return int(self.amount) if isinstance(self.amount, numbers.Integral) else round(self.amount * size)


class _Unstructured(_ByAmount):
    """Drops single elements."""

    PRUNING_TYPE = "unstructured"
    _drops_largest = False

    def _importance(self, t: Tensor) -> Tensor:
        """Returns a score for each element."""
        raise NotImplementedError

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        mask = default_mask.clone(memory_format=_contiguous())
        count = self._count(t.numel())
        if count:
            least = _torch.topk(self._importance(t).reshape(-1), count, largest=self._drops_largest).indices
            mask.view(-1)[least] = 0
        return mask


class RandomUnstructured(_Unstructured):
    """Drops elements at random.

    Args:
        amount: how many elements, or which share

    Example:
        >>> nn.utils.prune.RandomUnstructured(amount=1).PRUNING_TYPE
        'unstructured'
    """

    _drops_largest = True  # as in PyTorch, so that a seed drops the same elements

    def _importance(self, t: Tensor) -> Tensor:
        return _torch.rand_like(t)


class L1Unstructured(_Unstructured):
    """Drops the elements with the smallest absolute values.

    Args:
        amount: how many elements, or which share

    Example:
        >>> nn.utils.prune.L1Unstructured(amount=1).PRUNING_TYPE
        'unstructured'
    """

    def _importance(self, t: Tensor) -> Tensor:
        return _torch.abs(t)


class _Structured(_ByAmount):
    """Drops slices along `dim`."""

    PRUNING_TYPE = "structured"
    dim: int

    def _importance(self, t: Tensor) -> Tensor:
        """Returns a score for each slice."""
        raise NotImplementedError

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        if t.dim() <= 1:
            raise ValueError(
                "Structured pruning can only be applied to a multidimensional tensor. Found tensor of shape "
                f"{t.shape} with {t.dim()} dims"
            )
        if not -t.dim() <= self.dim < t.dim():
            raise IndexError(f"Invalid index {self.dim} for tensor of size {t.shape}")

        size = t.shape[self.dim]
        count = self._count(size)
        if count == 0:
            return default_mask

        kept = _torch.topk(self._importance(t), size - count, largest=True).indices
        mask = _torch.zeros_like(t)
        mask[(slice(None),) * (self.dim % t.dim()) + (kept,)] = 1

        return mask.to(dtype=default_mask.dtype) * default_mask


class RandomStructured(_Structured):
    """Drops slices along `dim` at random.

    Args:
        amount: how many slices, or which share
        dim: the dimension; default -1

    Example:
        >>> nn.utils.prune.RandomStructured(amount=1).PRUNING_TYPE
        'structured'
    """

    def __init__(self, amount: float, dim: int = -1) -> None:
        super().__init__(amount)
        self.dim = dim

    def _importance(self, t: Tensor) -> Tensor:
        return _torch.rand(t.shape[self.dim], device=t.device)


class LnStructured(_Structured):
    """Drops the slices along `dim` with the smallest norms of order `n`.

    Args:
        amount: how many slices, or which share
        n: the order of the norm
        dim: the dimension; default -1

    Example:
        >>> nn.utils.prune.LnStructured(amount=1, n=2).PRUNING_TYPE
        'structured'
    """

    def __init__(self, amount: float, n: float | str, dim: int = -1) -> None:
        super().__init__(amount)
        self.n = n
        self.dim = dim

    def _importance(self, t: Tensor) -> Tensor:
        others = [d for d in range(t.dim()) if d != self.dim % t.dim()]
        return norm(t, self.n, others)


class CustomFromMask(BasePruningMethod):
    """Drops the elements where `mask` is zero.

    Args:
        mask: zero where elements are dropped

    Example:
        >>> nn.utils.prune.CustomFromMask(torch.tensor([1, 0])).mask
        tensor([1, 0])
    """

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        if default_mask.shape != self.mask.shape:
            raise AssertionError(
                f"the mask must have the shape of the parameter, {default_mask.shape}, got {self.mask.shape}"
            )
        return default_mask * self.mask.to(dtype=default_mask.dtype)


def _contiguous() -> Any:
    return _C.contiguous_format


def _checked_scores(scores: Tensor | None, t: Tensor) -> Tensor:
    """Returns the importance scores, by default the parameter itself.

    Raises AssertionError for another shape.
    """
    if scores is not None and scores.shape != t.shape:
        raise AssertionError(
            f"importance_scores should have the same shape as parameter {t.shape}, got {scores.shape}"
        )
    return t if scores is None else scores


def _check_amount(amount: float) -> None:
    """Raises TypeError or ValueError unless the amount is a share in [0, 1] or a non-negative integer."""
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    if amount < 0 or (not isinstance(amount, numbers.Integral) and amount > 1.0):
        raise ValueError(
            f"amount={amount} should either be a float in the range [0.0, 1.0] or a non-negative integer"
        )


def identity(module: Module, name: str) -> Module:
    """Makes `name` a masked parameter without dropping anything.

    Returns `module`, like all functions here.

    Args:
        module: the module
        name: the parameter

    Example:
        >>> nn.utils.prune.identity(nn.Linear(2, 1), "weight").weight_mask
        tensor([[1., 1.]])
    """
    Identity.apply(module, name)
    return module


def random_unstructured(module: Module, name: str, amount: float) -> Module:
    """Drops `amount` elements (an int), or that share (a float from 0 to 1), at random.

    Args:
        module: the module
        name: the parameter
        amount: how many elements (an int), or which share (a float)

    Example:
        >>> layer = nn.utils.prune.random_unstructured(nn.Linear(3, 4), "weight", amount=5)
        >>> int(layer.weight_mask.sum())
        7
    """
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(
    module: Module, name: str, amount: float, importance_scores: Tensor | None = None
) -> Module:
    """Drops the `amount` elements of the parameter or of `importance_scores` that are closest to 0.

    Args:
        module: the module
        name: the parameter
        amount: how many elements (an int), or which share (a float)
        importance_scores: what is compared instead of the parameter; default None

    Example:
        >>> layer = nn.utils.prune.l1_unstructured(nn.Linear(2, 1), "weight", amount=1)
        >>> int(layer.weight_mask.sum())
        1
    """
    L1Unstructured.apply(module, name, amount, importance_scores=importance_scores)
    return module


def random_structured(module: Module, name: str, amount: float, dim: int) -> Module:
    """Drops `amount` slices along `dim` at random.

    Args:
        module: the module
        name: the parameter
        amount: how many slices (an int), or which share (a float)
        dim: the dimension

    Example:
        >>> layer = nn.utils.prune.random_structured(nn.Linear(3, 4), "weight", amount=1, dim=0)
        >>> int(layer.weight_mask.sum())
        9
    """
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(
    module: Module,
    name: str,
    amount: float,
    n: float | str,
    dim: int,
    importance_scores: Tensor | None = None,
) -> Module:
    """Drops the `amount` slices along `dim` with the smallest norms of order `n`.

    Args:
        module: the module
        name: the parameter
        amount: how many slices (an int), or which share (a float)
        n: the order of the norm
        dim: the dimension
        importance_scores: what is compared instead of the parameter; default None

    Example:
        >>> layer = nn.utils.prune.ln_structured(nn.Linear(3, 4), "weight", amount=1, n=2, dim=0)
        >>> int(layer.weight_mask.sum())
        9
    """
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: Module, name: str, mask: Tensor) -> Module:
    """Drops the elements where `mask` is zero.

    Args:
        module: the module
        name: the parameter
        mask: zero where elements are dropped

    Example:
        >>> layer = nn.utils.prune.custom_from_mask(nn.Linear(2, 1), "weight", torch.tensor([[1, 0]]))
        >>> layer.weight_mask
        tensor([[1., 0.]])
    """
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(
    parameters: Iterable[tuple[Module, str]],
    pruning_method: type[BasePruningMethod],
    importance_scores: dict[tuple[Module, str], Tensor] | None = None,
    **kwargs: Any,
) -> None:
    """Prunes several parameters as one: `amount` counts the elements of all of them together.

    `importance_scores` maps (module, name) to scores; the parameters' own values are the default. Raises
    TypeError if `parameters` is not iterable or the method is not unstructured.

    Args:
        parameters: pairs (module, name)
        pruning_method: the class of the method
        importance_scores: scores for pairs; default None
        kwargs: the arguments of the method

    Example:
        >>> model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
        >>> nn.utils.prune.global_unstructured(
        ...     [(model[0], "weight"), (model[1], "weight")], nn.utils.prune.L1Unstructured, amount=4
        ... )
        >>> int(model[0].weight_mask.sum() + model[1].weight_mask.sum())
        4
    """
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")

    pairs = list(parameters)
    scores = {} if importance_scores is None else importance_scores
    if not isinstance(scores, dict):
        raise TypeError("global_unstructured(): importance_scores should be of type dict")

    flat = _torch.cat([scores.get(pair, getattr(*pair)).detach().reshape(-1) for pair in pairs])
    masks = [
        getattr(module, f"{name}_mask", _torch.ones_like(getattr(module, name))) for module, name in pairs
    ]

    # Prune the joined tensor in a container that belongs to no module.
    container = PruningContainer()
    container._tensor_name = "temp"
    method = pruning_method(**kwargs)
    method._tensor_name = "temp"
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method '
            f"{pruning_method} of type "
            f"{method.PRUNING_TYPE}"
        )

    container.add_pruning_method(method)

    final = container.compute_mask(flat, _torch.cat([mask.reshape(-1) for mask in masks]))
    start = 0
    for (module, name), mask in zip(pairs, masks):
        custom_from_mask(module, name, mask=final[start : start + mask.numel()].view_as(mask))
        start += mask.numel()


def remove(module: Module, name: str) -> Module:
    """Makes the pruning of `name` permanent: it is a plain parameter again, with the zeros.

    Raises ValueError if it is not pruned.
    """
    for number, hook in _hooks_on(module, name):
        hook.remove(module)
        del module._forward_pre_hooks[number]
        return module
    raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")


def is_pruned(module: Module) -> bool:
    """Returns whether a parameter of this module or of one below is pruned.

    Args:
        module: the module

    Example:
        >>> nn.utils.prune.is_pruned(nn.Linear(2, 1))
        False
    """
    return any(
        isinstance(hook, BasePruningMethod)
        for each in module.modules()
        for hook in each._forward_pre_hooks.values()
    )
