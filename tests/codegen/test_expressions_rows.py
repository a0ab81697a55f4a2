"""Formulas over rows: their gradients against differences, how these read, and the passes they take."""

from collections.abc import Callable

import numpy as np
import pytest

from codegen.expressions import (
    ExpressionError,
    Pass,
    Signature,
    check_row_expr,
    complex_names_of,
    infer_row_promotion,
    is_real,
    latex,
    names,
    numpy_row_expr,
    parse,
    plan_rows,
    row_gradient,
    to_formula,
    to_source,
)
from codegen.expressions import numpy_special as special
from codegen.expressions.nodes import Name, Node, substitute

LOGSUMEXP = "log(sum(exp(self - amax(self)))) + amax(self)"
SOFTMAX = "exp(self - amax(self)) / sum(exp(self - amax(self)))"
LOG_SOFTMAX = "self - amax(self) - log(sum(exp(self - amax(self))))"
STANDARD = "(self - mean(self)) * rsqrt(mean((self - mean(self)) ** 2) + eps)"
RMS_NORM = "self * weight * rsqrt(mean(self * self) + eps)"

REDUCTIONS = [
    "sum(self) * 2",
    "mean(self * self)",
    "sqrt(sum(self * self))",
    "amax(abs(self)) - amin(self)",
    "mean((self - mean(self)) ** 2)",
    "sum((self - mean(self)) ** 2) / (count - 1)",
    "sum(where(self > mean(self), self, 0)) / sum(self > mean(self))",
    "log(mean(exp(eps * self)))",
    LOGSUMEXP,
]
ROW_WISE = [
    SOFTMAX,
    LOG_SOFTMAX,
    STANDARD,
    RMS_NORM,
    "self / (eps + amax(abs(self)))",
    "self / sqrt(sum(self * self))",
]


def signature(source: str, is_reduced: bool) -> Signature:
    tensors = ", ".join(f"Tensor {n}" for n in ("self", "weight") if n == "self" or n in names(parse(source)))
    keepdim = ", bool keepdim=False" if is_reduced else ""
    return Signature.parse(f"f({tensors}, int[1]? dim=None{keepdim}, *, float eps=0.5) -> Tensor")


def values_of(source: str, rows: int = 3, count: int = 5) -> dict[str, object]:
    rng = np.random.default_rng(0)
    tensors = {n: rng.normal(size=(rows, count)) for n in ("self", "weight")}
    return {**tensors, "dim": [1], "eps": 0.5, "keepdim": True}


def evaluate(source: str, values: dict[str, object], is_reduced: bool) -> np.ndarray:
    node = parse(source) if isinstance(source, str) else source
    if is_reduced:
        operator = signature("self", True)
    else:
        extra = "".join(f", Tensor {n}" for n in ("grad", "result", "weight") if n in names(node))
        operator = Signature.parse(f"f(Tensor self{extra}, int[1]? dim=None) -> Tensor")
    text = numpy_row_expr(node, operator, is_reduced)
    return np.asarray(eval(text, {"np": np, "special": special, **values}))


@pytest.mark.parametrize(
    "source, is_reduced", [*((s, True) for s in REDUCTIONS), *((s, False) for s in ROW_WISE)]
)
def test_gradients_are_differences(source: str, is_reduced: bool) -> None:
    values = values_of(source)
    result = evaluate(source, values, is_reduced)
    rng = np.random.default_rng(1)
    grad = rng.normal(size=result.shape)
    tensors = [n for n in ("self", "weight") if n in names(parse(source))]

    for name in tensors:
        formula = row_gradient(parse(source), name, tensors, is_reduced)
        whole = {n: np.broadcast_to(v, (3, 5)) for n, v in (("grad", grad), ("result", result))}
        found = np.broadcast_to(evaluate(formula, {**values, **whole}, False), (3, 5))

        expected = differences(lambda v: np.sum(grad * evaluate(source, v, is_reduced)), values, name)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7, err_msg=to_source(formula))


PRODUCTS = [
    ("product(self)", True),
    ("product(eps + self * self)", True),
    ("log(1 + product(self) ** 2)", True),
    ("self / (3 + product(self))", False),
    ("self * weight - product(self - mean(self)) * sum(self)", False),
]


@pytest.mark.parametrize("source, is_reduced", PRODUCTS)
@pytest.mark.parametrize("zeros", [0, 1, 2, 3])
def test_gradients_of_products(source: str, is_reduced: bool, zeros: int) -> None:
    """Also where elements are zero: rows without a zero, with one, and with several."""
    values = values_of(source)
    for row in range(zeros):
        values["self"][0, row] = 0.0  # type: ignore[index]
    values["self"][1, :1] = 0.0  # type: ignore[index]
    result = evaluate(source, values, is_reduced)
    grad = np.random.default_rng(1).normal(size=result.shape)
    tensors = [n for n in ("self", "weight") if n in names(parse(source))]

    formula = row_gradient(parse(source), "self", tensors, is_reduced)
    whole = {n: np.broadcast_to(v, (3, 5)) for n, v in (("grad", grad), ("result", result))}
    with np.errstate(divide="ignore", invalid="ignore"):  # of what is not chosen
        found = np.broadcast_to(evaluate(formula, {**values, **whole}, False), (3, 5))
    expected = differences(lambda v: np.sum(grad * evaluate(source, v, is_reduced)), values, "self")
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7, err_msg=to_source(formula))


def test_products_have_no_second_derivative() -> None:
    """The formula of the gradient does not know how it changes where an element is zero."""
    gradient = row_gradient(parse("product(self)"), "self", ["self"], is_reduced=True)
    inner = substitute(gradient, {"grad": Name("incoming")})
    with pytest.raises(ExpressionError, match="as in its own derivative, has no derivative rule"):
        row_gradient(inner, "self", ["incoming", "self"], is_reduced=False)
    row_gradient(inner, "incoming", ["incoming", "self"], is_reduced=False)


def differences(
    value: Callable[[dict[str, object]], float], values: dict[str, object], name: str
) -> np.ndarray:
    """The slopes of a number in each element of one tensor."""
    found = np.zeros((3, 5))
    for place in np.ndindex(3, 5):
        ends = []
        for step in (1e-6, -1e-6):
            moved = np.array(values[name])
            moved[place] += step
            ends.append(value({**values, name: moved}))
        found[place] = (ends[0] - ends[1]) / 2e-6
    return found


@pytest.mark.parametrize(
    "source, is_reduced", [*((s, True) for s in REDUCTIONS), *((s, False) for s in ROW_WISE)]
)
def test_gradients_of_gradients_are_differences(source: str, is_reduced: bool) -> None:
    """A gradient is a formula over rows, too, of the incoming gradient and the result as elements."""
    values = values_of(source)
    result = evaluate(source, values, is_reduced)
    rng = np.random.default_rng(2)
    tensors = [n for n in ("self", "weight") if n in names(parse(source))]
    gradient = row_gradient(parse(source), "self", tensors, is_reduced)
    inner = substitute(gradient, {"grad": Name("incoming"), "result": Name("output")})
    values |= {"incoming": rng.normal(size=(3, 5)), "output": np.broadcast_to(result, (3, 5)).copy()}
    elements = [n for n in ("incoming", "self", "weight", "output") if n in names(inner)]
    arriving = rng.normal(size=(3, 5))

    for name in elements:
        formula = row_gradient(inner, name, elements, is_reduced=False)
        outcome = evaluate_over(inner, values, elements)
        known = {**values, "grad": arriving, "result": np.broadcast_to(outcome, (3, 5))}
        found = np.broadcast_to(evaluate_over(formula, known, [*elements, "grad", "result"]), (3, 5))
        expected = differences(lambda v: np.sum(arriving * evaluate_over(inner, v, elements)), values, name)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7, err_msg=to_source(formula))


COMPLEX_REDUCTIONS = [
    "sum(self) * 2",
    "mean(self * self)",
    "sqrt(sum(abs(self) ** 2))",
    "mean(abs(self))",
    "sum(real(self) * abs(self))",
    "sum(conj(self) * self * self) / mean(abs(self))",
    "product(self)",
    "log(sum(exp(eps * self)))",
    "sum(abs(self - mean(self)) ** 2) / (count - 1)",
    "amax(abs(self)) * maximum(amin(real(self)), eps)",
]
COMPLEX_ROW_WISE = [
    "exp(self) / sum(exp(self))",
    "self / sqrt(sum(abs(self) ** 2))",
    "abs(self) / sum(abs(self))",
    "(self - mean(self)) * rsqrt(mean(abs(self - mean(self)) ** 2) + eps)",
    "self * conj(weight) * rsqrt(mean(abs(self) ** 2) + eps)",
]


@pytest.mark.parametrize(
    "source, is_reduced", [*((s, True) for s in COMPLEX_REDUCTIONS), *((s, False) for s in COMPLEX_ROW_WISE)]
)
def test_complex_gradients_are_differences(source: str, is_reduced: bool) -> None:
    """PyTorch's convention: the real and the imaginary part are the slopes along these, once and twice."""
    operator = signature(source, is_reduced)
    complex_names = complex_names_of(operator, ["complex128"])
    tensors = [n for n in ("self", "weight") if n in names(parse(source))]
    values = complex_values(tensors)
    result = evaluate(source, values, is_reduced)
    grad = complex_values(["grad"])["grad"]
    if np.isrealobj(result):
        assert is_real(parse(source), complex_names)
        grad = grad.real
    grad = np.sum(grad, 1, keepdims=True) if is_reduced else grad
    known = {n: np.broadcast_to(v, (3, 5)).copy() for n, v in (("grad", grad), ("result", result))}

    for name in tensors:
        formula = row_gradient(parse(source), name, tensors, is_reduced, complex_names)
        elements = [*tensors, "grad", "result"]
        found = np.broadcast_to(evaluate_over(formula, {**values, **known}, elements), (3, 5))
        expected = complex_differences(lambda v: evaluate(source, v, is_reduced), grad, values, name)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6, err_msg=to_source(formula))
        if "product" not in source:
            check_second_derivatives(formula, {**values, **known}, tensors)


def check_second_derivatives(gradient: Node, values: dict[str, object], tensors: list[str]) -> None:
    """Those of the gradient in all that it is made of."""
    inner = substitute(gradient, {"grad": Name("incoming"), "result": Name("output")})
    values = {**values, "incoming": values["grad"], "output": values["result"]}
    elements = [n for n in ("incoming", *tensors, "output") if n in names(inner)]
    outcome = np.broadcast_to(evaluate_over(inner, values, elements), (3, 5))
    arriving = complex_values(["arriving"])["arriving"]

    for name in elements:
        complex_names = frozenset([*elements, "grad", "result"])
        formula = row_gradient(inner, name, elements, False, complex_names)
        known = {**values, "grad": arriving, "result": outcome}
        found = np.broadcast_to(evaluate_over(formula, known, [*elements, "grad", "result"]), (3, 5))
        expected = complex_differences(lambda v: evaluate_over(inner, v, elements), arriving, values, name)
        if np.isrealobj(values[name]):
            found, expected = found.real, expected.real
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5, err_msg=to_source(formula))


def complex_values(tensors: list[str]) -> dict[str, object]:
    rng = np.random.default_rng(len(tensors))
    values = {n: rng.normal(size=(3, 5)) + 1j * rng.normal(size=(3, 5)) for n in tensors}
    return {**values, "dim": [1], "eps": 0.5, "keepdim": True}


def complex_differences(
    value: Callable[[dict[str, object]], np.ndarray], grad: object, values: dict[str, object], name: str
) -> np.ndarray:
    def along(direction: complex) -> np.ndarray:
        def moved(v: dict[str, object]) -> float:
            shifted = np.asarray(values[name]) + direction * np.asarray(v["shift"])
            whole = np.broadcast_to(value({**v, name: shifted}), (3, 5))
            part = whole if np.shape(grad) == (3, 5) else whole[:, :1]
            return float(np.sum(np.conj(grad) * part).real)

        return differences(moved, {**values, "shift": np.zeros((3, 5))}, "shift")

    return along(1) + 1j * along(1j)


def evaluate_over(node: Node, values: dict[str, object], elements: list[str]) -> np.ndarray:
    """A formula over rows that has any tensors."""
    tensors = ", ".join(f"Tensor {name}" for name in dict.fromkeys(["self", *elements]))
    text = numpy_row_expr(node, Signature.parse(f"f({tensors}, int[1]? dim=None) -> Tensor"), False)
    return np.asarray(eval(text, {"np": np, "special": special, **values}))


@pytest.mark.parametrize(
    "source, is_reduced, gradient",
    [
        ("sum(self) * 2", True, "2 * grad"),
        ("mean(self * self)", True, "2 * grad * self / count"),
        ("sqrt(sum(self * self))", True, "grad * self / result"),
        (LOGSUMEXP, True, "grad * exp(self - result)"),
        (SOFTMAX, False, "grad * result - sum(grad * result) * result"),
        (LOG_SOFTMAX, False, "grad - sum(grad) * exp(result)"),
        ("mean((self - mean(self)) ** 2)", True, "2 * grad * (self - mean(self)) / count"),
        (
            "amax(abs(self))",
            True,
            "where(abs(self) == result, sign(self) * grad / sum(where(abs(self) == result, 1, 0)), 0)",
        ),
    ],
)
def test_gradients_read_well(source: str, is_reduced: bool, gradient: str) -> None:
    """The shift of an exponential cancels out, and the result is used where it saves passes."""
    assert to_source(row_gradient(parse(source), "self", ["self"], is_reduced)) == gradient


def test_gradients_do_not_divide_by_elements() -> None:
    """The exponential is result * sum / weight as well, which is nan where a weight is 0."""
    source = "weight * exp(self - amax(self)) / sum(exp(self - amax(self)))"
    gradient = row_gradient(parse(source), "self", ["self", "weight"], is_reduced=False)
    assert "/ weight" not in to_source(gradient)


def test_passes() -> None:
    """Reductions that need each other take one pass each; an exponential is computed once."""
    first, second = plan_rows(parse(SOFTMAX), ["self"]).stages
    assert isinstance(first, Pass) and [r.name for _, r, _ in first.reductions] == ["amax"] and not first.kept
    assert isinstance(second, Pass) and [to_source(n) for _, n in second.kept] == ["exp(self - row0)"]
    assert to_source(plan_rows(parse(SOFTMAX), ["self"]).finish) == "kept0 / row1"


def test_one_pass_for_independent_reductions() -> None:
    plan = plan_rows(parse("sum(self * self) / count - (sum(self) / count) ** 2"), ["self"])
    assert len(plan.passes) == 1 and len(plan.passes[0].reductions) == 2


def test_values_of_a_row_are_computed_once() -> None:
    plan = plan_rows(parse(STANDARD), ["self"])
    assert [type(stage).__name__ for stage in plan.stages] == ["Pass", "Value", "Pass", "Value"]
    assert to_source(plan.finish) == "(self - row1) * row3"


def test_names_of_arguments_stay_free() -> None:
    plan = plan_rows(parse("sum(self) + row0"), ["self"], ["self", "row0"])
    assert to_source(plan.finish) == "row1 + row0"


def test_formulas_of_tensor_operators() -> None:
    """What higher derivatives are made of."""
    operator = Signature.parse("f(Tensor self, int dim) -> Tensor")
    formula = to_formula(parse("self - amax(self) / count"), operator)
    assert to_source(formula) == "self - _row_extremum(self, [dim], true) / sum(ones_like(self), [dim], true)"


@pytest.mark.parametrize(
    "source, promotion",
    [
        ("sum(self)", "same"),
        ("mean(self)", "int_to_float"),
        ("any(self > 0)", "bool"),
        ("sum(self > 0)", "same"),
    ],
)
def test_promotion(source: str, promotion: str) -> None:
    assert infer_row_promotion(parse(source), signature(source, True), ["int64", "float32"]) == promotion


def test_integers_that_are_not_accepted_are_not_converted() -> None:
    assert infer_row_promotion(parse("mean(self)"), signature("self", True), ["float32"]) == "same"


def test_rows_need_a_reduction() -> None:
    (problem,) = check_row_expr(parse("self * eps"), signature("self", False), is_reduced=False)
    assert problem.message == "a formula over rows has no reduction"


def test_latex() -> None:
    assert latex(parse("sum(self + 1)")) == r"\sum \left(\text{self} + 1\right)"
