"""The layers: which folders may include or import which; modules.py has the layers within torch_py."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from . import modules
from .finding import Finding
from .tree import CPP, PYTHON, ROOT, files

INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]')
PYTHON_HEADERS = ("Python.h", "pybind11/", "numpy/", "structmember.h", "frameobject.h", "descrobject.h")
CUDA_HEADERS = ("cuda.h", "cuda_", "cub/", "cublas", "cudnn", "cusolver", "cufft", "nccl")
INTEL_HEADERS = ("mkl", "cblas.h", "lapacke.h")


@dataclass(frozen=True)
class IncludeRule:
    folder: str
    forbidden: tuple[str, ...]  # beginnings of include paths
    advice: str


INCLUDE_RULES = (
    IncludeRule("c10/", ("aten/", "torch_py/"), "c10 knows only itself; move what needs the include to aten"),
    IncludeRule(
        "c10/util/",
        ("c10/core/", "c10/dispatch/", "c10/cpu/"),
        "c10/util is the lowest layer of c10",
    ),
    IncludeRule(
        "aten/",
        ("torch_py/",),
        "aten knows nothing of torch_py; pass what is needed as an argument or through the dispatcher",
    ),
    IncludeRule(
        "torch_py/csrc/autograd/",
        ("torch_py/csrc/bindings/",),
        "autograd knows no Python; let bindings call it",
    ),
    IncludeRule(
        "torch_py/csrc/bindings/",
        ("torch_py/csrc/compiler/guards/", "torch_py/csrc/compiler/frames/"),
        "bindings only know that there is a compiler: torch_py/csrc/compiler/Module.h",
    ),
    IncludeRule("c10/", PYTHON_HEADERS, "Python belongs in torch_py/csrc/bindings"),
    IncludeRule("aten/", PYTHON_HEADERS, "Python belongs in torch_py/csrc/bindings"),
    IncludeRule("torch_py/csrc/autograd/", PYTHON_HEADERS, "Python belongs in torch_py/csrc/bindings"),
)


@dataclass(frozen=True)
class ReservedRule:
    folders: tuple[str, ...]  # the only ones that may include them
    reserved: tuple[str, ...]  # beginnings of include paths
    advice: str


RESERVED_RULES = (
    ReservedRule(
        ("aten/blas/",), INTEL_HEADERS, "BLAS is reached through aten/blas/*.h, so that it can be exchanged"
    ),
    ReservedRule(
        ("c10/cuda/", "aten/native/cuda/", "tests/"),
        ("c10/cuda/", "aten/native/cuda/", *CUDA_HEADERS),
        "only the CUDA library knows CUDA; the backend is reached through c10/core/DeviceHooks.h",
    ),
)


@dataclass(frozen=True)
class ImportRule:
    folder: str
    forbidden: tuple[str, ...]  # top-level packages
    advice: str


IMPORT_RULES = (
    ImportRule(
        "codegen/",
        ("torch_py", "torch", "tools", "tests"),
        "codegen runs before torch_py exists and depends on nothing else here",
    ),
    ImportRule(
        "torch_py/",
        ("codegen", "tools", "tests"),
        "nothing of codegen, tools or tests runs at import; start them as a process",
    ),
    ImportRule("torch_py/", ("torch",), "torch_py does not depend on PyTorch"),
    ImportRule(
        "tools/build/",
        ("torch_py", "codegen"),
        "the build runs before torch_py exists; start codegen as a process",
    ),
)
# numpy: only in the module that holds references for tests, which the generator does not import. pygls: only
# where the language server meets its protocol.
CODEGEN_MAY_IMPORT = {
    "": ("yaml", "jinja2", "codegen"),
    "codegen/expressions/numpy_special.py": ("numpy",),
    "codegen/expressions/numpy_bessel.py": ("numpy",),
    "codegen/lsp/conversion.py": ("lsprotocol", "pygls"),
    "codegen/lsp/server.py": ("lsprotocol", "pygls"),
}


def check(root: Path = ROOT) -> Iterator[Finding]:
    for path in files(CPP, root):
        yield from check_includes(path, (root / path).read_text(errors="replace"))
    python = files(PYTHON, root)
    known = frozenset(modules.module_name(path) for path in python if path.startswith("torch_py/"))
    for path in python:
        text = (root / path).read_text(errors="replace")
        yield from check_imports(path, text)
        if path.startswith("torch_py/") and not path.startswith(
            ("torch_py/csrc/", "torch_py/as_torch/shadow/")
        ):
            yield from modules.check_module(path, text, known)


def check_includes(path: str, text: str) -> Iterator[Finding]:
    for number, line in enumerate(text.splitlines(), 1):
        found = INCLUDE.match(line)
        if not found:
            continue

        included = found[1]
        for rule in INCLUDE_RULES:
            if path.startswith(rule.folder) and included.startswith(rule.forbidden):
                yield Finding(path, number, f'{rule.folder} must not include "{included}"; {rule.advice}')

        for reserved in RESERVED_RULES:
            if included.startswith(reserved.reserved) and not path.startswith(reserved.folders):
                homes = " and ".join(reserved.folders)
                yield Finding(path, number, f'"{included}" is for {homes} alone; {reserved.advice}')


def check_imports(path: str, text: str) -> Iterator[Finding]:
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        yield Finding(path, error.lineno or 0, f"not valid Python: {error.msg}")
        return

    for line, module in imported_modules(tree):
        top = module.split(".")[0]
        for rule in IMPORT_RULES:
            if path.startswith(rule.folder) and top in rule.forbidden:
                yield Finding(path, line, f"{rule.folder} must not import {module}; {rule.advice}")

        if path.startswith("codegen/") and _is_foreign(path, top):
            yield Finding(
                path,
                line,
                f"codegen must not import {module}; it needs only pyyaml, jinja2 and the standard library",
            )


def _is_foreign(path: str, top: str) -> bool:
    allowed = (*CODEGEN_MAY_IMPORT[""], *CODEGEN_MAY_IMPORT.get(path, ()))
    refused_already = any(path.startswith(rule.folder) and top in rule.forbidden for rule in IMPORT_RULES)
    return top not in allowed and top not in sys.stdlib_module_names and not refused_already


def imported_modules(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """All absolute imports, also those inside functions; relative ones stay within their package."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for name in node.names:
                yield node.lineno, name.name
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.lineno, node.module
