"""How operators act on masked tensors, below autograd.

The rule of an operator follows from what its entry declares: pointwise operators need equal masks, views and
operators with the tag `moves_elements` act on elements and mask alike. What has the sizes of its argument has
its mask.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch_py import _C
from torch_py._functional import broadcast_tensors
from torch_py._tensor import Tensor
from torch_py.masked.maskedtensor import _reductions
from torch_py.masked.maskedtensor.core import MaskedTensor
from torch_py.utils._pytree import tree_leaves, tree_map

_torch = _C._torch
Rule = Callable[[Any, Any, Any], Any]


def rule_of(func: Any) -> Rule | None:
    """The rule of an operator; None if masked tensors do not support it."""
    name = func.overloadpacket.__name__
    if name in _RULES:
        return _RULES[name]
    if _reductions.find(func.overloadpacket) is not None:
        return _reduction
    if any(argument.is_out for argument in func._schema.arguments):
        return None

    words = func._tag_words.split()
    if "same_geometry" in words:
        return _detach
    if not {"moves_elements", "view_copy"}.isdisjoint(words):
        return _write if func._schema.is_mutable else _move

    if _is_like_self(func):
        return _keep
    return {"pointwise": _pointwise, "view": _move, "mutation": _keep}.get(func._structure)


def _is_like_self(func: Any) -> bool:
    """Whether an operator makes a tensor with the sizes of its argument, as ``ones_like`` and ``to`` do.

    It has one tensor and a device, and no integers that say sizes.
    """
    kinds = [argument.type.partition("?")[0] for argument in func._schema.arguments]
    has_integers = any(kind.startswith(("int", "SymInt")) for kind in kinds)
    return kinds.count("Tensor") == 1 and "Device" in kinds and not has_integers


def _masked_ones(args: Any, kwargs: Any) -> list[MaskedTensor]:
    return [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, MaskedTensor)]


def _data(tree: Any) -> Any:
    """Elements in the place of masked tensors."""
    return tree_map(lambda leaf: leaf._masked_data if isinstance(leaf, MaskedTensor) else leaf, tree)


def _result(func: Any, args: Any, data: Tensor, mask: Tensor) -> MaskedTensor:
    """The result; the first argument itself if the operator has changed it in place."""
    if func._schema.is_mutable:
        changed: MaskedTensor = args[0]
        return changed
    return MaskedTensor._from_parts(data, mask)


def _common_mask(found: list[MaskedTensor]) -> Tensor:
    """The mask that all have, after broadcasting. Raises ValueError if they differ."""
    masks = broadcast_tensors(*(one._masked_mask for one in found))
    if not all(_torch.equal(masks[0], mask) for mask in masks[1:]):
        raise ValueError(
            "Input masks must match: where elements of one masked tensor are valid, those of the others must "
            "be. Combine them by hand, with get_data() and get_mask()."
        )
    return masks[0]


def _pointwise(func: Any, args: Any, kwargs: Any) -> MaskedTensor:
    mask = _common_mask(_masked_ones(args, kwargs))
    if func._schema.is_mutable and not isinstance(args[0], MaskedTensor):
        raise TypeError(f"{func}: a masked tensor cannot be written to an ordinary one, which has no mask")
    data = func(*_data(args), **_data(kwargs))
    return _result(func, args, data, mask.expand(data.shape).clone())


def _move(func: Any, args: Any, kwargs: Any) -> Any:
    """Elements and masks move alike; ordinary tensors, such as some of a `cat`, are valid everywhere."""
    data = func(*_data(args), **_data(kwargs))
    first = args[0] if isinstance(args[0], (list, tuple)) else (args[0],)
    valid = [
        one._masked_mask if isinstance(one, MaskedTensor) else _torch.ones_like(one, dtype=_C.bool)
        for one in first
    ]
    moved = func(valid if isinstance(args[0], (list, tuple)) else valid[0], *_data(args[1:]), **_data(kwargs))

    if isinstance(data, Tensor):
        return MaskedTensor._from_parts(data, moved)
    return type(data)(MaskedTensor._from_parts(*pair) for pair in zip(data, moved))


def _keep(func: Any, args: Any, kwargs: Any) -> MaskedTensor:
    """The result has the mask of the first argument."""
    if not isinstance(args[0], MaskedTensor):
        raise TypeError(f"{func}: a masked tensor cannot be written to an ordinary one, which has no mask")
    data = func(*_data(args), **_data(kwargs))
    return _result(func, args, data, args[0]._masked_mask)


def _write(func: Any, args: Any, kwargs: Any) -> MaskedTensor:
    """What is written is as valid as where it comes from."""
    target = args[0]
    if not isinstance(target, MaskedTensor):
        raise TypeError(f"{func}: a masked tensor cannot be written to an ordinary one, which has no mask")
    func(*_data(args), **_data(kwargs))

    at = max(i for i, argument in enumerate(func._schema.arguments) if argument.type == "Tensor")
    source = args[at]
    valid = source._masked_mask if isinstance(source, MaskedTensor) else _torch.ones((), dtype=_C.bool)
    func(target._masked_mask, *_data(args[1:at]), valid)
    return target


def _new_zeros(func: Any, args: Any, kwargs: Any) -> MaskedTensor:
    """Zeros of which none is valid yet: gradients of views are written into them."""
    data = func(*_data(args), **kwargs)
    return MaskedTensor._from_parts(data, _torch.zeros_like(data, dtype=_C.bool))


def _choose(func: Any, args: Any, kwargs: Any) -> MaskedTensor:
    """``where(condition, self, other)``: each result is as valid as the element that was chosen."""
    condition, *pair = args
    if isinstance(condition, MaskedTensor):
        raise TypeError(f"{func}: the condition is a masked tensor; use its get_data() or to_tensor(False)")
    everywhere = _torch.ones((), dtype=_C.bool)
    masks = [one._masked_mask if isinstance(one, MaskedTensor) else everywhere for one in pair]
    return MaskedTensor._from_parts(func(*_data(args)), _torch.where(condition, *masks))


def _reduction(func: Any, args: Any, kwargs: Any) -> MaskedTensor:
    """Reductions of gradients, which autograd makes from gradients of tensors that were broadcast."""
    reduce = _reductions.find(func.overloadpacket)
    if reduce is None:
        raise TypeError(f"{func} is not a reduction")
    return reduce(*args, **kwargs)


def _detach(func: Any, args: Any, kwargs: Any) -> MaskedTensor:
    return MaskedTensor._from_parts(args[0]._masked_data, args[0]._masked_mask)


_RULES: dict[str, Rule] = {
    "new_zeros": _new_zeros,
    "where": _choose,
}
