"""ONNX nodes for matrix products, convolutions, normalization and resampling."""

from __future__ import annotations

from typing import Any

import torch_py
from torch_py.onnx._creation import filled
from torch_py.onnx._graph import Graph, Node
from torch_py.onnx._reductions import reduce
from torch_py.onnx._registry import rule
from torch_py.onnx._shapes import END
from torch_py.onnx._sizes import Size, Varying


@rule("linear")
def linear(g: Graph, n: Node) -> Any:
    """A Gemm for matrices, which reads the weight as it is in the state_dict.

    For inputs with more dimensions the weight is transposed.
    """
    own = n["input"]
    weight = n["weight"]
    bias = n["bias"]
    if own.rank == 2 and weight.rank == 2:
        return g.op("Gemm", own, weight, bias, transB=1)
    product = g.op("MatMul", own, g.op("Transpose", weight, perm=[1, 0]) if weight.rank == 2 else weight)
    return product if bias is None else g.op("Add", product, bias)


@rule("matmul", "mm", "bmm", "mv", "dot")
def matmul(g: Graph, n: Node) -> Any:
    own = n["self"]
    other = next(n[k] for k in ("other", "mat2", "vec", "tensor") if k in n.arguments)
    if n.name == "mv":
        column = g.op("Unsqueeze", other, g.constant([1]))
        return g.op("Squeeze", g.op("MatMul", own, column), g.constant([1]))
    return g.op("MatMul", own, other)


@rule("addmm")
def addmm(g: Graph, n: Node) -> Any:
    own = n["self"] if n["beta"] == 1 else g.op("Mul", n["self"], g.like(n["beta"], n["self"]))
    return g.op("Gemm", n["mat1"], n["mat2"], own if n["beta"] != 0 else None, alpha=float(n["alpha"]))


def per_dimension(value: int | list[int] | tuple[int, ...], rank: int) -> list[int]:
    """`value` as a list with one number for each of `rank` dimensions."""
    values = [value] if isinstance(value, int) else list(value)
    return values * rank if len(values) == 1 else values


@rule("convolution")
def convolution(g: Graph, n: Node) -> Any:
    weight = n["weight"]
    spatial = weight.rank - 2
    kernel = list(weight.shape[2:])
    own = n["input"]
    is_single = own.rank == spatial + 1  # ONNX requires a batch dimension
    if is_single:
        own = g.op("Unsqueeze", own, g.constant([0]))

    result = g.op(
        "ConvTranspose" if n["transposed"] else "Conv",
        own,
        weight,
        n["bias"],
        strides=per_dimension(n["stride"], spatial),
        pads=per_dimension(n["padding"], spatial) * 2,
        dilations=per_dimension(n["dilation"], spatial),
        group=n["groups"],
        kernel_shape=None if any(isinstance(size, Varying) for size in kernel) else kernel,
        output_padding=per_dimension(n["output_padding"], spatial) if n["transposed"] else None,
    )
    return g.op("Squeeze", result, g.constant([0])) if is_single else result


@rule("dropout")
def dropout(g: Graph, n: Node) -> Any:
    own = n["input"]
    if not n["train"] or n["p"] == 0:
        return g.op("Identity", own)
    if n["p"] == 1:
        return filled(g, 0, own.shape, own.dtype)
    return g.op("Dropout", own, g.constant(float(n["p"]), torch_py.float32), g.constant(True, torch_py.bool))


@rule("embedding_bag")
def embedding_bag(g: Graph, n: Node) -> Any:
    """The sums or means of the rows of each bag: a product with a matrix of which row is in which bag."""
    weight = n["weight"]
    indices = n["indices"]
    if n["mode"] == 2:
        raise n.unsupported("cannot be exported with mode='max'")

    rows = g.op("Gather", weight, indices, axis=0)
    starts = g.cast(n["offsets"], torch_py.int64)
    if n["include_last_offset"]:
        starts = g.op("Slice", starts, g.constant([0]), g.constant([-1]))
    ends = g.op(
        "Concat", g.op("Slice", starts, g.constant([1]), g.constant([END])), g.constant([END]), axis=0
    )

    # A row for each bag, a column for each index.
    count = g.op("Reshape", g.size(indices.shape[0]), g.constant([]))
    places = g.op("Range", g.constant(0), count, g.constant(1))
    from_start, to_end = (g.op("Unsqueeze", name, g.constant([1])) for name in (starts, ends))
    is_member = g.op("And", g.op("GreaterOrEqual", places, from_start), g.op("Less", places, to_end))
    if n["padding_idx"] is not None and n["padding_idx"] >= 0:
        is_padding = g.op("Equal", indices, g.like(n["padding_idx"], indices))
        is_member = g.op("And", is_member, g.op("Not", is_padding))

    members = g.to(is_member, weight.dtype)
    factors = members
    if n["per_sample_weights"] is not None:
        factors = g.op("Mul", members, n["per_sample_weights"])
    if n["mode"] == 1:
        sizes = g.op("Max", reduce(g, "ReduceSum", members, [1], True), g.like(1, weight))
        factors = g.op("Div", members, sizes)
    return g.op("MatMul", factors, rows), None, None, None


@rule("_linalg_det")
def determinant(g: Graph, n: Node) -> Any:
    return (g.op("Det", n["A"]), *[None] * (len(n.results) - 1))


@rule("col2im")
def col2im(g: Graph, n: Node) -> Any:
    if g.opset < 18:
        raise n.unsupported("needs opset_version 18")
    own = n["self"]
    source = g.op("Unsqueeze", own, g.constant([0])) if own.rank == 2 else own
    result = g.op(
        "Col2Im",
        source,
        g.sizes(list(n["output_size"])),
        g.constant(list(n["kernel_size"])),
        dilations=list(n["dilation"]),
        pads=list(n["padding"]) * 2,
        strides=list(n["stride"]),
    )
    return g.op("Squeeze", result, g.constant([0])) if own.rank == 2 else result


# -- resampling ------------------------------------------------------------

_MODES = {
    "nearest": "nearest",
    "linear": "linear",
    "bilinear": "linear",
    "trilinear": "linear",
    "bicubic": "cubic",
    "_nearest_exact": "nearest",
}


_KINDS = ("nearest1d", "nearest2d", "nearest3d", "linear1d", "bilinear2d", "trilinear3d", "bicubic2d")


@rule(
    *(f"upsample_{kind}.default" for kind in _KINDS),
    *(f"_upsample_nearest_exact{rank}d.default" for rank in (1, 2, 3)),
)
def upsample(g: Graph, n: Node) -> Any:
    """Uses scale factors if given, so that the output size follows the input's; otherwise uses sizes."""
    own = n["self"]
    name = n.name.removeprefix("_").removeprefix("upsample_")
    mode = _MODES[name.rstrip("123d")] if name.rstrip("123d") in _MODES else "nearest"
    spatial = own.rank - 2

    if n.name.startswith("_upsample_nearest_exact"):
        transformation = "half_pixel"
        rounding = "round_prefer_ceil"
    elif mode == "nearest":
        transformation = "asymmetric"
        rounding = "floor"
    else:
        transformation = "align_corners" if n["align_corners"] else "half_pixel"
        rounding = None

    if mode != "nearest" and not own.dtype.is_floating_point:
        raise n.unsupported(f"cannot be exported for {own.dtype} with interpolation")
    factors = [n.get(f"scales_{axis}", n.get("scales")) for axis in ("d", "h", "w")[3 - spatial :]]
    settings: dict[str, Any] = {
        "mode": mode,
        "coordinate_transformation_mode": transformation,
        "nearest_mode": rounding,
        "cubic_coeff_a": -0.75 if mode == "cubic" else None,
    }

    if all(f is not None and not isinstance(f, Varying) for f in factors):
        scaled = zip(own.shape[2:], n.result.shape[2:], factors)
        if any(int(have * f) != want for size in scaled for have, want, f in _in_each_run(*size)):
            raise n.unsupported(
                f"cannot be exported with sizes {list(n.result.shape[2:])} that do not follow from the "
                f"scale factors {factors}"
            )

        scales = g.constant([1.0, 1.0, *map(float, factors)], torch_py.float32)
        return g.op("Resize", own, None, scales, **settings)

    sizes = g.sizes([own.shape[0], own.shape[1], *n.result.shape[2:]])
    return g.op("Resize", own, None, None, sizes, **settings)


def _in_each_run(have: Size, want: Size, factor: float) -> list[tuple[int, int, float]]:
    values = [size.values if isinstance(size, Varying) else (size,) for size in (have, want)]
    runs = max(map(len, values))
    return list(zip(*(each * (runs // len(each)) for each in values), [factor] * runs))


@rule("grid_sampler")
def grid_sampler(g: Graph, n: Node) -> Any:
    if g.opset < 16 or (g.opset < 20 and n["input"].rank == 5):
        raise n.unsupported("needs opset_version 16 for images, 20 for volumes")

    # Opset 20 renamed two of the modes.
    old = g.opset < 20
    modes = {0: "bilinear" if old else "linear", 1: "nearest", 2: "bicubic" if old else "cubic"}
    padding = ("zeros", "border", "reflection")[n["padding_mode"]]

    return g.op(
        "GridSample",
        n["input"],
        n["grid"],
        mode=modes[n["interpolation_mode"]],
        padding_mode=padding,
        align_corners=int(n["align_corners"]),
    )
