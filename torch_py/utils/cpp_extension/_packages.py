"""Imports an installed package of operators: `load_package`, which its `__init__.py` calls.

Such a package is a folder with what `BuildOperators` has put there:

    _native.SUFFIX.so   the operators; SUFFIX names the version of Python
    build.json          what the shared object was built for
    operators.json      facts on the operators, for tests
    contract.json       what the operators promise to programs, and their former names
    lowerings.py        formulas, for torch.compile
    __init__.pyi        declarations, for type checkers and editors
    operators.md        documentation
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from torch_py._contract import contract_digest
from torch_py._libraries import add_library
from torch_py._tensor import Tensor
from torch_py.utils import backend_registration
from torch_py.utils.cpp_extension._called_operators import changed_operator
from torch_py.version import __version__

NATIVE = "_native"
BUILD_FILE = "build.json"
_ABI_FILE = Path(__file__).resolve().parents[2] / "lib" / "abi.txt"


def load_package(name: str) -> list[str]:
    """Loads the operators of the package `name` and puts their functions into it; returns their names.

    The package's `__init__.py` calls it, and nothing else needs to:

        from torch_py.utils.cpp_extension import load_package

        __all__ = load_package(__name__)

    Raises ImportError if the package was built for another torch_py or another Python, or if its methods
    exist already; the message says what to do.
    """
    package = sys.modules[name]
    folder = Path(package.__file__ or "").resolve().parent
    check_build(name, folder)
    _check_methods(name, folder)

    module = _import_native(name, folder)
    add_library(name, module, folder)
    functions = [key for key in vars(module) if not key.startswith("__")]
    vars(package).update({key: getattr(module, key) for key in functions})
    return [key for key in functions if not key.startswith("_")]


def load_backend(name: str) -> None:
    """Loads the backend of the package `name`: from then on there are devices of that name.

    The package's `__init__.py` calls it. The package is also the module of the device, `torch.NAME`, and gets
    the functions that such modules have: `is_available`, `device_count`, `synchronize`, `manual_seed` and
    others (`torch.utils.backend_registration`).

    Raises ImportError if the package was built for another torch_py or another Python, or if there is another
    backend in the process.
    """
    package = sys.modules[name]
    folder = Path(package.__file__ or "").resolve().parent
    check_build(name, folder)
    backend_registration.register_backend(name, package, folder / f"{NATIVE}{_suffix()}")


def description_of_build() -> dict[str, str]:
    """What shared objects that are built now depend on."""
    return {
        "torch_py": __version__,
        "abi": _ABI_FILE.read_text(),
        "contract": contract_digest(),
        "python": _suffix(),
    }


def check_build(name: str, folder: Path) -> None:
    """Raises ImportError if the package was built for something else."""
    path = folder / BUILD_FILE
    if not path.is_file():
        raise ImportError(f"{name} is not built: install it, with pip install --no-build-isolation FOLDER")

    built, here = json.loads(path.read_text()), description_of_build()
    if built["python"] != here["python"]:
        raise ImportError(
            f"{name} was built for another Python ({built['python']}, this is {here['python']}); build it "
            "again: pip install --force-reinstall --no-build-isolation FOLDER"
        )
    if (built["torch_py"], built["abi"]) != (here["torch_py"], here["abi"]):
        raise ImportError(
            f"{name} was built for torch_py {built['torch_py']} (ABI {built['abi']}), this is torch_py "
            f"{here['torch_py']} (ABI {here['abi']}); build it again: pip install --force-reinstall "
            "--no-build-isolation FOLDER"
        )
    # With another contract, the package fits unless an operator that it calls is another one.
    changed = None if built["contract"] == here["contract"] else changed_operator(built["operators"])
    if changed is not None:
        raise ImportError(
            f"{name} calls {changed} as it was declared in contract {built['contract']}; this torch_py, of "
            f"contract {here['contract']}, declares it in another way; build it again: pip install "
            "--force-reinstall --no-build-isolation FOLDER"
        )


def _check_methods(name: str, folder: Path) -> None:
    """Methods of Tensor belong to one library each."""
    for method in methods_of(json.loads((folder / "operators.json").read_text())["operators"]):
        if hasattr(Tensor, method):
            raise ImportError(
                f"{name}: Tensor has a method '{method}' already, of torch_py or another package"
            )


def methods_of(rows: list[dict[str, Any]]) -> list[str]:
    """The methods of Tensor that operators add."""
    found = []
    for row in rows:
        if "method" not in row["variants"]:
            continue
        names = [row["base_name"], *(name.partition(".")[0] for name, _ in row["renamed"])]
        for name in dict.fromkeys(names):
            found += [name, f"{name}_"] if "inplace" in row["variants"] else [name]
    return found


def _import_native(name: str, folder: Path) -> ModuleType:
    """The module of the shared object, which has the name of the package and does not replace it."""
    path = folder / f"{NATIVE}{_suffix()}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None, f"not an extension module: {path}"

    package = sys.modules[name]
    try:
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    except ImportError as error:
        raise ImportError(
            f"{name} does not fit this torch_py ({error}); build it again: pip install --force-reinstall "
            "--no-build-isolation FOLDER"
        ) from None
    finally:
        sys.modules[name] = package
    return module


def _suffix() -> str:
    return importlib.machinery.EXTENSION_SUFFIXES[0]
