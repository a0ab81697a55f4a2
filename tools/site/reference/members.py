"""The public members of modules and classes."""

from __future__ import annotations

import importlib
import inspect
import re
import warnings
from collections.abc import Container
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Literal

PACKAGE = "torch_py"
Kind = Literal["class", "function", "property", "value"]

# In the order of the navigation.
MODULES = (
    "",
    "nn",
    "nn.functional",
    "nn.init",
    "nn.utils",
    "nn.utils.rnn",
    "nn.utils.parametrize",
    "optim",
    "optim.lr_scheduler",
    "optim.swa_utils",
    "autograd",
    "autograd.functional",
    "autograd.graph",
    "func",
    "linalg",
    "fft",
    "special",
    "distributions",
    "distributions.constraints",
    "distributions.transforms",
    "utils.data",
    "utils.checkpoint",
    "utils.cpp_extension",
    "utils.flop_counter",
    "amp",
    "compiler",
    "cuda",
    "export",
    "fx",
    "library",
    "masked",
    "multiprocessing",
    "onnx",
    "profiler",
    "random",
    "signal.windows",
    "testing",
)


@dataclass(frozen=True)
class Member:
    """A name of a module or class. ``refuses``: it can be imported, and raises when it is used."""

    name: str
    value: Any
    kind: Kind
    refuses: bool = False

    @property
    def doc(self) -> str:
        """The documentation, without the signature that built-in functions begin with."""
        text = inspect.cleandoc(getattr(self.value, "__doc__", None) or "") if self.kind != "value" else ""
        first, _, rest = text.partition("\n\n")
        return rest if _SIGNATURES.match(first) else text


_SIGNATURES = re.compile(r"(?:[\w.]+\(.*\)(?: -> .*)?\n?)+$")


def module_of(path: str) -> ModuleType:
    return importlib.import_module(f"{PACKAGE}.{path}" if path else PACKAGE)


def full_name(path: str, *names: str) -> str:
    """``torch.nn.Linear``"""
    return ".".join(part for part in ("torch", path, *names) if part)


def members_of(module: ModuleType) -> list[Member]:
    """Those in ``__all__``, else those without an underscore that are of this package, by name."""
    declared = getattr(module, "__all__", None)
    found = []
    for name in sorted(set(declared or dir(module)), key=str.lower):
        value = _attribute(module, name)
        if name.startswith("_") or value is None or isinstance(value, ModuleType):
            continue
        if declared is None and not _is_ours(value):
            continue
        found.append(Member(name, value, _kind(value), getattr(value, "__refuses__", False) is True))
    return found


def methods_of(cls: type) -> list[Member]:
    """The public methods and properties that the class itself defines, in their order."""
    found: list[Member] = []
    for name, value in vars(cls).items():
        if name.startswith("_") and name != "__call__":
            continue
        if (
            inspect.isfunction(value)
            or inspect.isroutine(value)
            or isinstance(value, (staticmethod, classmethod))
        ):
            found.append(Member(name, getattr(cls, name), "function"))
        elif isinstance(value, property) or inspect.isgetsetdescriptor(value):
            found.append(Member(name, value, "property"))
    return found


def lineage(cls: type, public: Container[type]) -> tuple[list[type], list[type]]:
    """The class with the private bases that serve it alone, and the public bases."""
    own = [cls]
    bases = []
    for base in cls.__mro__[1:]:
        if base in public:
            bases.append(base)
        elif base.__module__.startswith(PACKAGE) and not bases:
            own.append(base)
    return own, bases


def signature_of(name: str, value: Any) -> str:
    """``Linear(in_features: int, out_features: int, bias: bool = True)``; the name where it is unknown."""
    try:
        signature = inspect.signature(value)
    except (ValueError, TypeError):
        return _first_line(name, value)

    parameters = [p.replace(annotation=_plain(p.annotation)) for p in signature.parameters.values()]
    parameters = [p for p in parameters if p.name != "self"]
    returns = _plain(signature.return_annotation)
    result = inspect.Signature(parameters, __validate_parameters__=False)
    arrow = "" if isinstance(returns, type) or inspect.isclass(value) else f" -> {returns}"
    text = re.sub(r"<([\w.]+(?: [\w.]+)?)[^<>]*>", r"\1", f"{name}{result}").replace("'", "")
    return text.replace(f"{PACKAGE}.", "torch.") + arrow.replace(f"{PACKAGE}.", "torch.")


def _attribute(module: ModuleType, name: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return getattr(module, name)
        except (AttributeError, NotImplementedError, ImportError):
            return None


def _is_ours(value: Any) -> bool:
    module = getattr(value, "__module__", None) or getattr(type(value), "__module__", "") or ""
    return callable(value) and (module.startswith((PACKAGE, "torch")) or inspect.isbuiltin(value))


def _kind(value: Any) -> Kind:
    if inspect.isclass(value):
        return "class"
    return "function" if callable(value) else "value"


def _first_line(name: str, value: Any) -> str:
    """Built-in functions have their signatures in their documentation."""
    first = inspect.cleandoc(getattr(value, "__doc__", None) or "").partition("\n\n")[0]
    return first if _SIGNATURES.match(first) else name


def _plain(annotation: Any) -> Any:
    """Annotations as they are written, without quotes and private names."""
    if annotation is inspect.Parameter.empty:
        return annotation
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return re.sub(r"\b_(?=[a-z]\w*\b)", "", text)
