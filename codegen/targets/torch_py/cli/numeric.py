"""``check --numeric``: compares gradients of kernels with differences of their values, once they are built.

Formulas are compared without a build (model/checks/slopes); the values of a kernel are only known once it is
compiled. The gradient tests of tests/ops do the same for operators of every structure, at their samples.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from codegen.diagnostics import Diagnostics, GenerationError
from codegen.model import Operator, Program
from codegen.model.checks.slopes import points
from codegen.schema import Argument

_GRAD = 0.7

Point = dict[str, float]


def check_slopes(program: Program) -> None:
    """Compares the gradients of all pointwise kernels with their values, and prints how many."""
    problems = Diagnostics()
    compared, skipped = check_kernels(program, problems)
    print(f"{compared} pointwise kernels compared with their gradients")
    for reason in skipped:
        print(f"not compared: {reason}")
    if problems:
        raise GenerationError(problems)


def check_kernels(program: Program, problems: Diagnostics) -> tuple[int, list[str]]:
    """Reports the derivatives that disagree with kernels.

    Returns how many operators were compared, and why others could not be.
    """
    torch = importlib.import_module("torch_py")
    compared = 0
    skipped = []
    for operator in filter(_has_slopes, program):
        other = next((a for a in operator.schema.arguments.non_tensors if not _is_number(a)), None)
        if other is not None:
            skipped.append(f"{operator.name}: its argument '{other.name}' is {other.type}, not a number")
            continue
        try:
            for name, message in _differences(torch, operator):
                _report(operator, name, message, problems)
            compared += 1
        except (RuntimeError, TypeError, ValueError, AttributeError) as error:
            skipped.append(f"{operator.name}: {str(error).splitlines()[0]}")

    return compared, skipped


def _has_slopes(operator: Operator) -> bool:
    """Whether each element of the result has a gradient by the elements of the arguments."""
    return (
        operator.structure == "pointwise"
        and operator.expr is None
        and bool(operator.derivatives)
        and "float64" in operator.dtypes
        and operator.promotion not in ("comparison", "bool_to_long")
        and all(a.type.is_plain("Tensor") for a in operator.tensor_arguments)
    )


def _is_number(argument: Argument) -> bool:
    return argument.type.base.name in ("Scalar", "float", "int", "SymInt", "bool") or argument.has_default


def _report(operator: Operator, name: str, message: str, problems: Diagnostics) -> None:
    derivative = operator.derivative_for(name)
    assert derivative is not None
    place = derivative.location if derivative.formula is None else derivative.formula.location
    problems.report(place, operator.name, message, "write the derivative of what the kernel computes")


def _differences(torch: Any, operator: Operator) -> Iterator[tuple[str, str]]:
    """Each input whose gradient is wrong at a point, and a message; one for each input."""
    tensors = [a.name for a in operator.tensor_arguments]
    wrong = set()

    def numbers_of(point: Point) -> list[tuple[str, float]]:
        return [(name, value) for name, value in point.items() if name not in tensors]

    for numbers, group in groupby(points(operator, frozenset({0.0, 1.0})), numbers_of):
        # Where two values are equal, gradients follow conventions: clamp at its bounds.
        rows = [row for row in group if len(set(row.values())) == len(row)]
        inputs = [n for d in operator.derivatives for n in d.inputs if not d.is_non_differentiable]
        for name in inputs:
            message = None if name in wrong else _first_difference(torch, operator, name, rows, dict(numbers))
            if message is not None:
                wrong.add(name)
                yield name, message


def _first_difference(
    torch: Any, operator: Operator, name: str, rows: Sequence[Point], numbers: Point
) -> str | None:
    tensors = [a.name for a in operator.tensor_arguments]
    values = {t: torch.tensor([row[t] for row in rows], dtype=torch.float64) for t in tensors}
    steps = 1e-5 * values[name].abs().clamp(0.01, 1.0)

    def at(width: float) -> Any:
        moved = {**values, name: values[name] + width * steps}
        return _call(torch, operator, {**moved, **numbers})

    value = at(0.0)
    above = ((at(1.0) - value) / steps).tolist()
    below = ((value - at(-1.0)) / steps).tolist()
    near = ((at(0.25) - value) / (0.25 * steps)).tolist()
    written = _gradient(torch, operator, name, {**values, **numbers})

    noises = (1e-8 + 1e-13 * value.abs() / steps).tolist()
    for row, up, down, close, found, noise in zip(rows, above, below, near, written, noises):
        is_smooth = math.isfinite(up) and all(
            abs(up - x) <= 1e-2 * abs(up) + 5 * noise for x in (down, close)
        )
        slope = (up + down) / 2
        if is_smooth and math.isfinite(found) and abs(found / _GRAD - slope) > 1e-3 * abs(slope) + noise:
            place = ", ".join(f"{key} = {x:g}" for key, x in row.items())
            own = f"the gradient of '{name}' is {found:.4g} at {place}, grad = {_GRAD}"
            return f"{own}, but that of the kernel {_GRAD * slope:.4g}"
    return None


def _call(torch: Any, operator: Operator, values: dict[str, Any]) -> Any:
    packet = getattr(torch.ops.aten, operator.base_name)
    function = getattr(packet, operator.schema.overload_name or "default")
    arguments = operator.arguments
    named = {a.name: values[a.name] for a in arguments.kwarg_only if a.name in values}
    return function(*(values[a.name] for a in arguments.positional), **named)


def _gradient(torch: Any, operator: Operator, name: str, values: dict[str, Any]) -> list[float]:
    own = values[name].clone().requires_grad_()
    result = _call(torch, operator, {**values, name: own})
    result.backward(torch.full_like(result, _GRAD))
    found: list[float] = own.grad.tolist()
    return found
