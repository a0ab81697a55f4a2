"""layer_norm and its gradients, and batch_norm with given statistics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch_py._inductor.indices import Linear
from torch_py._inductor.ir import Expr, arithmetic_dtype, cast
from torch_py._inductor.lower.context import Elements, Formula, Given, Lowering, NotLoweredError, Value, rule
from torch_py._inductor.lower.families import Rows

_CENTRED = ("-", "x", "mean")
_NORMAL = ("*", _CENTRED, "rstd")
_STATISTICS = (
    ("sum", "sum", "x"),
    ("mean", "value", ("/", "sum", "count")),
    ("squares", "sum", ("*", _CENTRED, _CENTRED)),
    ("rstd", "value", ("rsqrt", ("+", ("/", "squares", "count"), "eps"))),
)


def _scaled(tree: Any, weight: Value | None, bias: Value | None) -> Any:
    """A formula times a weight plus a bias, each of which may be absent."""
    if weight is not None:
        tree = ("*", tree, "w")
    return tree if bias is None else ("+", tree, "b")


@rule("_layer_norm")
def layer_norm(lowering: Lowering, node: Any, given: Given) -> Any:
    source = given["input"]
    weight, bias = given["weight"], given["bias"]
    rank, dtype = len(source.sizes), arithmetic_dtype(source.dtype)
    rows = Rows(lowering, node, source, range(rank - len(given["normalized_shape"]), rank), dtype)
    values = rows.staged(_STATISTICS, {"x": source, "w": weight, "b": bias, "eps": given["eps"]})
    result, mean, rstd = node.meta["val"]
    return (
        rows.result(result, _scaled(_NORMAL, weight, bias), values),
        rows.result(mean, "mean", values, f"{node.name}_mean_result"),
        rows.result(rstd, "rstd", values, f"{node.name}_rstd_result"),
    )


@rule("_layer_norm_backward")
def layer_norm_backward(lowering: Lowering, node: Any, given: Given) -> Any:
    grad, source = given["grad"], given["input"]
    weight = given["weight"]
    if len({argument.meta["val"].stride(-1) == 1 for argument in node.args[:2]}) == 2:
        # The operator makes a copy first, and takes 76 instead of 260 us for 512 rows of 192.
        raise NotLoweredError("rows that are next to each other in one tensor only")

    first = len(source.sizes) - len(given["normalized_shape"])
    dtype = arithmetic_dtype(source.dtype)
    rows = Rows(lowering, node, source, range(first, len(source.sizes)), dtype)
    columns = Rows(lowering, node, source, range(first), dtype)
    named = {"g": grad, "x": source, "mean": given["mean"], "rstd": given["rstd"], "w": weight}
    of_source, of_weight, of_bias = node.meta["val"]

    # dx = r * (g w - mean(g w) - normal * mean(g w * normal)), with divisions once for each row.
    scaled = _scaled("g", weight, None)
    stages = (
        ("sum", "sum", scaled),
        ("product", "sum", ("*", scaled, _NORMAL)),
        ("mean_of_sum", "value", ("/", "sum", "count")),
        ("mean_of_product", "value", ("/", "product", "count")),
    )
    tree = ("*", "rstd", ("-", scaled, ("+", "mean_of_sum", ("*", _NORMAL, "mean_of_product"))))
    values = rows.staged(stages, named)
    return (
        None if of_source is None else rows.result(of_source, tree, values),
        _column_sum(columns, "weight", of_weight, ("*", "g", _NORMAL), named),
        _column_sum(columns, "bias", of_bias, "g", named),
    )


def _column_sum(columns: Rows, name: str, example: Any, tree: Any, given: dict[str, Any]) -> Value | None:
    """The sum over all rows, in the shape of the weight."""
    if example is None:
        return None
    values = columns.staged([(name, "sum", tree)], given)
    return columns.result(example, name, values, f"{columns.node.name}_{name}_result")


@rule("_batch_norm_apply")
def batch_norm_apply(lowering: Lowering, node: Any, given: Given) -> Elements:
    source = given["input"]
    weight, bias = given["weight"], given["bias"]
    channels = {"mean": given["mean"], "rstd": given["invstd"], "w": weight, "b": bias}
    tree = _scaled(_NORMAL, weight, bias)

    def element(index: Sequence[Linear]) -> Expr:
        # Statistics and weights belong to channels, the second dimension.
        own = {n: v if v is None else v.at([index[1]]) for n, v in channels.items()}
        formula = Formula({"x": source.at(index), **own}, arithmetic_dtype(source.dtype))
        return cast(formula.value(tree), node.meta["val"].dtype)

    return element
