"""Builds packages of operators with setuptools: what `setup.py` of such a package uses.

from setuptools import setup
from torch_py.utils.cpp_extension import BuildOperators, OperatorExtension

setup(ext_modules=[OperatorExtension("softcap_ops")], cmdclass={"build_ext": BuildOperators})
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from setuptools import Extension
from setuptools.command.build_ext import build_ext

from ._build import build_shared_object
from ._called_operators import operators_called
from ._packages import BUILD_FILE, NATIVE, description_of_build

_FACTS = ("operators.json", "contract.json", "lowerings.py", "__init__.pyi", "operators.md")


class OperatorExtension(Extension):
    """The operators of a package: those that `operators.yaml` in its folder declares, with the kernels in
    `aten/native` next to it."""

    declarations = "operators.yaml"
    kind = "library"
    placed: tuple[str, ...] = _FACTS

    def __init__(self, package: str, folder: str | None = None) -> None:
        """
        Args:
            package: the Python package, which is also the `library:` of the declarations.
            folder: the folder of the package, by default `src/package` next to setup.py.
        """
        super().__init__(f"{package}.{NATIVE}", sources=[])
        self.package = package
        self.folder = Path(folder or f"src/{package}")


class BackendExtension(OperatorExtension):
    """The backend of a package: `backend.yaml` in its folder names kernels for existing operators, and the
    functions of the device, which are in `aten/native` next to it."""

    declarations = "backend.yaml"
    kind = "backend"
    placed = ("fallbacks.md", "kernels.json")


class BuildOperators(build_ext):
    """The command `build_ext` for extensions of these kinds; others are built as always."""

    def build_extension(self, ext: Any) -> None:
        if not isinstance(ext, OperatorExtension):
            super().build_extension(ext)
            return

        output = Path(self.build_temp).resolve() / ext.package
        declarations = (ext.folder / ext.declarations).resolve()
        if not declarations.is_file():
            raise SystemExit(f"error: {ext.package}: the file {declarations} does not exist")
        try:
            built = build_shared_object(declarations, output, portable=True)
        except RuntimeError as error:
            raise SystemExit(f"error: {error}") from None
        if built.name.partition(".")[0] != ext.package:
            raise SystemExit(
                f"error: {declarations.name} declares the {ext.kind} '{built.name.partition('.')[0]}'; write "
                f"{ext.kind}: {ext.package}"
            )
        self._place(built, output / "generated", ext)

    def _place(self, built: Path, generated: Path, ext: OperatorExtension) -> None:
        """Copies what belongs into the package."""
        folder = Path(self.get_ext_fullpath(ext.name)).parent
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy2(built, folder / f"{NATIVE}{built.name.removeprefix(ext.package)}")

        if isinstance(ext, BackendExtension):
            for name in ext.placed:
                shutil.copy2(generated / name, folder)
        else:
            facts = generated / "torch_py" / "_generated"
            shutil.copy2(facts / "operators.json", folder)
            shutil.copy2(facts / "contract.json", folder)
            shutil.copy2(facts / "lowerings.py", folder)
            shutil.copy2(facts / f"{ext.package}.pyi", folder / "__init__.pyi")
            pages = sorted((generated / "docs" / "operators").glob("*.md"))
            (folder / "operators.md").write_text("\n".join(page.read_text() for page in pages))
        called = operators_called([generated, ext.folder / "aten"])
        built = {**description_of_build(), "operators": called}
        (folder / BUILD_FILE).write_text(json.dumps(built) + "\n")

    def get_outputs(self) -> list[str]:
        """The files that setuptools is to know of."""
        found: list[str] = []
        for ext in self.extensions:
            if isinstance(ext, OperatorExtension):
                folder = Path(self.get_ext_fullpath(ext.name)).parent
                found += [str(folder / name) for name in (*ext.placed, BUILD_FILE)]
                found.append(self.get_ext_fullpath(ext.name))
        return found
