"""ONNX nodes for arithmetic, functions of one number, comparisons and activations."""

from __future__ import annotations

import math
from typing import Any

import torch_py
from torch_py import _C
from torch_py.onnx._graph import Graph, Node, Operand
from torch_py.onnx._registry import MAPPINGS, Mapping, maps
from torch_py.onnx._sizes import Varying

# Operators that are one node. Integers are converted to the dtype of the result first.
_UNARY = {
    "abs": "Abs",
    "acos": "Acos",
    "acosh": "Acosh",
    "asin": "Asin",
    "asinh": "Asinh",
    "atan": "Atan",
    "atanh": "Atanh",
    "ceil": "Ceil",
    "cos": "Cos",
    "cosh": "Cosh",
    "erf": "Erf",
    "exp": "Exp",
    "floor": "Floor",
    "log": "Log",
    "neg": "Neg",
    "reciprocal": "Reciprocal",
    "relu": "Relu",
    "sgn": "Sign",
    "sigmoid": "Sigmoid",
    "sign": "Sign",
    "sin": "Sin",
    "sinh": "Sinh",
    "sqrt": "Sqrt",
    "tan": "Tan",
    "tanh": "Tanh",
    "hardswish": "HardSwish",
}
# Operators that at most convert the dtype.
_SAME = (
    "bfloat16",
    "bool",
    "byte",
    "char",
    "clone",
    "contiguous",
    "data",
    "detach",
    "double",
    "float",
    "half",
    "int",
    "long",
    "positive",
    "real",
    "resolve_conj",
    "resolve_neg",
    "short",
    "to",
    "type",
    "type_as",
    "cpu",
)
_BINARY = {"mul": "Mul", "maximum": "Max", "minimum": "Min"}
_COMPARISONS = {"eq": "Equal", "ge": "GreaterOrEqual", "gt": "Greater", "le": "LessOrEqual", "lt": "Less"}
_LOGICAL = {"logical_and": "And", "logical_or": "Or", "logical_xor": "Xor"}
_BITWISE = {
    "bitwise_and": ("BitwiseAnd", "And"),
    "bitwise_or": ("BitwiseOr", "Or"),
    "bitwise_xor": ("BitwiseXor", "Xor"),
}


def is_float(dtype: _C.dtype) -> bool:
    """Whether `dtype` is a floating-point dtype."""
    return bool(dtype.is_floating_point)


def common_dtype(*values: Any) -> Any:
    """The dtype in which operands are compared."""
    examples = [
        torch_py.empty(v.shape and (1,) * v.rank, dtype=v.dtype) if isinstance(v, Operand) else _number(v)
        for v in values
    ]
    result = examples[0]
    dtype = result.dtype if isinstance(result, torch_py.Tensor) else None
    for other in examples[1:]:
        dtype = torch_py.result_type(result, other)
    return dtype


def _number(value: Any) -> Any:
    return value.values[0] if isinstance(value, Varying) else value


def _unary(op_type: str) -> Mapping:
    def mapping(g: Graph, n: Node) -> Any:
        dtype = n.result.dtype
        if not is_float(dtype) and op_type in ("Ceil", "Floor"):
            return g.op("Identity", g.cast(n["self"], dtype))
        return g.op(op_type, g.cast(n["self"], dtype))

    return mapping


def _same(g: Graph, n: Node) -> Any:
    source = n["self"]
    if source.dtype == n.result.dtype:
        return g.op("Identity", source)
    return g.cast(source, n.result.dtype)


def _binary(op_type: str) -> Mapping:
    def mapping(g: Graph, n: Node) -> Any:
        dtype = n.result.dtype
        if dtype == torch_py.bool:
            return g.op("And" if op_type in ("Mul", "Min") else "Or", n["self"], g.cast(n["other"], dtype))
        return g.op(op_type, g.cast(n["self"], dtype), g.cast(n["other"], dtype))

    return mapping


def _comparison(op_type: str) -> Mapping:
    def mapping(g: Graph, n: Node) -> Any:
        dtype = common_dtype(n["self"], n["other"])
        if dtype == torch_py.bool and op_type != "Equal":
            dtype = torch_py.int32
        return g.op(op_type, g.cast(n["self"], dtype), g.cast(n["other"], dtype))

    return mapping


def _logical(op_type: str) -> Mapping:
    def mapping(g: Graph, n: Node) -> Any:
        return g.op(op_type, truth(g, n["self"]), truth(g, n["other"]))

    return mapping


def truth(g: Graph, value: Any) -> str:
    """A tensor or number, converted to bool."""
    return g.cast(value if isinstance(value, Operand) else bool(value), torch_py.bool)


def _bitwise(op_type: str, on_bool: str) -> Mapping:
    def mapping(g: Graph, n: Node) -> Any:
        dtype = n.result.dtype
        if dtype != torch_py.bool and g.opset < 18:
            raise n.unsupported("needs opset_version 18 for integers")
        return g.op(
            on_bool if dtype == torch_py.bool else op_type,
            g.cast(n["self"], dtype),
            g.cast(n["other"], dtype),
        )

    return mapping


MAPPINGS.update({name: _unary(op_type) for name, op_type in _UNARY.items()})
MAPPINGS.update({name: _same for name in _SAME})
MAPPINGS.update({name: _binary(op_type) for name, op_type in _BINARY.items()})
MAPPINGS.update({name: _comparison(op_type) for name, op_type in _COMPARISONS.items()})
MAPPINGS.update({name: _logical(op_type) for name, op_type in _LOGICAL.items()})
MAPPINGS.update({name: _bitwise(*op_types) for name, op_types in _BITWISE.items()})


@maps("ne")
def ne(g: Graph, n: Node) -> Any:
    return g.op("Not", _comparison("Equal")(g, n))


@maps("logical_not")
def logical_not(g: Graph, n: Node) -> Any:
    return g.op("Not", truth(g, n["self"]))


@maps("bitwise_not")
def bitwise_not(g: Graph, n: Node) -> Any:
    if n.result.dtype != torch_py.bool and g.opset < 18:
        raise n.unsupported("needs opset_version 18 for integers")
    return g.op("Not" if n.result.dtype == torch_py.bool else "BitwiseNot", n["self"])


def _scaled(g: Graph, n: Node) -> str:
    other = g.cast(n["other"], n.result.dtype)
    alpha = n.get("alpha", 1)
    return other if alpha == 1 else g.op("Mul", other, g.cast(alpha, n.result.dtype))


@maps("add")
def add(g: Graph, n: Node) -> Any:
    if n.result.dtype == torch_py.bool:
        return g.op("Or", n["self"], g.cast(n["other"], torch_py.bool))
    return g.op("Add", g.cast(n["self"], n.result.dtype), _scaled(g, n))


@maps("sub")
def sub(g: Graph, n: Node) -> Any:
    return g.op("Sub", g.cast(n["self"], n.result.dtype), _scaled(g, n))


@maps("rsub")
def rsub(g: Graph, n: Node) -> Any:
    dtype = n.result.dtype
    alpha = n.get("alpha", 1)
    own = g.cast(n["self"], dtype)
    return g.op(
        "Sub", g.cast(n["other"], dtype), own if alpha == 1 else g.op("Mul", own, g.cast(alpha, dtype))
    )


@maps("div")
def div(g: Graph, n: Node) -> Any:
    dtype = n.result.dtype
    mode = n.get("rounding_mode")
    if mode == "floor":
        return floor_divide(g, n)
    quotient = g.op("Div", g.cast(n["self"], dtype), g.cast(n["other"], dtype))
    return truncated(g, quotient) if mode == "trunc" and is_float(dtype) else quotient


@maps("floor_divide")
def floor_divide(g: Graph, n: Node) -> Any:
    dtype = n.result.dtype
    own = g.cast(n["self"], dtype)
    other = g.cast(n["other"], dtype)
    if is_float(dtype):
        return g.op("Floor", g.op("Div", own, other))
    # Div of integers rounds towards zero. The remainder has the sign of the divisor, so the difference is
    # divisible.
    return g.op("Div", g.op("Sub", own, g.op("Mod", own, other)), other)


@maps("remainder")
def remainder(g: Graph, n: Node) -> Any:
    dtype = n.result.dtype
    own = g.cast(n["self"], dtype)
    other = g.cast(n["other"], dtype)
    if not is_float(dtype):
        return g.op("Mod", own, other)

    # The remainder of C has the sign of the dividend; add the divisor where that differs from the divisor's.
    left = g.op("Mod", own, other, fmod=1)
    zero = g.constant(0, dtype)
    is_wrong = g.op(
        "And",
        g.op("Not", g.op("Equal", left, zero)),
        g.op("Xor", g.op("Less", left, zero), g.op("Less", other, zero)),
    )
    return g.op("Where", is_wrong, g.op("Add", left, other), left)


@maps("fmod")
def fmod(g: Graph, n: Node) -> Any:
    return g.op("Mod", g.cast(n["self"], n.result.dtype), g.cast(n["other"], n.result.dtype), fmod=1)


@maps("pow")
def power(g: Graph, n: Node) -> Any:
    base = n["self"]
    exponent = n.get("exponent", n.get("other"))
    dtype = n.result.dtype
    if exponent == 2:
        own = g.cast(base, dtype)
        return g.op("Mul", own, own)
    if exponent == 0.5 and is_float(dtype):
        return g.op("Sqrt", g.cast(base, dtype))
    return g.op("Pow", g.cast(base, dtype), g.cast(exponent, dtype))


def truncated(g: Graph, value: str) -> str:
    """`value` rounded towards zero."""
    return str(g.op("Mul", g.op("Sign", value), g.op("Floor", g.op("Abs", value))))


@maps("trunc")
def trunc(g: Graph, n: Node) -> Any:
    return truncated(g, n["self"].name) if is_float(n.result.dtype) else g.op("Identity", n["self"])


@maps("round")
def rounded(g: Graph, n: Node) -> Any:
    own = n["self"]
    decimals = n.get("decimals") or 0
    if not is_float(own.dtype):
        return g.op("Identity", own)
    if decimals == 0:
        return g.op("Round", own)

    factor = g.like(10.0 ** abs(decimals), own)
    there, back = ("Mul", "Div") if decimals > 0 else ("Div", "Mul")
    return g.op(back, g.op("Round", g.op(there, own, factor)), factor)


@maps("isnan")
def isnan(g: Graph, n: Node) -> Any:
    own = n["self"]
    return g.op("IsNaN", own if is_float(own.dtype) else g.cast(own, torch_py.float32))


@maps("isinf")
def isinf(g: Graph, n: Node) -> Any:
    own = n["self"]
    return g.op("IsInf", own if is_float(own.dtype) else g.cast(own, torch_py.float32))


@maps("where")
def where(g: Graph, n: Node) -> Any:
    if "other" not in n.arguments:
        raise n.unsupported("cannot be exported with a condition only; use nonzero")
    dtype = n.result.dtype
    return chosen(g, truth(g, n["condition"]), g.cast(n["self"], dtype), g.cast(n["other"], dtype), dtype)


def chosen(g: Graph, condition: str, one: str, other: str, dtype: _C.dtype) -> str:
    """Where. For bool it is written in logic, because onnxruntime's Where does not accept bool."""
    if dtype != torch_py.bool:
        return str(g.op("Where", condition, one, other))
    return str(g.op("Or", g.op("And", condition, one), g.op("And", g.op("Not", condition), other)))


@maps("masked_fill")
def masked_fill(g: Graph, n: Node) -> Any:
    return chosen(g, truth(g, n["mask"]), g.like(n["value"], n.result), n["self"].name, n.result.dtype)


@maps("clamp", "clamp_min", "clamp_max")
def clamp(g: Graph, n: Node) -> Any:
    dtype = n.result.dtype
    value = g.cast(n["self"], dtype)
    for op_type, bound in (("Max", n.get("min")), ("Min", n.get("max"))):
        if bound is not None:
            value = g.op(op_type, value, g.cast(bound, dtype))
    return value


@maps("leaky_relu")
def leaky_relu(g: Graph, n: Node) -> Any:
    return g.op("LeakyRelu", n["self"], alpha=float(n.number("negative_slope")))


@maps("elu")
def elu(g: Graph, n: Node) -> Any:
    n.refuse("scale", 1, 1.0, None)
    n.refuse("input_scale", 1, 1.0, None)
    return g.op("Elu", n["self"], alpha=float(n["alpha"]))


@maps("selu")
def selu(g: Graph, n: Node) -> Any:
    return g.op("Selu", n["self"], alpha=1.6732632423543772, gamma=1.0507009873554805)


@maps("celu")
def celu(g: Graph, n: Node) -> Any:
    return g.op("Celu", n["self"], alpha=float(n["alpha"]))


@maps("hardsigmoid")
def hardsigmoid(g: Graph, n: Node) -> Any:
    return g.op("HardSigmoid", n["self"], alpha=1 / 6, beta=0.5)


@maps("prelu")
def prelu(g: Graph, n: Node) -> Any:
    own = n["self"]
    slope = n["weight"]
    if own.rank == 0:
        slope = g.op("Reshape", slope, g.constant([]))
    elif slope.rank == 1 and own.rank > 2 and slope.shape[0] != 1:
        slope = g.op("Reshape", slope, g.constant([-1] + [1] * (own.rank - 2)))
    return g.op("PRelu", own, slope)


@maps("softplus")
def softplus(g: Graph, n: Node) -> Any:
    """log(1 + exp(beta x)) / beta. Above the threshold it is linear, which is the same in floating point."""
    own = n["self"]
    beta = n["beta"]
    if beta == 1:
        soft = g.op("Softplus", own)
        scaled = own
    else:
        soft = g.op("Div", g.op("Softplus", g.op("Mul", own, g.like(beta, own))), g.like(beta, own))
        scaled = g.op("Mul", own, g.like(beta, own))

    return g.op("Where", g.op("Greater", scaled, g.like(n["threshold"], own)), own, soft)


@maps("gelu")
def gelu(g: Graph, n: Node) -> Any:
    own = n["self"]
    approximate = n["approximate"]
    if g.opset >= 20:
        return g.op("Gelu", own, approximate=approximate)

    half = g.like(0.5, own)
    one = g.like(1.0, own)
    if approximate == "none":
        bent = g.op("Erf", g.op("Mul", own, g.like(math.sqrt(0.5), own)))
    else:
        cube = g.op("Mul", g.op("Mul", own, own), own)
        inner = g.op("Add", own, g.op("Mul", cube, g.like(0.044715, own)))
        bent = g.op("Tanh", g.op("Mul", inner, g.like(math.sqrt(2 / math.pi), own)))
    return g.op("Mul", g.op("Mul", own, half), g.op("Add", bent, one))
