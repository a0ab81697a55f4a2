"""Finds compiler, linker, ccache, ninja and Python's headers, or says what to install."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from .configuration import Configuration
from .errors import BuildError

MINIMUM_VERSION = {"gcc": 11, "clang": 14}


@dataclass(frozen=True)
class Toolchain:
    compiler: str
    is_clang: bool
    version: int
    linker: str  # the value of -fuse-ld; empty for the compiler's default
    ccache: str  # its path; empty if it is not used
    ninja: str
    python_include: str
    extension_suffix: str


def find_toolchain(configuration: Configuration) -> Toolchain:
    compiler = find_compiler(configuration.compiler)
    is_clang, version = identify(compiler)
    python = other_python(configuration.python) if configuration.python else this_python()

    return Toolchain(
        compiler=compiler,
        is_clang=is_clang,
        version=version,
        linker=configuration.linker or ("lld" if shutil.which("ld.lld") else ""),
        ccache=(shutil.which("ccache") or "") if configuration.ccache else "",
        ninja=find_ninja(),
        python_include=python.include,
        extension_suffix=python.suffix,
    )


def find_compiler(wanted: str) -> str:
    if wanted:
        if not shutil.which(wanted.split()[0]):
            raise BuildError(f"CXX={wanted}: no such program on PATH")
        return wanted
    for name in ("g++", "clang++"):
        if shutil.which(name):
            return name
    raise BuildError(
        "no C++ compiler found. On Debian/Ubuntu: sudo apt install g++  (or name one: CXX=clang++ make)"
    )


def identify(compiler: str) -> tuple[bool, int]:
    """Whether the compiler is clang, and its major version.

    Raises BuildError for versions that lack the C++20 features that the sources use.
    """
    command = [*compiler.split(), "-dM", "-E", "-x", "c++", "/dev/null"]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        raise BuildError(
            f"{compiler} does not work: {result.stderr.strip()}\nOn Debian/Ubuntu: sudo apt install g++"
        )

    macros = dict(re.findall(r"#define (\w+) (\S+)", result.stdout))
    is_clang = "__clang_major__" in macros
    version = int(macros["__clang_major__" if is_clang else "__GNUC__"])

    kind = "clang" if is_clang else "gcc"
    if version < MINIMUM_VERSION[kind]:
        raise BuildError(
            f"{compiler} is {kind} {version}; {kind} {MINIMUM_VERSION[kind]} or newer is needed. "
            "Name another: CXX=g++-12 make"
        )

    return is_clang, version


def find_ninja() -> str:
    try:
        import ninja

        candidate = Path(ninja.BIN_DIR) / "ninja"
        if candidate.exists():
            return str(candidate)
    except ModuleNotFoundError:
        pass
    next_to_python = Path(sys.executable).parent / "ninja"
    found = str(next_to_python) if next_to_python.exists() else shutil.which("ninja")
    if not found:
        raise BuildError(f"ninja is missing. Install it with: {sys.executable} -m pip install ninja")
    return found


@dataclass(frozen=True)
class Python:
    """The interpreter that the bindings are built for."""

    include: str  # the folder of Python.h
    suffix: str  # of extension modules: .cpython-312-x86_64-linux-gnu.so


def this_python() -> Python:
    include = sysconfig.get_paths()["include"]
    if not (Path(include) / "Python.h").exists():
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        raise BuildError(
            f"Python.h is not in {include}. On Debian/Ubuntu: sudo apt install python{version}-dev"
        )
    return Python(include, sysconfig.get_config_var("EXT_SUFFIX"))


def other_python(named: str) -> Python:
    """From the folder of its headers, which is all that compiling needs, or by asking the interpreter."""
    if Path(named).is_dir():
        return Python(named, _suffix_for(Path(named)))

    question = "import sysconfig; print(sysconfig.get_paths()['include'])"
    try:
        answer = subprocess.run([named, "-c", question], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        raise BuildError(f"TORCH_PY_PYTHON={named}: neither an interpreter nor a folder of headers") from None
    include = answer.stdout.strip()
    return Python(include, _suffix_for(Path(include)))


def _suffix_for(include: Path) -> str:
    """This interpreter's suffix with the version of the headers."""
    try:
        text = (include / "patchlevel.h").read_text()
    except OSError:
        raise BuildError(
            f"TORCH_PY_PYTHON: {include} has no patchlevel.h, and so is not for Python.h"
        ) from None

    major, minor = (
        found[1] if (found := re.search(rf"#define PY_{part}_VERSION\s+(\d+)", text)) else "0"
        for part in ("MAJOR", "MINOR")
    )
    own = str(sysconfig.get_config_var("EXT_SUFFIX"))
    return re.sub(r"cpython-\d+", f"cpython-{major}{minor}", own)
