"""layer_norm and its gradients, and batch_norm with given statistics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch_py._inductor.formulas import NotLoweredError
from torch_py._inductor.indices import Linear
from torch_py._inductor.ir import Expr
from torch_py._inductor.lower.context import Lowering, Value, rule
from torch_py._inductor.lower.softmax import Rows


def _scaled(tree: Any, weight: Value | None, bias: Value | None) -> Any:
    """A formula times a weight plus a bias, each of which may be absent."""
    if weight is not None:
        tree = ("*", tree, "w")
    return tree if bias is None else ("+", tree, "b")


@rule("_layer_norm")
def layer_norm(
    lowering: Lowering,
    node: Any,
    source: Value,
    shape: Sequence[int],
    weight: Value | None,
    bias: Value | None,
    eps: float,
) -> Any:
    rows = Rows(lowering, node, source, range(len(source.sizes) - len(shape), len(source.sizes)))
    result, mean_example, rstd_example = node.meta["val"]
    total = rows.reduced("sum", "sum", rows.formula("x", x=source))
    mean = rows.row("mean", rows.formula(("/", "s", "n"), s=total, n=rows.count))
    centred = ("-", "x", "m")
    squares = rows.reduced("squares", "sum", rows.formula(("*", centred, centred), x=source, m=mean))
    spread = ("rsqrt", ("+", ("/", "s", "n"), "eps"))
    rstd = rows.row("rstd", rows.formula(spread, s=squares, n=rows.count, eps=eps))

    tree = _scaled(("*", centred, "r"), weight, bias)
    output = rows.formula(tree, x=source, m=mean, r=rstd, w=weight, b=bias)
    return (
        rows.result(result, output),
        rows.result(mean_example, rows.formula("m", m=mean), f"{node.name}_mean_result"),
        rows.result(rstd_example, rows.formula("r", r=rstd), f"{node.name}_rstd_result"),
    )


@rule("_layer_norm_backward")
def layer_norm_backward(
    lowering: Lowering,
    node: Any,
    grad: Value,
    source: Value,
    shape: Sequence[int],
    mean: Value,
    rstd: Value,
    weight: Value | None,
    bias: Value | None,
) -> Any:
    if (grad.strides[-1] == 1) != (source.strides[-1] == 1):
        # The operator makes a copy first, and takes 76 instead of 260 us for 512 rows of 192.
        raise NotLoweredError("rows that are next to each other in one tensor only")

    first = len(source.sizes) - len(shape)
    rows = Rows(lowering, node, source, range(first, len(source.sizes)))
    examples = node.meta["val"]
    normal = ("*", ("-", "x", "m"), "r")
    scaled = "g" if weight is None else ("*", "g", "w")
    values = {"g": grad, "x": source, "m": mean, "r": rstd, "w": weight}

    # dx = r * (g w - mean(g w) - normal * mean(g w * normal)), with divisions once for each row.
    total = rows.reduced("sum", "sum", rows.formula(scaled, **values))
    product = rows.reduced("product", "sum", rows.formula(("*", scaled, normal), **values))
    mean_of_total = rows.row("mean_of_sum", rows.formula(("/", "s", "n"), s=total, n=rows.count))
    mean_of_product = rows.row("mean_of_product", rows.formula(("/", "s", "n"), s=product, n=rows.count))
    tree = ("*", "r", ("-", scaled, ("+", "a", ("*", normal, "c"))))
    of_source = rows.formula(tree, a=mean_of_total, c=mean_of_product, **values)

    columns = Rows(lowering, node, source, range(first))
    return (
        None if examples[0] is None else rows.result(examples[0], of_source),
        _column_sum(columns, "weight", examples[1], rows.formula(("*", "g", normal), **values)),
        _column_sum(columns, "bias", examples[2], rows.formula("g", **values)),
    )


def _column_sum(columns: Rows, name: str, example: Any, element: Any) -> Value | None:
    """The sum over all rows, in the shape of the weight."""
    if example is None:
        return None
    total = columns.reduced(name, "sum", element)
    kept = len(example.shape)

    def at(index: Sequence[Linear]) -> Expr:
        return total.broadcast([*([index[0] * 0] * (len(total.sizes) - kept)), *index])

    return columns.result(example, at, f"{columns.name}_{name}_result")


@rule("_batch_norm_apply")
def batch_norm_apply(
    lowering: Lowering,
    node: Any,
    source: Value,
    weight: Value | None,
    bias: Value | None,
    mean: Value,
    invstd: Value,
) -> Value:
    rows = Rows(lowering, node, source, [])
    values = {"m": mean, "r": invstd, "w": weight, "b": bias}

    def element(index: Sequence[Linear]) -> Expr:
        # Statistics and weights belong to channels, the second dimension.
        own = {n: v if v is None else v.at([index[1]]) for n, v in values.items()}
        tree = _scaled(("*", ("-", "x", "m"), "r"), weight, bias)
        return rows.formula(tree, x=source.at(index), **own)(index)

    return rows.result(node.meta["val"], element)
