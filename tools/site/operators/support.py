"""Which dtypes run where, and how: one row for each group of dtypes that agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tools.site.operators.declared import Declared, Operator, gradient_kind, runs_on_host

_WITH_GRADIENTS = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")
COLUMNS = ("CPU", "CUDA", "backward", "forward mode", "vmap", "compile")


@dataclass(frozen=True)
class Cell:
    """``works`` is yes, partly or no; ``how`` says by what means, or why not."""

    works: str
    how: str


# By what `codegen counts` says of batches.
_BATCHES = {
    "through the operators that they call": Cell("yes", "through the operators that it calls"),
    "element by element, or in front of the dimensions they act on": Cell(
        "yes", "one call for the whole batch"
    ),
    "as views of the whole batch": Cell("yes", "a view of the whole batch"),
    "along their `dim`": Cell("yes", "one call for the whole batch, along another dim"),
    "by a rule in C++": Cell("yes", "by a rule of its own"),
    "without a tensor": Cell("no", "takes no tensor"),
    "one member at a time": Cell("partly", "one member at a time"),
}


@dataclass(frozen=True)
class Row:
    dtypes: tuple[str, ...]
    cells: tuple[Cell, ...]


def rows_of(operator: Operator, declared: Declared) -> list[Row]:
    """Rows in the order of dtypes. An entry without ``dtypes`` takes every dtype that the operators it is
    made of take."""
    if not operator.dtypes:
        return [Row(("any dtype",), _cells(operator, None, declared))]

    groups: dict[tuple[Cell, ...], list[str]] = {}
    for dtype in operator.dtypes:
        groups.setdefault(_cells(operator, dtype, declared), []).append(dtype)
    return [Row(tuple(dtypes), cells) for cells, dtypes in groups.items()]


def _cells(operator: Operator, dtype: str | None, declared: Declared) -> tuple[Cell, ...]:
    gradient = _gradient(operator, dtype)
    return (
        Cell("yes", _on_cpu(operator)),
        _on_cuda(operator),
        gradient,
        gradient,
        _in_batches(operator, declared),
        _compiled(operator, dtype),
    )


def _on_cpu(operator: Operator) -> str:
    if operator.expr is not None:
        return "a loop printed from the formula"
    if operator.dispatch_for("CPU") is not None:
        return "a kernel written by hand"
    return "made of other operators" if operator.structure == "composite" else "one function for every device"


def _on_cuda(operator: Operator) -> Cell:
    if runs_on_host(operator):
        return Cell("partly", "the CPU's kernel, on copies in host memory")
    return Cell("yes", _on_cpu(operator))


def _gradient(operator: Operator, dtype: str | None) -> Cell:
    """Backward and forward mode use the same formulas."""
    kind = gradient_kind(operator)
    if kind == "none":
        return Cell("no", operator.non_differentiable or "takes no tensor that could have a gradient")
    if dtype is not None and dtype not in _WITH_GRADIENTS:
        return Cell("no", "integers have no gradient")
    if kind == "decomposed":
        return Cell("yes", "through the operators that it calls")
    if operator.expr is not None and not operator.derivatives:
        return Cell("yes", "derived from the formula")
    if operator.structure == "view" and not operator.derivatives:
        return Cell("yes", "the view is reversed")
    return Cell("yes", "by the derivatives of the entry")


def _in_batches(operator: Operator, declared: Declared) -> Cell:
    return _BATCHES[declared.batch_rule(operator)]


def _compiled(operator: Operator, dtype: str | None) -> Cell:
    """As ``torch_py/_inductor/lower/__init__.py`` chooses among rules, formulas and calls."""
    from torch_py._inductor.ir import CPP
    from torch_py._inductor.lower import RULES
    from torch_py._inductor.lower.families import pointwise_entry, row_entry

    has_code = dtype is None or dtype in {str(known).split(".")[-1] for known in CPP}
    if operator.name in RULES and has_code:
        return Cell("yes", "becomes loops by a rule of its own")
    if pointwise_entry(operator.name) is not None and has_code:
        return Cell("yes", "the formula becomes part of fused loops")
    if row_entry(operator.name) is not None and has_code:
        return Cell("yes", "its passes over a row become part of fused loops")
    if operator.structure == "view":
        return Cell("yes", "becomes indices of the loops that read it")
    if gradient_kind(operator) == "decomposed":
        return Cell("yes", "as the operators that it calls")
    return Cell("partly", "compiled programs call the kernel")


def notes(rows: Sequence[Row]) -> list[tuple[str, str]]:
    """What the cells of columns say: ``("CPU, CUDA", "a kernel written by hand")``."""
    found: dict[str, list[str]] = {}
    for index, column in enumerate(COLUMNS):
        reasons = dict.fromkeys(row.cells[index].how for row in rows)
        found.setdefault("; ".join(reasons), []).append(column)
    return [(", ".join(columns), reasons) for reasons, columns in found.items()]
