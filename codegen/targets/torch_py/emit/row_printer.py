"""What the kernels of a formula over rows have in common: its plan, printed in C++."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from codegen.dtypes import DTYPE_CONSTANTS, INTEGER_DTYPES
from codegen.expressions import (
    Pass,
    RowPlan,
    complex_names_of,
    cpp_expr,
    infer_row_promotion,
    is_boolean,
    is_real,
    names,
    plan_rows,
)
from codegen.expressions.complex_numbers import with_squared_magnitudes
from codegen.expressions.nodes import Node
from codegen.expressions.print_cpp_scalar import REAL_TYPE
from codegen.expressions.rows import COUNT, ROW_ARGUMENTS
from codegen.model import Operator
from codegen.targets.torch_py.emit.expr_kernels import (
    FormulaKernel,
    fields_of_operator,
    scalar_of,
    without_outer_parentheses,
)
from codegen.targets.torch_py.emit.native import loop_parameters
from codegen.targets.torch_py.emit.wrapper_texts import reduction_argument, reduction_dim, row_rule

# The number of elements in a row.
_COUNT_VALUE = "count_value"
_WHOLE = (*INTEGER_DTYPES, "bool")


class SingleReduction(NamedTuple):
    """A formula with one reduction, the Ops of Note [Reduction order]."""

    operation: str  # RowSum
    element: str  # the parameter of reduce, which has a name if it is used
    elements: str  # what is reduced
    total: str  # the parameter of project
    type: str  # of the total


@dataclass(frozen=True)
class RowKernel(FormulaKernel):
    """The loop of a formula over rows, for any device."""

    is_complex: bool  # whether opmath_t may be complex
    uses_count: bool
    finish: str
    is_reduction: bool
    tensors: tuple[str, ...]
    dim: str
    dtype: str
    rule: str
    single: SingleReduction | None  # then without stages

    @property
    def struct(self) -> str:
        return f"{self.camel_name}Row"

    @property
    def real_type(self) -> str:
        return REAL_TYPE if self.is_complex else "opmath_t"

    @property
    def members(self) -> list[tuple[str, str]]:
        """Types and names of the numbers that a struct of the formula holds."""
        count = [(self.real_type, _COUNT_VALUE)] if self.uses_count else []
        return [*((s.type, s.name) for s in self.scalars), *count]

    @property
    def addresses(self) -> list[str]:
        return [f"&{name}" for name in self.tensors]


class RowPrinter:
    """Prints the parts of an operator's plan."""

    def __init__(self, operator: Operator, keeps: bool) -> None:
        assert operator.expr is not None
        self.operator = operator
        self.node = operator.expr.node
        self.tensors = tuple(a.name for a in operator.tensor_arguments)
        self.plain = [a for a in operator.schema.arguments.non_tensors if a.name not in ROW_ARGUMENTS]
        self.is_reduction = operator.structure == "reduction"

        self.complex_names = complex_names_of(operator, operator.dtypes)
        computed = with_squared_magnitudes(self.node, self.complex_names)
        self.plan: RowPlan = plan_rows(computed, self.tensors, operator.schema.arguments.names(), keeps)
        # What computes in floating point is given no integers.
        rule = operator.promotion or infer_row_promotion(self.node, operator, operator.dtypes)
        self.dtypes = [d for d in operator.dtypes if rule != "int_to_float" or d not in _WHOLE]
        self.wraps = not INTEGER_DTYPES.isdisjoint(self.dtypes)
        self.renamed = {a.name: f"{a.name}_value" for a in self.plain}
        if operator.schema.arguments.find(COUNT) is None:
            self.renamed[COUNT] = _COUNT_VALUE
        self.real_values = frozenset(self.find_real_values())

    def find_real_values(self) -> Iterator[str]:
        """The row values and kept elements that are real where tensors are complex."""
        for name, node in self.named_values():
            if not self.complex_names:
                return
            if is_real(node, self.complex_names):
                yield name
            else:
                self.complex_names |= {name}

    def named_values(self) -> Iterator[tuple[str, Node]]:
        for stage in self.plan.stages:
            if isinstance(stage, Pass):
                yield from ((name, node) for name, _, node in stage.reductions)
                yield from stage.kept
            else:
                yield stage.name, stage.node

    def value(self, node: Node) -> str:
        text = cpp_expr(node, self.renamed, wraps=self.wraps, complex_names=self.complex_names)
        return without_outer_parentheses(text)

    def type_of(self, node: Node) -> str:
        return REAL_TYPE if self.complex_names and is_real(node, self.complex_names) else "opmath_t"

    def single(self) -> SingleReduction | None:
        """The reduction of a plan with one."""
        if not self.is_reduction or len(self.plan.stages) != 1:
            return None
        (stage,) = self.plan.stages
        if not isinstance(stage, Pass) or len(stage.reductions) != 1:
            return None

        ((name, reduction, elements),) = stage.reductions
        (tensor,) = self.tensors
        return SingleReduction(
            operation=reduction.functor,
            element=tensor if tensor in names(elements) else "",
            elements=self.value(elements),
            total=name,
            type=self.type_of(elements),
        )

    def common(self, kernel: str) -> dict[str, Any]:
        """The fields of a RowKernel."""
        operator = self.operator
        used = names(self.node)
        real_type = REAL_TYPE if self.complex_names else "opmath_t"
        formulas = [self.plan.finish, *(node for _, node in self.named_values())]

        return {
            **fields_of_operator(operator),
            "kernel": kernel,
            "parameters": loop_parameters(operator),
            "dtypes": tuple(DTYPE_CONSTANTS[d] for d in self.dtypes),
            "scalars": tuple(scalar_of(a, real_type) for a in self.plain if a.name in used),
            "is_complex": bool(self.complex_names),
            "uses_count": any(COUNT in names(part) for part in formulas),
            "finish": self.value(self.plan.finish),
            "result": _result_type(operator),
            "is_reduction": self.is_reduction,
            "tensors": self.tensors,
            "dim": reduction_dim(operator),
            "dtype": reduction_argument(operator, "dtype", "std::nullopt"),
            "rule": row_rule(operator),
            "single": self.single(),
        }


def element_parameters(
    tensors: Sequence[str], used: Collection[str], type: str = "opmath_t"
) -> tuple[str, ...]:
    """The parameters of a lambda over elements; those that it does not use have no name."""
    return tuple(f"{type} {name}" if name in used else type for name in tensors)


def _result_type(operator: Operator) -> str:
    assert operator.expr is not None
    if operator.structure == "reduction" and operator.promotion == "bool":
        # As any and all: uint8 for uint8.
        return "std::conditional_t<std::is_same_v<scalar_t, uint8_t>, uint8_t, bool>"
    if is_boolean(operator.expr.node, operator):
        return "bool"
    is_real = infer_row_promotion(operator.expr.node, operator, operator.dtypes) == "complex_to_real"
    return "real_type<scalar_t>" if is_real else "scalar_t"
