"""Python expressions: of arguments, of calls, and of the operators that calls of functions are printed as."""

from __future__ import annotations

import builtins
import cmath
import enum
import keyword
import typing
from collections.abc import Callable
from typing import Any

import torch_py
from torch_py.fx._annotations import annotation
from torch_py.fx._names import is_lambda, module_of, public_module, public_name, resolves
from torch_py.fx.node import Node

# Functions of the module `operator`, by the method that Python calls for them, as they are printed.
reflectable_magic_methods = {
    "add": "{} + {}",
    "sub": "{} - {}",
    "mul": "{} * {}",
    "floordiv": "{} // {}",
    "truediv": "{} / {}",
    "div": "{} / {}",
    "mod": "{} % {}",
    "pow": "{} ** {}",
    "lshift": "{} << {}",
    "rshift": "{} >> {}",
    "and_": "{} & {}",
    "or_": "{} | {}",
    "xor": "{} ^ {}",
    "getitem": "{}[{}]",
    "matmul": "{} @ {}",
}
magic_methods = {
    "eq": "{} == {}",
    "ne": "{} != {}",
    "lt": "{} < {}",
    "gt": "{} > {}",
    "le": "{} <= {}",
    "ge": "{} >= {}",
    "pos": "+{}",
    "neg": "-{}",
    "invert": "~{}",
    **reflectable_magic_methods,
}
inplace_methods = {
    "iadd": "{} += {}",
    "iand": "{} &= {}",
    "ifloordiv": "{} //= {}",
    "ilshift": "{} <<= {}",
    "imod": "{} %= {}",
    "imul": "{} *= {}",
    "imatmul": "{} @= {}",
    "ior": "{} |= {}",
    "ipow": "{} **= {}",
    "irshift": "{} >>= {}",
    "isub": "{} -= {}",
    "itruediv": "{} /= {}",
    "ixor": "{} ^= {}",
    "setitem": "{}[{}] = {}",
}

_TORCH_LITERALS = (torch_py.dtype, torch_py.memory_format, torch_py.layout)
_LITERALS = (int, str, bytes, range, type(None), type(...), torch_py.device, *_TORCH_LITERALS)


def is_plain_name(text: str) -> bool:
    return text.isidentifier() and not keyword.iskeyword(text)


def format_target(base: str, target: str) -> str:
    """The expression that reads the dotted path `target` below `base`: `self.layers`, `getattr(self,
    "0")`."""
    text = base
    for name in target.split("."):
        text = f"{text}.{name}" if is_plain_name(name) else f'getattr({text}, "{name}")'
    return text


class Globals:
    """What the printed code refers to besides its variables, under unique names."""

    def __init__(self, namespace: Any, builtin: dict[str, Any]) -> None:
        self.namespace = namespace
        self.values: dict[str, Any] = {}
        for name, value in builtin.items():
            self.values[name] = value

    def name_of(self, hint: str, value: Any) -> str:
        """The expression for a function, class or constant: a path from `torch`, or a name like `hint`."""
        public = public_name(value)
        if public is not None and value is not torch_py.device and resolves(public, value):
            return public

        wanted = hint.replace(".", "_")
        if self.values.get(wanted) is value or (
            wanted not in self.values and getattr(builtins, wanted, None) is value
        ):
            self.values[wanted] = value
            return wanted

        name = self.namespace.create_name(wanted, value)
        self.values[name] = value
        return name

    def name_of_function(self, function: Callable[..., Any]) -> str:
        return self.name_of(_hint(function), function)


def _hint(function: Callable[..., Any]) -> str:
    """`math.sqrt`, from which a global gets its name."""
    name = getattr(function, "__name__", type(function).__name__)
    if getattr(builtins, name, None) is function:
        return name
    if is_lambda(function):
        return "lambda"
    owner = getattr(function, "__objclass__", None)
    if owner is not None:
        return f"torch.Tensor.{name}" if hasattr(torch_py.Tensor, name) else f"{owner.__name__}.{name}"
    try:
        return f"{public_module(module_of(function))}.{name}"
    except (AttributeError, RuntimeError):  # an object that can be called
        return name


class Expressions:
    """Prints arguments and calls, and collects the globals that they need."""

    def __init__(
        self,
        globals_: Globals,
        root: str = "self",
        literal: Callable[[str], str] = lambda text: text,
    ) -> None:
        self.globals = globals_
        self.root = root
        self.literal = literal

    def argument(self, value: Any) -> str:
        """An argument of a node as an expression."""
        if isinstance(value, Node):
            return repr(value)
        if isinstance(value, tuple):
            return self._tuple(value)
        if isinstance(value, list):
            return f"[{self.sequence(value)}]"
        if isinstance(value, dict):
            pairs = (f"{self.argument(key)}: {self.argument(item)}" for key, item in value.items())
            return "{" + ", ".join(pairs) + "}"
        if isinstance(value, slice):
            return f"slice({self.sequence((value.start, value.stop, value.step))})"
        return self._leaf(value)

    def sequence(self, values: Any) -> str:
        return ", ".join([self.argument(value) for value in values])

    def _tuple(self, value: tuple[Any, ...]) -> str:
        text = self.sequence(value)
        if hasattr(value, "_fields"):
            return f"{self.globals.name_of_function(type(value))}({text})"
        return f"({text},)" if len(value) == 1 else f"({text})"

    def _leaf(self, value: Any) -> str:
        if isinstance(value, enum.Enum):
            return f"{self.globals.name_of_function(type(value))}.{value.name}"
        if value is None or isinstance(value, bool):
            return self.literal(repr(value))
        if type(value) is float or (type(value) is complex and cmath.isfinite(value)):
            return self.literal(repr(value))
        if type(value) in _LITERALS:
            return self.literal(repr(value).replace("torch_py.", "torch."))

        if isinstance(value, (set, frozenset)) and all(type(item) in (int, float, str) for item in value):
            return self.literal(repr(value))
        if typing.get_origin(value) is not None:
            return annotation(value, self.globals)
        if isinstance(value, type) or (callable(value) and hasattr(value, "__name__")):
            return self.globals.name_of_function(value)

        return self.globals.name_of(f"_{type(value).__name__.lower()}_constant", value)

    def arguments(self, args: Any, kwargs: Any) -> str:
        """The arguments of a call: `x, 2, dim = 1`."""
        named = (f"{name} = {self.argument(value)}" for name, value in kwargs.items())
        return ", ".join([*map(self.argument, args), *named])

    def call(self, node: Node) -> str:
        """The expression that computes a node, other than inputs, outputs and assignments in place."""
        if node.op == "get_attr":
            return format_target(self.root, node.target)
        if node.op == "call_module":
            return f"{format_target(self.root, node.target)}({self.arguments(node.args, node.kwargs)})"
        if node.op == "call_method":
            self_text = self.argument(node.args[0]) if node.args else ""
            method = format_target(self_text, node.target)
            return f"{method}({self.arguments(node.args[1:], node.kwargs)})"
        return self._function(node)

    def _function(self, node: Node) -> str:
        target = node.target
        args = node.args
        kwargs = node.kwargs
        name = getattr(target, "__name__", "")
        if getattr(target, "__module__", None) == "_operator" and not kwargs:
            form = magic_methods.get(name)
            if form is not None and form.count("{}") == len(args):
                texts = list(map(self.argument, args))
                if name == "pow" and texts[0].startswith("-"):
                    texts[0] = f"({texts[0]})"
                return form.format(*texts)
        if target is getattr and len(args) == 2 and isinstance(args[1], str) and is_plain_name(args[1]):
            return f"{self.argument(args[0])}.{args[1]}"

        return f"{self.globals.name_of_function(target)}({self.arguments(args, kwargs)})"

    def in_place(self, node: Node) -> str | None:
        """The statement of an operator that assigns, `x += 1`; None for all other nodes."""
        target = node.target
        if node.op != "call_function" or getattr(target, "__module__", None) != "_operator" or node.kwargs:
            return None
        form = inplace_methods.get(target.__name__)
        if form is None or form.count("{}") != len(node.args) or not isinstance(node.args[0], Node):
            return None
        return form.format(*map(self.argument, node.args))
