"""The Python functions of operators, as the templates show them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from codegen.expressions import Node, gradient, latex, nodes, numpy_expr, python_formula, to_formula
from codegen.expressions.scope import METADATA_METHODS
from codegen.model import Operator, Program, Requirement, Topic
from codegen.schema import Argument

# The shape of arrays in tests, unless an entry says `samples: 2x3, 3x4`.
_SHAPE = "2x3"


@dataclass(frozen=True)
class Function:
    """An operator: a function of arrays and of other arguments."""

    operator: Operator
    kernel: str  # an expression over `NAME.values`
    requirements: tuple[tuple[str, str, str], ...]  # condition, error and message
    gradients: Mapping[str, str]  # argument -> an expression over arrays

    @property
    def topic(self) -> str:
        return self.operator.topic

    @property
    def name(self) -> str:
        return self.operator.unambiguous_name

    @property
    def doc(self) -> str:
        return self.operator.doc

    @property
    def is_method(self) -> bool:
        return self.operator.is_method

    @property
    def formula(self) -> str:
        return "" if self.operator.expr is None else latex(self.operator.expr.node)

    @property
    def arrays(self) -> list[str]:
        return [argument.name for argument in self.operator.tensor_arguments]

    @property
    def signature(self) -> str:
        return ", ".join(_parameter(argument) for argument in self.operator.arguments.flat_all)

    @property
    def samples(self) -> list[tuple[int, ...]]:
        """A shape for each array."""
        shapes = [tuple(map(int, shape.split("x"))) for shape in samples_of(self.operator)]
        return shapes if len(shapes) > 1 else shapes * len(self.arrays)

    @property
    def is_tested(self) -> bool:
        """Whether a test can call it with arrays alone."""
        return bool(self.arrays) and all(a.has_default for a in self.operator.arguments.non_tensors)


def samples_of(operator: Operator) -> list[str]:
    return (operator.samples or _SHAPE).replace(" ", "").split(",")


def functions_of(topic: Topic, program: Program) -> Iterator[Function]:
    for operator in topic.operators:
        requirements = tuple(_requirement(r, operator, program) for r in operator.requires)
        gradients = {
            ", ".join(names): python_formula(node, operator, program, "ops")
            for names, node in gradients_of(operator)
        }
        yield Function(operator, _kernel(operator), requirements, gradients)


def gradients_of(operator: Operator) -> Iterator[tuple[tuple[str, ...], Node]]:
    """The arguments of each gradient, and its formula in terms of operators."""
    for derivative in operator.derivatives:
        if derivative.formula is not None:
            yield derivative.inputs, derivative.formula.node
    if operator.expr is not None and operator.derives_automatically:
        for argument in operator.tensor_arguments:
            node = to_formula(gradient(operator.expr.node, argument.name, operator), operator)
            if node != nodes.Number(0):
                yield (argument.name,), node


def _kernel(operator: Operator) -> str:
    values = {argument.name: f"{argument.name}.values" for argument in operator.tensor_arguments}
    if operator.expr is not None:
        return numpy_expr(operator.expr.node, values)
    given = [values.get(name, name) for name in operator.arguments.names()]
    return f"kernels.{operator.dispatch[0].kernel}({', '.join(given)})"


def _requirement(requirement: Requirement, operator: Operator, program: Program) -> tuple[str, str, str]:
    condition = python_formula(_as_methods(requirement.check.node), operator, program, "ops")
    message = requirement.message or f"expected {requirement.check.text}"
    return condition, requirement.error, f"{operator.name}: {message}"


def _as_methods(node: Node) -> Node:
    """``dim(self)`` of a requirement as ``self.dim()``."""
    node = nodes.rebuild(node, _as_methods)
    if isinstance(node, nodes.Call) and node.function in METADATA_METHODS:
        return nodes.Method(node.arguments[0], node.function, node.arguments[1:])
    return node


def _parameter(argument: Argument) -> str:
    return f"{argument.name}={argument.default_value!r}" if argument.has_default else argument.name
