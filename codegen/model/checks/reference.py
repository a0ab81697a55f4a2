"""Checks ``reference:``, what a kernel computes as an expression of NumPy and SciPy, or a test of its values.

The expression is Python, which tests evaluate. Names of modules are looked up where NumPy and SciPy are
installed; the generator itself needs neither.
"""

from __future__ import annotations

import ast
import builtins
import importlib
from collections.abc import Iterator
from functools import cache
from typing import Any

from codegen.diagnostics import did_you_mean
from codegen.dtypes import INTEGER_DTYPES
from codegen.model.checks.report import Reporter
from codegen.model.operator import Formula, Operator
from codegen.model.reading import Context

# How an expression calls the modules.
MODULES = {"np": "numpy", "scipy": "scipy"}
_TESTS = "tests/"


def check(operator: Operator, context: Context) -> None:
    reference = operator.reference
    if reference is None:
        return

    report = Reporter(operator, context)
    if operator.expr is not None:
        report.at(reference.location, "'reference' repeats what 'expr' says", "remove it")
    elif reference.text.startswith(_TESTS):
        _check_file(operator, reference, report)
    else:
        _check_expression(operator, reference, report)


def _check_file(operator: Operator, reference: Formula, report: Reporter) -> None:
    path = report.context.root / reference.text
    if not path.is_file():
        report.at(reference.location, f"there is no file {reference.text}", "write the path of a test")
    elif operator.python_name not in path.read_text(encoding="utf-8", errors="replace"):
        what = f"{reference.text} does not mention {operator.python_name}"
        report.at(reference.location, what, "write a test of its values there")


def _check_expression(operator: Operator, reference: Formula, report: Reporter) -> None:
    try:
        tree = ast.parse(reference.text, mode="eval")
    except (SyntaxError, ValueError) as error:
        offset = (getattr(error, "offset", None) or len(reference.text) + 1) - 1  # 0 at the end
        hint = "write a Python expression such as np.cbrt(self), or the path of a test"
        report.at_offset(reference.location, offset, f"not an expression: {error.args[0]}", hint)
        return

    made = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and _is_made(node)}
    made |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    known = [*operator.arguments.names(), *MODULES, *made]
    used = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and not _is_made(node)]
    unknown = [name for name in used if name.id not in known and not hasattr(builtins, name.id)]
    for name in unknown:
        what = f"unknown name '{name.id}' in the reference"
        report.at_offset(reference.location, name.col_offset, what, did_you_mean(name.id, known))
    wrong = [*_unknown_attributes(tree), *_wrong_counts(tree), *_powers(operator, tree, reference.text)]
    for offset, what, hint in wrong:
        report.at_offset(reference.location, offset, what, hint)

    if not unknown and not {name.id for name in used} & {a.name for a in operator.arguments.flat_non_out}:
        what = "the reference uses no argument"
        report.at(reference.location, what, "write what the operator computes from its arguments")


def _is_made(node: ast.Name) -> bool:
    """Whether a comprehension gives the name its value."""
    return isinstance(node.ctx, ast.Store)


def _unknown_attributes(tree: ast.AST) -> Iterator[tuple[int, str, str]]:
    """Functions like ``np.cbrtt`` that a module lacks: place, message and hint."""
    inner = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute) or id(node) in inner:
            continue

        path = _path(node)
        if path is None or path[0] not in MODULES:
            continue
        owner = _module(MODULES[path[0]])
        for depth, part in enumerate(path[1:], 1):
            if owner is None:  # not installed
                break
            found = _part(owner, part)
            if found is None:
                place = ".".join(path[:depth])
                yield node.col_offset, f"{place} has no '{part}'", did_you_mean(part, dir(owner), 3)
                break
            owner = found


def _wrong_counts(tree: ast.AST) -> Iterator[tuple[int, str, str]]:
    """Calls like ``np.power(self)``, of functions of elements that take another number of arguments."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or any(isinstance(a, ast.Starred) for a in node.args):
            continue
        path = _path(node.func)
        if path is None or path[0] not in MODULES:
            continue

        function = _module(MODULES[path[0]])
        for part in path[1:]:
            function = None if function is None else _part(function, part)
        wanted = getattr(function, "nin", None)
        if wanted is not None and not wanted <= len(node.args) <= function.nargs:
            what = (
                f"{'.'.join(path)} takes {wanted} argument{'s' if wanted > 1 else ''}, got {len(node.args)}"
            )
            yield node.col_offset, what, "give it one array for each"


def _powers(operator: Operator, tree: ast.AST, text: str) -> Iterator[tuple[int, str, str]]:
    """``self ^ 3`` for floating point numbers, which Python refuses when the tests run."""
    takes_integers = not operator.dtypes or not {*INTEGER_DTYPES, "bool"}.isdisjoint(operator.dtypes)
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitXor) and not takes_integers:
            place = text.index("^", node.left.end_col_offset)
            yield place, "'^' is the exclusive or of integers", "write '**' for a power"


def _path(node: ast.expr) -> list[str] | None:
    """``np.fft.fft`` as words; None for an attribute of a value, such as ``np.fft.fft(x).real``."""
    if isinstance(node, ast.Name):
        return [node.id]
    path = _path(node.value) if isinstance(node, ast.Attribute) else None
    return None if path is None else [*path, node.attr]  # type: ignore[attr-defined]


def _part(owner: Any, name: str) -> Any:
    found = getattr(owner, name, None)
    if found is None and hasattr(owner, "__path__"):
        found = _module(f"{owner.__name__}.{name}")
    return found


@cache
def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None
