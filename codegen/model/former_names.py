"""Operators under the names that they had before they were renamed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from codegen.dialect import Dialect
from codegen.model import implied
from codegen.model.operator import Operator, Rename
from codegen.remembered import remembered
from codegen.schema import FunctionSchema, OperatorName
from codegen.schema.names import BaseName


@remembered
def formerly(operator: Operator) -> tuple[tuple[Rename, Operator], ...]:
    """The operator under each former name: the names of its forms, in C++ and in Python, follow from it."""
    return tuple((rename, _named(operator, rename)) for rename in operator.renamed)


def _named(operator: Operator, rename: Rename) -> Operator:
    return replace(
        operator,
        schema=_renamed(operator.schema, rename.name),
        python_module=rename.module,
        aliases=(),
        since=None,
        deprecated=None,
        renamed=(),
    )


def former_module(schema: FunctionSchema, module: str, name: str, dialect: Dialect) -> str:
    """The module that an operator of ``module`` was in by its former name: linalg_det was in linalg."""
    if module != implied.python_module(schema, dialect):
        return module
    return implied.python_module(_renamed(schema, name), dialect)


def _renamed(schema: FunctionSchema, name: str) -> FunctionSchema:
    base, _, overload = name.partition(".")
    return replace(schema, name=OperatorName(BaseName.of(base), overload))


def names_of_forms(operator: Operator) -> Iterator[tuple[str, str, str]]:
    """(former name, present name, since) of every form in the dispatcher: ``soft.out``, ``softcap.out``."""
    for rename, former in formerly(operator):
        for old, new in zip(former.schemas(), operator.schemas()):
            yield operator.in_namespace(str(old.name)), operator.in_namespace(str(new.name)), rename.since
