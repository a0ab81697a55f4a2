"""The inputs of a traced function: placeholders, and arguments that are fixed to given values."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any

import torch_py
from torch_py.fx._code_generation import _PyTreeCodeGen, _PyTreeInfo
from torch_py.utils import _pytree as pytree

if TYPE_CHECKING:
    from torch_py.fx._symbolic_trace import Tracer

HAS_VARSTUFF = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
_COMPARED = (bool, int, float, complex, str, torch_py.dtype, torch_py.device, torch_py.memory_format)


class PHBase:
    """A place in `concrete_args` for an input of the graph."""

    def __repr__(self) -> str:
        return "PH"


PH = PHBase()


class PHWithMeta(PHBase):
    """A place for an input, whose attributes become those of the node."""

    def __init__(self, ph_key: str | None = None) -> None:
        super().__init__()
        self.ph_key = ph_key


def _assert_is_none(value: Any, msg: str) -> None:
    if value is not None:
        raise AssertionError(msg)


_assert_is_none.__module__ = "torch_py.fx._symbolic_trace"  # printed code names it


def resolved_annotation(kind: Any, function: Callable[..., Any]) -> Any:
    """An annotation as a type: `from __future__ import annotations` leaves texts. Those that cannot be
    evaluated stay."""
    if not isinstance(kind, str):
        return kind
    try:
        return eval(kind, dict(inspect.unwrap(function).__globals__))
    except Exception:  # any text is a valid annotation
        return kind


class RootArguments:
    """Makes the arguments with which a function is called once to be traced."""

    def __init__(self, tracer: Tracer, function: Callable[..., Any], concrete_args: Any) -> None:
        self.tracer = tracer
        self.function = function
        analysed = inspect.unwrap(function)
        self.code = analysed.__code__
        self.signature = inspect.signature(analysed)
        self.annotations = getattr(analysed, "__annotations__", {})
        self.names = list(self.code.co_varnames[: self.code.co_argcount + self.code.co_kwonlyargcount])
        self.concrete = concrete_args

    def make(self, is_module: bool) -> tuple[Callable[..., Any], list[Any]]:
        """The function, changed so that all arguments are positional, and its arguments."""
        args: list[Any] = []
        names = self.names
        if is_module:
            if not names:
                raise RuntimeError("``self`` argument cannot be part of *args expansion!")
            args.append(self.tracer.root)
            names = names[1:]

        if isinstance(self.concrete, tuple):
            if len(names) != len(self.concrete):
                raise RuntimeError(
                    f"Tracing expected {len(names)} arguments but got {len(self.concrete)} concrete arguments"
                )
            self.concrete = dict(zip(names, self.concrete))
        values = [self._value(name) for name in names]

        function = self.function
        flags = self.code.co_flags
        if self.code.co_kwonlyargcount or flags & HAS_VARSTUFF:
            values.extend(self._rest(flags))
            function = _with_positional_arguments(function, len(args) + len(values))

        return self._flattened(function, args, values, names)

    def _rest(self, flags: int) -> list[Any]:
        """Placeholders for `*args` and `**kwargs`."""
        rest = []
        position = len(self.names)
        if flags & inspect.CO_VARARGS:
            rest.append(self._placeholder("*" + self.code.co_varnames[position]))
            position += 1
        if flags & inspect.CO_VARKEYWORDS:
            rest.append(self._placeholder("**" + self.code.co_varnames[position]))
        return rest

    def _placeholder(self, name: str) -> Any:
        parameter = self.signature.parameters.get(name.lstrip("*"))
        default: tuple[Any, ...] = ()
        if parameter is not None and parameter.default is not inspect.Parameter.empty:
            default = (parameter.default,)
        kind = resolved_annotation(self.annotations.get(name.lstrip("*")), self.function)
        return self.tracer.create_proxy("placeholder", name, default, {}, type_expr=kind)

    def _value(self, name: str) -> Any:
        """A placeholder, or the value that the argument is fixed to, with placeholders at its open places."""
        if not self.concrete or name not in self.concrete:
            return self._placeholder(name)

        count = 0

        def leaf(value: Any) -> Any:
            nonlocal count
            count += 1
            return self._fixed(name, f"{name}_{count}", value)

        return pytree.tree_map(leaf, self.concrete[name])

    def _fixed(self, name: str, placeholder: str, value: Any) -> Any:
        parameter = self.signature.parameters[name]
        default = () if parameter.default is inspect.Parameter.empty else (parameter.default,)
        proxy = self.tracer.create_proxy("placeholder", placeholder, default, {})
        if isinstance(value, PHBase):
            if value is not PH:
                for attribute, content in vars(value).items():
                    setattr(proxy.node, attribute, content)
            return proxy

        text = f"{name} has been specialized to have value {value} but got another value"
        if value is None:
            self.tracer.create_proxy("call_function", _assert_is_none, (proxy, text), {})
        elif isinstance(value, _COMPARED):
            self.tracer.create_proxy("call_function", torch_py._assert, (proxy == value, text), {})
        else:
            warnings.warn(
                f"Was not able to add assertion to guarantee correct input {name} to specialized function. "
                "It is up to the user to make sure that your inputs match the inputs you specialized the "
                "function with.",
                stacklevel=2,
            )
        return value

    def _flattened(
        self, function: Callable[..., Any], args: list[Any], values: list[Any], names: list[str]
    ) -> tuple[Callable[..., Any], list[Any]]:
        """Where an argument is a container, the graph takes its leaves, and returns those of the results."""
        given = self.concrete or {}
        in_spec = pytree.tree_structure(tuple(given.get(name) for name in names))
        if all(child.is_leaf() for child in in_spec.children_specs):
            return function, [*args, *values]

        graph = self.tracer.graph

        def flat(*ignored: Any) -> Any:
            leaves, out_spec = pytree.tree_flatten(function(*args, *values))
            graph._codegen.pytree_info = info._replace(out_spec=out_spec)  # type: ignore[attr-defined]
            return leaves

        info = _PyTreeInfo(names, in_spec, None)
        graph._codegen = _PyTreeCodeGen(info)
        return flat, []


def _with_positional_arguments(function: Any, count: int) -> Callable[..., Any]:
    """The function with `*args`, `**kwargs` and keyword-only parameters as ordinary ones, which may be
    proxies."""
    code = function.__code__
    plain = code.replace(co_flags=code.co_flags & ~HAS_VARSTUFF, co_argcount=count, co_kwonlyargcount=0)
    return FunctionType(plain, function.__globals__, function.__name__, None, function.__closure__)
