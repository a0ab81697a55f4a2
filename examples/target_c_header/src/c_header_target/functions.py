"""The C functions of an operator, as the template shows them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from c_header_target.printer import c_expression
from codegen.expressions import gradient, names
from codegen.model import Operator, Topic


@dataclass(frozen=True)
class CFunction:
    """A function of numbers, and its loop over arrays."""

    name: str
    doc: str
    tensors: tuple[str, ...]  # numbers here, and arrays in the loop
    numbers: tuple[str, ...]
    value: str

    @property
    def parameters(self) -> list[str]:
        return [f"double {name}" for name in (*self.tensors, *self.numbers)]

    @property
    def loop_parameters(self) -> list[str]:
        arrays = [f"const double* {name}" for name in self.tensors]
        return [*arrays, *(f"double {name}" for name in self.numbers), "double* out", "size_t count"]

    @property
    def loop_arguments(self) -> list[str]:
        return [*(f"{name}[i]" for name in self.tensors), *self.numbers]


def functions_of(topic: Topic) -> list[CFunction]:
    return [function for operator in topic.operators for function in _functions(operator)]


def _functions(operator: Operator) -> Iterator[CFunction]:
    assert operator.expr is not None
    tensors = tuple(argument.name for argument in operator.tensor_arguments)
    numbers = tuple(argument.name for argument in operator.arguments.non_tensors)
    name = operator.unambiguous_name

    yield CFunction(name, operator.doc, tensors, numbers, c_expression(operator.expr.node))
    if not operator.derives_automatically:
        return

    for argument in tensors:
        slope = gradient(operator.expr.node, argument, operator)
        used = names(slope)  # C warns of others
        given = ("grad", *(name for name in (*tensors, "result") if name in used))
        doc = f"The gradient of {argument} in {name}, given that of the result."
        settings = tuple(name for name in numbers if name in used)
        yield CFunction(f"{name}_gradient_{argument}", doc, given, settings, c_expression(slope))
