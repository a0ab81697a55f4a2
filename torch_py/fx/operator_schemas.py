"""Signatures of what nodes call, and arguments brought into the form that a signature gives them."""

from __future__ import annotations

import ast
import inspect
import re
import typing
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType
from typing import Any, NamedTuple

import torch_py
from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py._tensor import Tensor
from torch_py.fx._attributes import get_attr, has_attr
from torch_py.nn.modules.module import Module

__all__ = [
    "ArgsKwargsPair",
    "check_for_mutable_operation",
    "create_type_hint",
    "get_signature_for_torch_op",
    "normalize_function",
    "normalize_module",
    "type_matches",
]

# What annotations of operators mean; other types can be anything.
_NUMBER = float | int | complex | bool
_TYPES: dict[str, Any] = {
    **dict.fromkeys(("device", "dtype", "layout", "memory_format", "Generator"), Any),
    "Tensor": Tensor,
    "Number": _NUMBER,
    "Sequence": list,
    "None": None,
}
_IN_PLACE = re.compile(r"[a-z0-9]_$")


class ArgsKwargsPair(NamedTuple):
    """Positional and keyword arguments."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


# Signatures
# ------------------------------------------------------------


def get_signature_for_torch_op(op: Callable[..., Any], return_schemas: bool = False) -> Any:
    """The signatures of an operator of torch, one for each overload; None for other functions.

    With `return_schemas`, a tuple of them and of their texts.
    """
    module = (getattr(op, "__module__", None) or "").partition(".")[0]
    if not isinstance(op, BuiltinFunctionType) or module not in ("torch_py", "torch"):
        return (None, None) if return_schemas else None
    if op.__text_signature__ is not None:
        texts = [f"{op.__name__}{op.__text_signature__}"]
    else:
        lines = (op.__doc__ or "").split("\n")
        texts = [line for line in lines if line.startswith(f"{op.__name__}(")]
    signatures = [signature for text in texts if (signature := _parsed(text)) is not None]
    return (signatures, texts) if return_schemas else signatures


def _parsed(text: str) -> inspect.Signature | None:
    """`add(input: Tensor, other: Tensor, *, alpha: Number = 1) -> Tensor` as a signature."""
    try:
        (function,) = ast.parse(f"def {text}: ...").body
    except SyntaxError:  # a name that Python reserves
        return None

    assert isinstance(function, ast.FunctionDef)
    if function.args.vararg is not None:  # the same as a sequence
        return None
    named = [*function.args.posonlyargs, *function.args.args]
    defaults: list[ast.expr | None] = [None] * (len(named) - len(function.args.defaults))
    defaults += function.args.defaults
    parameters = [
        _parameter(parameter, default, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        for parameter, default in zip(named, defaults, strict=True)
    ]
    parameters += [
        _parameter(parameter, default, inspect.Parameter.KEYWORD_ONLY)
        for parameter, default in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)
    ]
    return inspect.Signature(parameters)


def _parameter(parameter: ast.arg, default: ast.expr | None, kind: Any) -> inspect.Parameter:
    annotation: Any = Any
    if parameter.annotation is not None:
        annotation = eval(ast.unparse(parameter.annotation), dict(_TYPES))
    value = inspect.Parameter.empty if default is None else _default(ast.unparse(default))
    return inspect.Parameter(parameter.arg, kind, default=value, annotation=annotation)


def _default(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):  # torch.preserve_format
        name = text.removeprefix("torch.")
        return getattr(torch_py, name, text)


def create_type_hint(x: object) -> object:
    """A list or tuple of types as the type of a list or tuple: `[int, int]` as `list[int]`."""
    if not isinstance(x, (list, tuple)):
        return x
    common = x[0] if x and all(kind == x[0] for kind in x) else Any
    return list[common] if isinstance(x, list) else tuple[common, ...]  # type: ignore[valid-type]


def type_matches(signature_type: Any, argument_type: Any) -> bool:
    """Whether a value of one type can be passed where the other is declared."""
    if signature_type is argument_type or signature_type is Any:
        return True

    choices = typing.get_args(signature_type)
    origin = typing.get_origin(signature_type)
    if origin is typing.Union or type(signature_type).__name__ == "UnionType":
        return any(type_matches(choice, argument_type) for choice in choices)
    if origin is list and argument_type is choices[0]:
        return True  # one number where a list of them is declared
    if origin is list and typing.get_origin(argument_type) in (list, tuple):
        return all(kind is ... or type_matches(choices[0], kind) for kind in typing.get_args(argument_type))
    if isinstance(signature_type, type) and isinstance(argument_type, type):
        return issubclass(argument_type, signature_type) or (signature_type is float and argument_type is int)
    return False


# Normal form
# ------------------------------------------------------------


def normalize_function(
    target: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    arg_types: tuple[Any, ...] | None = None,
    kwarg_types: dict[str, Any] | None = None,
    normalize_to_only_use_kwargs: bool = False,
) -> ArgsKwargsPair | None:
    """The arguments of a call with defaults filled in, and with `normalize_to_only_use_kwargs` all by name.

    None if there is no signature, or none that fits. Where several overloads fit, the types of the arguments
    decide; raises RuntimeError if they do not.
    """
    kwargs = kwargs or {}
    if isinstance(target, FunctionType):
        return _bound(inspect.signature(inspect.unwrap(target)), args, kwargs, normalize_to_only_use_kwargs)

    signatures = get_signature_for_torch_op(target)
    fitting = [signature for signature in signatures or () if _fits(signature, args, kwargs)]
    if len(fitting) > 1 and (arg_types is not None or kwarg_types is not None):
        fitting = [
            signature for signature in fitting if _types_fit(signature, arg_types or (), kwarg_types or {})
        ][:1]
    if len(fitting) > 1:
        listed = "\n".join(map(str, signatures))
        raise RuntimeError(
            f"Tried to normalize arguments to {target.__name__} but the schema match was ambiguous! Please "
            f"provide argument types to the normalize_arguments() call. Available schemas:\n{listed}"
        )
    if not fitting:
        return None
    return _bound(fitting[0], args, kwargs, normalize_to_only_use_kwargs)


def normalize_module(
    root: Module,
    target: str,
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    normalize_to_only_use_kwargs: bool = False,
) -> ArgsKwargsPair | None:
    """The arguments of a call of the submodule at `target`, as `normalize_function` gives them; None for
    modules that are not of torch.nn. Raises RuntimeError if there is no such submodule."""
    if not has_attr(root, target):
        raise RuntimeError(f"Tried to normalize node with target {target} but root did not have that target!")
    submodule = get_attr(root, target)
    if not type(submodule).__module__.startswith(("torch_py.nn.", "torch.nn.")):
        return None
    return _bound(inspect.signature(submodule.forward), args, kwargs or {}, normalize_to_only_use_kwargs)


def _fits(signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    try:
        signature.bind(*args, **kwargs)
    except TypeError:
        return False
    return True


def _types_fit(signature: inspect.Signature, arg_types: tuple[Any, ...], kwarg_types: dict[str, Any]) -> bool:
    try:
        bound = signature.bind(*arg_types, **kwarg_types)
    except TypeError:
        return False
    return all(
        type_matches(signature.parameters[name].annotation, kind) for name, kind in bound.arguments.items()
    )


def _bound(
    signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any], by_name: bool
) -> ArgsKwargsPair | None:
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    if any(parameter.kind in variable for parameter in signature.parameters.values()):
        return None
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError:
        return None
    bound.apply_defaults()
    if bound.arguments.get("out", ...) is None:
        del bound.arguments["out"]

    positional = () if by_name else tuple(list(bound.arguments.values())[: len(args)])
    names = list(bound.arguments)[len(positional) :]
    return ArgsKwargsPair(positional, {name: bound.arguments[name] for name in names})


def check_for_mutable_operation(
    target: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    """Raises RuntimeError if an operator of torch changes an argument, or writes to `out`."""
    if get_signature_for_torch_op(target) is None:
        return
    if _IN_PLACE.search(target.__name__) or kwargs.get("out") is not None:
        raise RuntimeError(
            f"Tried to trace mutable operation {target.__name__}. FX only supports functional code, so "
            "operations that mutate operands in-place (e.g. via `out` arguments) are not supported"
        )


__getattr__ = _lacking(__name__)
