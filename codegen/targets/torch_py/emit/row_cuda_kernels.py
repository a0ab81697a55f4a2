"""The CUDA kernels of formulas over rows: ``aten/native/cuda/expr/<Topic>-rows.cu``.

A formula with several reductions becomes a struct whose operator() computes one row,
Note [Formulas over rows on a device].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from codegen.expressions import Pass, names
from codegen.model import Operator
from codegen.targets.torch_py.analysis.kernels import CUDA_EXPR_FOLDER, cuda_entry
from codegen.targets.torch_py.emit.row_printer import RowKernel, RowPrinter, element_parameters


class Total(NamedTuple):
    """A row value that a pass reduces elements to."""

    name: str
    type: str
    operation: str  # RowSum
    element: str  # what is reduced


class DeviceStage(NamedTuple):
    """A pass with totals, or one computed row value."""

    totals: tuple[Total, ...]
    parameters: tuple[str, ...]
    name: str
    type: str
    value: str


@dataclass(frozen=True)
class DeviceRowKernel(RowKernel):
    stages: tuple[DeviceStage, ...]
    finish_parameters: tuple[str, ...]


def cuda_row_kernels_by_file(operators: Sequence[Operator]) -> dict[str, list[DeviceRowKernel]]:
    """The kernels of a topic share files."""
    found: dict[str, list[DeviceRowKernel]] = {}
    for operator in operators:
        entry = cuda_entry(operator)
        if operator.is_over_rows and entry is not None and entry.definition is not None:
            if entry.definition.path.startswith(CUDA_EXPR_FOLDER):
                found.setdefault(entry.definition.path, []).append(_row_kernel(operator, entry.kernel))
    return found


def _row_kernel(operator: Operator, kernel: str) -> DeviceRowKernel:
    printer = _DevicePrinter(operator, keeps=False)
    return DeviceRowKernel(
        **printer.common(kernel),
        stages=tuple(printer.stages()),
        finish_parameters=element_parameters(printer.tensors, names(printer.plan.finish)),
    )


class _DevicePrinter(RowPrinter):
    def stages(self) -> list[DeviceStage]:
        found = []
        for stage in self.plan.stages:
            if not isinstance(stage, Pass):
                type = self.type_of(stage.node)
                found.append(DeviceStage((), (), stage.name, type, self.value(stage.node)))
                continue

            totals = tuple(
                Total(name, self.type_of(node), reduction.functor, self.value(node))
                for name, reduction, node in stage.reductions
            )
            used = {name for _, _, node in stage.reductions for name in names(node)}
            found.append(DeviceStage(totals, element_parameters(self.tensors, used), "", "", ""))
        return found
