"""The matrix products, convolutions and attention in the calls of a
program and in their backward, as shapes."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, NamedTuple

Work = tuple[str, tuple[Any, ...]]  # an operator and the shapes that its formula needs
Shape = tuple[int, ...]


class Call(NamedTuple):
    """The work of a call, and a function that returns the work of its backward."""

    forward: list[Work]
    backward: Callable[[], list[Work]]


def _needs(value: Any) -> bool:
    return bool(value.requires_grad)


class _Folded(NamedTuple):
    """A tensor folded to another shape."""

    shape: Shape
    requires_grad: bool


def _fold(tensor: Any, *shape: int) -> _Folded:
    return _Folded(shape, tensor.requires_grad)


def _product(left: Any, right: Any, name: str = "", *added: Any) -> Call:
    """left @ right for matrices or batches of them.

    The gradient of each factor is a product of the same size.
    """
    a = tuple(left.shape)
    b = tuple(right.shape)
    plain = "bmm" if len(a) == 3 else "mm"
    out = (*a[:-1], b[-1])
    turned_a = (*a[:-2], a[-1], a[-2])
    turned_b = (*b[:-2], b[-1], b[-2])
    needs_left = _needs(left)
    needs_right = _needs(right)

    def backward() -> list[Work]:
        return [(plain, (out, turned_b))] * needs_left + [(plain, (turned_a, out))] * needs_right

    return Call([(name or plain, (*added, a, b))], backward)


def _matmul(left: Any, right: Any, *rest: Any, **keywords: Any) -> Call | None:
    a = tuple(left.shape)
    b = tuple(right.shape)
    if len(a) < 2 or len(b) < 2:
        return None  # products with vectors are not counted

    if len(a) == 2 and len(b) == 2:
        return _product(left, right)
    if len(b) == 2:
        return _product(_fold(left, prod(a[:-1]), a[-1]), right)

    pairs = zip((1,) * (len(b) - len(a)) + a[:-2], (1,) * (len(a) - len(b)) + b[:-2])
    batch = prod(max(pair) if 0 not in pair else 0 for pair in pairs)
    return _product(_fold(left, batch, *a[-2:]), _fold(right, batch, *b[-2:]))


def _linear(input: Any, weight: Any, bias: Any = None) -> Call:
    folded = _fold(input, prod(input.shape[:-1]), input.shape[-1])
    turned = _fold(weight, *reversed(weight.shape))
    return _product(folded, turned) if bias is None else _product(folded, turned, "addmm", tuple(bias.shape))


def _addmm(added: Any, left: Any, right: Any, *rest: Any, **keywords: Any) -> Call:
    return _product(left, right, "addmm", tuple(added.shape))


def _baddbmm(added: Any, left: Any, right: Any, *rest: Any, **keywords: Any) -> Call:
    return _product(left, right, "baddbmm", tuple(added.shape))


def _turned(shape: Shape) -> Shape:
    return (shape[1], shape[0], *shape[2:])


def _convolution(transposed: bool) -> Callable[..., Call]:
    def call(result: Any, input: Any, weight: Any, *rest: Any, **keywords: Any) -> Call:
        x = tuple(input.shape)
        w = tuple(weight.shape)
        out = tuple(result.shape)
        if len(x) < len(w):  # a call without a batch
            x = (1, *x)
            out = (1, *out)
        needs_input = _needs(input)
        needs_weight = _needs(weight)

        def backward() -> list[Work]:
            steps: list[Work] = []
            if needs_input:
                steps.append(("convolution_backward", (out, w, x, not transposed)))
            if needs_weight:
                factors = (_turned(out), _turned(x)) if transposed else (_turned(x), _turned(out))
                steps.append(("convolution_backward", (*factors, w, False)))
            return steps

        return Call([("convolution", (x, w, out, transposed))], backward)

    return call


def _attention(query: Any, key: Any, value: Any, *rest: Any, **keywords: Any) -> Call:
    shapes = tuple(query.shape), tuple(key.shape), tuple(value.shape)
    return Call(
        [("scaled_dot_product_attention", shapes)],
        lambda: [("scaled_dot_product_attention_backward", shapes)],
    )


_CALLS: dict[str, Callable[..., Any]] = {
    "mm": _matmul,
    "bmm": _matmul,
    "addmm": _addmm,
    "addmm_": _addmm,
    "baddbmm": _baddbmm,
    "baddbmm_": _baddbmm,
    "linear": _linear,
    "matmul": _matmul,
    "__matmul__": _matmul,
    "scaled_dot_product_attention": _attention,
}
_CONVOLUTIONS = {
    f"conv{kind}{rank}d": _convolution(kind != "") for kind in ("", "_transpose") for rank in (1, 2, 3)
}


def work_of(name: str, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> Call | None:
    """The work of a call; None for functions that are not counted."""
    if name in _CALLS:
        return _CALLS[name](*args, **_without_out(kwargs))
    if name in _CONVOLUTIONS:
        return _CONVOLUTIONS[name](result, *args, **kwargs)
    return None


def _without_out(kwargs: dict[str, Any]) -> dict[str, Any]:
    renamed = {}
    if "weight" not in kwargs:
        renamed = {"input": "left", "self": "left", "mat2": "right", "other": "right", "tensor2": "right"}
    return {renamed.get(name, name): value for name, value in kwargs.items() if name != "out"}
