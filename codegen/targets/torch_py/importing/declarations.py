"""Finds PyTorch's declarations of operators and their derivatives, and reads what an entry needs of them."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

OPERATORS = "native_functions.yaml"
DERIVATIVES = "derivatives.yaml"
# Keys of a derivative that are not formulas of a gradient.
_NOT_GRADIENTS = ("name", "dispatch", "result", "output_differentiability", "auto_linear")
_NAME = re.compile(r"^([\w.]+)\(")


class DeclarationsError(Exception):
    """The files are not there."""


@dataclass(frozen=True)
class Declaration:
    """One operator, with its forms and its derivatives as the files write them."""

    schema: str
    variants: frozenset[str]
    module: str | None
    tags: frozenset[str]
    dispatch: frozenset[str]  # the keys; empty for compositions
    is_loop: bool  # over the elements of its arguments
    gradients: Mapping[str, str]  # formulas by the names of arguments
    differentiable: tuple[bool, ...]  # by result, where the file says so

    @property
    def name(self) -> str:
        return _name_of(self.schema)


def packaged_folder() -> Path | None:
    """The folder of the files in an installed PyTorch, which is not imported."""
    found = importlib.util.find_spec("torchgen")
    return Path(found.origin).parent / "packaged" if found and found.origin else None


class Declarations:
    """The files below ``folder``."""

    def __init__(self, folder: Path) -> None:
        rows = _read(folder, OPERATORS)
        self.rows: dict[str, dict[str, Any]] = {_name_of(row["func"]): row for row in rows}
        delegates = {
            row["structured_delegate"]: n for n, row in self.rows.items() if "structured_delegate" in row
        }
        # The operator that each form with out belongs to.
        self.outs = {n: own for n in self.rows if (own := self._out_of(n, delegates)) is not None}
        self.derivatives = {_name_of(row["name"]): row for row in _read(folder, DERIVATIVES)}

    def called(self, name: str) -> list[Declaration]:
        """The operator ``add.Tensor``, or all overloads of ``add``; forms in place and with out belong to
        those."""
        word = name.removeprefix("aten::")
        found = [n for n in self.rows if word in (n, n.partition(".")[0])]
        own = [n for n in found if not self._is_form(n)]
        return [self._declaration(n) for n in own]

    def names(self) -> Iterable[str]:
        return (name for name in self.rows if not self._is_form(name))

    def _is_form(self, name: str) -> bool:
        """Whether the operator is the form, in place or with out, of another one."""
        base, _, overload = name.partition(".")
        if name in self.outs:
            return True
        dot = f".{overload}" if overload else ""
        return base.endswith("_") and not base.endswith("__") and f"{base[:-1]}{dot}" in self.rows

    def _out_of(self, name: str, delegates: Mapping[str, str]) -> str | None:
        """The operator of which ``name`` is the form with out."""
        base, _, overload = name.partition(".")
        if not overload.endswith("out") or "!)" not in self.rows[name]["func"]:
            return None
        plain = overload.removesuffix("out").removesuffix("_")
        candidates = (f"{base}.{plain}" if plain else base, delegates.get(name, ""))
        return next((n for n in candidates if n in self.rows and n != name), None)

    def _declaration(self, name: str) -> Declaration:
        row = self.rows[name]
        base, dot, overload = name.partition(".")
        delegate = row.get("structured_delegate")
        out = self.rows.get(delegate, row) if delegate else row

        variants = {"method"} if "method" in row.get("variants", "") else set()
        if "function" in row.get("variants", "function"):
            variants.add("function")
        if f"{base}_{dot}{overload}" in self.rows:
            variants.add("inplace")
        if name in self.outs.values():
            variants.add("out")

        derivative = self.derivatives.get(name, {})
        gradients = {**derivative, **derivative.get("dispatch", {}).get("Default", {})}
        return Declaration(
            schema=row["func"],
            variants=frozenset(variants),
            module=row.get("python_module"),
            tags=_words(row.get("tags", "")),
            dispatch=_words(", ".join({**row.get("dispatch", {}), **out.get("dispatch", {})})),
            is_loop=out.get("structured_inherits") == "TensorIteratorBase"
            or "pointwise" in _words(row.get("tags", "")),
            gradients={k: str(v) for k, v in gradients.items() if k not in _NOT_GRADIENTS},
            differentiable=tuple(derivative.get("output_differentiability", ())),
        )


def _read(folder: Path, name: str) -> list[dict[str, Any]]:
    path = next(iter(sorted(folder.rglob(name))), None)
    if path is None:
        raise DeclarationsError(f"{folder} has no {name}")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    rows: list[dict[str, Any]] = yaml.load(path.read_text(encoding="utf-8"), loader)  # noqa: S506
    return rows


def _words(value: Any) -> frozenset[str]:
    words = value if isinstance(value, list) else str(value).split(",")
    return frozenset(word.strip() for word in words if word.strip())


def _name_of(schema: str) -> str:
    found = _NAME.match(schema)
    return found[1] if found else schema
