"""Builds with some operators alone: which of them a list implies, and a target that writes only these.

A list names operators, one a line. What their derivatives and kernels call is found by ``closure``, from
formulas and, by ``sources``, from the text of the C++ files.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from codegen.target import Part, Target

if TYPE_CHECKING:
    from codegen.model import Program
    from codegen.output.templates import Templates


def target_of(names: Path, whole: Target) -> Target:
    """The target that writes the operators of a list, and what they need. The others refuse every call."""
    selection = _Selection(names)

    def notes(program: Program) -> Sequence[str]:
        found = selection.operators(program)
        what = f"{names}: {len(found)} operators are to work, with those that they need"
        return [what, *whole.notes(program)]

    # Which operators are needed follows from the whole program, whatever has changed.
    return replace(whole, files=selection.files, notes=notes, inputs=selection.inputs, incremental=None)


class _Selection:
    def __init__(self, names: Path) -> None:
        self.names = names
        self._found: tuple[Program, frozenset[str]] | None = None

    def operators(self, program: Program) -> frozenset[str]:
        """Their unambiguous names, remembered for the program of the last call."""
        if self._found is None or self._found[0] is not program:
            self._found = (program, operators_of_list(program, self.names))
        return self._found[1]

    def files(self, program: Program, templates: Templates) -> Sequence[Part]:
        from codegen.targets.torch_py.analysis.implied_operators import expanded
        from codegen.targets.torch_py.emit.tree import Tree

        return Tree(expanded(program), templates, selected=self.operators(program)).parts()

    def inputs(self, root: Path) -> Iterator[Path]:
        from codegen.targets.torch_py.selection.sources import source_files

        yield self.names
        yield from source_files(root)


def operators_of_list(program: Program, names: Path) -> frozenset[str]:
    """The unambiguous names of the operators that a list names, and of all that they need."""
    from codegen.targets.torch_py.analysis.implied_operators import expanded
    from codegen.targets.torch_py.selection.closure import closure
    from codegen.targets.torch_py.selection.names import read_names

    return closure(expanded(program), read_names(names, program), Path(program.path).resolve().parent)
