"""``aten/native/cpu/expr/<op>Kernel[.isa].cpp``: the loop of a pointwise formula."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from codegen.analysis.argument_names import as_spelled
from codegen.analysis.kernels import is_formula_kernel
from codegen.dtypes import DTYPE_CONSTANTS, INTEGER_DTYPES
from codegen.emit.places import place_of
from codegen.expressions import FUNCTIONS, cpp_expr, is_boolean, names, to_source
from codegen.expressions.nodes import Call, Node, walk
from codegen.model import DispatchEntry, Operator, cpp
from codegen.schema import Argument


@dataclass(frozen=True)
class ExprKernel:
    schema: str
    place: str
    source: str  # the formula as written
    kernel: str
    parameters: tuple[str, ...]
    dtypes: tuple[str, ...]  # kFloat ...
    scalars: tuple[str, ...]  # lines that bring numbers into the computation type
    inputs: tuple[str, ...]  # all tensor arguments, in the iterator's order
    used: tuple[str, ...]  # those that the formula reads
    result: str  # C++ type of an element of the result
    returned: str  # the formula in C++, as an element of the result
    name: str
    headers: tuple[str, ...]  # of the functions that it calls

    @property
    def lambda_parameters(self) -> list[str]:
        return [f"scalar_t {name}_element" if name in self.used else "scalar_t" for name in self.inputs]


def kernels_by_file(operators: Sequence[Operator]) -> dict[str, list[ExprKernel]]:
    """Kernels of formulas: an operator's and those of its gradients share a file."""
    found: dict[str, list[ExprKernel]] = {}
    for operator in operators:
        entry = operator.dispatch_for("CPU")
        # An entry with a formula may have a hand-written loop as well.
        if operator.expr is not None and entry is not None and entry.definition is not None:
            if is_formula_kernel(entry.definition.path):
                found.setdefault(entry.definition.path, []).append(_expr_kernel(operator, entry))
    return found


def _expr_kernel(operator: Operator, entry: DispatchEntry) -> ExprKernel:
    assert operator.expr is not None
    node = operator.expr.node
    used = names(node)
    inputs = tuple(a.name for a in operator.tensor_arguments)
    plain = operator.schema.arguments.non_tensors
    result = "scalar_t"
    if operator.promotion == "comparison":
        result = "bool"
    elif operator.promotion == "complex_to_real":
        result = "real_type<scalar_t>"

    wraps = not INTEGER_DTYPES.isdisjoint(operator.dtypes)
    renamed = {a.name: f"{a.name}_value" for a in plain}
    value = _without_outer_parentheses(cpp_expr(node, renamed, wraps=wraps))
    is_of_result_type = result == "bool" and is_boolean(node, operator)
    returned = value if is_of_result_type else f"static_cast<{result}>({value})"
    return ExprKernel(
        str(operator.schema),
        place_of(operator),
        to_source(as_spelled(node, operator)),
        entry.kernel,
        ("TensorIteratorBase& iter", *(cpp.parameter(a) for a in plain)),
        tuple(DTYPE_CONSTANTS[d] for d in operator.dtypes),
        tuple(_conversion(a) for a in plain if a.name in used),
        inputs,
        tuple(n for n in inputs if n in used),
        result,
        returned,
        operator.base_name,
        _headers(node),
    )


def _without_outer_parentheses(text: str) -> str:
    """``a < b`` for ``(a < b)``: what encloses the whole expression is needed inside of others only."""
    depth = 0
    for position, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0 and position + 1 < len(text):
            return text
    return text[1:-1] if text.startswith("(") else text


def _headers(node: Node) -> tuple[str, ...]:
    called = [part.function for part in walk(node) if isinstance(part, Call)]
    return tuple(FUNCTIONS[name].header for name in called if name in FUNCTIONS)


def _conversion(argument: Argument) -> str:
    if argument.type.base.name == "Scalar":
        return f"const auto {argument.name}_value = {argument.name}.to<opmath_t>();"
    return f"const auto {argument.name}_value = static_cast<opmath_t>({argument.name});"
