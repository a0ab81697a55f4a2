"""Operators under the names that they had before they were renamed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from codegen.model import implied
from codegen.model.operator import Operator, Rename
from codegen.remembered import remembered
from codegen.schema import OperatorName
from codegen.schema.names import BaseName


@remembered
def formerly(operator: Operator) -> tuple[tuple[Rename, Operator], ...]:
    """The operator under each former name: the names of its forms, in C++ and in Python, follow from it."""
    return tuple((rename, _named(operator, rename.name)) for rename in operator.renamed)


def _named(operator: Operator, name: str) -> Operator:
    base, _, overload = name.partition(".")
    schema = replace(operator.schema, name=OperatorName(BaseName.of(base), overload))
    module = operator.python_module
    if module == implied.python_module(operator.schema):  # linalg_det moves to torch with its name
        module = implied.python_module(schema)

    return replace(
        operator, schema=schema, python_module=module, aliases=(), since=None, deprecated=None, renamed=()
    )


def names_of_forms(operator: Operator) -> Iterator[tuple[str, str, str]]:
    """(former name, present name, since) of every form in the dispatcher: ``soft.out``, ``softcap.out``."""
    for rename, former in formerly(operator):
        for old, new in zip(former.schemas(), operator.schemas()):
            yield operator.in_namespace(str(old.name)), operator.in_namespace(str(new.name)), rename.since
