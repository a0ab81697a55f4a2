"""Binds a call to an operator's schema: which overload it is, and each argument by its name."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch_py import _C
from torch_py._functorch.operators import Operator, call_of
from torch_py._tensor import Tensor

# Methods of Tensor that are not in the table of operators.
_WRITTEN: dict[str, tuple[str, ...]] = {
    "__getitem__": ("self", "index"),
    "__setitem__": ("self", "index", "value"),
    "__iter__": ("self",),
    "type": ("self", "dtype"),
    "T": ("self",),
    "mT": ("self",),
    "H": ("self",),
    "mH": ("self",),
    "data": ("self",),
    "real": ("self",),
    "masked_fill": ("self", "mask", "value"),
    "unflatten": ("self", "dim", "sizes"),
    "new_tensor": ("self", "data"),
}
_SYNONYMS = {"input": "self", "axis": "dim", "keepdims": "keepdim", "x1": "self", "x2": "other"}
_IGNORED = (
    "layout",
    "device",
    "pin_memory",
    "memory_format",
    "non_blocking",
    "copy",
    "out",
    "generator",
    "requires_grad",
)
_PREFIXES = ("linalg_", "special_", "fft_")


def bind(
    func: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[str, bool, dict[str, Any]]:
    """The name of the operator, whether the call is in place, and its arguments by name with defaults filled
    in.

    A callable that is not in the table of operators gets its arguments as `args` and `kwargs`.
    """
    called = call_of(func)
    if called.name in _WRITTEN:
        bound = dict(zip(_WRITTEN[called.name], args)) | {
            _SYNONYMS.get(key, key): value for key, value in kwargs.items()
        }
        return called.name, called.is_inplace, bound

    # First the overload whose argument types fit, then any whose number of arguments fits.
    for matches in (_matches, lambda kind, value: True):
        for operator in _candidates(func, called.overloads):
            found = _bound(operator, args, kwargs, matches)
            if found is not None:
                return operator.name.partition(".")[0], called.is_inplace, found

    return called.name, called.is_inplace, {"args": list(args), "kwargs": dict(kwargs)}


def _candidates(func: Callable[..., Any], overloads: Sequence[Operator]) -> list[Operator]:
    """The overloads from the module of `func`: `norm` is not `linalg.norm`."""
    module = str(getattr(func, "__module__", None) or "")
    prefix = next((prefix for prefix in _PREFIXES if module.endswith("_" + prefix[:-1])), "")
    own = [
        o for o in overloads if (o.name.startswith(prefix) if prefix else not o.name.startswith(_PREFIXES))
    ]
    return own or list(overloads)


def _bound(
    operator: Operator, args: Sequence[Any], kwargs: Mapping[str, Any], matches: Callable[[str, Any], bool]
) -> dict[str, Any] | None:
    """The arguments by name, or None if they do not fit the overload."""
    names = [name for name, _, _ in operator.arguments]
    kinds = {name: kind for name, kind, _ in operator.arguments}
    values = _collected(operator, args)
    if len(values) > len(names):
        return None

    found = dict(zip(names, values))
    for key, value in kwargs.items():
        name = key if key in kinds else _SYNONYMS.get(key, key)
        if name in found or (name not in kinds and name not in _IGNORED):
            return None
        if name in kinds:
            found[name] = value

    for name, kind, default in operator.arguments:
        if name in found:
            if not matches(kind, found[name]):
                return None
        elif default is None:
            return None
        else:
            found[name] = _default(default)

    return found


def _collected(operator: Operator, args: Sequence[Any]) -> list[Any]:
    """Collects separate sizes into a list: `x.view(2, 3)` means `x.view((2, 3))`."""
    for position, (_, kind, _) in enumerate(operator.arguments):
        if kind in ("int[]", "SymInt[]", "Tensor[]") and len(args) > position:
            rest = args[position:]
            if len(rest) > 1 and all(
                isinstance(value, (int, Tensor)) and not isinstance(value, bool) for value in rest
            ):
                return [*args[:position], list(rest)]
            break
    return list(args)


@functools.cache
def _default(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return getattr(_C, text, text)  # long, contiguous_format


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, complex))


def _is_sequence(value: Any, member: Callable[[Any], bool]) -> bool:
    return isinstance(value, (list, tuple)) and all(member(v) for v in value)


_CHECKS: dict[str, Callable[[Any], bool]] = {
    "Tensor": lambda v: isinstance(v, Tensor) or _is_number(v),
    "Scalar": _is_number,
    "int": _is_int,
    "SymInt": _is_int,
    "float": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
    "bool": lambda v: isinstance(v, bool),
    "str": lambda v: isinstance(v, str),
    "ScalarType": lambda v: isinstance(v, _C.dtype) or v in (int, float, bool),
    "Device": lambda v: isinstance(v, (str, _C.device)),
    "Tensor[]": lambda v: _is_sequence(v, lambda m: isinstance(m, Tensor)),
    "Tensor?[]": lambda v: _is_sequence(v, lambda m: m is None or isinstance(m, Tensor)),
}


def _matches(kind: str, value: Any) -> bool:
    if kind.endswith("?"):
        if value is None:
            return True
        kind = kind[:-1]

    if kind in _CHECKS:
        return _CHECKS[kind](value)
    if kind.startswith(("int[", "SymInt[")):
        takes_one = kind[-2] != "["  # int[2]: one number is used for all
        return _is_sequence(value, _is_int) or (takes_one and _is_int(value))
    if kind.startswith(("float[", "Scalar[")):
        return _is_sequence(value, _is_number)
    return True
