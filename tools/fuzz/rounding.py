"""Whether a program depends on how its operators round: no other way to compute it need give the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch_py as torch
from torch_py.utils._python_dispatch import TorchDispatchMode
from torch_py.utils._pytree import tree_leaves, tree_map

_WAYS = 8  # in which operators round otherwise


class Rounding(TorchDispatchMode):
    """Changes what operators compute by as much as `share` of the last digit: each element by itself where a
    result has one for each of the arguments, else those of the arguments.

    What an operator only copies, or counts, stays the same.
    """

    def __init__(self, seed: int, share: float = 1.0) -> None:
        super().__init__()
        self.generator = torch.Generator().manual_seed(seed)
        self.share = share

    def __torch_dispatch__(
        self, func: Any, types: Sequence[type], args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        known = _numbers_in((args, kwargs))
        result = func(*args, **kwargs)
        computed = [one for one in tree_leaves(result) if _is_computed(one, known)]
        returns = [one.alias_info for one in func._schema.returns]
        is_view = any(alias is not None and not alias.is_write for alias in returns)
        if not computed or is_view or torch.Tag.nondeterministic_seeded in func.tags:
            return result

        if torch.Tag.pointwise in func.tags or any(alias is not None for alias in returns):
            for tensor in computed:
                tensor.copy_(torch.where(_are_among(tensor, known), tensor, self._rounded(tensor)))
            return result
        return func(*tree_map(self._rounded, args), **tree_map(self._rounded, kwargs))

    def _rounded(self, value: Any) -> Any:
        if not _has_digits(value):
            return value
        places = torch.rand(value.shape, generator=self.generator, dtype=torch.float64) * 2 - 1
        return (value * (1 + self.share * torch.finfo(value.dtype).eps * places)).to(value.dtype)


def _has_digits(value: Any) -> bool:
    is_plain = isinstance(value, torch.Tensor) and value.device.type == "cpu" and not value.is_sparse
    return is_plain and (value.is_floating_point() or value.is_complex()) and value.numel() > 0


def _numbers_in(values: Any) -> torch.Tensor:
    """The sizes of all numbers of the arguments of an operator."""
    leaves = tree_leaves(values)
    tensors = [one.detach().flatten().abs().double() for one in leaves if _has_digits(one)]
    numbers = [abs(one) for one in leaves if isinstance(one, (int, float))]
    return torch.cat([*tensors, torch.tensor([0.0, 1.0, *numbers], dtype=torch.float64)])


def _are_among(tensor: torch.Tensor, known: torch.Tensor) -> torch.Tensor:
    return torch.isin(tensor.detach().abs().double(), known)


def _is_computed(result: Any, known: torch.Tensor) -> bool:
    """Whether a result has numbers that are not those of arguments and do not follow from whole numbers."""
    if not _has_digits(result) or bool(_are_among(result, known).all()):
        return False
    sizes = torch.cat([known, result.detach().flatten().abs().double()])
    return not bool((sizes == sizes.round()).all())


def explains(
    found: str,
    eager: dict[str, Any],
    compiled: dict[str, Any],
    run: Callable[[], dict[str, Any]],
    difference: Callable[[dict[str, Any], dict[str, Any]], str | None],
) -> bool:
    """Whether the eager program differs in the same way from itself if its operators round otherwise.

    `found` is what differs between two runs, by `difference`; `run` makes another one of the eager program.
    Where anything but values differs, as after a branch, one of those must be the same as the compiled one.
    """
    kind = found.split(":")[:2]
    is_of_values = kind[1:] == [" values"]
    with Rounding(0, share=0.0):
        if not is_of_values and difference(eager, run()) is not None:
            return False  # the mode itself makes the difference
    for seed in range(_WAYS):
        with Rounding(seed):
            other = run()
        is_same = difference(other, compiled) is None
        if is_same or (is_of_values and str(difference(eager, other)).split(":")[:2] == kind):
            return True
    return False
