"""C++, Python, NumPy and text from expressions; one test compiles and runs what the C++ printer writes."""

import math
import shutil
import subprocess

import numpy as np
import pytest

from codegen.expressions import (
    Signature,
    cpp_expr,
    cpp_formula,
    cpp_requirement,
    cpp_requirement_value,
    latex,
    numpy_expr,
    parse,
    python_formula,
    requirement_text,
    torch_expr,
)
from tests.codegen.test_expressions_checks import PROGRAM

OWN = Signature.parse(
    "own(Tensor self, Tensor? weight, int dim, float p, Scalar alpha, int[] stride, float? eps, Tensor[] "
    "tensors, ScalarType? dtype) -> Tensor"
)


@pytest.mark.parametrize(
    "source, expected",
    [
        ("cap * tanh(x / cap)", "cap * at::vec::tanh(x / cap)"),
        ("x * 0.5 + 1", "x * opmath_t(0.5) + opmath_t(1)"),
        ("x ** 2", "(x * x)"),
        ("x ** -3", "(opmath_t(1) / (x * x * x))"),
        ("x ** 0.5", "at::vec::sqrt(x)"),
        ("(x + y) ** 2", "at::vec::integer_power<2>(x + y)"),
        ("x ** y", "at::vec::pow(x, y)"),
        ("x % y", "at::vec::remainder(x, y)"),
        ("where(x > 0, x, y)", "((x > opmath_t(0)) ? x : y)"),
        ("x ? y : 1", "((x != opmath_t(0)) ? y : opmath_t(1))"),
        ("0 < x <= 1", "((opmath_t(0) < x) & (x <= opmath_t(1)))"),
        ("not x or y > 1", "(!(x != opmath_t(0)) | (y > opmath_t(1)))"),
        ("x * (y > 1)", "x * opmath_t((y > opmath_t(1)))"),
        ("-(x - y)", "-(x - y)"),
        ("--x", "-(-x)"),
        ("x - (y - 1)", "x - (y - opmath_t(1))"),
        ("pi * x", f"opmath_t({math.pi!r}) * x"),
        ("inf", "opmath_t(std::numeric_limits<double>::infinity())"),
        ("isnan(x)", "at::vec::isnan(x)"),
    ],
)
def test_cpp_expr(source, expected):
    assert cpp_expr(parse(source)) == expected


def test_cpp_expr_renames():
    assert cpp_expr(parse("x * 2"), {"x": "a0"}, "T") == "a0 * T(2)"


@pytest.mark.parametrize(
    "source, expected",
    [
        ("grad * (1 - result * result)", "grad * (1 - result * result)"),
        ("-grad / alpha", "-grad / alpha"),
        ("expand(grad, self.sizes())", "at::expand(grad, self_sizes)"),
        ("sum(grad, dim, true)", "at::sum(grad, at::IntArrayRef{dim}, true)"),
        ("sum(grad, [0, 1])", "at::sum(grad, at::IntArrayRef{0, 1})"),
        ("sum(grad, none)", "at::sum(grad, std::nullopt)"),
        ("where(self > 0, grad, 0)", "at::where(at::gt(self, 0), grad, 0)"),
        ("grad * (0 < self)", "grad * at::gt(self, 0)"),
        ("p > 0.5 and dim == 1 ? grad : tanh(grad)", "(((p > 0.5) && (dim == 1)) ? grad : at::tanh(grad))"),
        ("grad * conj(alpha)", "grad * alpha.conj()"),
        ("grad * conj(p)", "grad * p"),
        ("grad * log(p)", "grad * std::log(p)"),
        ("grad * log(alpha)", "grad * c10::log(alpha)"),
        ("grad * (1 / dim)", "grad * (1.0 / dim)"),
        ("grad / self.size(0)", "grad / self.size(0)"),
        ("grad * dim ** 2", "grad * (dim * dim)"),
        ("grad * self ** (alpha - 1)", "grad * at::pow(self, alpha - 1)"),
        ("grad * eps", "grad * eps.value()"),
        ("weight == none ? grad : grad * weight", "(!weight.defined() ? grad : grad * weight)"),
        ("eps != none ? grad : none", "(eps.has_value() ? grad : at::Tensor())"),
        ("(grad, none)", "std::make_tuple(grad, at::Tensor())"),
        ("topk(grad, 2)[1]", "std::get<1>(at::topk(grad, 2))"),
        ("split(grad, tensors.size(dim), dim)", "at::split(grad, at::sizes_along(tensors, dim), dim)"),
        (
            "grad * len(stride) * stride[0]",
            "grad * static_cast<int64_t>(stride.size()) * at::element_of(stride, 0)",
        ),
        (
            "grad * stride[-1] * self.sizes()[dim]",
            "grad * at::element_of(stride, -1) * at::element_of(self_sizes, dim)",
        ),
        ("not (dim in [1, 2]) ? grad : self", "(!((dim == 1) || (dim == 2)) ? grad : self)"),
        ("self.scalar_type() == float32 ? grad : self", "((self.scalar_type() == at::kFloat) ? grad : self)"),
        ("self > 0 and grad > 0", "at::logical_and(at::gt(self, 0), at::gt(grad, 0))"),
    ],
)
def test_cpp_formula(source, expected):
    rename = {"self.sizes()": "self_sizes"}
    assert cpp_formula(parse(source), OWN, PROGRAM, rename) == expected


@pytest.mark.parametrize(
    "source, condition, values",
    [
        ("dim(self) == 2", "self.dim() == 2", [("self.dim()", "self.dim()")]),
        (
            "-dim(self) <= dim < dim(self)",
            "(-self.dim() <= dim) && (dim < self.dim())",
            [("self.dim()", "self.dim()"), ("dim", "dim")],
        ),
        (
            "size(self, 1) == size(weight, 0)",
            "!weight.defined() || (self.size(1) == weight.size(0))",
            [("self.size(1)", "self.size(1)"), ("weight.size(0)", "weight.size(0)")],
        ),
        ("eps == none or eps > 0", "!eps.has_value() || (eps.value() > 0)", [("eps", "eps.value()")]),
        ("eps > 0", "!eps.has_value() || (eps.value() > 0)", [("eps", "eps.value()")]),
        ("alpha >= 0", "alpha.to_double() >= 0", [("alpha", "alpha")]),
        (
            "dtype(self) in floating",
            "self.scalar_type() == at::kFloat || self.scalar_type() == at::kDouble",
            [("self.dtype", "self.scalar_type()")],
        ),
        ("dtype(self) == half", "self.scalar_type() == at::kHalf", [("self.dtype", "self.scalar_type()")]),
        ("is_floating(self)", "c10::is_floating(self.scalar_type())", [("self.dtype", "self.scalar_type()")]),
        (
            "all(stride > 0)",
            "std::all_of(stride.begin(), stride.end(), [&](auto element) { return (element > 0); })",
            [("stride", "stride")],
        ),
        (
            "len(tensors) > 0",
            "static_cast<int64_t>(tensors.size()) > 0",
            [("len(tensors)", "static_cast<int64_t>(tensors.size())")],
        ),
        ("sizes(self) == [2, 3]", "self.sizes() == at::IntArrayRef{2, 3}", [("self.shape", "self.sizes()")]),
        ("defined(weight) and dim(weight) == 1", "weight.defined() && (weight.dim() == 1)", []),
        (
            "max(dim(self), 1) > dim",
            "std::max<int64_t>({self.dim(), 1}) > dim",
            [("self.dim()", "self.dim()"), ("dim", "dim")],
        ),
        (
            "numel(self) == (dim > 1 ? size(self, 0) : 1)",
            "self.numel() == ((dim > 1) ? self.size(0) : 1)",
            [("self.numel()", "self.numel()"), ("dim", "dim"), ("self.size(0)", "self.size(0)")],
        ),
        (
            "size(self, 1) % dim == 0",
            "(self.size(1) % dim) == 0",
            [("self.size(1)", "self.size(1)"), ("dim", "dim")],
        ),
        (
            "promote(dtype(self), dtype) == dtype",
            "!dtype.has_value() || (c10::promote_types(self.scalar_type(), dtype.value()) == dtype.value())",
            [("self.dtype", "self.scalar_type()"), ("dtype", "dtype.value()")],
        ),
        ("not is_complex(alpha)", "!c10::is_complex(alpha.type())", [("alpha", "alpha")]),
        (
            "is_floating(dtype)",
            "!dtype.has_value() || c10::is_floating(dtype.value())",
            [("dtype", "dtype.value()")],
        ),
        ("no_internal_overlap(self)", "!has_internal_overlap(self)", []),
        (
            "same(self, weight) or no_partial_overlap(self, weight)",
            "!weight.defined() || (self.is_same(weight) || memory_overlap(self, weight) != Overlap::Partial)",
            [],
        ),
    ],
)
def test_cpp_requirement(source, condition, values):
    found = cpp_requirement(parse(source), OWN, {"floating": ["float32", "float64"]})
    assert found.condition == condition
    if source != "eps == none or eps > 0":  # the message must not unwrap what may be none
        assert list(found.values) == values


@pytest.mark.parametrize(
    "source, value",
    [
        ("dtype(self)", "self.scalar_type()"),
        ("size(self, 1)", "self.size(1)"),
        ("dim(self) + 1", "self.dim() + 1"),
        ("len(stride)", "static_cast<int64_t>(stride.size())"),
        ("dtype", "dtype.value()"),
    ],
)
def test_cpp_requirement_value(source, value):
    assert cpp_requirement_value(parse(source), OWN) == value


def test_requirement_message():
    found = cpp_requirement(parse("dim(self) == 2"), OWN)
    assert found.message_parts() == ['"expected self.dim() == 2, but got self.dim() = "', "self.dim()"]
    assert (
        requirement_text(parse("dtype(self) in floating and size(self, 1) > 0"))
        == "self.dtype in floating and self.size(1) > 0"
    )
    assert requirement_text(parse("no_partial_overlap(self, src) or same(self, src)")) == (
        "self has no partial overlap with src or self is src"
    )


@pytest.mark.parametrize(
    "source, expected",
    [
        ("grad * (1 - tanh(self))", "grad * (1 - torch.tanh(self))"),
        ("expand(grad, self.sizes())", "torch.expand(grad, self.shape)"),
        ("p > 0 ? grad : none", "grad if p > 0 else None"),
        ("weight == none ? grad : grad * weight", "grad if weight is None else grad * weight"),
        ("sum(grad, self.scalar_type())", "torch.sum(grad, dtype=self.dtype)"),
        ("grad * log(alpha) * pi", "grad * math.log(alpha) * math.pi"),
        (
            "split(grad, tensors.size(dim), dim)",
            "torch.split(grad, [tensor.size(dim) for tensor in tensors], dim)",
        ),
        ("0 < self < 1", "torch.logical_and((0 < self), torch.lt(self, 1))"),
        ("-(self ** 2)", "-self ** 2"),
    ],
)
def test_python_formula(source, expected):
    assert python_formula(parse(source), OWN, PROGRAM) == expected


def test_torch_and_numpy_expr():
    node = parse("where(self > 0 and p < 1, tanh(self) ** 2, rsqrt(self) * p)")
    assert (
        numpy_expr(node)
        == "np.where(np.logical_and((self > 0), (p < 1)), np.power(np.tanh(self), 2), (1 / np.sqrt(self)) * "
        "p)"
    )
    assert torch_expr(parse("p * tanh(self / p)"), OWN) == "p * torch.tanh(self / p)"
    assert numpy_expr(parse("x / reciprocal(y + 1)")) == "x / (1 / (y + 1))"


def test_latex():
    assert latex(parse("cap * tanh(x / cap)")) == r"\text{cap} \cdot \tanh(\frac{x}{\text{cap}})"
    assert latex(parse("alpha * (x + 1) ** 2")) == r"\alpha \cdot {\left(x + 1\right)}^{2}"
    assert (
        latex(parse("where(x >= 0, exp(x), -x)"))
        == r"\begin{cases} e^{x} & \text{if } x \ge 0 \\ -x & \text{otherwise} \end{cases}"
    )


# A substitute for aten/vec/math.h: enough to run what the printer writes.
MATH = """
#include <cmath>
#include <cstdio>
#include <limits>
namespace at::vec {
using std::tanh, std::exp, std::log, std::sqrt, std::isnan, std::floor, std::pow;
inline double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
inline double remainder(double a, double b) { return a - std::floor(a / b) * b; }
template <int n, class T> T integer_power(T x) { T r = 1; for (int i = 0; i < n; ++i) r *= x; return r; }
}
using opmath_t = double;
"""
PROGRAMS = [
    "x * sigmoid(y) - -x ** 2",
    "(x + y) ** 3 / (y - 4)",
    "x % y - (-x) % y",
    "where(0 < x <= 1 or y > 2, x, x > 1 ? y : -y)",
    "x * (y > 1) - not x",
    "where(x, log(y), exp(-x))",
    "x ** -2 * x ** 0.5 * y ** x",
    "x - (y - (x - 1)) * 2 / 3 / x",
    "isnan(x / y) ? 1 : pi",
]


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
def test_compiled_cpp_agrees_with_numpy(tmp_path):
    points = [(0.5, 1.5), (1.5, 0.5), (2.25, 3.0)]
    lines = []
    for x, y in points:
        for source in PROGRAMS:
            lines.append(
                f'  {{ opmath_t x = {x}, y = {y}; std::printf("%.17g\\n", '
                f"double({cpp_expr(parse(source))})); }}"
            )
    (tmp_path / "main.cpp").write_text(MATH + "int main() {\n" + "\n".join(lines) + "\n}\n")
    subprocess.run(
        ["g++", "-std=c++20", "-Wall", "-Werror", "main.cpp", "-o", "main"], cwd=tmp_path, check=True
    )
    found = [
        float(line)
        for line in subprocess.run([tmp_path / "main"], capture_output=True, check=True).stdout.split()
    ]
    from codegen.expressions import numpy_special as special

    expected = [
        float(
            eval(
                numpy_expr(parse(source)),
                {"np": np, "special": special, "x": np.float64(x), "y": np.float64(y)},
            )
        )
        for x, y in points
        for source in PROGRAMS
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-14)
