"""Import of the modules that table.py lists, by a hook for an entry of `torch_py.__path__`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import cache
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import ModuleType
from typing import TYPE_CHECKING, Any

from torch_py._pytorch_names.packages import ENTRY, lacking

if TYPE_CHECKING:
    from torch_py._pytorch_names.kinds import Row

ROOT = "torch_py"
_FOLDER = os.path.dirname(__file__)


def install(path: list[str]) -> None:
    """Lets `path`, which is `torch_py.__path__`, lead to the modules of the table."""
    extend(path, ROOT)
    sys.path_hooks.append(_NamesFinder)


def extend(path: list[str], package: str) -> None:
    """Lets `path`, the `__path__` of a package with files, lead to the modules of the table inside it."""
    own = package.partition(".")[2]  # as_torch may have renamed the package
    path.append(ENTRY + (f"{ROOT}.{own}" if own else ROOT))


@cache
def _rows() -> dict[str, Row]:
    # Imported on first use: most programs name none of these modules.
    from torch_py._pytorch_names.table import TABLE, rows_of_lacking_modules

    return {**rows_of_lacking_modules(), **TABLE}


def names_in(package: str) -> list[str]:
    """The modules of the table that are directly in `package`."""
    prefix = package[len(ROOT) + 1 :] + "." if package != ROOT else ""
    inside = (path[len(prefix) :] for path in _rows() if path.startswith(prefix))
    return [name for name in inside if "." not in name]


class _NamesFinder:
    """Finds the modules of one package: what `sys.path_hooks` makes of an entry of its `__path__`."""

    def __init__(self, entry: str) -> None:
        if not entry.startswith(ENTRY):
            raise ImportError(f"not an entry for names of {ROOT}", path=entry)
        self._package = entry[len(ENTRY) :]

    def find_spec(self, fullname: str, target: ModuleType | None = None) -> ModuleSpec | None:
        package, _, name = fullname.rpartition(".")
        path = fullname[len(ROOT) + 1 :]
        if package != self._package or path not in _rows():
            return None
        return _spec(fullname, _rows()[path], is_package=bool(names_in(fullname)))

    def iter_modules(self, prefix: str = "") -> Iterator[tuple[str, bool]]:
        """For `pkgutil`: names, and whether each is a package."""
        for name in names_in(self._package):
            yield prefix + name, bool(names_in(f"{self._package}.{name}"))

    def invalidate_caches(self) -> None:
        """The table does not change."""


def _spec(fullname: str, row: Row, is_package: bool) -> ModuleSpec:
    loader: Any
    if row.file:
        path = os.path.join(_FOLDER, "modules", f"{row.file}.py")
        loader = SourceFileLoader(fullname, path)
    else:
        path = os.path.join(_FOLDER, "table.py")
        loader = NamesLoader(row)

    spec = ModuleSpec(fullname, loader, origin=path)
    spec.has_location = True  # the origin becomes the module's __file__
    spec.submodule_search_locations = [ENTRY + fullname] if is_package else None
    return spec


class NamesLoader:
    """Fills a module with the names of a row."""

    def __init__(self, row: Row) -> None:
        self.row = row

    def create_module(self, spec: ModuleSpec) -> None:
        return None  # an ordinary one

    def exec_module(self, module: ModuleType) -> None:
        module.__doc__ = self.row.doc
        vars(module)["__getattr__"] = lacking(module.__name__)
        for piece in self.row.pieces:
            vars(module).update(piece(module.__name__))
