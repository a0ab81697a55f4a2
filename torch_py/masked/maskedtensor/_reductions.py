"""Functions along dimensions, on masked tensors: those of `torch.masked`.

They are found before autograd, because their derivatives depend on the mask: a mean divides by the number of
valid elements. They are computed from the elements and the mask, as ordinary tensors that autograd knows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from torch_py import _C
from torch_py._tensor import Tensor
from torch_py.masked import _ops
from torch_py.masked._masks import any_valid
from torch_py.masked.maskedtensor.core import MaskedTensor, _Attach

_NORMS = ("norm", "vector_norm")
# The parameters of the functions of torch, in their order, after the input.
_REDUCTIONS = {
    **dict.fromkeys(
        ("sum", "mean", "prod", "amax", "amin", "argmax", "argmin", "logsumexp", "all"), ("dim", "keepdim")
    ),
    **dict.fromkeys(("var", "std"), ("dim", "unbiased", "keepdim")),
    **dict.fromkeys(_NORMS, ("ord", "dim", "keepdim")),
}
_ALONG_DIM = {
    **dict.fromkeys(("softmax", "log_softmax", "softmin"), ("dim", "dtype")),
    **dict.fromkeys(("_softmax", "_log_softmax"), ("dim", "half_to_float")),
    **dict.fromkeys(("cumsum", "cumprod"), ("dim",)),
}


def find(func: Any) -> Callable[..., MaskedTensor] | None:
    """What computes a function of torch on masked tensors; None unless it is along dimensions."""
    name = getattr(func, "__name__", "")
    return partial(_reduce, name) if name in _REDUCTIONS or name in _ALONG_DIM else None


def _reduce(name: str, input: MaskedTensor, *args: Any, **kwargs: Any) -> MaskedTensor:
    given = _named(name, args, kwargs)
    data, mask = input.get_data(), input.get_mask()
    if name in _ALONG_DIM:
        given.pop("half_to_float", None)
        dim = given.pop("dim", None)
        if dim is None:
            raise TypeError(f"{name}(): missing argument 'dim', which masked tensors need")
        return _Attach.apply(getattr(_ops, name.lstrip("_"))(data, dim, mask=mask, **given), mask)

    if name in _NORMS:
        given["ord"] = _order(given.get("ord"))
    function = _all if name == "all" else getattr(_ops, "norm" if name in _NORMS else name)
    result = function(data, mask=mask, **given)
    return _Attach.apply(result, any_valid(mask, given.get("dim"), given.get("keepdim", False)))


def _named(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a call by name, where they were given."""
    names: tuple[str, ...] = _REDUCTIONS.get(name) or _ALONG_DIM[name]
    if name in ("var", "std") and args and isinstance(args[0], bool):
        names = ("unbiased", "keepdim")  # x.var(False)
    if len(args) > len(names):
        raise TypeError(f"{name}(): masked tensors take {len(names)} arguments, but {len(args)} were given")

    given = dict(zip(names, args)) | kwargs
    given.pop("_stacklevel", None)
    if "p" in given:
        given["ord"] = given.pop("p")
    return {word: value for word, value in given.items() if value is not None}


def _order(order: Any) -> float:
    if order is None or order == "fro":
        return 2.0
    return float(order)


def _all(input: Tensor, dim: Any = None, *, keepdim: bool = False, mask: Tensor) -> Tensor:
    """Whether all valid elements are true."""
    true = _C._torch.logical_or(input, ~mask)
    return _C._torch.all(true) if dim is None else _C._torch.all(true, dim, keepdim)
