"""Functions that prune parameters of modules."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from torch_py._C import _torch
from torch_py._tensor import Tensor
from torch_py.nn.modules.module import Module
from torch_py.nn.utils.prune._base import BasePruningMethod, PruningContainer, _hooks_on
from torch_py.nn.utils.prune._methods import (
    CustomFromMask,
    Identity,
    L1Unstructured,
    LnStructured,
    RandomStructured,
    RandomUnstructured,
)

__all__ = [
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
    """Makes the pruning of a parameter permanent: it is a plain parameter again, with zeros where elements
    were dropped.

    Args:
        module: the module that has the parameter
        name: the name of the parameter, such as 'weight'

    Returns:
        The module.

    Raises:
        ValueError: the parameter is not pruned

    Example:
        >>> layer = nn.utils.prune.l1_unstructured(nn.Linear(4, 1), "weight", amount=2)
        >>> [name for name, _ in layer.named_parameters()]
        ['bias', 'weight_orig']
        >>> layer = nn.utils.prune.remove(layer, "weight")
        >>> [name for name, _ in layer.named_parameters()], int((layer.weight == 0).sum())
        (['bias', 'weight'], 2)
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
