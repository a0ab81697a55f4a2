"""What torch_py generates: C++ for its dispatcher, autograd and bindings, Python stubs and documentation.

``dialect`` is what its entries may say. ``analysis`` has facts that follow from checked operators, ``emit``
the generated files, ``backends`` what connects devices outside the tree, and ``cli`` the commands for authors
of operators. They are imported when they are used: ``generate`` with nothing to do needs none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from codegen.output.literals import cpp_lines, cpp_string
from codegen.target import FileKind, Incremental, OptionalCheck, Part, Rendered, Target
from codegen.targets.torch_py.commands import COMMANDS
from codegen.targets.torch_py.dialect import DIALECT

if TYPE_CHECKING:
    from codegen.lsp.editing import Editing
    from codegen.model import Program
    from codegen.model.known import Change
    from codegen.output.templates import Templates
    from codegen.output.writer import GenerateReport

_ROOT = Path(__file__).resolve().parents[3]
_DECLARATIONS = "native_functions.yaml"


def _files(program: Program, templates: Templates) -> Sequence[Part]:
    from codegen.targets.torch_py.analysis.implied_operators import expanded
    from codegen.targets.torch_py.emit.tree import Tree

    return Tree(expanded(program), templates).parts()


def _of_operators(names: Path) -> Target:
    from codegen.targets.torch_py.selection import target_of

    return target_of(names, TARGET)


def _remember(program: Program, files: frozenset[str]) -> object:
    from codegen.targets.torch_py.emit.update import remember

    return remember(program, files)


def _update(
    change: Change, templates: Templates, memory: object, read: Callable[[str], str]
) -> Rendered | None:
    from codegen.targets.torch_py.emit.update import update

    return update(change, templates, memory, read)


def _notes(program: Program) -> Sequence[str]:
    """Derivatives of formulas that are not generated, since a rule or an operator is missing."""
    from codegen.targets.torch_py.analysis.implied_operators import expanded, missing

    return [
        f"{o.location}: {o.name}: the derivative in {inputs} is not generated; {reason}"
        for o, inputs, reason in missing(expanded(program))
    ]


def _remarks(program: Program) -> Iterable[str]:
    from codegen.targets.torch_py.cli.uncompared import remarks

    return remarks(program)


def _generate_backend(path: Path, base: Program, output: Path) -> GenerateReport:
    from codegen.targets.torch_py.backends import generate_backend, read_backend

    return generate_backend(read_backend(path, base), output)


def _check_backend(path: Path, base: Program, text: str | None) -> str:
    from codegen.targets.torch_py.backends import read_backend

    backend = read_backend(path, base, text)
    return f"{len(backend.kernels)} kernels for '{backend.name}'"


def _editing() -> Editing:
    from codegen.targets.torch_py.editing import EDITING

    return EDITING


def _check_slopes(program: Program) -> None:
    from codegen.targets.torch_py.cli.numeric import check_slopes

    check_slopes(program)


TARGET = Target(
    name="torch_py",
    files=_files,
    templates=_ROOT / "templates",
    dialect=DIALECT,
    notes=_notes,
    remarks=_remarks,
    filters={"cpp_string": cpp_string, "cpp_lines": cpp_lines},
    declarations=_DECLARATIONS,
    base=_ROOT / _DECLARATIONS,
    of_operators=_of_operators,
    incremental=Incremental(_remember, _update),
    commands=COMMANDS,
    checks=(
        OptionalCheck(
            "numeric",
            "also compare the gradients of pointwise kernels with differences of their values, once built",
            _check_slopes,
        ),
    ),
    file_kinds={"backend": FileKind(_generate_backend, _check_backend)},
    editing=_editing,
)
