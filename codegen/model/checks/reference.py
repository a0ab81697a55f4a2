"""Checks ``reference:``, what a kernel computes as an expression of NumPy and SciPy, or a test of its values.

The expression is Python, which tests evaluate. Names of modules are looked up where NumPy and SciPy are
installed; the generator itself needs neither.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import math
from collections.abc import Iterator
from functools import cache
from typing import Any

from codegen.diagnostics import did_you_mean
from codegen.dtypes import INTEGER_DTYPES
from codegen.expressions.evaluate import NoValueError, evaluate
from codegen.model.checks.report import Reporter
from codegen.model.checks.slopes import points
from codegen.model.operator import Formula, Operator
from codegen.model.reading import Context

# How an expression calls the modules.
MODULES = {"np": "numpy", "scipy": "scipy"}
_TESTS = "tests/"
# Types of arguments that say where and how results are made.
_NOT_VALUES = ("Device", "DeviceIndex", "Generator", "Layout", "MemoryFormat", "ScalarType")


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
    wrong = [
        *_unknown_attributes(tree),
        *_unknown_methods(operator, tree),
        *_wrong_counts(tree),
        *_powers(operator, tree, reference.text),
        *_wrong_results(operator, tree),
        *_no_values(tree.body),
    ]
    for offset, what, hint in wrong:
        report.at_offset(reference.location, offset, what, hint)

    named = {name.id for name in used}
    values = [a.name for a in operator.arguments.flat_non_out if a.type.base.name not in _NOT_VALUES]
    missing = [name for name in values if name not in named]
    if unknown or wrong:
        return
    if missing:
        what = f"the reference does not use {', '.join(map(repr, missing))}"
        report.at(reference.location, what, "write what the operator computes from its arguments")
    elif operator.lowering is not None:
        _check_lowering(operator, tree, reference, report)


def _check_lowering(operator: Operator, tree: ast.Expression, reference: Formula, report: Reporter) -> None:
    """``lowering`` says the same in another language; both are evaluated where they have real values."""
    assert operator.lowering is not None
    lowering = operator.lowering.node
    if lowering is None or operator.structure != "pointwise" or "float64" not in operator.dtypes:
        return

    modules = {name: _module(module) for name, module in MODULES.items()}
    code = compile(tree, "reference", "eval")
    for point in points(operator, frozenset()):
        try:
            left = evaluate(lowering, point)
            right = float(eval(code, modules, dict(point)))
        except (NoValueError, ArithmeticError, AttributeError, TypeError, ValueError):
            continue
        if math.isfinite(left) and math.isfinite(right) and abs(left - right) > 1e-6 * (1 + abs(left)):
            place = ", ".join(f"{name} = {value:g}" for name, value in point.items())
            what = f"the reference is {right:.4g} at {place}, but the lowering {left:.4g}"
            report.at(reference.location, what, "both say what the kernel computes: change one of them")
            return


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


def _unknown_methods(operator: Operator, tree: ast.AST) -> Iterator[tuple[int, str, str]]:
    """Methods of Tensor that arrays lack: ``self.add(other)``."""
    array = getattr(_module("numpy"), "ndarray", None)
    tensors = [argument.name for argument in operator.tensor_arguments]
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
            continue
        if node.value.id in tensors and array is not None and not hasattr(array, node.attr):
            what = f"'{node.value.id}' is an array of NumPy, which has no '{node.attr}'"
            yield node.col_offset, what, f"write a function such as np.{node.attr}"


def _wrong_results(operator: Operator, tree: ast.Expression) -> Iterator[tuple[int, str, str]]:
    """One value for each result: a tuple of them unless there is one."""
    wanted = len(operator.schema.returns)
    if isinstance(tree.body, ast.Tuple) and len(tree.body.elts) != wanted:
        found = len(tree.body.elts)
        results = f"{wanted} result{'' if wanted == 1 else 's'}"
        yield 0, f"the reference gives {found} values, but the operator has {results}", "write one for each"


# What is not an array, nor a number: texts, functions, and collections without an order.
_NOT_ARRAYS = {
    ast.JoinedStr: "a text",
    ast.Lambda: "a function",
    ast.Dict: "a dict",
    ast.Set: "a set",
    ast.GeneratorExp: "a generator",
}


def _no_values(node: ast.expr) -> Iterator[tuple[int, str, str]]:
    """Values that no result equals, such as those of ``f"{self} ** 3"``."""
    if isinstance(node, (ast.Tuple, ast.IfExp)):
        for part in node.elts if isinstance(node, ast.Tuple) else (node.body, node.orelse):
            yield from _no_values(part)
        return

    found = _NOT_ARRAYS.get(type(node))
    if isinstance(node, ast.Constant) and not isinstance(node.value, (bool, int, float, complex)):
        found = "a text" if isinstance(node.value, (str, bytes)) else repr(node.value)
    if found is not None:
        yield node.col_offset, f"the reference is {found}", "write an expression such as np.cbrt(self)"


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
