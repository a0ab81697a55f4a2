"""Finds the functions of ``torch.nn.functional`` that wrap an operator and that users call in its place."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MODULE = "torch.nn.functional"
_NATIVE = ("_nn", "_torch", "_C.TensorBase")  # where the files of torch_py/nn take operators from


@dataclass(frozen=True)
class _Definition:
    """A statement at the top of a file: the names it defines, and those it uses."""

    names: frozenset[str]
    uses: frozenset[str]  # names, and operators such as the gelu of _nn.gelu, as "gelu"
    function: ast.FunctionDef | None
    path: Path
    line: int


def callers(folder: Path, operator: str, signature: str) -> list[str]:
    """Of an operator of ``python_module: nn``; ``folder`` is ``torch_py/nn``. ``signature`` is that of the
    operator itself."""
    known = [d for path in sorted(folder.glob("functional/*.py")) for d in _definitions(path)]
    found: dict[str, _Definition] = {}
    reached = {f'"{operator}"'}
    new = {f'"{operator}"'}
    while (
        new and not found
    ):  # the nearest: softmin, which calls softmax, says nothing about the operator of softmax
        using = [d for d in known if d.uses & new]
        found = {name: d for d in using for name in d.names if not name.startswith("_")}
        new = {name for d in using for name in d.names} - reached
        reached |= new
    # Others may use adaptive_avg_pool2d as well; the function of the same name is the one.
    own = {operator: found[operator]} if operator in found else found
    return [_text(name, definition, signature) for name, definition in own.items()]


def _text(name: str, definition: _Definition, signature: str) -> str:
    """The function that Python defines, or the operator itself under this name."""
    if definition.function is None:
        return f"{MODULE}.{name}{signature}"
    returns = "" if definition.function.returns is None else f" -> {ast.unparse(definition.function.returns)}"
    return (
        f"{MODULE}.{name}({ast.unparse(definition.function.args)}){returns}  # "
        f"{definition.path.as_posix()}:{definition.line}"
    )


def _definitions(path: Path) -> Iterator[_Definition]:
    for statement in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.FunctionDef):
            yield _Definition(
                frozenset([statement.name]), _uses(statement), statement, path, statement.lineno
            )
        elif isinstance(statement, ast.Assign):
            for target, value in _pairs(statement.targets[0], statement.value):
                names = frozenset(
                    n.id for n in ast.walk(target) if isinstance(n, ast.Name) and not n.id.startswith("__")
                )
                yield _Definition(names, _uses(value), None, path, statement.lineno)


def _pairs(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """``a, b = x, y``"""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        return list(zip(target.elts, value.elts))
    return [(target, value)]


def _uses(node: ast.AST) -> frozenset[str]:
    """Names, and in quotes the operators that are taken from a native namespace: ``_nn.gelu``."""
    found: set[str] = set()
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            found.add(part.id)
        elif isinstance(part, ast.Attribute) and ast.unparse(part.value) in _NATIVE:
            found.add(f'"{part.attr}"')
    return frozenset(found)
