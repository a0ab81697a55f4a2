"""What only a target can say of its files to an editor: ``Target.editing``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from codegen.expressions import to_source
from codegen.model import Operator, Program, vocabulary

if TYPE_CHECKING:
    from codegen.lsp.definition import Target
    from codegen.lsp.facts import Facts
    from codegen.lsp.items import Item
    from codegen.lsp.places import Place

_KEYS = {
    "file": vocabulary.DOCUMENT_KEYS,
    "entry": vocabulary.ENTRY_KEYS,
    "requirement": vocabulary.REQUIREMENT_KEYS,
}


def keys_of(level: str) -> Mapping[str, str]:
    """The keys of a level, without an explanation."""
    return dict.fromkeys(_KEYS.get(level, ()), "")


def described(program: Program, operator: Operator, root: Path) -> str:
    """What follows from the entry of any target: kernels, formulas and derivatives."""
    lines = [str(operator), f"structure: {operator.structure}"]
    for entry in operator.dispatch:
        place = entry.definition
        lines.append(f"{entry.key}: {entry.kernel}" + (f", {place.path}:{place.line}" if place else ""))
    if operator.expr is not None:
        lines.append(f"expr: {operator.expr.text}")
    for derivative in operator.derivatives:
        if derivative.formula is not None and derivative.formula.node is not None:
            lines.append(f"gradient of {', '.join(derivative.inputs)}: {to_source(derivative.formula.node)}")
    if operator.non_differentiable is not None:
        lines.append(f"no gradient: {operator.non_differentiable}")
    return "\n".join([*lines, "", operator.doc.strip()]).strip()


FileLine = tuple[Path, int]


@dataclass(frozen=True)
class Editing:
    """The defaults are those of a target that knows no more than the generator."""

    # The keys of a `file`, an `entry` or a `requirement`, and of other kinds of files, with what they mean.
    meanings: Callable[[str], Mapping[str, str]] = keys_of
    # What the words of a key mean: of `structure` and `variants`.
    words: Callable[[str], Mapping[str, str]] = lambda key: {}
    # All that follows from an operator; the folder is that of its declarations.
    explain: Callable[[Program, Operator, Path], str] = described
    # The files, and lines that count from 1, that are generated from an operator, where they are built.
    generated: Callable[[Program, Operator, Path], Iterable[FileLine]] = lambda program, operator, root: ()
    # The same of the generators of arguments with a name, in the folder of the declarations.
    samples: Callable[[Path, str], Iterable[FileLine]] = lambda root, name: ()
    # Patterns of the files in which entries name functions: a change of one may settle a diagnostic.
    watched: tuple[str, ...] = ()

    # Answers about files that do not declare operators: Target.file_kinds.
    complete: Callable[[Place, Facts], Iterable[Item]] = lambda place, facts: ()
    hover: Callable[[Place, Facts], str | None] = lambda place, facts: None
    definitions: Callable[[Place, Facts], list[Target]] = lambda place, facts: []
