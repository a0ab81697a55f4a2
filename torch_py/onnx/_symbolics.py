"""Symbolic functions, by which PyTorch's older exporter is told of operators: declared and remembered, never
called by ours.

Ours maps the operators it sees, see `_registry`; packages declare symbolic functions when they are imported,
which must go on working.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any, NoReturn

from torch_py.onnx.errors import OnnxExporterError

DESCRIPTORS = frozenset(("v", "i", "is", "f", "fs", "b", "s", "t", "none"))
NAME = re.compile(r"[A-Za-z0-9_]*::[A-Za-z0-9_.]+")

_registered: dict[tuple[str, int], Callable[..., Any]] = {}


def parse_args(*arg_descriptors: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declares a symbolic function whose arguments after the graph are a value "v", an integer "i", a list of
    them "is", a float "f", ...

    Not used by our exporter: the declared function raises OnnxExporterError when called. Raises ValueError
    for an unknown kind.
    """
    if unknown := [kind for kind in arg_descriptors if kind not in DESCRIPTORS]:
        raise ValueError(f"parse_args: unknown kinds of arguments {unknown}; there are {sorted(DESCRIPTORS)}")

    def declare(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def declared(*args: Any, **kwargs: Any) -> NoReturn:
            raise OnnxExporterError(
                f"{function.__name__}: torch_py exports without symbolic functions, there is no graph to "
                "call one with"
            )

        vars(declared)["_arg_descriptors"] = arg_descriptors
        return declared

    return declare


def register_custom_op_symbolic(
    symbolic_name: str, symbolic_fn: Callable[..., Any], opset_version: int
) -> None:
    """Remembers `symbolic_fn` for the operator "domain::name" in this opset; not used by our exporter.

    Raises OnnxExporterError for a name of another form.
    """
    _registered[_checked(symbolic_name), opset_version] = symbolic_fn


def unregister_custom_op_symbolic(symbolic_name: str, opset_version: int) -> None:
    """Forgets what :func:`register_custom_op_symbolic` remembered; nothing there is no error. Not used by our
    exporter."""
    _registered.pop((_checked(symbolic_name), opset_version), None)


def _checked(symbolic_name: str) -> str:
    if not isinstance(symbolic_name, str) or not NAME.fullmatch(symbolic_name):
        raise OnnxExporterError(
            "symbolic_name must be of the form 'domain::name', in letters, digits and underscores, got "
            f"{symbolic_name!r}"
        )
    return symbolic_name
