"""The files that the generator reads besides the declarations: kernels, sample generators, the package.

The scanners and the fingerprint of a generated tree take the list from here, so that they agree.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from codegen.output.fingerprint import STAMP


def kernel_files(root: Path) -> list[Path]:
    """Sources below ``root/aten/native``, or below ``root`` itself if it has no such folder (a library)."""
    native = root / "aten" / "native"
    return sorted(_files(native if native.is_dir() else root, (".cpp", ".cu", ".cuh")))


# Those of many operators come with torch_py, for packages of operators.
SAMPLE_FOLDERS = (Path("tests/ops/samples"), Path("torch_py/testing/operators/samples"))
# Of a package of operators.
PACKAGE_SAMPLES = Path("samples.py")


def sample_files(root: Path) -> list[Path]:
    """The files with generators of arguments for tests."""
    found = [path for folder in SAMPLE_FOLDERS for path in _files(root / folder, (".py",))]
    own = root / PACKAGE_SAMPLES
    return sorted([*found, *([own] if own.is_file() else [])])


def taken_name_files(root: Path) -> list[Path]:
    """The files of the package in which names of Tensor and torch are written by hand."""
    bindings = root / "torch_py" / "csrc" / "bindings"
    modules = [root / "torch_py" / name for name in ("__init__.py", "_exports.py", "_tensor_methods.py")]
    tables = [path for folder in ("exchange", "tensor") for path in (bindings / folder).glob("*.cpp")]
    return sorted([*tables, *(path for path in modules if path.is_file())])


def documented_files(root: Path) -> list[Path]:
    """The files with the documentation of what is written by hand: texts, and the table of properties."""
    bindings = root / "torch_py" / "csrc" / "bindings"
    found = (bindings / "Texts.cpp", bindings / "tensor" / "TensorProperties.cpp")
    return [path for path in found if path.is_file()]


def version_file(root: Path) -> Path:
    return root / "torch_py" / "version.py"


def files(root: Path) -> list[Path]:
    """All of them."""
    version = [path for path in (version_file(root),) if path.is_file()]
    found = [*kernel_files(root), *sample_files(root), *taken_name_files(root), *documented_files(root)]
    return [*dict.fromkeys(found), *version]


def _files(folder: Path, suffixes: tuple[str, ...]) -> Iterator[Path]:
    """All files below ``folder`` except those of builds and of the generator itself, wherever it writes."""
    for place, folders, names in os.walk(folder):
        if STAMP in names:
            folders.clear()
            continue

        folders[:] = [f for f in folders if f not in ("build", "__pycache__") and not f.startswith(".")]
        yield from (Path(place, name) for name in names if name.endswith(suffixes))
