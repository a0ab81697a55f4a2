"""Whether a program depends on how its operators round: no other way to compute it need give the same."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch_py as torch
from torch_py.utils._python_dispatch import TorchDispatchMode
from torch_py.utils._pytree import tree_leaves, tree_map

_WAYS = 8  # in which operators round otherwise
_FACTOR = 4  # of the distance that values may have: eight ways seldom show the largest


class Rounding(TorchDispatchMode):
    """Changes what operators compute, and random numbers, by as much as `share` of the last digit: each
    element by itself where a result has one for each of the arguments, else those of the arguments.

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
        if not computed or is_view:
            return result

        # Random numbers are the arguments of programs, too, which may be off by a digit.
        kinds = {torch.Tag.pointwise, torch.Tag.nondeterministic_seeded}
        if not kinds.isdisjoint(func.tags) or any(alias is not None for alias in returns):
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
    """Whether the eager program differs from itself as much as from the compiled one if its operators round
    otherwise.

    `found` is what differs between two runs, by `difference`; `run` makes another one of the eager program.
    Values may be as far away as some of those are, each at its place. Where anything else differs, as after a
    branch, one of those must be the same as the compiled program.
    """
    others = list(_rounding_otherwise(run))
    if any(difference(other, compiled) is None for other in others):
        with Rounding(0, share=0.0):
            alone = run()
        return ": values: " in found or difference(eager, alone) is None  # the mode itself changes nothing
    if ": values: " not in found:
        return False

    expected, given, *rows = map(_tensors_of, (eager, compiled, *others))
    rows = [row for row in rows if _shapes(row) == _shapes(expected)]
    if _shapes(given) != _shapes(expected) or not rows:
        return False
    for own, its, *far in zip(expected, given, *rows):
        _take_close_ones(own, its, far)
    return difference(eager, compiled) is None


def _rounding_otherwise(run: Callable[[], dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for seed in range(_WAYS):
        with Rounding(seed):
            yield run()


def _tensors_of(outcome: dict[str, Any]) -> list[torch.Tensor]:
    """All tensors with digits that a run leaves behind, each once, in an order that all runs have."""
    found = {}
    for leaf in tree_leaves([outcome.get(kind) for kind in ("result", "gradient", "arguments", "state")]):
        parts = leaf.state_dict(keep_vars=True).values() if isinstance(leaf, torch.nn.Module) else [leaf]
        found.update({id(part): part for part in parts if _has_digits(part)})
    return list(found.values())


def _shapes(tensors: Sequence[torch.Tensor]) -> list[Any]:
    return [(tensor.shape, tensor.dtype) for tensor in tensors]


def _take_close_ones(expected: torch.Tensor, found: torch.Tensor, others: Sequence[torch.Tensor]) -> None:
    """Puts the elements of `found` into `expected` where these are as close as some of `others`."""
    wide = torch.complex128 if expected.is_complex() else torch.float64
    own, its, *far = (tensor.detach().to(wide) for tensor in (expected, found, *others))
    allowed = torch.stack([(other - own).abs() for other in far]).amax(0)
    close = (its - own).abs() <= _FACTOR * allowed
    with contextlib.suppress(RuntimeError):  # of elements that share one place
        expected.data.copy_(torch.where(close, found.detach(), expected.detach()))
