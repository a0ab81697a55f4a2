"""`torch.package`, of which torch_py has the names only: programs can be neither packaged nor read."""

from __future__ import annotations

import importlib
from typing import Any, NoReturn

from torch_py._pytorch_names.packages import lacking as _lacking

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
    """A package needs a module that it does not contain."""


class EmptyMatchError(Exception):
    """A pattern that must match did not."""


class ObjNotFoundError(Exception):
    """The module that an object names does not contain it."""


class ObjMismatchError(Exception):
    """The module that an object names contains another object."""


class Importer:
    """A source of modules. Creating one raises NotImplementedError."""

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
    """Always False: packages cannot be read."""
    return False


__getattr__ = _lacking(__name__)
