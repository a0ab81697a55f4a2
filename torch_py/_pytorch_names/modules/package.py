"""Names of PyTorch's packaging of programs with their modules, so that other programs import. Nothing can be
packaged or read."""

from __future__ import annotations

import importlib
from typing import Any, NoReturn

__all__ = [
    "EmptyMatchError",
    "Importer",
    "ObjMismatchError",
    "ObjNotFoundError",
    "OrderedImporter",
    "PackageExporter",
    "PackageImporter",
    "PackagingError",
    "is_from_package",
    "sys_importer",
]


class PackagingError(Exception):
    """A module that a package needs is left out."""


class EmptyMatchError(Exception):
    """A pattern that is to match something did not."""


class ObjNotFoundError(Exception):
    """An object is not where its name says."""


class ObjMismatchError(Exception):
    """Another object is where its name says."""


class Importer:
    """Where modules come from. Raises NotImplementedError when it is made."""

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        self._refuse()

    @classmethod
    def _refuse(cls) -> NoReturn:
        raise NotImplementedError(
            f"torch.package.{cls.__name__}: torch_py cannot package programs; save tensors with torch.save"
        )


class OrderedImporter(Importer):
    """Several importers, asked in order."""


class PackageImporter(Importer):
    """Reads a package."""


class PackageExporter(Importer):
    """Writes a package."""


class _SysImporter(Importer):
    """The import system of this process."""

    def __init__(self) -> None:
        pass

    def import_module(self, module_name: str) -> Any:
        return importlib.import_module(module_name)


sys_importer = _SysImporter()


def is_from_package(obj: Any) -> bool:
    """Whether `obj` was read from a package: never."""
    return False
