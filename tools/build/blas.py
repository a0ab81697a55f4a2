"""Where BLAS, LAPACK and FFT come from, and how libtorch_py_blas.so is compiled and linked against them.

mkl       the static libraries of the mkl-static wheel; libtorch_py_blas.so exports nothing of MKL
openblas  the scipy-openblas32 wheel, otherwise the system's library; the wheel's shared library is copied
          next to ours, and its functions have the prefix scipy_
builtin   our own products and Fourier transforms; LAPACK is loaded at run time, from the scipy-openblas32
          wheel if that is installed next to torch_py or here: see Note [A LAPACK that is loaded]

The files of aten/blas see TORCH_PY_BLAS_MKL, TORCH_PY_BLAS_OPENBLAS or TORCH_PY_BLAS_BUILTIN, and
TORCH_PY_OPENBLAS_PREFIX.
"""

from __future__ import annotations

import importlib.metadata
import platform
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from .configuration import Configuration
from .errors import BuildError
from .flags import openmp_library
from .toolchain import Toolchain

MKL_LIBRARIES = ("libmkl_intel_lp64.a", "libmkl_gnu_thread.a", "libmkl_core.a")


@dataclass(frozen=True)
class Blas:
    name: str
    compile_flags: tuple[str, ...] = ()
    link_flags: tuple[str, ...] = ()
    bundled: tuple[Path, ...] = ()  # shared libraries to be copied into torch_py/lib


def find_blas(configuration: Configuration, toolchain: Toolchain) -> Blas:
    finders = {"mkl": find_mkl, "openblas": find_openblas, "builtin": builtin}
    if configuration.blas:
        found = finders[configuration.blas](toolchain)
        if found is None:
            raise BuildError(
                f"TORCH_PY_BLAS={configuration.blas}: not found. "
                f"{HOW_TO_GET[configuration.blas].format(python=sys.executable)}"
            )
        return found
    return find_mkl(toolchain) or find_openblas(toolchain) or builtin(toolchain)


HOW_TO_GET = {
    "mkl": "Install it with: {python} -m pip install mkl-static mkl-include  (Linux on x86_64 only)",
    "openblas": "Install it with: {python} -m pip install scipy-openblas32  (or: sudo apt install "
    "libopenblas-dev)",
}


def find_mkl(toolchain: Toolchain) -> Blas | None:
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return None

    archives = [_installed("mkl-static", name) for name in MKL_LIBRARIES]
    header = _installed("mkl-include", "mkl.h")
    if header is None or not all(archives):
        return None

    group = " ".join(_relative(archive) for archive in archives if archive)
    return Blas(
        name="mkl",
        compile_flags=("-DTORCH_PY_BLAS_MKL", f"-isystem {_relative(header.parent)}"),
        link_flags=(
            "-Wl,--start-group",
            group,
            "-Wl,--end-group",
            "-Wl,--exclude-libs,ALL",
            openmp_library(toolchain),
            "-lpthread",
            "-lm",
            "-ldl",
        ),
    )


def find_openblas(toolchain: Toolchain) -> Blas | None:
    library = _installed("scipy-openblas32", "libscipy_openblas.so")
    if library is not None:
        include = library.parent.parent / "include"
        return Blas(
            name="openblas",
            compile_flags=(
                "-DTORCH_PY_BLAS_OPENBLAS",
                "-DTORCH_PY_OPENBLAS_PREFIX=scipy_",
                f"-isystem {_relative(include)}",
            ),
            link_flags=("-L" + _relative(library.parent), "-lscipy_openblas", "-lm"),
            bundled=(library,),
        )

    if (
        not shutil.which("pkg-config")
        or subprocess.run(["pkg-config", "--exists", "openblas"]).returncode != 0
    ):
        return None

    return Blas(
        name="openblas",
        compile_flags=("-DTORCH_PY_BLAS_OPENBLAS", "-DTORCH_PY_OPENBLAS_PREFIX=", *_pkg_config("--cflags")),
        link_flags=(*_pkg_config("--libs"), "-lm"),
    )


def builtin(toolchain: Toolchain) -> Blas:
    folders = ["'$ORIGIN/../../scipy_openblas32/lib'"]
    installed = _installed("scipy-openblas32", "libscipy_openblas.so")
    if installed is not None:
        folders.append(str(installed.parent))

    run_path = (f"-Wl,-rpath,{folder}" for folder in folders)
    return Blas(
        name="builtin", compile_flags=("-DTORCH_PY_BLAS_BUILTIN",), link_flags=(*run_path, "-lm", "-ldl")
    )


def _pkg_config(option: str) -> list[str]:
    return subprocess.run(
        ["pkg-config", option, "openblas"], capture_output=True, text=True, check=True
    ).stdout.split()


def _installed(distribution: str, file_name: str) -> Path | None:
    """A file of an installed wheel.

    Under build isolation it is not in sys.prefix, so the wheel's own list is asked.
    """
    try:
        files = importlib.metadata.files(distribution) or []
    except importlib.metadata.PackageNotFoundError:
        return None
    for file in files:
        if file.name == file_name:
            path = Path(str(file.locate())).resolve()
            if path.exists():
                return path
    return None


def _relative(path: Path) -> str:
    """The path, relative to the checkout if it is inside (as .venv is).

    Commands, and with them ccache's keys, then do not name the checkout.
    """
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)
