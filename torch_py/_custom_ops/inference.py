"""The schema of a function, read from its annotations."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from torch_py import _C
from torch_py._tensor import Tensor

_REQUIRED = inspect.Parameter.empty


def _type_names() -> dict[Any, str]:
    # Sizes are ints here, and symbolic integers in schemas.
    names: dict[Any, str] = {
        Tensor: "Tensor",
        int: "SymInt",
        float: "float",
        bool: "bool",
        str: "str",
        _C.dtype: "ScalarType",
        _C.device: "Device",
        int | float | bool: "Scalar",
        type(None): "()",
        None: "()",
    }
    return names


def _type_name(annotation: Any, what: str) -> str:
    names = _type_names()
    try:
        if annotation in names:
            return names[annotation]
    except TypeError:
        pass

    origin = typing.get_origin(annotation)
    parts = typing.get_args(annotation)
    if origin in (list, Sequence, tuple) and parts:
        return f"{_type_name(parts[0], what)}[]"

    others = [part for part in parts if part is not type(None)]
    if len(others) == len(parts) - 1 and others:
        return f"{_type_name(typing.Union[tuple(others)], what)}?"  # noqa: UP007  # of a list that is not written out

    raise ValueError(
        f"infer_schema: {what} has the annotation {annotation!r}, which is not a type of an operator"
    )


def infer_schema(
    prototype_function: Callable[..., Any],
    /,
    *,
    mutates_args: str | Iterable[str] = (),
    op_name: str | None = None,
) -> str:
    """The schema of a function from its annotations.

    Raises ValueError when one is missing or no type of an operator.
    """
    hints = typing.get_type_hints(prototype_function)
    parts = []
    seen_star = False
    writes = {mutates_args} if isinstance(mutates_args, str) else set(mutates_args)
    parameters = inspect.signature(prototype_function).parameters

    if unknown := writes - {"unknown"} - set(parameters):
        raise ValueError(
            f"infer_schema: mutates_args names {sorted(unknown)}, which the function does not have: "
            f"{list(parameters)}"
        )

    for place, (name, parameter) in enumerate(parameters.items()):
        if parameter.kind is parameter.KEYWORD_ONLY and not seen_star:
            parts.append("*")
            seen_star = True

        if name not in hints:
            raise ValueError(f"infer_schema: parameter {name!r} must have a type annotation")

        kind = _type_name(hints[name], f"parameter {name!r}")
        if kind.startswith("Tensor") and (name in writes or "unknown" in writes):
            kind = kind.replace("Tensor", f"Tensor(a{place}!)", 1)
        default = "" if parameter.default is _REQUIRED else f"={_written(parameter.default)}"
        parts.append(f"{kind} {name}{default}")

    return f"{op_name or ''}({', '.join(parts)}) -> {_result_name(hints.get('return', _REQUIRED))}"


def _written(default: Any) -> str:
    return str(default).removeprefix("torch.") if isinstance(default, _C.dtype) else repr(default)


def _result_name(annotation: Any) -> str:
    if annotation is _REQUIRED:
        raise ValueError("infer_schema: the function must have an annotation of what it returns")
    if typing.get_origin(annotation) is tuple:
        return f"({', '.join(_type_name(part, 'the result') for part in typing.get_args(annotation))})"
    return _type_name(annotation, "the result")
