"""Pointwise operators whose entries are formulas of other operators: the formula, as a decomposition."""

from __future__ import annotations

import ast
import functools
import math
from collections.abc import Callable, Iterator
from typing import Any

from torch_py import _C
from torch_py._decomp.entries import rows_of_entries
from torch_py._ops import OpOverload
from torch_py._tensor import Tensor

_CONSTANTS = {"pi": math.pi, "e": math.e, "inf": math.inf, "nan": math.nan}
_PLACES = (_C._torch, _C._nn, _C._special, _C._ops)


class Formula:
    """The `expr` of an entry, computed with operators."""

    def __init__(self, operator: OpOverload, text: str, is_derivative: bool) -> None:
        self.operator = operator
        self.text = text
        self.is_derivative = is_derivative  # called by formulas and not by programs
        self.__name__ = self.__qualname__ = operator._opname
        self.__doc__ = f"{operator} as the formula {text}."

    @functools.cached_property
    def _code(self) -> Any:
        tree = _Elementwise().visit(ast.parse(self.text, mode="eval"))
        return compile(ast.fix_missing_locations(tree), f"<formula of {self.operator}>", "eval")

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        given = self.operator._schema.bind(args, kwargs)
        return eval(self._code, {"__builtins__": {}, **_functions(), **given})

    def __repr__(self) -> str:
        return f"<formula of {self.operator}: {self.text}>"


class _Elementwise(ast.NodeTransformer):
    """Turns `and`, `or`, `not`, comparisons that chain and choices into operators on tensors."""

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        name = "logical_and" if isinstance(node.op, ast.And) else "logical_or"
        return functools.reduce(lambda left, right: _call(name, left, right), node.values)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        return _call("logical_not", node.operand) if isinstance(node.op, ast.Not) else node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        sides = [node.left, *node.comparators]
        links: list[ast.expr] = [
            ast.Compare(sides[i], [operation], [sides[i + 1]]) for i, operation in enumerate(node.ops)
        ]
        return functools.reduce(lambda left, right: _call("logical_and", left, right), links)

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        self.generic_visit(node)
        return _call("where", node.test, node.body, node.orelse)


def _call(name: str, *args: ast.expr) -> ast.expr:
    return ast.Call(ast.Name(name, ast.Load()), list(args), [])


@functools.cache
def _functions() -> dict[str, Any]:
    """What formulas call and name."""
    found: dict[str, Any] = dict(_CONSTANTS)
    for place in reversed(_PLACES):
        found |= {name: value for name, value in vars(place).items() if not name.startswith("_")}
    for name, positions in _tensor_positions().items():
        if name in found and len(positions) > 1:
            found[name] = _with_numbers(found[name], positions)
    return {**found, "abs": abs, "imag": _imag, "where": _where}


def _tensor_positions() -> dict[str, frozenset[int]]:
    """For each operator, the positions of arguments that are tensors in all of its overloads."""
    found: dict[str, frozenset[int]] = {}
    for entry in map(_C._find_operator, _C._operator_schemas()):
        types = [argument.type for argument in entry._schema.arguments]
        tensors = frozenset(i for i, kind in enumerate(types) if kind == "Tensor")
        found[entry._opname] = found.get(entry._opname, tensors) & tensors
    return found


def _with_numbers(function: Callable[..., Any], positions: frozenset[int]) -> Callable[..., Any]:
    """A function of several tensors that takes numbers for some of them, as formulas do."""

    def called(*args: Any, **kwargs: Any) -> Any:
        like = next((arg.dtype for arg in args if isinstance(arg, Tensor)), None)
        tensors = [
            _C._torch.full((), arg, dtype=like) if i in positions and not isinstance(arg, Tensor) else arg
            for i, arg in enumerate(args)
        ]
        return function(*tensors, **kwargs)

    return called


def _imag(value: Any) -> Any:
    """The imaginary part, which of real numbers is zero."""
    return value.imag if value.is_complex() else _C._torch.zeros_like(value)


def _where(condition: Any, yes: Any, no: Any) -> Any:
    """A choice for each element, or one for all of them if the condition is about numbers."""
    if isinstance(condition, bool):
        return yes if condition else no
    return _C._torch.where(condition, yes, no)


def _names_in(text: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(text, mode="eval")):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield node.func.id


def formulas() -> dict[OpOverload, Formula]:
    """The formula of each pointwise operator that is one of other operators."""
    found = {}
    for row in rows_of_entries():
        text = row["expr"]
        if (
            text is None
            or row["structure"] != "pointwise"
            or row["base_name"] in _names_in(text)
            or not set(_names_in(text)) <= set(_functions())
        ):
            continue
        operator = _C._find_operator(row["name"])
        found[operator] = Formula(operator, text, row["python_module"] == "private")
    return found
