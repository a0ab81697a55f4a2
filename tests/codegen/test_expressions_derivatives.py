"""Symbolic derivatives against differences, through the NumPy printer; and how simplified ones read."""

import ast
import random
from pathlib import Path

import numpy as np
import pytest

from codegen.expressions import (
    FUNCTIONS,
    ExpressionError,
    Signature,
    check_differentiable,
    cpp_expr,
    derivative,
    differentiate,
    gradient,
    infer_promotion,
    latex,
    not_holomorphic,
    numpy_expr,
    operators_of,
    parse,
    simplify,
    to_formula,
    to_source,
    torch_expr,
)
from codegen.expressions import numpy_special as special
from codegen.expressions.nodes import Call, Name
from codegen.model import load
from codegen.targets.torch_py.analysis.implied_operators import expanded

ROOT = Path(__file__).resolve().parents[2]


def evaluate(node, values):
    with np.errstate(all="ignore"):
        return np.asarray(eval(numpy_expr(node), {"np": np, "special": special}, values), dtype=np.float64)


def assert_derivative(node, name, values, rtol=1e-6):
    step = 1e-6
    above = evaluate(node, {**values, name: values[name] + step})
    below = evaluate(node, {**values, name: values[name] - step})
    expected = (above - below) / (2 * step)
    found = np.broadcast_to(evaluate(differentiate(node, name), values), expected.shape)
    np.testing.assert_allclose(
        found, expected, rtol=rtol, atol=1e-7, err_msg=to_source(differentiate(node, name))
    )


def draw(function):
    """Points inside the domain, away from the corners that functions such as floor have at whole numbers."""
    rng = np.random.default_rng(0)
    values = {}
    for parameter, (low, high) in zip(function.parameters, function.domain):
        points = rng.uniform(low, high, 64)
        points[np.abs(points * 2 - np.round(points * 2)) < 1e-3] += 4e-3
        values[parameter] = points
    if function.name == "where":
        values["c"] = rng.uniform(0, 1, 64) > 0.5
    if function.name == "polygamma":
        values["n"] = np.round(values["n"])
    return values


@pytest.mark.parametrize("name", [name for name, f in FUNCTIONS.items() if not f.boolean])
def test_every_rule_agrees_with_finite_differences(name):
    function = FUNCTIONS[name]
    values = draw(function)
    call = parse(f"{name}({', '.join(function.parameters)})")
    for parameter, rule in zip(function.parameters, function.derivatives):
        if rule is None:
            with pytest.raises(ExpressionError, match="no derivative rule"):
                differentiate(call, parameter)
        elif not (name == "where" and parameter == "c") and name != "imag":
            assert_derivative(call, parameter, values)


@pytest.mark.parametrize(
    "name", [name for name, f in FUNCTIONS.items() if None not in f.derivatives and not f.boolean]
)
def test_chain_rule(name):
    """Every function of an inner expression that stays in its domain."""
    function = FUNCTIONS[name]
    values = {"x": np.linspace(-1.9, 2.1, 41)}
    arguments = []
    for index, (low, high) in enumerate(function.domain):
        middle = (low + high) / 2
        reach = (high - low) * 0.45
        inner = f"{middle + 0.013} + {reach} * sin({index + 1} * x)"
        arguments.append(f"{inner} > {middle}" if (name, index) == ("where", 0) else inner)
    if name not in ("imag", "where", "maximum", "minimum", "fmax", "fmin"):
        assert_derivative(parse(f"{name}({', '.join(arguments)}) * x"), "x", values, rtol=1e-5)


@pytest.mark.parametrize(
    "source",
    [
        "x ** 3 - 2 * x ** 2.5 + x ** -1",
        "y ** x",
        "x ** y",
        "x % y",
        "x / y / y - y / x",
        "(x + y) * (x - y) / (x * y)",
        "x > 1 ? x * y : exp(-x)",
        "where(x > 1 and not y > 2, x * x, log(x))",
        "-(x - y) ** 2",
        "x * pi + e",
        "tanh(x) * tanh(x) / sigmoid(x * y)",
        "y - (x - (y - x))",
        "2 * x / (3 * x * x)",
        "0.5 * x * (1 + erf(x / sqrt(2)))",
        "x * tanh(softplus(x))",
        "clamp(x * y, 1, 3)",
        "relu(x - 1) ** 2",
        "log(exp(x) + exp(y))",
        "sqrt(x * x + y * y)",
        "x * (y > 1)",
        "x ** 0 * y",
        "x ** 1 - y ** 0",
        "(x + 1) ** 0 + x",
    ],
)
def test_compositions(source):
    values = {"x": np.linspace(0.21, 3.13, 37), "y": np.linspace(2.87, 0.33, 37)}
    node = parse(source)
    for name in ("x", "y"):
        assert_derivative(node, name, values, rtol=1e-5)
        first = differentiate(node, name)
        assert simplify(first) == first, "the normal form is a fixed point"
        assert parse(to_source(first)) == first
        np.testing.assert_allclose(evaluate(simplify(node), values), evaluate(node, values), rtol=1e-12)


def formulas_of_the_library():
    """Formulas of elements and the names of their tensors: of entries, their gradients, and functions."""
    program = load(ROOT / "native_functions.yaml")
    for operator in expanded(program):
        if operator.expr is not None and not operator.is_over_rows:
            yield operator.name, operator.expr.node, [a.name for a in operator.tensor_arguments]
    for function in FUNCTIONS.values():
        call = Call(function.name, tuple(map(Name, function.parameters)))
        yield function.name, call, function.parameters


def test_the_normal_form_is_a_fixed_point_for_the_library():
    """Also of second derivatives, where factors are common to a part of a sum."""
    count = 0
    for name, formula, tensors in formulas_of_the_library():
        for tensor in tensors:
            found = simplify(formula)
            for order in range(3):
                assert simplify(found) == found, f"order {order} of {name} in {tensor}: {to_source(found)}"
                count += 1
                try:
                    found = differentiate(found, tensor)
                except ExpressionError:
                    break
    assert count > 500


@pytest.mark.parametrize(
    "schema, source, expected",
    [
        ("f(Tensor x) -> Tensor", "exp(x)", "result"),
        ("f(Tensor x) -> Tensor", "tanh(x)", "1 - result * result"),
        ("f(Tensor x) -> Tensor", "sigmoid(x)", "result * (1 - result)"),
        ("f(Tensor x) -> Tensor", "sqrt(x)", "0.5 / result"),
        ("f(Tensor x) -> Tensor", "expm1(x)", "result + 1"),
        ("f(Tensor x) -> Tensor", "reciprocal(x)", "-result * result"),
        ("f(Tensor x) -> Tensor", "x * sigmoid(x)", "sigmoid(x) * (1 + x * (1 - sigmoid(x)))"),
        ("f(Tensor x, float cap) -> Tensor", "cap * tanh(x / cap)", "1 - (result / cap) ** 2"),
        ("f(Tensor x, Tensor y, float c) -> Tensor", "c * sin((x + y) / c)", "cos((x + y) / c)"),
        ("f(Tensor x, Tensor y, float c) -> Tensor", "c * tanh((x + y) / c)", "1 - (result / c) ** 2"),
        # 0 * tanh(x) would be divided by 0.
        ("f(Tensor x, float w) -> Tensor", "w * tanh(x)", "w * (1 - tanh(x) ** 2)"),
        ("f(Tensor x) -> Tensor", "x * x", "2 * x"),
        ("f(Tensor x) -> Tensor", "x / 3", "1 / 3"),
        ("f(Tensor x) -> Tensor", "7", "0"),
        ("f(Tensor x) -> Tensor", "x - x", "0"),
        ("f(Tensor x, float a) -> Tensor", "a * x + a", "a"),
        ("f(Tensor x) -> Tensor", "1 - x", "-1"),
        ("f(Tensor x) -> Tensor", "relu(x)", "where(result > 0, 1, 0)"),
        ("f(Tensor x) -> Tensor", "floor(x)", "0"),
    ],
)
def test_how_derivatives_read(schema, source, expected):
    assert to_source(derivative(parse(source), "x", Signature.parse(schema))) == expected


@pytest.mark.parametrize(
    "source, expected",
    [
        ("x ** 0", "1"),
        ("x ** 1", "x"),
        ("(x + 1) ** 0", "1"),
        ("conj(3)", "3"),
        ("conj(conj(x))", "x"),
        ("imag(2)", "0"),
        ("real(-2)", "-2"),
        ("x * 1e308 * 1e308", "1e+308 * x * 1e+308"),
        ("x * 1e-200 * 1e-200", "1e-200 * x * 1e-200"),
        ("x / 1e-320", "x / 1e-320"),
        ("(1e300 + 1) ** 60", "1e+300 ** 60"),
        ("(1e10 * x) ** 40", "(10000000000 * x) ** 40"),
        ("1e308 * x + 1e308 * x", "1e+308 * x + 1e+308 * x"),
        ("x - 1e308 / 1e-308", "x - 1e+308 / 1e-308"),
        ("0 * x + y * 1", "y"),
        ("x + 0", "x"),
        ("x - -y", "x + y"),
        ("-x + 1", "1 - x"),
        ("2 * 3 + x", "6 + x"),
        ("x * x * x", "x ** 3"),
        ("x / x", "1"),
        ("x * x / (y * y)", "(x / y) ** 2"),  # finite where y * y is 0 or infinite
        ("2 * z * z * x ** 3 / (y ** 3 * z ** 2)", "2 * (x / y) ** 3"),
        ("x * x / y", "x * x / y"),
        ("2 * x * y - y * x", "x * y"),
        ("where(1 < 2, x, y)", "x"),
        ("where(x > 0, y, y)", "y"),
        ("where(x > 0, 1, where(x > 0, 0, y))", "where(x > 0, 1, y)"),
        ("not not (x > 0)", "x > 0"),
        ("x > 0 and 1 > 2", "false"),
        ("pow(x, 2)", "x * x"),
        ("x / 0", "1 / 0 * x"),
        ("exp(0)", "1"),
        ("y * where(x > 0, 1, 0)", "where(x > 0, y, 0)"),
        ("-(x - y)", "y - x"),
    ],
)
def test_simplify(source, expected):
    found = simplify(parse(source))
    if source == "x / 0":  # division by zero must survive, in whatever order
        assert "/ 0" in to_source(found) and "x" in to_source(found)
    else:
        assert to_source(found) == expected


NUMBERS = (
    "0",
    "1",
    "2",
    "3",
    "0.5",
    "-1",
    "1e308",
    "1e-320",
    "1e10",
    "7",
    "inf",
    "pi",
    "9223372036854775807",
)


def random_expression(draw, depth):
    """A formula over x and y with at most ``depth`` nested operations and calls."""
    kind = draw.randrange(8 if depth else 2)

    if kind == 0:
        return draw.choice(NUMBERS)
    if kind == 1:
        return draw.choice("xy")

    if kind < 5:
        operation = draw.choice(("+", "-", "*", "/", "%", "**"))
        return f"({random_expression(draw, depth - 1)} {operation} {random_expression(draw, depth - 1)})"
    if kind == 5:
        return f"-({random_expression(draw, depth - 1)})"
    if kind == 6:
        parts = [random_expression(draw, depth - 1) for _ in range(4)]
        return f"({parts[0]} {draw.choice(('<', '>=', '=='))} {parts[1]} ? {parts[2]} : {parts[3]})"

    function = FUNCTIONS[draw.choice([name for name in FUNCTIONS if name != "where"])]
    return f"{function.name}({', '.join(random_expression(draw, depth - 1) for _ in function.parameters)})"


@pytest.mark.parametrize("seed", range(8))
def test_no_expression_crashes(seed):
    """Everything that `generate` does to a formula, with numbers at the edge of what a float holds."""
    draw = random.Random(seed)
    signature = Signature.parse("f(Tensor x, Tensor y) -> Tensor")

    for _ in range(150):
        source = random_expression(draw, 4)
        node = parse(source)

        for conjugate in (False, True):
            try:
                found = gradient(node, "x", signature, conjugate)
            except ExpressionError:  # digamma has no rule
                continue

            assert parse(to_source(found)) == found, source
            for printed in (numpy_expr(found), torch_expr(found, signature), cpp_expr(found), latex(found)):
                assert printed
            ast.parse(numpy_expr(found))
            ast.parse(torch_expr(found, signature))
            simplify(to_formula(found, signature))


def test_zero_branches_do_not_meet_infinities():
    signature = Signature.parse("f(Tensor x) -> Tensor")
    node = gradient(parse("where(x > 0, sqrt(x), 0)"), "x", signature)
    x = np.array([0.0, 4.0])
    np.testing.assert_array_equal(evaluate(node, {"x": x, "grad": np.array([np.inf, 1.0])}), [0.0, 0.25])


def test_clamp_between_equal_bounds():
    """clamp(x, y, y) is y."""
    x = np.array([-1.0, 0.5, 2.0])
    np.testing.assert_array_equal(
        evaluate(differentiate(parse("clamp(x, y, y)"), "y"), {"x": x, "y": np.full(3, 0.75)}),
        [1.0, 1.0, 1.0],
    )


def test_gradient():
    signature = Signature.parse("f(Tensor x, Tensor y) -> Tensor")
    assert to_source(gradient(parse("x * y"), "x", signature)) == "grad * y"
    assert to_source(gradient(parse("x * y"), "x", signature, conjugate=True)) == "grad * conj(y)"
    assert to_source(gradient(parse("x + y"), "x", signature, conjugate=True)) == "grad"


def test_formulas_without_a_derivative():
    signature = Signature.parse("f(Tensor x) -> Tensor")
    (problem,) = check_differentiable(parse("x + frexp_mantissa(x)"), signature)
    assert problem.offset == 4
    assert "no derivative rule" in problem.message and "derivatives:" in problem.hint

    signature = Signature.parse("f(Tensor grad, Tensor x) -> Tensor")
    (problem,) = check_differentiable(parse("grad * x"), signature)
    assert "hides the gradient" in problem.message and "'grad_output'" in problem.hint

    signature = Signature.parse("f(Tensor x, float result) -> Tensor")
    (problem,) = check_differentiable(parse("result * x"), signature)
    assert "hides the result" in problem.message and "'output'" in problem.hint

    assert check_differentiable(parse("x * y"), Signature.parse("f(Tensor x, Tensor y) -> Tensor")) == []


def test_holomorphic():
    assert not_holomorphic(parse("exp(x) * tanh(x / 2)")) == []
    assert [to_source(n) for n in not_holomorphic(parse("abs(x) + where(x > 0, x, 0)"))] == [
        "abs(x)",
        "x > 0",
    ]
    assert not_holomorphic(parse("x * conj(x)")) == [], "conj has rules of its own"
    assert [to_source(n) for n in not_holomorphic(parse("abs(cap) * real(x) * x"), ["x"])] == ["real(x)"]


@pytest.mark.parametrize(
    "source, expected",
    [
        ("x * n", "default"),
        ("x / n", "int_to_float"),
        ("exp(x)", "int_to_float"),
        ("x * 2", "default"),
        ("x * 2.0", "int_to_float"),
        ("x * p", "int_to_float"),
        ("x > p", "comparison"),
        ("isnan(x)", "comparison"),
        ("where(x > 0.5, x, n)", "default"),
        ("abs(x)", "complex_to_real"),
        ("floor(x)", "default"),
        ("x ** -1", "int_to_float"),
        ("x > 0 ? x : 0.5", "int_to_float"),
        ("not x", "comparison"),
        ("where(x > 0, x > 1, x < 3)", "comparison"),
    ],
)
def test_promotion(source, expected):
    assert (
        infer_promotion(parse(source), Signature.parse("f(Tensor x, int n, float p) -> Tensor")) == expected
    )


@pytest.mark.parametrize(
    "source, expected",
    [
        ("cap * tanh(x / cap)", "cap * tanh(x / cap)"),
        ("x ** 2", "pow(x, 2)"),
        ("where(0 < x <= 1, x, cap)", "where(logical_and(gt(x, 0), le(x, 1)), x, cap)"),
        ("x > 0 and not y > 0", "logical_and(gt(x, 0), logical_not(gt(y, 0)))"),
        ("where(cap > 0, x, 0)", "cap > 0 ? x : 0"),
        ("where(x > 0, 1, 0)", "where(gt(x, 0), zeros_like(x) + 1, 0)"),
        ("exp(cap) * x", "exp(cap) * x"),
        ("x % y", "remainder(x, y)"),
        ("x * where(x > 0, 1, cap)", "where(gt(x, 0), x, x * cap)"),
    ],
)
def test_to_formula(source, expected):
    tree = parse(source)
    formula = to_formula(
        simplify(tree) if "* where" in source else tree,
        Signature.parse("f(Tensor x, Tensor y, float cap) -> Tensor"),
    )
    assert to_source(formula) == expected


def test_operators_of():
    assert operators_of(parse("tanh(x) * exp(tanh(y))")) == ("tanh", "exp")


def test_numpy_special():
    np.testing.assert_allclose(
        special.digamma(np.array([1.0, 0.5, 10.0])),
        [-0.5772156649015329, -1.9635100260214235, 2.251752589066721],
        rtol=1e-13,
    )
    assert special.erf(np.float32([0.5])).dtype == np.float32
    assert np.isinf(special.lgamma(np.array([0.0, -1.0]))).all()
