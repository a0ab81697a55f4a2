"""Operators written in Python: called as `torch.ops.NAMESPACE.NAME`, with kernels by device, a shape rule for
meta tensors, a gradient.

Operators of torch_py itself come from native_functions.yaml (or `torch.utils.build_operators`);
``Library("aten", "IMPL")`` puts a Python function in the place of one of their kernels.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from torch_py import _C
from torch_py._custom_ops.operator import CustomOperator
from torch_py._custom_ops.registry import declare, find, forget, operator_of
from torch_py._custom_ops.schema import Schema, infer_schema, parse_schema
from torch_py._dispatch_keys import keys_named
from torch_py._pytorch_names.packages import lacking as _lacking

__all__ = [
    "CustomOpDef",
    "Library",
    "custom_op",
    "define",
    "fallthrough_kernel",
    "get_ctx",
    "impl",
    "impl_abstract",
    "infer_schema",
    "opcheck",
    "register_autograd",
    "register_fake",
    "register_kernel",
    "register_torch_dispatch",
    "register_vmap",
    "triton_op",
    "wrap_triton",
]

CustomOpDef = CustomOperator
_EVERYWHERE = ("CompositeExplicitAutograd", "CompositeImplicitAutograd", "default", "")


def _devices(types: Any) -> tuple[str | None, ...]:
    """Device types or dispatch keys as device types; None means all of them."""
    if types is None:
        return (None,)
    names = [types] if isinstance(types, str) else list(types)
    return tuple(None if name in _EVERYWHERE else name.lower() for name in names)


def custom_op(
    name: str,
    fn: Any = None,
    /,
    *,
    mutates_args: str | Iterable[str],
    device_types: Any = None,
    schema: str | None = None,
    tags: Any = None,
) -> Any:
    """Makes a function the operator `name` ("namespace::name"); a decorator when `fn` is left out.

    The schema is read from the annotations unless given. The function must not return its arguments or views
    of them, and may write to the arguments `mutates_args` only. Raises ValueError for a bad name or
    annotation.
    """

    def make(function: Callable[..., Any]) -> CustomOperator:
        text = infer_schema(function, mutates_args=mutates_args) if schema is None else schema
        operator = declare(parse_schema(f"{name}{text}"), function, replaces=True)
        for device in _devices(device_types):
            operator.kernels[device] = function
        return operator

    return make if fn is None else make(fn)


def triton_op(
    name: str, fn: Any = None, /, *, mutates_args: str | Iterable[str], schema: str | None = None
) -> Any:
    """As `custom_op`."""
    return custom_op(name, fn, mutates_args=mutates_args, schema=schema)


def wrap_triton(triton_kernel: Any, /) -> Any:
    """Returns the kernel unchanged; only a tracer would need it."""
    return triton_kernel


def define(qualname: str, schema: Any, *, lib: Any = None, tags: Any = ()) -> Any:
    """Declares operator `qualname` with `schema`, "(Tensor x, int n) -> Tensor", without kernels yet."""
    if not isinstance(qualname, str):
        raise ValueError(
            f"define(qualname, schema): expected qualname to be instance of str, got {type(qualname)}"
        )
    return declare(parse_schema(f"{qualname}{schema}"), None)


def impl(qualname: str, types: Any, func: Any = None, *, lib: Any = None) -> Any:
    """Registers a kernel for device types ("cpu", "default" for all); a decorator without `func`."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        for device in _devices(types):
            find(qualname).kernels[device] = function
        return function

    return register if func is None else register(func)


def register_kernel(op: Any, device_types: Any, func: Any = None, /, *, lib: Any = None) -> Any:
    """As `impl`, for a name or what `custom_op` returned."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        for device in _devices(device_types):
            operator_of(op).kernels[device] = function
        return function

    return register if func is None else register(func)


def register_fake(
    op: Any, func: Any = None, /, *, lib: Any = None, _stacklevel: int = 1, allow_override: bool = True
) -> Any:
    """Registers what the operator does with meta tensors: the shapes and dtypes of results.

    A decorator without `func`.
    """

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        operator_of(op).fake = function
        return function

    return register if func is None else register(func)


impl_abstract = register_fake


def register_autograd(
    op: Any, backward: Callable[..., Any], /, *, setup_context: Any = None, lib: Any = None
) -> None:
    """The gradient: ``backward(ctx, *grads)`` returns one for each argument;
    ``setup_context(ctx, inputs, output)`` saves for it."""
    operator_of(op).set_autograd(backward, setup_context)


def register_vmap(op: Any, func: Any = None, /, *, lib: Any = None) -> Any:
    """Raises NotImplementedError: vmap over custom operators is not supported."""
    raise NotImplementedError(
        "torch.library.register_vmap: batching rules of custom operators are not supported"
    )


def register_torch_dispatch(
    op: Any, torch_dispatch_class: Any, func: Any = None, /, *, lib: Any = None
) -> NoReturn:
    raise NotImplementedError(
        "torch.library.register_torch_dispatch: define __torch_dispatch__ in the class of the tensors instead"
    )


def get_ctx() -> NoReturn:
    """Raises NotImplementedError: only a tracer needs sizes known at run time."""
    raise RuntimeError(
        "torch.library.get_ctx() can only be called inside of a fake impl that is being traced; torch_py "
        "does not trace"
    )


def fallthrough_kernel(*arguments: Any, **keywords: Any) -> NoReturn:
    raise NotImplementedError("fallthrough_kernel() should never be called.")


def opcheck(
    op: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None, **options: Any
) -> dict[str, str]:
    """Calls the operator and, where it has one, its shape rule, and compares them.

    Raises AssertionError when they differ.
    """
    return operator_of(op).check(args, kwargs or {})


def _name_of(operator: Any) -> str:
    """The name of an operator's object: a method of overloads, an attribute of custom operators."""
    name = operator.name
    return str(name() if callable(name) else name)


def _take_back(defined: list[str], replaced: list[tuple[Any, Any]]) -> None:
    """Ends a library: its operators are gone, and kernels that it replaced serve again."""
    forget(defined)
    defined.clear()
    for overload, key in replaced:
        overload._set_python_kernel(key, None)
    replaced.clear()


class Library:
    """Operators of namespace `ns`: "DEF" declares them, "FRAGMENT" adds to them, "IMPL" registers kernels.

    The operators that it declares exist as long as it does.
    """

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        if kind not in ("DEF", "FRAGMENT", "IMPL"):
            raise ValueError(f"Unsupported library kind: {kind}")
        self.ns = ns
        self.kind = kind
        self.dispatch_key = dispatch_key
        self._defined: list[str] = []
        self._replaced: list[tuple[Any, Any]] = []  # operator and key
        weakref.finalize(self, _take_back, self._defined, self._replaced).atexit = False

    def __repr__(self) -> str:
        return f"Library(kind={self.kind}, ns={self.ns}, dispatch_key={self.dispatch_key})"

    def define(self, schema: str, alias_analysis: str = "", *, tags: Any = ()) -> str:
        """Declares an operator, "name(Tensor x) -> Tensor"; returns its name."""
        parsed = parse_schema(f"{self.ns}::{schema}")
        declare(parsed, None)
        self._defined.append(parsed.name)
        return parsed.name

    def impl(self, op_name: Any, fn: Callable[..., Any], dispatch_key: str = "", **options: Any) -> None:
        """Registers a kernel under a dispatch key: of a device, Meta (the shape rule), Autograd (replaces the
        whole operator), or of all.

        For an operator of torch_py itself, `fn` takes the place of its kernel for the key as long as this
        library exists; with ``with_keyset=True`` it receives the keys of the call first.
        """
        name = op_name if isinstance(op_name, str) else _name_of(op_name)
        qualified = name if "::" in name else f"{self.ns}::{name}"
        key = dispatch_key or self.dispatch_key
        if qualified.startswith("aten::"):
            self._impl_native(qualified.removeprefix("aten::"), fn, key, options.get("with_keyset", False))
            return
        operator = find(qualified)

        if key == "Meta":
            operator.fake = fn
        elif key.startswith("Autocast"):
            operator.autocast[key] = fn
        elif key.startswith("Autograd"):
            operator.around = fn
        else:
            for device in _devices(key):
                operator.kernels[device] = fn

    def _impl_native(self, name: str, fn: Callable[..., Any], key: str, with_keys: bool) -> None:
        overload = _C._find_operator(name.removesuffix(".default"))
        if overload is None:
            raise RuntimeError(f"operator aten::{name} does not exist")
        for one in keys_named(key or "CompositeImplicitAutograd"):
            overload._set_python_kernel(one, fn, with_keys)
            self._replaced.append((overload, one))

    def _register_fake(self, op_name: str, fn: Callable[..., Any], **options: Any) -> None:
        register_fake(f"{self.ns}::{op_name}", fn)

    def _destroy(self) -> None:
        """Takes back what `define` declared and `impl` replaced, as the end of the library does."""
        _take_back(self._defined, self._replaced)


__getattr__ = _lacking(__name__)
