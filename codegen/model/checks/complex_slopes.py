"""Compares gradients with differences of a formula at complex numbers.

The gradient of L by z = x + iy is dL/dx + i dL/dy, as in PyTorch. With the gradient g of the result w it is
Re(conj(g) dw/dx) + i Re(conj(g) dw/dy), which is g conj(f'(z)) where w = f(z) is holomorphic.
"""

from __future__ import annotations

import cmath
from collections.abc import Iterable, Iterator, Mapping, Sequence

from codegen.expressions import Node
from codegen.expressions.evaluate import NoValueError, Other, evaluate_complex
from codegen.model.operator import Operator

Point = Mapping[str, complex]

# From small to large, in all quadrants, away from 0, 1 and the axes.
_VALUES = (
    0.31 + 0.72j,
    -0.86 + 0.41j,
    1.63 - 0.57j,
    -1.17 - 1.29j,
    0.043 - 0.62j,
    2.69 + 0.27j,
    -0.19 + 3.1j,
)
_SCALAR = 0.4 - 0.3j  # of an argument that may be complex
_GRAD = 0.7 + 0.4j


def complex_points(operator: Operator, numbers: Sequence[Mapping[str, float]]) -> Iterator[Point]:
    """Values of all arguments; ``numbers`` are those of arguments that are not tensors."""
    tensors = [argument.name for argument in operator.tensor_arguments]
    scalars = [a.name for a in operator.schema.arguments.non_tensors if a.type.base.name == "Scalar"]
    others: list[Point] = [*numbers[:2]]
    if scalars:
        others.append({**numbers[0], **dict.fromkeys(scalars, _SCALAR)})

    for given in others:
        for shift in range(len(_VALUES)):
            own = {name: _VALUES[(shift + 2 * i) % len(_VALUES)] for i, name in enumerate(tensors)}
            yield {**own, **given}


def first_complex_difference(
    formulas: tuple[Node, Node], name: str, points: Iterable[Point], is_real: bool, call: Other
) -> tuple[str, complex, complex] | None:
    """The first point where the derivative of the first formula is not the second one, with both values.

    ``is_real`` says that results are real numbers, as those of ``abs`` are.
    """
    formula, derivative = formulas
    grad = _GRAD.real if is_real else _GRAD

    for point in points:
        try:
            along_real, noise = _slope(formula, point, name, 1, call)
            along_imaginary, _ = _slope(formula, point, name, 1j, call)
            result = evaluate_complex(formula, point, call)
            written = evaluate_complex(derivative, {"result": result, "grad": grad, **point}, call)
        except NoValueError:
            continue

        turned = grad.conjugate()
        right = complex((turned * along_real).real, (turned * along_imaginary).real)
        if cmath.isfinite(written) and abs(written - right) > 1e-4 * abs(right) + noise:
            place = ", ".join(f"{key} = {value:g}" for key, value in {**point, "grad": grad}.items())
            return place, written, right

    return None


def _slope(
    formula: Node, point: Point, name: str, direction: complex, call: Other
) -> tuple[complex, float]:
    """The derivative along a direction by differences, and how far rounding may shift it.

    Raises NoValueError next to a branch cut or a corner.
    """
    value = evaluate_complex(formula, point, call)
    step = 1e-5 * min(abs(point[name]), 1.0)

    def slope(width: float) -> complex:
        moved = {**point, name: point[name] + width * direction}
        return (evaluate_complex(formula, moved, call) - value) / width

    above, below = slope(step), slope(-step)
    noise = 1e-8 + 1e-14 * abs(value) / step
    if not cmath.isfinite(above) or abs(above - below) > 1e-2 * abs(above) + 5 * noise:
        raise NoValueError
    return (above + below) / 2, noise
