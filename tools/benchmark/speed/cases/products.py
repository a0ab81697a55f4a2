"""Matrix products in float32, float64 and complex types; solves and Fourier transforms."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ..case import Case, Group, OnnxNode


def product(rows: int, inner: int, columns: int, dtype: str = "float32") -> Case:
    """rows x inner times inner x columns."""

    def make(t: Any, x: Any) -> Callable[[], Any]:
        of_type = getattr(t, dtype)
        return partial(t.mm, x(rows, inner).to(of_type), x(inner, columns).to(of_type))

    width = {"float32": 4, "float64": 8, "complex64": 8, "complex128": 16}[dtype]
    operations = (8 if dtype.startswith("complex") else 2) * rows * inner * columns
    moved = width * (rows * inner + inner * columns + rows * columns)
    shapes = ((rows, inner), (inner, columns))
    is_single = dtype == "float32"

    return Case(
        f"{dtype} {rows}x{inner}x{columns}",
        make,
        flops=operations,
        # Small operands stay in a cache, whose bandwidth is not what limits a product.
        bytes=moved if moved > 1 << 22 else 0,
        dtype=dtype,
        arrays=(lambda np, x: (np.matmul, tuple(x(*shape) for shape in shapes))) if is_single else None,
        onnx=OnnxNode("MatMul", shapes) if is_single else None,
    )


def linear(t: Any, x: Any) -> Callable[[], Any]:
    return partial(t.nn.functional.linear, x(128, 512), x(512, 512), x(512))


def linear_inference(rows: int, dtype: str = "float32") -> Case:
    """A few rows, as in inference; the weight is the same in every call."""

    def make(t: Any, x: Any) -> Callable[[], Any]:
        of_type = getattr(t, dtype)
        inputs, weight, bias = (x(*shape).to(of_type) for shape in ((rows, 1024), (1024, 1024), (1024,)))
        return partial(t.nn.functional.linear, inputs, weight, bias)

    return Case(f"linear, {rows} rows, {dtype}", make, flops=2.0 * rows * 1024**2, dtype=dtype)


def linear_training(t: Any, x: Any) -> Callable[[], Any]:
    layer = t.nn.Linear(512, 512)
    inputs = x(128, 512).requires_grad_()
    gradient = x(128, 512)
    return lambda: layer(inputs).backward(gradient)


def positive_definite(t: Any, x: Any, size: int) -> Any:
    matrix = x(size, size)
    return matrix @ matrix.t() + size * t.eye(size)


GROUP = Group(
    "products",
    mean_goal=0.45,
    worst_goal=0.7,
    cases=(
        *(product(size, size, size) for size in (8, 16, 32, 64, 128, 256, 512, 1024)),
        product(1, 1024, 1024),
        product(4, 1024, 1024),
        product(16, 1024, 1024),
        product(1024, 1024, 1),
        product(1024, 1, 1024),
        product(1024, 8, 1024),
        product(12544, 576, 64),
        product(64, 12544, 576),
        product(100, 100, 100),
        *(product(size, size, size, "float64") for size in (64, 256, 512)),
        *(product(size, size, size, "complex64") for size in (64, 256)),
        product(256, 256, 256, "complex128"),
        Case(
            "batch of 64x64x64", lambda t, x: partial(t.bmm, x(64, 64, 64), x(64, 64, 64)), flops=2.0 * 64**4
        ),
        Case(
            "batch of 512 16x16x16",
            lambda t, x: partial(t.bmm, x(512, 16, 16), x(512, 16, 16)),
            flops=2.0 * 512 * 16**3,
        ),
        Case(
            "batch of 64x64x64 plus a matrix",
            lambda t, x: partial(t.baddbmm, x(64, 64, 64), x(64, 64, 64), x(64, 64, 64)),
            flops=2.0 * 64**4,
        ),
        Case(
            "product plus a row",
            lambda t, x: partial(t.addmm, x(512), x(128, 512), x(512, 512)),
            flops=2.0 * 128 * 512**2,
        ),
        Case(
            "transposed left",
            lambda t, x: partial(t.mm, x(512, 256).t(), x(512, 256)),
            flops=2.0 * 512 * 256**2,
        ),
        Case(
            "transposed right",
            lambda t, x: partial(t.mm, x(256, 512), x(256, 512).t()),
            flops=2.0 * 512 * 256**2,
        ),
        Case(
            "linear, 4 rows",
            lambda t, x: partial(t.nn.functional.linear, x(4, 1024), x(1024, 1024), x(1024)),
            flops=2.0 * 4 * 1024**2,
            bytes=4.0 * 1024**2,
        ),
        Case("linear", linear, flops=2.0 * 128 * 512**2),
        linear_inference(1),
        linear_inference(4),
        linear_inference(16),
        linear_inference(4, "bfloat16"),
        Case("linear, trained", linear_training, flops=6.0 * 128 * 512**2),
        Case(
            "einsum of heads",
            lambda t, x: partial(t.einsum, "bhqd,bhkd->bhqk", x(8, 4, 64, 32), x(8, 4, 64, 32)),
            flops=2.0 * 32 * 64 * 64 * 32,
        ),
        Case("outer", lambda t, x: partial(t.outer, x(1024), x(1024)), bytes=4.0 * 1024**2),
        Case("dot", lambda t, x: partial(t.dot, x(1 << 20), x(1 << 20)), bytes=8.0 * 2**20),
        Case("cdist", lambda t, x: partial(t.cdist, x(256, 64), x(256, 64))),
        Case("cholesky 256", lambda t, x: partial(t.linalg.cholesky, positive_definite(t, x, 256))),
        Case("inverse 256", lambda t, x: partial(t.linalg.inv, positive_definite(t, x, 256))),
        Case("solve 256", lambda t, x: partial(t.linalg.solve, positive_definite(t, x, 256), x(256, 8))),
        Case("svd 128", lambda t, x: partial(t.linalg.svd, x(128, 128))),
        Case("rfft", lambda t, x: partial(t.fft.rfft, x(256, 4096))),
        Case(
            "stft",
            lambda t, x: partial(
                t.stft, x(4, 16_000), 512, 128, window=t.hann_window(512), return_complex=True
            ),
        ),
    ),
)
