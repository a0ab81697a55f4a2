"""The loop of a pointwise formula.

For the CPU, ``aten/native/cpu/expr/<op>Kernel[.isa].cpp``, a lambda. For CUDA,
``aten/native/cuda/expr/<Topic>.cu``, a functor with the scalars as members.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from codegen.dtypes import DTYPE_CONSTANTS, INTEGER_DTYPES
from codegen.expressions import (
    FUNCTIONS,
    complex_names_of,
    cpp_expr,
    is_boolean,
    names,
    takes_packs,
    to_source,
)
from codegen.expressions.functions import MATH
from codegen.expressions.nodes import Call, Node, walk
from codegen.expressions.print_cpp_scalar import REAL_TYPE
from codegen.model import Operator
from codegen.remembered import remembered
from codegen.schema import Argument
from codegen.targets.torch_py import cpp
from codegen.targets.torch_py.analysis.argument_names import as_spelled
from codegen.targets.torch_py.analysis.kernels import CUDA_EXPR_FOLDER, cuda_entry, is_formula_kernel
from codegen.targets.torch_py.emit.places import place_of


class Scalar(NamedTuple):
    """A number that a formula uses, in the computation type."""

    name: str
    value: str  # from the parameter
    type: str  # opmath_t

    @property
    def conversion(self) -> str:
        return f"const auto {self.name} = {self.value};"


@dataclass(frozen=True)
class FormulaKernel:
    """The loop of a formula, of any kind and for any device."""

    schema: str
    place: str
    source: str  # the formula as written
    kernel: str
    parameters: tuple[str, ...]
    dtypes: tuple[str, ...]  # kFloat ...
    scalars: tuple[Scalar, ...]
    result: str  # C++ type of an element of the result
    name: str
    headers: tuple[str, ...]  # of the functions that it calls

    @property
    def camel_name(self) -> str:
        """``SoftplusBackward`` for ``softplus_backward_kernel``."""
        words = self.kernel.removesuffix("_kernel").split("_")
        return "".join(word[:1].upper() + word[1:] for word in words)


@dataclass(frozen=True)
class ExprKernel(FormulaKernel):
    """The loop of a pointwise formula."""

    inputs: tuple[str, ...]  # all tensor arguments, in the iterator's order
    used: tuple[str, ...]  # those that the formula reads
    value: str  # the formula in C++
    returned: str  # the same as an element of the result
    takes_packs: bool  # whether the formula computes packs as it computes numbers
    is_rarely_used: bool
    is_mixed: bool  # whether some numbers are real where opmath_t is complex

    @property
    def element_parameters(self) -> list[str]:
        return [f"scalar_t {name}_element" if name in self.used else "scalar_t" for name in self.inputs]

    @property
    def value_parameters(self) -> list[str]:
        """Of the formula over values of the computation type."""
        type = "auto" if self.takes_packs else "opmath_t"
        return [f"{type} {name}" if name in self.used else type for name in self.inputs]

    @property
    def functor(self) -> str:
        return f"Private{self.camel_name}" if self.kernel.startswith("_") else self.camel_name

    @property
    def device_parameters(self) -> list[str]:
        """With the iterator's own name: its header, which has the other one, costs more than the kernels."""
        return ["TensorIterator& iter", *self.parameters[1:]]

    @property
    def element_types(self) -> list[str]:
        """Of the result, then of the inputs."""
        return [self.result, *("scalar_t" for _ in self.inputs)]


def kernels_by_file(operators: Sequence[Operator]) -> dict[str, list[ExprKernel]]:
    """Kernels of formulas: an operator's and those of its gradients share a file."""
    return _by_file(operators, cpu_path)


def cuda_kernels_by_file(operators: Sequence[Operator]) -> dict[str, list[ExprKernel]]:
    """The same for CUDA: the kernels of a topic share files."""
    return _by_file(operators, cuda_path)


def cpu_path(operator: Operator) -> str | None:
    """The file of the loop that follows from the operator's formula."""
    entry = operator.dispatch_for("CPU")
    if operator.expr is None or operator.is_over_rows or entry is None or entry.definition is None:
        return None
    # An entry with a formula may have a hand-written loop as well.
    path = entry.definition.path
    return path if is_formula_kernel(path) else None


def cuda_path(operator: Operator) -> str | None:
    """The same for CUDA."""
    entry = cuda_entry(operator)
    if operator.expr is None or operator.is_over_rows or entry is None or entry.definition is None:
        return None
    path = entry.definition.path
    return path if path.startswith(CUDA_EXPR_FOLDER) else None


def _by_file(
    operators: Sequence[Operator], path_of: Callable[[Operator], str | None]
) -> dict[str, list[ExprKernel]]:
    found: dict[str, list[ExprKernel]] = {}
    for operator in operators:
        path = path_of(operator)
        if path is not None:
            found.setdefault(path, []).append(_expr_kernel(operator))
    return found


def headers_of(kernels: Sequence[FormulaKernel]) -> list[str]:
    return sorted({MATH, *(header for kernel in kernels for header in kernel.headers)})


@remembered
def _expr_kernel(operator: Operator) -> ExprKernel:
    """The loop for each device; they have one name."""
    entry = operator.dispatch_for("CPU")
    assert operator.expr is not None and entry is not None
    node = operator.expr.node
    used = names(node)
    inputs = tuple(a.name for a in operator.tensor_arguments)
    plain = operator.schema.arguments.non_tensors

    mixed = mixed_names(node, operator)
    result = _result_type(operator)
    value = _value(operator, mixed)
    is_of_result_type = result == "bool" and is_boolean(node, operator)

    return ExprKernel(
        **fields_of_operator(operator),
        kernel=entry.kernel,
        parameters=("TensorIteratorBase& iter", *(cpp.parameter(a) for a in plain)),
        dtypes=tuple(DTYPE_CONSTANTS[d] for d in operator.dtypes),
        scalars=tuple(scalar_of(a, REAL_TYPE if mixed else "opmath_t") for a in plain if a.name in used),
        result=result,
        inputs=inputs,
        used=tuple(n for n in inputs if n in used),
        value=value,
        returned=value if is_of_result_type else f"static_cast<{result}>({value})",
        takes_packs=result == "scalar_t" and takes_packs(node),
        is_rarely_used="rarely_used" in operator.tags,
        is_mixed=bool(mixed),
    )


def fields_of_operator(operator: Operator) -> dict[str, Any]:
    """The fields of a FormulaKernel that each of an operator's kernels has."""
    assert operator.expr is not None
    return {
        "schema": str(operator.schema),
        "place": place_of(operator),
        "source": to_source(as_spelled(operator.expr.node, operator)),
        "name": operator.base_name,
        "headers": headers_of_functions(operator.expr.node),
    }


def _result_type(operator: Operator) -> str:
    if operator.promotion == "comparison":
        return "bool"
    return "real_type<scalar_t>" if operator.promotion == "complex_to_real" else "scalar_t"


def _value(operator: Operator, complex_names: frozenset[str]) -> str:
    """The formula in C++, over values of the computation type."""
    assert operator.expr is not None
    renamed = {a.name: f"{a.name}_value" for a in operator.schema.arguments.non_tensors}
    wraps = not INTEGER_DTYPES.isdisjoint(operator.dtypes)
    text = cpp_expr(operator.expr.node, renamed, wraps=wraps, complex_names=complex_names)
    return without_outer_parentheses(text)


def without_outer_parentheses(text: str) -> str:
    """``a < b`` for ``(a < b)``: what encloses the whole expression is needed inside of others only."""
    depth = 0
    for position, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0 and position + 1 < len(text):
            return text
    return text[1:-1] if text.startswith("(") else text


def headers_of_functions(node: Node) -> tuple[str, ...]:
    called = [part.function for part in walk(node) if isinstance(part, Call)]
    return tuple(FUNCTIONS[name].header for name in called if name in FUNCTIONS)


def scalar_of(argument: Argument, real_type: str = "opmath_t") -> Scalar:
    """``real_type`` is that of arguments that are real numbers."""
    name = f"{argument.name}_value"
    if argument.type.base.name == "Scalar":
        return Scalar(name, f"{argument.name}.to<opmath_t>()", "opmath_t")
    return Scalar(name, f"static_cast<{real_type}>({argument.name})", real_type)


def mixed_names(node: Node, operator: Operator) -> frozenset[str]:
    """The names of complex numbers, if the formula takes real numbers such as ``abs(self)`` of them."""
    complex_names = complex_names_of(operator, operator.dtypes)
    calls = [part for part in walk(node) if isinstance(part, Call) and part.function in FUNCTIONS]
    is_mixed = any(FUNCTIONS[call.function].complex_to_real for call in calls)
    return complex_names if is_mixed else frozenset()
