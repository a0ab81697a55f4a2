"""Symbolic functions, which tell PyTorch's older exporter about operators.

They are stored here but never called.

This exporter maps the operators that it records, see `_registry`. Packages declare symbolic functions when
they are imported, and this must keep working.
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
    """Declares the kinds of a symbolic function's arguments after the graph: a value "v", an integer "i", a
    list of integers "is", a float "f" and so on.

    This exporter does not use symbolic functions: calling one raises OnnxExporterError. Raises ValueError for
    an unknown kind.
    """
    if unknown := [kind for kind in arg_descriptors if kind not in DESCRIPTORS]:
        raise ValueError(f"parse_args: unknown kinds {unknown}; expected some of {sorted(DESCRIPTORS)}")

    def declare(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def declared(*args: Any, **kwargs: Any) -> NoReturn:
            raise OnnxExporterError(
                f"{function.__name__}: torch_py exports without symbolic functions, so this one cannot be "
                "called"
            )

        vars(declared)["_arg_descriptors"] = arg_descriptors
        return declared

    return declare


def register_custom_op_symbolic(
    symbolic_name: str, symbolic_fn: Callable[..., Any], opset_version: int
) -> None:
    """Stores `symbolic_fn` for the operator "domain::name" in this opset; the exporter does not use it.

    Raises OnnxExporterError for a name of another form.
    """
    _registered[_checked(symbolic_name), opset_version] = symbolic_fn


def unregister_custom_op_symbolic(symbolic_name: str, opset_version: int) -> None:
    """Removes what :func:`register_custom_op_symbolic` stored, if anything."""
    _registered.pop((_checked(symbolic_name), opset_version), None)


def _checked(symbolic_name: str) -> str:
    if not isinstance(symbolic_name, str) or not NAME.fullmatch(symbolic_name):
        raise OnnxExporterError(
            "symbolic_name must be of the form 'domain::name', in letters, digits and underscores, "
            f"got {symbolic_name!r}"
        )
    return symbolic_name
