"""The public functions and classes whose documentation is checked, and what it lacks."""

from __future__ import annotations

import enum
import importlib
import inspect
import re
from collections.abc import Iterator
from typing import Any

# Modules in the order in which a name belongs to the first that has it.
MODULES = """
    nn nn.functional nn.init nn.utils nn.utils.rnn nn.utils.parametrize nn.utils.parametrizations
    nn.utils.prune nn.parameter nn.attention optim optim.lr_scheduler optim.swa_utils autograd
    autograd.functional autograd.forward_ad autograd.graph func utils.data distributions
    distributions.constraints linalg fft special amp utils.checkpoint signal.windows Tensor
""".split()
# `Tensor` lists the methods of tensors; the root module is last, since it has names of other modules too.
MODULES.append("torch")

# Arguments that need not be explained where the signature shows them.
_COMMON = {"self", "input", "other", "out", "device", "dtype", "layout", "pin_memory", "requires_grad"}
_COMMON |= {"generator", "memory_format"}
_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def public(module: str) -> dict[str, Any]:
    """The functions and classes of a module by name."""
    if module == "Tensor":
        owner: Any = importlib.import_module("torch_py").Tensor
    else:
        owner = importlib.import_module("torch_py" if module == "torch" else f"torch_py.{module}")

    names = getattr(owner, "__all__", None) or [name for name in dir(owner) if not name.startswith("_")]
    values = {name: getattr(owner, name, None) for name in names if not name.startswith("_")}
    return {name: value for name, value in values.items() if _is_documented_kind(value)}


def everything() -> Iterator[tuple[str, str, Any]]:
    """Module, name and value, each value once."""
    seen: set[int] = set()
    for module in MODULES:
        for name, value in public(module).items():
            if id(value) not in seen:
                seen.add(id(value))
                yield module, name, value


def lacks(value: Any) -> str:
    """What the documentation of a function or class lacks; empty if it is complete."""
    text = documentation(value)
    if not re.match(r"\S.{8,}", text, re.DOTALL):
        return "a summary"
    # A parameter `from_` is the argument `from`, a keyword of Python.
    named = {name: rf"\b(?:{name}|{name.rstrip('_')})\b" for name in parameters(value)}
    unexplained = [name for name, pattern in named.items() if not re.search(pattern, text)]
    if unexplained:
        return "its arguments: " + ", ".join(unexplained)
    return "" if ">>> " in text else "an example"


def documentation(value: Any) -> str:
    """The text without the signatures that generated documentation begins with."""
    own = value.__dict__.get("__doc__") if inspect.isclass(value) else value.__doc__
    text = inspect.cleandoc(own or "")
    if getattr(value, "__text_signature__", None) is None and is_builtin(value):
        text = "\n".join(line for line in text.split("\n") if not line.startswith(f"{value.__name__}("))
    return text.strip()


def parameters(value: Any) -> list[str]:
    """The parameters that the documentation has to name."""
    if is_builtin(value) and value.__text_signature__ is None:
        signatures = [
            line for line in (value.__doc__ or "").split("\n") if line.startswith(f"{value.__name__}(")
        ]
        found = dict.fromkeys(name for line in signatures for name in re.findall(r"[(,] ?\*?(\w+):", line))
        return [name for name in found if name not in _COMMON]

    # The members of an enumeration say what it takes.
    if inspect.isclass(value) and issubclass(value, enum.Enum):
        return []

    try:
        found = inspect.signature(value).parameters
        return [n for n, p in found.items() if n not in _COMMON and p.kind not in _VARIADIC]
    except (TypeError, ValueError):
        return []


def is_builtin(value: Any) -> bool:
    return inspect.isbuiltin(value) or inspect.ismethoddescriptor(value)


def _is_documented_kind(value: Any) -> bool:
    # Names that only say why something is absent, or what took its place.
    if "/_pytorch_names/" in getattr(getattr(value, "__code__", None), "co_filename", ""):
        return False
    is_function = inspect.isroutine(value) or inspect.isfunction(value)
    if not (is_function or inspect.isclass(value)):
        return False
    home = str(getattr(value, "__module__", "") or "torch_py")
    return home.partition(".")[0] == "torch_py"
