"""Generates only what follows from a few operators, for ``python -m codegen explain``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from codegen.model import Operator, Program
from codegen.output.templates import Templates
from codegen.remembered import cached_property
from codegen.targets.torch_py import TARGET
from codegen.targets.torch_py.analysis.functions import functions_of
from codegen.targets.torch_py.analysis.implied_operators import expand
from codegen.targets.torch_py.emit.tree import METADATA, Tree

# Path of a generated file, and the line of the operator in it.
Place = tuple[str, int]


class Explanation:
    """The generated files of a few operators of one topic. ``cache`` holds compiled templates."""

    def __init__(self, program: Program, operators: Sequence[Operator], cache: Path | None = None) -> None:
        self.operators = operators
        templates = Templates(program.file, TARGET, cache)
        self.tree = Tree(expand(program, operators[0].topic), templates)

    @property
    def program(self) -> Program:
        """The program with the operators that formulas of this topic imply."""
        return self.tree.program

    @cached_property
    def files(self) -> dict[str, str]:
        return self.tree.render_around(self.operators)

    def places(self, operator: Operator) -> list[Place]:
        """The first place in each file that shows the operator: the line of its schema, or its heading."""
        return list(_find_lines(self.files, operator))

    @property
    def metadata(self) -> str:
        """The file that has a line for every operator."""
        return METADATA


def _find_lines(files: Mapping[str, str], operator: Operator) -> Iterator[Place]:
    marks = [*(f"// {f.schema}" for f in functions_of(operator)), f"## `{operator.name}`"]
    for path, text in files.items():
        positions = [p for p in (_find(text, mark) for mark in marks) if p >= 0]
        if positions:
            yield path, text.count("\n", 0, min(positions)) + 1


def _find(text: str, mark: str) -> int:
    """The position of ``mark`` at the end of a line, or before `` {``; -1 if the text lacks it."""
    start = text.find(mark)
    while start >= 0:
        following = text[start + len(mark) : start + len(mark) + 1]
        if following in ("\n", "") or text.startswith(" {", start + len(mark)):
            return start
        start = text.find(mark, start + 1)
    return -1
