"""A target of codegen: operators with a formula become C functions of numbers and arrays, with gradients."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from codegen.dialect import Checks, Dialect
from codegen.target import Target

if TYPE_CHECKING:
    from codegen.model import Program
    from codegen.output.templates import Templates


def _files(program: Program, templates: Templates) -> Mapping[str, str]:
    from c_header_target.functions import functions_of
    from codegen.output import layout

    files = {}
    for topic in program.topics.values():
        path = f"{topic.name.lower()}.h"
        guard = f"{topic.name.upper()}_H"
        text = templates.render("topic.h.jinja", guard=guard, functions=functions_of(topic))
        files[path] = layout.wrapped(path, text)
    return files


def _checks() -> Checks:
    from c_header_target.checks import check

    return Checks(check)


TARGET = Target(
    name="c_header",
    files=_files,
    templates=Path(__file__).resolve().parent / "templates",
    dialect=Dialect(
        required=frozenset(["structure", "doc"]),
        dtypes=("float64",),
        dtype_aliases={"double": "float64"},
        unused_keys=frozenset(["dispatch", "shape", "lowering", "autocast", "foreach", "scalars"]),
        checks=_checks,
    ),
)
