"""The CPU's loops of a formula over rows: ``aten/native/cpu/expr/<op>Kernel[.isa].cpp``.

Stages in C++ (Note [Stages of a formula over rows]) as lambdas: each takes the row values so far, then the
elements.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from codegen.expressions import Pass, is_real, names
from codegen.expressions.nodes import Name, Node
from codegen.expressions.packs import takes_packs_of
from codegen.expressions.rows import Reduction, replaced
from codegen.model import Operator
from codegen.targets.torch_py.analysis.kernels import is_formula_kernel
from codegen.targets.torch_py.emit.row_printer import RowKernel, RowPrinter, element_parameters


class Stage(NamedTuple):
    """One argument of ``std::tuple``: ``row_pass<0, RowSum>(lambda)`` or ``row_value(lambda)``."""

    call: str  # row_pass<0, RowSum>
    parameters: tuple[str, ...]
    locals: tuple[tuple[str, str], ...]  # elements that the pass keeps
    values: tuple[str, ...]
    is_pass: bool


@dataclass(frozen=True)
class HostRowKernel(RowKernel):
    stages: tuple[Stage, ...]
    finish_parameters: tuple[str, ...]

    @property
    def calls(self) -> list[str]:
        return [f"{stage.call}(map{i})" for i, stage in enumerate(self.stages)]


def row_kernels_by_file(operators: Sequence[Operator]) -> dict[str, list[HostRowKernel]]:
    """Kernels of formulas over rows: an operator's and those of its gradients share a file."""
    found: dict[str, list[HostRowKernel]] = {}
    for operator in operators:
        entry = operator.dispatch_for("CPU")
        if operator.is_over_rows and entry is not None and entry.definition is not None:
            if is_formula_kernel(entry.definition.path):
                found.setdefault(entry.definition.path, []).append(_row_kernel(operator, entry.kernel))
    return found


def _row_kernel(operator: Operator, kernel: str) -> HostRowKernel:
    printer = _HostPrinter(operator)
    plan = printer.plan
    element = "" if operator.structure == "reduction" else printer.type_of_elements([plan.finish])
    return HostRowKernel(
        **printer.common(kernel),
        stages=tuple(printer.stages()),
        finish_parameters=printer.parameters(len(plan.stages), names(plan.finish), element),
    )


class _HostPrinter(RowPrinter):
    def __init__(self, operator: Operator) -> None:
        super().__init__(operator, keeps=True)
        # All row values and kept elements are stored as opmath_t.
        self.renamed |= {name: f"at::vec::real({name})" for name in self.real_values}

    def type_of_elements(self, formulas: Sequence[Node]) -> str:
        """``auto`` where packs of elements are computed as elements are."""
        kept = [name for stage in self.plan.passes for name, _ in stage.kept]
        are_packs = all(takes_packs_of(node, [*self.tensors, *kept]) for node in formulas)
        return "auto" if are_packs else "opmath_t"

    def operation(self, reduction: Reduction, elements: Node) -> str:
        """``RowSum``; of what is real among complex numbers ``RowReal<RowSum>``."""
        if self.complex_names and is_real(elements, self.complex_names):
            return f"RowReal<{reduction.functor}>"
        return reduction.functor

    def parameters(self, position: int, used: Collection[str], element: str = "") -> tuple[str, ...]:
        """What the lambda of a stage takes; with the type of elements, these as well."""
        values: list[str] = []
        kept: list[str] = []
        for stage in self.plan.stages[:position]:
            if isinstance(stage, Pass):
                values += [name for name, _, _ in stage.reductions]
                kept += [name for name, _ in stage.kept]
            else:
                values.append(stage.name)
        found = element_parameters(values, used)
        return (*found, *element_parameters([*self.tensors, *kept], used, element)) if element else found

    def stages(self) -> list[Stage]:
        found = []
        for position, stage in enumerate(self.plan.stages):
            if not isinstance(stage, Pass):
                parameters = self.parameters(position, names(stage.node))
                found.append(Stage("row_value", parameters, (), (self.value(stage.node),), False))
                continue

            operations = "".join(f", {self.operation(how, of)}" for _, how, of in stage.reductions)
            formulas = [*(node for _, _, node in stage.reductions), *(node for _, node in stage.kept)]
            used = {name for node in formulas for name in names(node)}
            named: dict[Node, Node] = {node: Name(name) for name, node in stage.kept}
            values = [self.value(replaced(node, named)) for _, _, node in stage.reductions]
            named_kept = [name for name, _ in stage.kept]
            found.append(
                Stage(
                    f"row_pass<{len(stage.kept)}{operations}>",
                    self.parameters(position, used, self.type_of_elements(formulas)),
                    tuple((name, self.value(node)) for name, node in stage.kept),
                    (*values, *named_kept),
                    True,
                )
            )
        return found
