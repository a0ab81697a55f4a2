"""Products and convolutions in bfloat16, float16 and int8."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ..case import Case, Group


def product(dtype: str, size: int) -> Case:
    def make(t: Any, x: Any) -> Callable[[], Any]:
        of_type = getattr(t, dtype)
        return partial(t.mm, x(size, size).to(of_type), x(size, size).to(of_type))

    return Case(f"{dtype} product {size}", make, flops=2.0 * size**3, dtype=dtype)


def int8_product(size: int) -> Case:
    def make(t: Any, x: Any) -> Callable[[], Any]:
        return partial(t._int_mm, (30 * x(size, size)).to(t.int8), (30 * x(size, size)).to(t.int8))

    return Case(f"int8 product {size}", make, flops=2.0 * size**3, dtype="int8")


def int8_weight(t: Any, x: Any, rows: int) -> Callable[[], Any]:
    weight = (30 * x(1024, 1024)).to(t.int8)
    inputs, scales = x(rows, 1024).to(t.bfloat16), x(1024).to(t.bfloat16)
    return partial(t._weight_int8pack_mm, inputs, weight, scales)


def linear_training(t: Any, x: Any) -> Callable[[], Any]:
    layer = t.nn.Linear(512, 512)
    inputs = x(128, 512)

    def step() -> None:
        with t.autocast("cpu", t.bfloat16):
            output = layer(inputs)
        output.sum().backward()

    return step


def convolution(
    dtype: str, channels: int, outputs: int, size: int, kernel: int, stride: int, batch: int
) -> Case:
    def make(t: Any, x: Any) -> Callable[[], Any]:
        of_type = getattr(t, dtype)
        images = x(batch, channels, size, size).to(of_type)
        weight = x(outputs, channels, kernel, kernel).to(of_type)
        return partial(t.conv2d, images, weight, None, stride, kernel // 2)

    pixels = batch * ((size - 1) // stride + 1) ** 2
    return Case(
        f"{dtype} {kernel}x{kernel} {channels} to {outputs}, {size} px",
        make,
        flops=2.0 * pixels * channels * outputs * kernel**2,
        dtype=dtype,
    )


GROUP = Group(
    "low precision",
    mean_goal=0.95,
    worst_goal=1.15,
    cases=(
        product("bfloat16", 64),
        product("bfloat16", 256),
        product("bfloat16", 1024),
        product("float16", 256),
        int8_product(256),
        int8_product(1024),
        Case("weights of int8, 16 rows", lambda t, x: int8_weight(t, x, 16), flops=2.0 * 16 * 1024**2),
        Case("linear under autocast, trained", linear_training, flops=4.0 * 128 * 512**2, dtype="bfloat16"),
        convolution("bfloat16", 64, 64, 56, 3, 1, 8),
        convolution("bfloat16", 256, 256, 14, 3, 1, 8),
        convolution("bfloat16", 64, 128, 56, 3, 2, 8),
        convolution("bfloat16", 256, 64, 56, 1, 1, 4),
        convolution("float16", 64, 64, 28, 3, 1, 1),
    ),
)
