"""A target of codegen: operators become functions of arrays over NumPy, with gradients, pages and tests.

Formulas are printed as NumPy. Other operators have a function in ``kernels.py`` next to the declarations,
which the generated package contains, too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from codegen.dialect import Checks, Dialect
from codegen.target import Target

if TYPE_CHECKING:
    from codegen.model import Kernel, Program
    from codegen.model.kernels import KernelIndex
    from codegen.output.templates import Templates
    from codegen.schema import FunctionSchema

KERNELS = "kernels.py"
_FUNCTION = re.compile(r"^def (\w+)\(", re.MULTILINE)


def _files(program: Program, templates: Templates) -> Mapping[str, str]:
    from numpy_target.functions import functions_of

    functions = [f for topic in program.topics.values() for f in functions_of(topic, program)]
    kernels = Path(program.path).parent / KERNELS

    files = {name: templates.render(f"{name}.jinja", functions=functions) for name in _PACKAGE}
    files["tests/__init__.py"] = ""
    files[KERNELS] = kernels.read_text(encoding="utf-8") if kernels.is_file() else ""
    for topic in program.topics:
        own = [f for f in functions if f.topic == topic]
        files[f"docs/{topic}.md"] = templates.render("page.md.jinja", topic=topic, functions=own)
        files[f"tests/test_{topic.lower()}.py"] = templates.render("tests.py.jinja", functions=own)
    return files


_PACKAGE = ("__init__.py", "array.py", "operators.py")


def _scan_kernels(folder: Path, planned: Sequence[Kernel]) -> KernelIndex:
    from codegen.model.kernels import Kernel, KernelIndex

    found = []
    for path in _scanned(folder):
        text = path.read_text(encoding="utf-8")
        for match in _FUNCTION.finditer(text):
            found.append(Kernel(match[1], path.name, text.count("\n", 0, match.start()) + 1))
    return KernelIndex([*planned, *found])


def _scanned(folder: Path) -> list[Path]:
    return [path for path in [folder / KERNELS] if path.is_file()]


def _implied_kernel(schema: FunctionSchema, structure: str) -> tuple[str, str]:
    """The function with the operator's name."""
    return "NumPy", schema.unambiguous_name


def _checks() -> Checks:
    from numpy_target.checks import check, check_gradients

    return Checks(check, check_gradients)


TARGET = Target(
    name="numpy",
    files=_files,
    templates=Path(__file__).resolve().parent / "templates",
    dialect=Dialect(
        required=frozenset(["structure", "derivatives", "doc"]),
        unused_keys=frozenset(["shape", "lowering", "autocast", "foreach", "out_dtype", "dtypes"]),
        dispatch_keys=("NumPy",),
        main_keys=frozenset(["NumPy"]),
        implied_kernel=_implied_kernel,
        kernels=_scan_kernels,
        scanned_files=_scanned,
        checks=_checks,
    ),
)
