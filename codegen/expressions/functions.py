"""The mathematical functions of ``expr:``: derivative rules and spellings, one row each.

C++ is ``at::vec::NAME(...)`` from aten/vec/math.h or, for what few formulas need, the row's own header,
overloaded for float and double (complex where ``holomorphic`` or ``complex_to_real``, integers where the
result stays an integer).
"""

from __future__ import annotations

import math
from functools import cache
from typing import NamedTuple

from codegen.expressions.nodes import Node
from codegen.expressions.parser import parse

# The interval in which every rule of a function holds and is smooth; tests draw their arguments from it.
Domain = tuple[float, float]

REAL: Domain = (-3.0, 3.0)
POSITIVE: Domain = (0.1, 4.0)
UNIT: Domain = (-0.9, 0.9)
BOOLEAN: Domain = (0.0, 1.0)

MATH = "aten/vec/math.h"
BITS = "aten/vec/bits.h"
DIVISORS = "aten/vec/divisors.h"

CONSTANTS: dict[str, float] = {"pi": math.pi, "e": math.e, "inf": math.inf, "nan": math.nan}


class Function(NamedTuple):
    """One function of the expression language.

    ``derivatives`` holds, per parameter, the partial derivative as an expression over ``parameters``; None
    if it has no derivative. ``float_result``: integers give floating point. ``boolean``: the result is a
    truth value.
    """

    name: str
    parameters: tuple[str, ...]
    derivatives: tuple[str | None, ...]
    numpy: str  # over {0}, {1}; np is NumPy, special is codegen.expressions.numpy_special
    domain: tuple[Domain, ...]
    float_result: bool = True
    boolean: bool = False
    holomorphic: bool = True
    complex_to_real: bool = False
    takes_complex: bool = False  # complex numbers, although it is neither of these
    operator: str = ""  # the tensor operator of the same meaning; by default of the same name
    latex: str = ""  # over {0}, {1}; by default \operatorname{name}(...)
    note: str = ""
    header: str = MATH  # where the C++ is
    vectorises: bool = True  # False: its kernels are not compiled anew for every instruction set

    @property
    def arity(self) -> int:
        return len(self.parameters)

    @property
    def is_of_integers(self) -> bool:
        """Whether it takes integers and truth values alone."""
        return self.header in (BITS, DIVISORS)

    @property
    def of_complex(self) -> bool:
        """Whether complex numbers have a value."""
        return self.holomorphic or self.complex_to_real or self.takes_complex

    @property
    def cpp(self) -> str:
        return f"at::vec::{self.name}"

    @property
    def tensor_operator(self) -> str:
        return self.operator or self.name

    def derivative(self, position: int) -> Node | None:
        """The partial derivative with respect to one parameter, over the names in ``parameters``."""
        rule = self.derivatives[position]
        return None if rule is None else _parsed(rule)


@cache
def _parsed(rule: str) -> Node:
    return parse(rule)


def _unary(
    name: str, derivative: str | None, numpy: str = "", domain: Domain = REAL, latex: str = "", note: str = ""
) -> Function:
    """A holomorphic function of one number that makes integers floating point."""
    latex = latex or rf"\{name}({{0}})"
    return Function(
        name, ("x",), (derivative,), numpy or f"np.{name}({{0}})", (domain,), latex=latex, note=note
    )


def _real(
    name: str,
    derivative: str | None,
    numpy: str,
    domain: Domain = REAL,
    latex: str = "",
    note: str = "",
    vectorises: bool = True,
) -> Function:
    """A function of one real number that makes integers floating point."""
    return Function(
        name,
        ("x",),
        (derivative,),
        numpy,
        (domain,),
        holomorphic=False,
        latex=latex,
        note=note,
        vectorises=vectorises,
    )


def _step(
    name: str,
    derivative: str | None,
    numpy: str,
    latex: str = "",
    complex_to_real: bool = False,
    note: str = "",
    header: str = MATH,
) -> Function:
    """A function of one real number under which integers stay integers."""
    return Function(
        name, ("x",), (derivative,), numpy, (REAL,), float_result=False, holomorphic=False,
        complex_to_real=complex_to_real, latex=latex, note=note, header=header,
    )  # fmt: skip


def _pair(
    name: str,
    derivatives: tuple[str | None, str | None],
    numpy: str = "",
    domain: tuple[Domain, Domain] = (REAL, REAL),
    float_result: bool = False,
    holomorphic: bool = False,
    latex: str = "",
    note: str = "",
    header: str = MATH,
    vectorises: bool = True,
) -> Function:
    return Function(
        name, ("x", "y"), derivatives, numpy or f"np.{name}({{0}}, {{1}})", domain, float_result=float_result,
        holomorphic=holomorphic, latex=latex, note=note, header=header, vectorises=vectorises,
    )  # fmt: skip


def _predicate(name: str, header: str = MATH, takes_complex: bool = False) -> Function:
    return Function(
        name,
        ("x",),
        ("0",),
        f"np.{name}({{0}})",
        (REAL,),
        float_result=False,
        boolean=True,
        holomorphic=False,
        takes_complex=takes_complex,
        header=header,
    )


def _special(
    name: str,
    parameters: tuple[str, ...],
    derivatives: tuple[str | None, ...],
    numpy: str,
    domain: tuple[Domain, ...],
    header: str,
    operator: str = "",
    vectorises: bool = False,
) -> Function:
    """A function of real numbers from aten/vec/HEADER.h.

    Its operator is the one of the same name in torch.special unless ``operator`` names another.
    """
    return Function(
        name, parameters, derivatives, numpy, domain, holomorphic=False,
        operator=operator or f"special_{name}", header=f"aten/vec/{header}.h", vectorises=vectorises,
    )  # fmt: skip


def _bessel(name: str, derivative: str) -> Function:
    return _special(name, ("x",), (derivative,), f"special.{name}({{0}})", (POSITIVE,), "bessel")


def _polynomial(name: str) -> Function:
    """Of a degree that is a whole number."""
    return _special(
        name,
        ("x", "n"),
        (None, None),
        f"special.{name}({{0}}, {{1}})",
        (REAL, POSITIVE),
        "orthogonal_polynomials",
    )


POLYNOMIALS = (
    *(f"{shifted}chebyshev_polynomial_{kind}" for shifted in ("", "shifted_") for kind in "tuvw"),
    "hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p",
)  # fmt: skip

_TABLE = (
    # Exponentials and logarithms.
    _unary("exp", "exp(x)", latex="e^{{{0}}}"),
    _unary("exp2", "exp2(x) * 0.6931471805599453", latex="2^{{{0}}}"),
    _unary("expm1", "expm1(x) + 1", latex="e^{{{0}}} - 1"),
    _unary("log", "1 / x", domain=POSITIVE, note="-inf at 0, nan below"),
    _unary("log1p", "1 / (1 + x)", domain=UNIT, latex=r"\log(1 + {0})", note="-inf at -1, nan below"),
    _unary("log2", "1 / (x * 0.6931471805599453)", domain=POSITIVE, latex=r"\log_2({0})"),
    _unary("log10", "1 / (x * 2.302585092994046)", domain=POSITIVE, latex=r"\log_{{10}}({0})"),
    _special(
        "logaddexp2",
        ("x", "y"),
        ("sigmoid((x - y) * 0.6931471805599453)", "sigmoid((y - x) * 0.6931471805599453)"),
        "np.logaddexp2({0}, {1})",
        (REAL, REAL),
        "logaddexp2",
        operator="logaddexp2",
        vectorises=True,
    ),  # fmt: skip
    _pair(
        "logaddexp",
        ("sigmoid(x - y)", "sigmoid(y - x)"),
        "special.logaddexp({0}, {1})",
        float_result=True,
        holomorphic=True,
        latex=r"\log(e^{{{0}}} + e^{{{1}}})",
        header="aten/vec/complex_logaddexp.h",
    ),  # fmt: skip
    # Powers and roots.
    _unary("sqrt", "0.5 / sqrt(x)", domain=POSITIVE, latex=r"\sqrt{{{0}}}", note="nan below 0"),
    _unary(
        "rsqrt", "-0.5 * rsqrt(x) ** 3", "1 / np.sqrt({0})", POSITIVE, latex=r"\frac{{1}}{{\sqrt{{{0}}}}}"
    ),
    _unary("reciprocal", "-(reciprocal(x) * reciprocal(x))", "1 / {0}", POSITIVE, latex=r"\frac{{1}}{{{0}}}"),
    Function("square", ("x",), ("2 * x",), "np.square({0})", (REAL,), float_result=False, latex="({0})^2"),
    _pair(
        "pow",
        ("where(y == 0, 0, y * x ** (y - 1))", "where(x == 0 and y >= 0, 0, x ** y * log(x))"),
        "np.power({0}, {1})",
        (POSITIVE, REAL),
        holomorphic=True,
        latex="{{({0})}}^{{{1}}}",
        note="nan for a negative base with a fractional exponent",
    ),  # fmt: skip
    _pair(
        "hypot",
        ("x / hypot(x, y)", "y / hypot(x, y)"),
        float_result=True,
        latex=r"\sqrt{{({0})^2 + ({1})^2}}",
    ),
    # Trigonometric and hyperbolic functions.
    _unary("sin", "cos(x)"),
    _unary("cos", "-sin(x)"),
    _unary("tan", "1 + tan(x) * tan(x)", domain=(-1.2, 1.2)),
    _unary(
        "asin", "rsqrt(1 - x * x)", "np.arcsin({0})", UNIT, latex=r"\arcsin({0})", note="nan outside [-1, 1]"
    ),
    _unary(
        "acos", "-rsqrt(1 - x * x)", "np.arccos({0})", UNIT, latex=r"\arccos({0})", note="nan outside [-1, 1]"
    ),
    _unary("atan", "1 / (1 + x * x)", "np.arctan({0})", latex=r"\arctan({0})"),
    _unary("sinh", "cosh(x)"),
    _unary("cosh", "sinh(x)"),
    _unary("tanh", "1 - tanh(x) * tanh(x)"),
    _unary("asinh", "rsqrt(1 + x * x)", "np.arcsinh({0})", latex=r"\operatorname{{arsinh}}({0})"),
    _unary(
        "acosh",
        "rsqrt(x - 1) * rsqrt(x + 1)",
        "np.arccosh({0})",
        (1.2, 4.0),
        latex=r"\operatorname{{arcosh}}({0})",
        note="nan below 1",
    ),  # fmt: skip
    _unary(
        "atanh",
        "1 / (1 - x * x)",
        "np.arctanh({0})",
        UNIT,
        latex=r"\operatorname{{artanh}}({0})",
        note="infinite at -1 and 1, nan outside",
    ),  # fmt: skip
    _pair(
        "atan2",
        (
            "where(x == 0 and y == 0, 0, y / hypot(x, y) / hypot(x, y))",
            "where(x == 0 and y == 0, 0, -x / hypot(x, y) / hypot(x, y))",
        ),
        "np.arctan2({0}, {1})",
        float_result=True,
    ),  # fmt: skip
    # Functions of probability and learning.
    _unary("sigmoid", "sigmoid(x) * (1 - sigmoid(x))", "special.sigmoid({0})", latex=r"\sigma({0})"),
    _real("softplus", "sigmoid(x)", "np.logaddexp(0, {0})", latex=r"\log(1 + e^{{{0}}})"),
    _real("erf", "1.1283791670955126 * exp(-(x * x))", "special.erf({0})"),
    _real("erfc", "-1.1283791670955126 * exp(-(x * x))", "special.erfc({0})"),
    _real(
        "lgamma",
        "digamma(x)",
        "special.lgamma({0})",
        POSITIVE,
        latex=r"\log\Gamma({0})",
        note="inf at 0, -1, -2, ...",
        vectorises=False,
    ),
    _real(
        "digamma",
        "polygamma(1, x)",
        "special.digamma({0})",
        POSITIVE,
        latex=r"\psi({0})",
        note="nan at -1, -2, ...",
        vectorises=False,
    ),
    _special(
        "polygamma",
        ("n", "x"),
        (None, "polygamma(n + 1, x)"),
        "special.polygamma({0}, {1})",
        ((1.0, 4.0), POSITIVE),
        "polygamma",
        operator="polygamma",
    ),  # fmt: skip
    _special(
        "zeta",
        ("x", "q"),
        (None, "-x * zeta(x + 1, q)"),
        "special.zeta({0}, {1})",
        ((1.5, 4.0), POSITIVE),
        "polygamma",
    ),
    _special(
        "erfcx",
        ("x",),
        ("2 * x * erfcx(x) - 1.1283791670955126",),
        "special.erfcx({0})",
        (REAL,),
        "normal_distribution",
        vectorises=True,
    ),
    _special(
        "erfinv",
        ("x",),
        ("0.886226925452758 * exp(erfinv(x) * erfinv(x))",),
        "special.erfinv({0})",
        (UNIT,),
        "normal_distribution",
        operator="erfinv",
        vectorises=True,
    ),  # fmt: skip
    _special(
        "ndtri",
        ("x",),
        ("2.5066282746310002 * exp(0.5 * ndtri(x) * ndtri(x))",),
        "special.ndtri({0})",
        ((0.1, 0.9),),
        "normal_distribution",
    ),  # fmt: skip
    _special(
        "i0",
        ("x",),
        ("i1(x)",),
        "special.i0({0})",
        (REAL,),
        "modified_bessel",
        operator="i0",
        vectorises=True,
    ),
    _special(
        "i0e",
        ("x",),
        ("i1e(x) - sign(x) * i0e(x)",),
        "special.i0e({0})",
        (REAL,),
        "modified_bessel",
        vectorises=True,
    ),
    _special(
        "i1",
        ("x",),
        ("where(abs(x) < 1e-30, 0.5, i0(x) - i1(x) / x)",),
        "special.i1({0})",
        (REAL,),
        "modified_bessel",
        vectorises=True,
    ),
    _special(
        "i1e",
        ("x",),
        ("where(abs(x) < 1e-30, 0.5, i0e(x) - i1e(x) * (sign(x) + 1 / x))",),
        "special.i1e({0})",
        (REAL,),
        "modified_bessel",
        vectorises=True,
    ),  # fmt: skip
    _special(
        "gammainc",
        ("a", "x"),
        (None, "exp((a - 1) * log(x) - x - lgamma(a))"),
        "special.gammainc({0}, {1})",
        (POSITIVE, POSITIVE),
        "incomplete_gamma",
        operator="igamma",
    ),  # fmt: skip
    _special(
        "gammaincc",
        ("a", "x"),
        (None, "-exp((a - 1) * log(x) - x - lgamma(a))"),
        "special.gammaincc({0}, {1})",
        (POSITIVE, POSITIVE),
        "incomplete_gamma",
        operator="igammac",
    ),  # fmt: skip
    _bessel("bessel_j0", "-bessel_j1(x)"),
    _bessel("bessel_j1", "where(abs(x) < 1e-30, 0.5, bessel_j0(x) - bessel_j1(x) / x)"),
    _bessel("bessel_y0", "-bessel_y1(x)"),
    _bessel("bessel_y1", "bessel_y0(x) - bessel_y1(x) / x"),
    _bessel("modified_bessel_k0", "-modified_bessel_k1(x)"),
    _bessel("modified_bessel_k1", "-modified_bessel_k0(x) - modified_bessel_k1(x) / x"),
    _bessel("scaled_modified_bessel_k0", "scaled_modified_bessel_k0(x) - scaled_modified_bessel_k1(x)"),
    _bessel(
        "scaled_modified_bessel_k1",
        "scaled_modified_bessel_k1(x) * (1 - 1 / x) - scaled_modified_bessel_k0(x)",
    ),
    _special("airy_ai", ("x",), (None,), "special.airy_ai({0})", (REAL,), "airy"),
    *(_polynomial(name) for name in POLYNOMIALS),
    _step("relu", "where(relu(x) > 0, 1, 0)", "np.maximum({0}, 0)"),
    # Rounding and signs.
    _step("abs", "sign(x)", "np.abs({0})", latex="|{0}|", complex_to_real=True),
    _step("sign", "0", "np.sign({0})"),
    _pair("copysign", ("sign(x) * copysign(1, y)", "0"), float_result=True),
    _step("floor", "0", "np.floor({0})", latex=r"\lfloor {0} \rfloor"),
    _step("ceil", "0", "np.ceil({0})", latex=r"\lceil {0} \rceil"),
    _step("trunc", "0", "np.trunc({0})"),
    _step("round", "0", "np.round({0})", note="halves go to the even neighbour"),
    _pair(
        "fmod",
        ("1", "-trunc(x / y)"),
        domain=(REAL, POSITIVE),
        latex=r"{0} \bmod {1}",
        note="takes the sign of x",
    ),
    _pair("gcd", (None, None), latex=r"\gcd({0}, {1})", header=DIVISORS, vectorises=False),
    _pair(
        "lcm",
        (None, None),
        latex=r"\operatorname{{lcm}}({0}, {1})",
        header=DIVISORS,
        vectorises=False,
    ),
    _pair("bitwise_and", (None, None), header=BITS, note="of integers and truth values"),
    _pair("bitwise_or", (None, None), header=BITS),
    _pair("bitwise_xor", (None, None), header=BITS),
    _step("bitwise_not", None, "np.bitwise_not({0})", header=BITS),
    # Choice.
    _pair(
        "maximum",
        ("where(x < y, 0, where(x == y, 0.5, 1))", "where(y < x, 0, where(x == y, 0.5, 1))"),
        latex=r"\max({0}, {1})",
        note="nan if either is, and both get the gradient; a tie shares it",
    ),  # fmt: skip
    _pair(
        "minimum",
        ("where(x > y, 0, where(x == y, 0.5, 1))", "where(y > x, 0, where(x == y, 0.5, 1))"),
        latex=r"\min({0}, {1})",
        note="nan if either is, and both get the gradient; a tie shares it",
    ),  # fmt: skip
    _pair(
        "fmax",
        ("where(x >= y or isnan(y), 1, 0)", "where(x >= y or isnan(y), 0, 1)"),
        note="the other one if one is nan",
    ),
    _pair(
        "fmin",
        ("where(x <= y or isnan(y), 1, 0)", "where(x <= y or isnan(y), 0, 1)"),
        note="the other one if one is nan",
    ),
    Function(
        "where",
        ("c", "x", "y"),
        ("0", "where(c, 1, 0)", "where(c, 0, 1)"),
        "np.where({0}, {1}, {2})",
        (BOOLEAN, REAL, REAL),
        float_result=False,
    ),  # fmt: skip
    Function(
        "clamp",
        ("x", "l", "h"),
        ("where(l <= x and x <= h, 1, 0)", "where(x < l and l <= h, 1, 0)", "where(x > h or h < l, 1, 0)"),
        "np.minimum(np.maximum({0}, {1}), {2})",
        (REAL, (-2.0, -1.0), (1.0, 2.0)),
        float_result=False,
        holomorphic=False,
    ),  # fmt: skip
    _predicate("isnan", takes_complex=True),
    _predicate("isinf", takes_complex=True),
    _predicate("signbit", "aten/vec/representation.h"),
    # x = mantissa * 2 ** exponent
    _special(
        "frexp_mantissa", ("x",), (None,), "np.frexp({0})[0]", (REAL,), "representation", vectorises=True
    ),
    _special(
        "frexp_exponent", ("x",), ("0",), "np.frexp({0})[1]", (REAL,), "representation", vectorises=True
    ),
    # Complex numbers; the rules are those of real arguments.
    Function(
        "conj",
        ("x",),
        ("1",),
        "np.conj({0})",
        (REAL,),
        float_result=False,
        holomorphic=False,
        takes_complex=True,
        latex=r"\overline{{{0}}}",
    ),
    _step("real", "1", "np.real({0})", complex_to_real=True),
    _step("imag", "0", "np.imag({0})", complex_to_real=True),
    _step("arg", None, "np.angle({0})", complex_to_real=True),
)

# Functions that also take packs, the vectors of floats of aten/vec/pack.h.
PACKED = frozenset(
    "exp exp2 sigmoid softplus tanh sin cos erf sqrt rsqrt reciprocal square relu abs conj floor ceil trunc "
    "round maximum minimum".split()
)

# Constructs of the language over tensors -> the operator that each calls; functions name theirs in
# ``tensor_operator``.
CONSTRUCTS = {
    "<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne",
    "and": "logical_and", "or": "logical_or", "not": "logical_not",
    "**": "pow", "%": "remainder", "? :": "where",
}  # fmt: skip
# Operators that make a tensor of a number, and a tensor of zeros or ones.
NUMBER_AS_TENSOR = "scalar_tensor"
ZEROS_LIKE = "zeros_like"
ONES_LIKE = "ones_like"
# ``0 < x`` is ``x > 0``.
MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}

FUNCTIONS: dict[str, Function] = {function.name: function for function in _TABLE}
