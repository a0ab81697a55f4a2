"""The loops of a formula over rows: ``aten/native/cpu/expr/<op>Kernel[.isa].cpp``.

Stages in C++ (Note [Stages of a formula over rows]) as lambdas: each takes the row values so far, then the
elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from codegen.dtypes import DTYPE_CONSTANTS, INTEGER_DTYPES
from codegen.expressions import (
    Pass,
    RowPlan,
    cpp_expr,
    is_boolean,
    names,
    plan_rows,
    to_source,
)
from codegen.expressions.nodes import Name, Node
from codegen.expressions.rows import COUNT, ROW_ARGUMENTS, replaced
from codegen.model import DispatchEntry, Operator
from codegen.targets.torch_py.analysis.argument_names import as_spelled
from codegen.targets.torch_py.analysis.kernels import is_formula_kernel
from codegen.targets.torch_py.emit.expr_kernels import (
    Scalar,
    headers_of_functions,
    scalar_of,
    without_outer_parentheses,
)
from codegen.targets.torch_py.emit.native import loop_parameters
from codegen.targets.torch_py.emit.places import place_of
from codegen.targets.torch_py.emit.wrapper_texts import reduction_argument, reduction_dim, row_rule

# Row values and elements of a lambda, and the number of elements in a row.
_COUNT_VALUE = "count_value"


class Stage(NamedTuple):
    """One argument of ``std::tuple``: ``row_pass<0, RowSum>(lambda)`` or ``row_value(lambda)``."""

    call: str  # row_pass<0, RowSum>
    parameters: tuple[str, ...]
    locals: tuple[tuple[str, str], ...]  # elements that the pass keeps
    values: tuple[str, ...]
    is_pass: bool


class SingleReduction(NamedTuple):
    """A formula with one reduction, the Ops of Note [Reduction order]."""

    struct: str
    operation: str  # RowSum
    element: str  # the parameter of reduce, which has a name if it is used
    elements: str  # what is reduced
    total: str  # the parameter of project


class RowKernel(NamedTuple):
    schema: str
    place: str
    source: str  # the formula as written
    kernel: str
    parameters: tuple[str, ...]
    dtypes: tuple[str, ...]  # kFloat ...
    scalars: tuple[Scalar, ...]
    uses_count: bool
    stages: tuple[Stage, ...]
    finish_parameters: tuple[str, ...]
    finish: str
    result: str  # C++ type of an element of the result
    name: str
    headers: tuple[str, ...]
    is_reduction: bool
    tensors: tuple[str, ...]
    dim: str
    dtype: str
    rule: str
    single: SingleReduction | None  # then without stages

    @property
    def members(self) -> list[str]:
        """What the Ops of a single reduction hold."""
        return [s.name for s in self.scalars] + (["count_value"] if self.uses_count else [])

    @property
    def calls(self) -> list[str]:
        return [f"{stage.call}(map{i})" for i, stage in enumerate(self.stages)]

    @property
    def addresses(self) -> list[str]:
        return [f"&{name}" for name in self.tensors]


def row_kernels_by_file(operators: Sequence[Operator]) -> dict[str, list[RowKernel]]:
    """Kernels of formulas over rows: an operator's and those of its gradients share a file."""
    found: dict[str, list[RowKernel]] = {}
    for operator in operators:
        entry = operator.dispatch_for("CPU")
        if operator.is_over_rows and entry is not None and entry.definition is not None:
            if is_formula_kernel(entry.definition.path):
                found.setdefault(entry.definition.path, []).append(_row_kernel(operator, entry))
    return found


def _row_kernel(operator: Operator, entry: DispatchEntry) -> RowKernel:
    assert operator.expr is not None
    node = operator.expr.node
    tensors = tuple(a.name for a in operator.tensor_arguments)
    plain = [a for a in operator.schema.arguments.non_tensors if a.name not in ROW_ARGUMENTS]
    used = names(node)

    plan = plan_rows(node, tensors, operator.schema.arguments.names())
    renamed = {a.name: f"{a.name}_value" for a in plain}
    if operator.schema.arguments.find(COUNT) is None:
        renamed[COUNT] = _COUNT_VALUE
    wraps = not INTEGER_DTYPES.isdisjoint(operator.dtypes)
    printer = _Printer(plan, tensors, renamed, wraps)
    is_reduction = operator.structure == "reduction"

    return RowKernel(
        schema=str(operator.schema),
        place=place_of(operator),
        source=to_source(as_spelled(node, operator)),
        kernel=entry.kernel,
        parameters=loop_parameters(operator),
        dtypes=tuple(DTYPE_CONSTANTS[d] for d in operator.dtypes),
        scalars=tuple(scalar_of(a) for a in plain if a.name in used),
        uses_count=any(COUNT in names(part) for part in printer.formulas()),
        stages=tuple(printer.stages()),
        finish_parameters=printer.parameters(len(plan.stages), plan.finish, not is_reduction),
        finish=printer.value(plan.finish),
        result=_result_type(operator),
        name=operator.base_name,
        headers=headers_of_functions(node),
        is_reduction=is_reduction,
        tensors=tensors,
        dim=reduction_dim(operator),
        dtype=reduction_argument(operator, "dtype", "std::nullopt"),
        rule=row_rule(operator),
        single=printer.single(entry.kernel) if is_reduction else None,
    )


def _result_type(operator: Operator) -> str:
    assert operator.expr is not None
    if operator.structure == "reduction" and operator.promotion == "bool":
        # As any and all: uint8 for uint8.
        return "std::conditional_t<std::is_same_v<scalar_t, uint8_t>, uint8_t, bool>"
    return "bool" if is_boolean(operator.expr.node, operator) else "scalar_t"


class _Printer:
    """Prints the stages of a plan."""

    def __init__(self, plan: RowPlan, tensors: tuple[str, ...], renamed: dict[str, str], wraps: bool) -> None:
        self.plan = plan
        self.tensors = tensors
        self.renamed = renamed
        self.wraps = wraps

    def value(self, node: Node) -> str:
        return without_outer_parentheses(cpp_expr(node, self.renamed, wraps=self.wraps))

    def formulas(self) -> list[Node]:
        found = [self.plan.finish]
        for stage in self.plan.stages:
            if isinstance(stage, Pass):
                found += [node for _, _, node in stage.reductions] + [node for _, node in stage.kept]
            else:
                found.append(stage.node)
        return found

    def parameters(self, position: int, used: Node | Sequence[Node], has_elements: bool) -> tuple[str, ...]:
        """What the lambda of a stage takes; parameters that it does not use have no name."""
        formulas = used if isinstance(used, (list, tuple)) else [used]
        wanted = {name for node in formulas for name in names(node)}
        values: list[str] = []
        kept: list[str] = []
        for stage in self.plan.stages[:position]:
            if isinstance(stage, Pass):
                values += [name for name, _, _ in stage.reductions]
                kept += [name for name, _ in stage.kept]
            else:
                values.append(stage.name)

        found = [*values, *(self.tensors if has_elements else ()), *(kept if has_elements else ())]
        return tuple(f"opmath_t {name}" if name in wanted else "opmath_t" for name in found)

    def single(self, kernel: str) -> SingleReduction | None:
        """The reduction of a plan with one."""
        if len(self.plan.stages) != 1:
            return None
        (stage,) = self.plan.stages
        if not isinstance(stage, Pass) or len(stage.reductions) != 1:
            return None

        ((name, reduction, elements),) = stage.reductions
        struct = "".join(word[:1].upper() + word[1:] for word in kernel.removesuffix("_kernel").split("_"))
        (tensor,) = self.tensors
        return SingleReduction(
            struct=f"{struct}Row",
            operation=reduction.functor,
            element=tensor if tensor in names(elements) else "",
            elements=self.value(elements),
            total=name,
        )

    def stages(self) -> list[Stage]:
        found = []
        for position, stage in enumerate(self.plan.stages):
            if not isinstance(stage, Pass):
                parameters = self.parameters(position, stage.node, False)
                found.append(Stage("row_value", parameters, (), (self.value(stage.node),), False))
                continue

            operations = "".join(f", {reduction.functor}" for _, reduction, _ in stage.reductions)
            formulas = [*(node for _, _, node in stage.reductions), *(node for _, node in stage.kept)]
            named: dict[Node, Node] = {node: Name(name) for name, node in stage.kept}
            values = [self.value(replaced(node, named)) for _, _, node in stage.reductions]
            named_kept = [name for name, _ in stage.kept]
            found.append(
                Stage(
                    f"row_pass<{len(stage.kept)}{operations}>",
                    self.parameters(position, formulas, True),
                    tuple((name, self.value(node)) for name, node in stage.kept),
                    (*values, *named_kept),
                    True,
                )
            )
        return found
