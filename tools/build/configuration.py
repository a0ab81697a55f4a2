"""Every environment variable that the build reads; `python -m tools.build --help-config` prints the table."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from .errors import BuildError


@dataclass(frozen=True)
class Variable:
    name: str
    default: str
    choices: tuple[str, ...]
    meaning: str


VARIABLES = (
    Variable("CXX", "", (), "the C++20 compiler; default: g++, else clang++"),
    Variable(
        "MAX_JOBS",
        "",
        (),
        "compilers run at the same time; default: one per core, fewer when memory is short",
    ),
    Variable(
        "TORCH_PY_BLAS",
        "",
        ("", "mkl", "openblas", "builtin"),
        "GEMM, LAPACK and FFT: mkl (static), openblas (wheel or system), builtin (our own; LAPACK from "
        "scipy-openblas32 at run time); default: the first of them that is there",
    ),
    Variable(
        "TORCH_PY_ISAS",
        "",
        (),
        "instruction sets to build kernels for, e.g. DEFAULT,AVX512; default: all that the architecture has",
    ),
    Variable(
        "TORCH_PY_CUDA",
        "0",
        ("0", "1", "auto"),
        "1: also build the CUDA library, as `make cuda` does; auto, which `pip install` assumes: if nvcc and "
        "the driver of a GPU are there",
    ),
    Variable(
        "TORCH_PY_CUDA_ARCHS",
        "90",
        (),
        "compute capabilities to build the CUDA library for, e.g. 80,90,100",
    ),
    Variable(
        "TORCH_PY_PYTHON",
        "",
        (),
        "build the bindings for another Python: its interpreter, or the folder of its Python.h",
    ),
    Variable(
        "TORCH_PY_OPERATORS",
        "",
        (),
        "a list of operators (docs/selective_build.md): only these, and what they need, are built; "
        "default: all",
    ),
    Variable(
        "TORCH_PY_DEBUG",
        "0",
        ("0", "1"),
        "1: debug information, assertions of the standard library, symbols not stripped",
    ),
    Variable(
        "TORCH_PY_SANITIZE",
        "",
        ("", "address", "undefined", "thread", "address,undefined"),
        "build with these sanitizers; `make emulation`: only the emulated CUDA library",
    ),
    Variable("TORCH_PY_WERROR", "0", ("0", "1"), "1: compiler warnings are errors"),
    Variable("TORCH_PY_CXXFLAGS", "", (), "appended to every compiler command, after all other flags"),
    Variable("TORCH_PY_LDFLAGS", "", (), "appended to every link command"),
    Variable("TORCH_PY_LINKER", "", (), "value of -fuse-ld; default: lld when present"),
    Variable("TORCH_PY_CCACHE", "1", ("0", "1"), "0: do not use ccache even when it is on PATH"),
    Variable("TORCH_PY_PCH", "1", ("0", "1"), "0: no precompiled headers (clang never has them)"),
    Variable("TORCH_PY_VERBOSE", "0", ("0", "1"), "1: print every command and all compiler output"),
)


@dataclass(frozen=True)
class Configuration:
    compiler: str
    jobs: int | None
    blas: str
    instruction_sets: tuple[str, ...]
    cuda: str
    cuda_architectures: tuple[str, ...]
    python: str
    operators: str
    debug: bool
    sanitize: str
    warnings_are_errors: bool
    compile_flags: tuple[str, ...]
    link_flags: tuple[str, ...]
    linker: str
    ccache: bool
    precompiled_headers: bool
    verbose: bool

    @staticmethod
    def from_environment(environment: Mapping[str, str] | None = None) -> Configuration:
        value = _read(os.environ if environment is None else environment)

        return Configuration(
            compiler=value["CXX"],
            jobs=_positive("MAX_JOBS", value["MAX_JOBS"]),
            blas=value["TORCH_PY_BLAS"],
            instruction_sets=tuple(
                name.strip().upper() for name in value["TORCH_PY_ISAS"].split(",") if name.strip()
            ),
            cuda=value["TORCH_PY_CUDA"],
            cuda_architectures=_architectures("TORCH_PY_CUDA_ARCHS", value["TORCH_PY_CUDA_ARCHS"]),
            python=value["TORCH_PY_PYTHON"],
            operators=value["TORCH_PY_OPERATORS"],
            debug=value["TORCH_PY_DEBUG"] == "1",
            sanitize=value["TORCH_PY_SANITIZE"],
            warnings_are_errors=value["TORCH_PY_WERROR"] == "1",
            compile_flags=tuple(value["TORCH_PY_CXXFLAGS"].split()),
            link_flags=tuple(value["TORCH_PY_LDFLAGS"].split()),
            linker=value["TORCH_PY_LINKER"],
            ccache=value["TORCH_PY_CCACHE"] == "1",
            precompiled_headers=value["TORCH_PY_PCH"] == "1",
            verbose=value["TORCH_PY_VERBOSE"] == "1",
        )


def _read(environment: Mapping[str, str]) -> dict[str, str]:
    values = {}
    for variable in VARIABLES:
        text = environment.get(variable.name, variable.default).strip() or variable.default
        if variable.choices and text not in variable.choices:
            expected = ", ".join(choice for choice in variable.choices if choice)
            raise BuildError(f"{variable.name}={text!r}: expected one of {expected}")
        values[variable.name] = text
    return values


def _positive(name: str, text: str) -> int | None:
    if not text:
        return None
    if not text.isdigit() or int(text) == 0:
        raise BuildError(f"{name}={text!r}: expected a positive number")
    return int(text)


def _architectures(name: str, text: str) -> tuple[str, ...]:
    found = tuple(part.strip() for part in text.split(",") if part.strip())
    if not found or not all(part.isdigit() and int(part) >= 75 for part in found):
        raise BuildError(f"{name}={text!r}: expected compute capabilities such as 80,90")
    return found


def describe() -> str:
    """The table as text, for --help-config; as CONTRIBUTING shows it."""
    width = max(len(variable.name) for variable in VARIABLES)
    lines = []
    for variable in VARIABLES:
        choices = (
            f" [{'|'.join(choice for choice in variable.choices if choice)}]" if variable.choices else ""
        )
        lines.append(f"{variable.name:<{width}}  {variable.meaning}{choices}")
    return "\n".join(lines)
