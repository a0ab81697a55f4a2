"""ONNX nodes for arithmetic, functions of one number, comparisons and activations."""

from __future__ import annotations

import math
from typing import Any

import torch_py
from torch_py import _C
from torch_py.onnx._expressions import write_expression
from torch_py.onnx._graph import Graph, Node, Operand
from torch_py.onnx._registry import Rule, rule


def is_float(dtype: _C.dtype) -> bool:
    """Whether `dtype` is a floating-point dtype."""
    return bool(dtype.is_floating_point)


@rule("alias", "clone", "conj_physical", "detach", "detach_copy", "_to_copy")
def same(g: Graph, n: Node) -> Any:
    """What at most converts the dtype."""
    return g.cast(n["self"], n.result.dtype)


@rule("mul")
def mul(g: Graph, n: Node) -> Any:
    dtype = n.result.dtype
    op_type = "And" if dtype == torch_py.bool else "Mul"
    return g.op(op_type, g.cast(n["self"], dtype), g.cast(n["other"], dtype))


def truth(g: Graph, value: Any) -> str:
    """A tensor or number, converted to bool."""
    return g.cast(value if isinstance(value, Operand) else bool(value), torch_py.bool)


def _bitwise(on_bool: str) -> Rule:
    def write(g: Graph, n: Node) -> Any:
        dtype = n.result.dtype
        _need_bitwise(g, n)
        op_type = on_bool if dtype == torch_py.bool else f"Bitwise{on_bool}"
        return g.op(op_type, g.cast(n["self"], dtype), g.cast(n["other"], dtype))

    return write


rule("bitwise_and")(_bitwise("And"))
rule("bitwise_or")(_bitwise("Or"))
rule("bitwise_xor")(_bitwise("Xor"))


def _need_bitwise(g: Graph, n: Node) -> None:
    if n.result.dtype != torch_py.bool and g.opset < 18:
        raise n.unsupported("needs opset_version 18 for integers")


@rule("bitwise_not")
def bitwise_not(g: Graph, n: Node) -> Any:
    _need_bitwise(g, n)
    return g.op("Not" if n.result.dtype == torch_py.bool else "BitwiseNot", n["self"])


@rule("bitwise_left_shift", "bitwise_right_shift", "__lshift__", "__rshift__")
def shift(g: Graph, n: Node) -> Any:
    """A product with or a quotient by a power of two; the quotient is rounded down, as shifts of bits do."""
    dtype = n.result.dtype
    power = g.op("Pow", g.constant(2, dtype), g.cast(n["other"], dtype))
    own = g.cast(n["self"], dtype)
    if n.name in ("bitwise_left_shift", "__lshift__"):
        return g.op("Mul", own, power)
    return _floor_divided(g, own, power)


def _scaled(g: Graph, n: Node) -> str:
    other = g.cast(n["other"], n.result.dtype)
    alpha = n.get("alpha", 1)
    return other if alpha == 1 else g.op("Mul", other, g.cast(alpha, n.result.dtype))


@rule("add")
def add(g: Graph, n: Node) -> Any:
    if n.result.dtype == torch_py.bool:
        return g.op("Or", n["self"], g.cast(n["other"], torch_py.bool))
    return g.op("Add", g.cast(n["self"], n.result.dtype), _scaled(g, n))


@rule("sub")
def sub(g: Graph, n: Node) -> Any:
    return g.op("Sub", g.cast(n["self"], n.result.dtype), _scaled(g, n))


@rule("rsub")
def rsub(g: Graph, n: Node) -> Any:
    dtype = n.result.dtype
    alpha = n.get("alpha", 1)
    own = g.cast(n["self"], dtype)
    return g.op(
        "Sub", g.cast(n["other"], dtype), own if alpha == 1 else g.op("Mul", own, g.cast(alpha, dtype))
    )


@rule("div", "_div_rounded")
def div(g: Graph, n: Node) -> Any:
    dtype = n.result.dtype
    mode = n.get("rounding_mode")
    if mode == "floor":
        return floor_divide(g, n)
    quotient = g.op("Div", g.cast(n["self"], dtype), g.cast(n["other"], dtype))
    return truncated(g, quotient) if mode == "trunc" and is_float(dtype) else quotient


@rule("floor_divide")
def floor_divide(g: Graph, n: Node) -> Any:
    dtype = n.result.dtype
    own = g.cast(n["self"], dtype)
    other = g.cast(n["other"], dtype)
    if is_float(dtype):
        return g.op("Floor", g.op("Div", own, other))
    return _floor_divided(g, own, other)


def _floor_divided(g: Graph, own: str, other: str) -> str:
    # Div of integers rounds towards zero. The remainder has the sign of the divisor, so the difference is
    # divisible.
    return str(g.op("Div", g.op("Sub", own, g.op("Mod", own, other)), other))


@rule("remainder")
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


@rule("fmod")
def fmod(g: Graph, n: Node) -> Any:
    return g.op("Mod", g.cast(n["self"], n.result.dtype), g.cast(n["other"], n.result.dtype), fmod=1)


@rule("pow")
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


@rule("where.self")
def where(g: Graph, n: Node) -> Any:
    dtype = n.result.dtype
    return g.choose(truth(g, n["condition"]), g.cast(n["self"], dtype), g.cast(n["other"], dtype), dtype)


@rule("masked_fill")
def masked_fill(g: Graph, n: Node) -> Any:
    return g.choose(truth(g, n["mask"]), g.like(n["value"], n.result), n["self"].name, n.result.dtype)


@rule("_clamp")
def clamp(g: Graph, n: Node) -> Any:
    dtype = n.result.dtype
    value = g.cast(n["self"], dtype)
    for op_type, bound in (("Max", n.get("min")), ("Min", n.get("max"))):
        if bound is not None:
            value = g.op(op_type, value, g.cast(bound, dtype))
    return value


@rule("leaky_relu")
def leaky_relu(g: Graph, n: Node) -> Any:
    return g.op("LeakyRelu", n["self"], alpha=float(n.number("negative_slope")))


@rule("elu")
def elu(g: Graph, n: Node) -> Any:
    if n["scale"] != 1 or n["input_scale"] != 1:
        return write_expression(g, n)
    return g.op("Elu", n["self"], alpha=float(n["alpha"]))


@rule("selu")
def selu(g: Graph, n: Node) -> Any:
    return g.op("Selu", n["self"], alpha=1.6732632423543772, gamma=1.0507009873554805)


@rule("hardsigmoid")
def hardsigmoid(g: Graph, n: Node) -> Any:
    return g.op("HardSigmoid", n["self"], alpha=1 / 6, beta=0.5)


@rule("prelu")
def prelu(g: Graph, n: Node) -> Any:
    own = n["self"]
    slope = n["weight"]
    if own.rank == 0:
        slope = g.op("Reshape", slope, g.constant([]))
    elif slope.rank == 1 and own.rank > 2 and slope.shape[0] != 1:
        slope = g.op("Reshape", slope, g.constant([-1] + [1] * (own.rank - 2)))
    return g.op("PRelu", own, slope)


@rule("gelu")
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
