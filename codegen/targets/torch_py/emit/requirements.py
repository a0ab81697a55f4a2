"""Prints ``requires:`` as checks, which every kernel begins with."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import NamedTuple

from codegen.expressions import parse
from codegen.expressions.print_cpp import cpp_requirement, cpp_requirement_value
from codegen.model import Operator
from codegen.model.vocabulary import OPERATOR_IN_MESSAGE
from codegen.output.literals import cpp_string

_MACROS = {
    "RuntimeError": "TORCH_CHECK",
    "ValueError": "TORCH_CHECK_VALUE",
    "IndexError": "TORCH_CHECK_INDEX",
    "TypeError": "TORCH_CHECK_TYPE",
    "NotImplementedError": "TORCH_CHECK_NOT_IMPLEMENTED",
}
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")


class Check(NamedTuple):
    """One TORCH_CHECK: its macro, its condition and the parts of its message."""

    macro: str
    condition: str
    message: tuple[str, ...]
    form: str | None = None  # the only form of the operator that is checked

    def mentions(self, name: str) -> bool:
        texts = [self.condition, *(part for part in self.message if not part.startswith('"'))]
        return any(re.search(rf"\b{name}\b", text) for text in texts)


def checks_of(operator: Operator, dtype_sets: Mapping[str, Collection[str]]) -> tuple[Check, ...]:
    """The checks of an operator, in the order of its requirements."""
    found = []
    for requirement in operator.requires:
        printed = cpp_requirement(requirement.check.node, operator, dtype_sets)
        parts = [cpp_string(f"{operator.base_name}(): "), *printed.message_parts()]
        if requirement.message is not None:
            parts = _message(operator, requirement.message)
        found.append(
            Check(_MACROS[requirement.error], printed.condition, tuple(_joined(parts)), requirement.form)
        )
    return tuple(found)


def _message(operator: Operator, text: str) -> list[str]:
    """The parts of a message whose braces hold arguments (a tensor shows its sizes) and expressions."""
    parts = []
    for position, piece in enumerate(_PLACEHOLDER.split(text)):
        if position % 2 == 0:
            parts.append(cpp_string(piece))
            continue

        if piece == OPERATOR_IN_MESSAGE and operator.schema.arguments.find(piece) is None:
            parts.append(cpp_string(_dotted_name(operator)))
            continue

        if not piece.isidentifier():
            parts.append(cpp_requirement_value(parse(piece), operator))
            continue

        argument = operator.schema.arguments.find(piece)
        is_tensor = argument is not None and argument.type.is_tensor_like and not argument.type.is_list
        optional = argument is not None and argument.type.is_optional and not is_tensor
        parts.append(f"{piece}.sizes()" if is_tensor else f"*{piece}" if optional else piece)
    return [p for p in parts if p != '""']


def _dotted_name(operator: Operator) -> str:
    """``mm``, ``linalg.vector_norm``: the name in Python, without torch."""
    if operator.python_name == operator.base_name:
        return operator.base_name
    return f"{operator.python_module}.{operator.python_name}"


def _joined(parts: list[str]) -> list[str]:
    """Neighbouring literals become one."""
    found: list[str] = []
    for part in parts:
        if found and found[-1].endswith('"') and part.startswith('"'):
            found[-1] = found[-1][:-1] + part[1:]
        else:
            found.append(part)
    return found
