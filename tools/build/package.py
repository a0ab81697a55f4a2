"""What a wheel holds in addition to the Python files of torch_py.

torch_py/_C*.so, torch_py/lib/*.so   the libraries
torch_py/lib/abi.txt                 what packages of operators are built for: see abi_stamp
torch_py/include/                    headers of c10, aten, torch_py/csrc and the generated ones, in one tree,
                                     without those that only the library itself can use
torch_py/_toolchain.tar.xz           what build_operators() needs to build operators outside the tree, laid
                                     out as in the repository: codegen, templates, tools/build and the
                                     declarations, with the kernels and samples that these name (the
                                     generator looks them up, those for CUDA too; they are not compiled
                                     again). One archive takes half of the space of 700 small files.
"""

from __future__ import annotations

import fnmatch
import hashlib
import lzma
import shutil
import tarfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from .files import write_if_changed
from .sources import CUDA, GENERATED

DECLARATIONS = "native_functions.yaml"
HEADER_FOLDERS = ("c10", "aten", "torch_py/csrc")
# Declarations of the library's own kernels and nodes, which nothing else can call.
INTERNAL_HEADERS = (
    "aten/native/declarations/*",
    "aten/native/*Native.h",
    "torch_py/csrc/autograd/generated/*",
)
KERNELS = "aten/native"
SAMPLES = ("tests/ops/samples", "torch_py/testing/operators/samples")
TOOLCHAIN_FOLDERS = ("codegen", "templates", "tools/build", KERNELS, *SAMPLES)
TOOLCHAIN_FILES = ("tools/__init__.py", DECLARATIONS)
TOOLCHAIN_ARCHIVE = "_toolchain.tar.xz"
ABI_FILE = "torch_py/lib/abi.txt"


def collect(root: Path, destination: Path) -> None:
    """Copies everything but the Python files into `destination`, the folder a wheel is made of."""
    package = destination / "torch_py"
    for library in libraries(root):
        _copy(library, destination / library.relative_to(root))
    for base in (root, root / GENERATED):
        for header in headers(base):
            _copy(header, package / "include" / header.relative_to(base))
    pack(root, toolchain_files(root), package / TOOLCHAIN_ARCHIVE)
    for file in generated_python(root):
        _copy(file, destination / file.relative_to(root / GENERATED))


def libraries(root: Path) -> Iterable[Path]:
    found = [*(root / "torch_py/lib").glob("*.so*"), *(root / "torch_py").glob("_C*.so")]
    return [*found, *(path for path in [root / ABI_FILE] if path.exists())]


def abi_stamp(root: Path) -> str:
    """A digest of the headers written by hand, on which the layout of all shared objects depends.

    Generated headers declare functions, which the linker finds by name.
    """
    digest = hashlib.sha256()
    for header in sorted(headers(root)):
        digest.update(header.relative_to(root).as_posix().encode() + b"\0")
        digest.update(header.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def headers(base: Path) -> Iterator[Path]:
    """Without internal ones and those of the CUDA library, which nobody links against."""
    excluded = (*INTERNAL_HEADERS, *(f"{folder}/*" for folder in CUDA))
    for folder in HEADER_FOLDERS:
        for header in (base / folder).rglob("*.h"):
            name = header.relative_to(base).as_posix()
            if not any(fnmatch.fnmatch(name, pattern) for pattern in excluded):
                yield header


def toolchain_files(root: Path) -> Iterator[Path]:
    for folder in TOOLCHAIN_FOLDERS:
        for path in (root / folder).rglob("*"):
            is_header = folder == KERNELS and path.suffix == ".h"  # in which the generator looks up nothing
            if path.is_file() and not is_header and "__pycache__" not in path.parts:
                yield path
    yield from (root / name for name in TOOLCHAIN_FILES)


def pack(root: Path, files: Iterable[Path], archive: Path) -> None:
    """Writes the files, named from `root`, in an order and with times that do not vary between builds."""
    archive.parent.mkdir(parents=True, exist_ok=True)
    with (
        lzma.open(archive, "wb", preset=9 | lzma.PRESET_EXTREME) as compressed,
        tarfile.open(fileobj=compressed, mode="w") as tar,
    ):
        for file in sorted(files):
            member = tar.gettarinfo(file, file.relative_to(root).as_posix())
            member.mtime = 0
            member.uid = member.gid = 0
            member.uname = member.gname = ""
            with file.open("rb") as content:
                tar.addfile(member, content)


def generated_python(root: Path) -> Iterator[Path]:
    """Stubs, modules and the description of the operators that the generator wrote for the package."""
    for path in sorted((root / GENERATED / "torch_py").rglob("*")):
        if path.suffix in (".py", ".pyi", ".json"):
            yield path


def place_generated_python(root: Path) -> None:
    """In a checkout, copies the generated stubs into the package, where Python and type checkers look.

    Git ignores these copies.
    """
    record = root / "build/generated_python.txt"
    wanted = {path.relative_to(root / GENERATED).as_posix(): path for path in generated_python(root)}
    placed = record.read_text().split("\n") if record.exists() else []
    for name in placed:
        if name and name not in wanted:
            (root / name).unlink(missing_ok=True)
    for name, path in wanted.items():
        write_if_changed(root / name, path.read_bytes())
    write_if_changed(record, "\n".join(wanted))


def _copy(source: Path, destination: Path) -> None:
    destination.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, destination)
