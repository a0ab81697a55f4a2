"""Functions along dimensions, on masked tensors: those of `torch.masked`.

They are found before autograd, because their derivatives depend on the mask: a mean divides by the number of
valid elements. They are computed from the elements and the mask, as ordinary tensors that autograd knows.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

from torch_py import _C
from torch_py._ops import ops
from torch_py._tensor import Tensor
from torch_py.masked import _ops
from torch_py.masked._masks import any_valid
from torch_py.masked.maskedtensor.core import MaskedTensor, _Attach


def find(func: Any) -> Callable[..., MaskedTensor] | None:
    """What computes a function of torch on masked tensors; None unless it is along dimensions."""
    name = getattr(func, "__name__", "")
    return partial(_reduce, name) if name in _functions() else None


@cache
def _functions() -> dict[str, Callable[..., Tensor]]:
    """The functions of `torch.masked` along a dimension that return one tensor, by the names of torch."""
    exported = {name: getattr(_ops, name) for name in _ops.__all__}
    found = {name: one for name, one in exported.items() if "dim" in _parameters(one)}
    found |= {"all": _all, "vector_norm": _ops.norm}
    found |= {f"_{name}": one for name, one in found.items() if _overloads(f"_{name}")}
    return {name: one for name, one in found.items() if all(map(_has_one_result, _overloads(name)))}


def _parameters(function: Callable[..., Any]) -> Sequence[str]:
    return list(inspect.signature(function).parameters)


def _overloads(name: str) -> list[Any]:
    """Those of the operator; none for a function of Python, such as `softmin`."""
    found: Any = getattr(ops.aten, name, None) or getattr(ops.aten, f"linalg_{name}", None)
    return [] if found is None else [getattr(found, overload) for overload in found.overloads()]


def _has_one_result(overload: Any) -> bool:
    return len(overload._schema.returns) == 1


def _reduce(name: str, input: MaskedTensor, *args: Any, **kwargs: Any) -> MaskedTensor:
    given = _named(name, args, kwargs)
    data, mask = input.get_data(), input.get_mask()
    function = _functions()[name]

    if "keepdim" not in _parameters(function):
        given.pop("half_to_float", None)
        dim = given.pop("dim", None)
        if dim is None:
            raise TypeError(f"{name}(): missing argument 'dim', which masked tensors need")
        return _Attach.apply(function(data, dim=dim, mask=mask, **given), mask)

    if "ord" in _parameters(function):
        given["ord"] = _order(given.get("ord"))
    result = function(data, mask=mask, **given)
    return _Attach.apply(result, any_valid(mask, given.get("dim"), given.get("keepdim", False)))


def _named(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a call by name, where they were given."""
    names = _positional(name)
    if "unbiased" in names and args and isinstance(args[0], bool):
        names = names[1:]  # x.var(False)
    if len(args) > len(names):
        raise TypeError(f"{name}(): masked tensors take {len(names)} arguments, but {len(args)} were given")

    given = dict(zip(names, args)) | kwargs
    given.pop("_stacklevel", None)
    if "p" in given:
        given["ord"] = given.pop("p")
    return {word: value for word, value in given.items() if value is not None}


@cache
def _positional(name: str) -> tuple[str, ...]:
    """The parameters after the input that calls may give by position: those of the overload with most."""
    schemas = [[a.name for a in one._schema.arguments if not a.kwarg_only] for one in _overloads(name)]
    names = max((names for names in schemas if "dim" in names), key=len, default=None)
    return tuple((names or _parameters(_functions()[name]))[1:])


def _order(order: Any) -> float:
    if order is None or order == "fro":
        return 2.0
    return float(order)


def _all(input: Tensor, dim: Any = None, *, keepdim: bool = False, mask: Tensor) -> Tensor:
    """Whether all valid elements are true."""
    true = _C._torch.logical_or(input, ~mask)
    return _C._torch.all(true) if dim is None else _C._torch.all(true, dim, keepdim)
