"""The libraries of operators from outside the tree that are in this process.

`torch.utils.cpp_extension` adds them when it imports them. `torch.ops` and the compiler ask here for what the
generator has written next to a library's shared object.
"""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from torch_py._records import Record


class OperatorLibrary(Record):
    """A library; its operators are `torch.ops.NAME`."""

    _fields = ("name", "module", "folder")

    def __init__(self, name: str, module: ModuleType, folder: Path) -> None:
        self.name = name
        self.module = module  # with the functions of C++
        self.folder = folder  # with operators.json and lowerings.py

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """The facts on each operator, as `torch_py/_generated/operators.json` has them for the tree."""
        rows: list[dict[str, Any]] = json.loads((self.folder / "operators.json").read_text())["operators"]
        return rows

    @cached_property
    def _lowerings(self) -> dict[str, Any]:
        import runpy  # imported here: few programs have libraries of operators

        return runpy.run_path(str(self.folder / "lowerings.py"))

    @property
    def pointwise(self) -> dict[str, Any]:
        """The formulas of pointwise operators, by their names in the dispatcher."""
        found: dict[str, Any] = self._lowerings["POINTWISE"]
        return found

    @property
    def over_rows(self) -> dict[str, Any]:
        """The same for formulas over rows."""
        found: dict[str, Any] = self._lowerings["ROWS"]
        return found


_libraries: dict[str, OperatorLibrary] = {}


def add_library(name: str, module: ModuleType, folder: Path) -> None:
    """Makes a library known, after its module has been imported."""
    _libraries[name] = OperatorLibrary(name, module, folder)


def library_of(entry: str) -> OperatorLibrary | None:
    """The library of the operator `entry`, "softcap_ops::softcap"; None for others."""
    return _libraries.get(entry.partition("::")[0]) if "::" in entry else None


def library_named(name: str) -> OperatorLibrary | None:
    """The library with this name."""
    return _libraries.get(name)
