"""The matrix products, convolutions and attention in operator calls, as the shapes that formulas need."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

Work = tuple[str, tuple[Any, ...]]  # the operator that counts, and the arguments of its formula
Shape = tuple[int, ...]


def _shape(tensor: Any) -> Shape:
    return tuple(tensor.shape)


def _linear(result: Any, input: Any, weight: Any, bias: Any = None) -> list[Work]:
    """A product of all rows of the input."""
    rows = (prod(input.shape[:-1]), input.shape[-1])
    turned = (weight.shape[1], weight.shape[0])
    return [("mm", (rows, turned))] if bias is None else [("addmm", (_shape(bias), rows, turned))]


def _turned(shape: Shape) -> Shape:
    return (shape[1], shape[0], *shape[2:])


def _with_batch(shape: Shape, weight: Shape) -> Shape:
    return shape if len(shape) == len(weight) else (1, *shape)


def _convolution(result: Any, input: Any, weight: Any, *rest: Any) -> list[Work]:
    transposed = rest[4]
    w = _shape(weight)
    x, out = _with_batch(_shape(input), w), _with_batch(_shape(result), w)
    return [("convolution", (x, w, out, transposed))]


def _convolution_backward(result: Any, grad: Any, input: Any, weight: Any, *rest: Any) -> list[Work]:
    """Gradients that nobody asks for are empty."""
    transposed = rest[4]
    w = _shape(weight)
    x, out = _with_batch(_shape(input), w), _with_batch(_shape(grad), w)

    steps: list[Work] = []
    if result[0] is not None and tuple(result[0].shape) == tuple(input.shape):
        steps.append(("convolution_backward", (out, w, x, not transposed)))
    if result[1] is not None and tuple(result[1].shape) == w:
        factors = (_turned(out), _turned(x)) if transposed else (_turned(x), _turned(out))
        steps.append(("convolution_backward", (*factors, w, False)))
    return steps


def _attention(result: Any, query: Any, key: Any, value: Any, *rest: Any, **options: Any) -> list[Work]:
    return [("scaled_dot_product_attention", (_shape(query), _shape(key), _shape(value)))]


def _attention_backward(
    result: Any, grad: Any, query: Any, key: Any, value: Any, *rest: Any, **options: Any
) -> list[Work]:
    return [("scaled_dot_product_attention_backward", (_shape(query), _shape(key), _shape(value)))]


# A convention, as in the profiler: products, convolutions and attention count, and all else is free. Programs
# add operators of their own by `register_flop_formula`.
_CALLS: dict[str, Callable[..., list[Work]]] = {
    "linear": _linear,
    "convolution": _convolution,
    "convolution_backward": _convolution_backward,
    "_fused_attention": _attention,
    "_fused_attention_backward": _attention_backward,
    "_scaled_dot_product_flash_attention_for_cpu": _attention,
    "_scaled_dot_product_flash_attention_for_cpu_backward": _attention_backward,
}


def work_of(name: str, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> list[Work]:
    """The work of a call; nothing for operators that are not counted here."""
    found = _CALLS.get(name)
    return found(result, *args, **kwargs) if found is not None else []
