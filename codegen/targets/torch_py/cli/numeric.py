"""``check --numeric``: compares gradients of kernels with differences of their values, once they are built.

Formulas are compared without a build (model/checks/slopes); the values of a kernel are only known once it is
compiled. The gradient tests of tests/ops do the same for operators of every structure, at their samples.
"""

from __future__ import annotations

import cmath
import importlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from codegen.diagnostics import Diagnostics, GenerationError
from codegen.model import Operator, Program
from codegen.model.checks.complex_slopes import complex_points
from codegen.model.checks.slopes import numbers_of_entry, points
from codegen.schema import Argument

_GRAD = 0.7
_COMPLEX_GRAD = 0.7 + 0.4j

Point = Mapping[str, complex]


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
        and not {"float64", "complex128"}.isdisjoint(operator.dtypes)
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
    inputs = [n for d in operator.derivatives for n in d.inputs if not d.is_non_differentiable]
    wrong = set()

    def numbers_of(point: Point) -> list[tuple[str, complex]]:
        return [(name, value) for name, value in point.items() if name not in tensors]

    groups = (group for family in _points(operator) for group in groupby(family, numbers_of))
    for numbers, group in groups:
        # Where two values are equal, gradients follow conventions: clamp at its bounds.
        rows = [row for row in group if len(set(row.values())) == len(row)]
        for name in inputs if rows else ():
            message = None if name in wrong else _first_difference(torch, operator, name, rows, dict(numbers))
            if message is not None:
                wrong.add(name)
                yield name, message


def _points(operator: Operator) -> Iterator[Iterable[Point]]:
    """Real ones, and complex ones."""
    if "float64" in operator.dtypes:
        yield points(operator, frozenset({0.0, 1.0}))
    if "complex128" in operator.dtypes:
        yield complex_points(operator, numbers_of_entry(operator))


def _first_difference(
    torch: Any, operator: Operator, name: str, rows: Sequence[Point], numbers: Point
) -> str | None:
    tensors = [a.name for a in operator.tensor_arguments]
    is_complex = isinstance(rows[0][name], complex)
    dtype = torch.complex128 if is_complex else torch.float64
    values = {t: torch.tensor([row[t] for row in rows], dtype=dtype) for t in tensors}

    along_real = _slopes(torch, operator, name, {**values, **numbers}, 1)
    along_imaginary = _slopes(torch, operator, name, {**values, **numbers}, 1j) if is_complex else along_real
    written, grad = _gradient(torch, operator, name, {**values, **numbers})

    for row, first, second, found in zip(rows, along_real, along_imaginary, written):
        if first is None or second is None or not cmath.isfinite(found):
            continue
        right: complex = (grad.conjugate() * first.value).real
        if is_complex:
            right = complex(right, (grad.conjugate() * second.value).real)
        if abs(found - right) > 1e-3 * abs(right) + first.noise:
            place = ", ".join(f"{key} = {x:g}" for key, x in {**row, "grad": grad}.items())
            return f"the gradient of '{name}' is {found:.4g} at {place}, but that of the kernel {right:.4g}"
    return None


class _Slope(NamedTuple):
    value: complex
    noise: float  # how far rounding may shift it


def _slopes(
    torch: Any, operator: Operator, name: str, values: dict[str, Any], direction: complex
) -> list[_Slope | None]:
    """The derivative of the kernel along a direction at each point; None at a corner or a step."""
    steps = 1e-5 * values[name].abs().clamp(0.01, 1.0)

    def at(width: float) -> Any:
        return _call(torch, operator, {**values, name: values[name] + width * direction * steps})

    value = at(0.0)
    above = ((at(1.0) - value) / steps).tolist()
    below = ((value - at(-1.0)) / steps).tolist()
    near = ((at(0.25) - value) / (0.25 * steps)).tolist()
    noises = (1e-8 + 1e-13 * value.abs() / steps).tolist()
    return [_smooth_slope(*row) for row in zip(above, below, near, noises)]


def _smooth_slope(above: complex, below: complex, near: complex, noise: float) -> _Slope | None:
    bound = 1e-2 * abs(above) + 5 * noise
    if not cmath.isfinite(above) or not all(abs(above - other) <= bound for other in (below, near)):
        return None
    return _Slope((above + below) / 2, noise)


def _call(torch: Any, operator: Operator, values: dict[str, Any]) -> Any:
    packet = getattr(torch.ops.aten, operator.base_name)
    function = getattr(packet, operator.schema.overload_name or "default")
    arguments = operator.arguments
    named = {a.name: values[a.name] for a in arguments.kwarg_only if a.name in values}
    return function(*(values[a.name] for a in arguments.positional), **named)


def _gradient(
    torch: Any, operator: Operator, name: str, values: dict[str, Any]
) -> tuple[list[complex], complex]:
    """The gradient of an input, and that of the result which it is for."""
    own = values[name].clone().requires_grad_()
    result = _call(torch, operator, {**values, name: own})
    grad = _COMPLEX_GRAD if result.is_complex() else _GRAD
    result.backward(torch.full_like(result, grad))
    return own.grad.tolist(), grad
