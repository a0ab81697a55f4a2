"""Convolutions in float32: forward and trained, NCHW and NHWC."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ..case import Case, Group, OnnxNode


def convolution(
    channels: int,
    outputs: int,
    size: int,
    kernel: int = 3,
    *,
    stride: int = 1,
    groups: int = 1,
    batch: int = 8,
    channels_last: bool = False,
    trained: bool = False,
) -> Case:
    padding = kernel // 2

    def make(t: Any, x: Any) -> Callable[[], Any]:
        layout = t.channels_last if channels_last else t.contiguous_format
        images = x(batch, channels, size, size).contiguous(memory_format=layout)
        weight = x(outputs, channels // groups, kernel, kernel).contiguous(memory_format=layout)
        call = partial(t.conv2d, images, weight, None, stride, padding, 1, groups)
        if not trained:
            return call

        images.requires_grad_()
        weight.requires_grad_()
        gradient = t.ones_like(call())
        return lambda: call().backward(gradient)

    pixels = batch * ((size + 2 * padding - kernel) // stride + 1) ** 2
    kind = "depthwise " if groups == channels else f"{groups} groups " if groups > 1 else ""
    words = [f"{kind}{kernel}x{kernel} {channels} to {outputs}, {size} px, batch {batch}"]
    words += [f"stride {stride}"] * (stride > 1) + ["NHWC"] * channels_last + ["trained"] * trained

    return Case(
        ", ".join(words),
        make,
        flops=(6.0 if trained else 2.0) * pixels * (channels // groups) * outputs * kernel**2,
        bytes=4.0 * (batch * channels * size**2 + pixels * outputs),
        onnx=None
        if trained or channels_last
        else OnnxNode(
            "Conv",
            ((batch, channels, size, size), (outputs, channels // groups, kernel, kernel)),
            {"strides": [stride] * 2, "pads": [padding] * 4, "group": groups},
        ),
    )


GROUP = Group(
    "convolution",
    mean_goal=0.75,
    worst_goal=1.1,
    cases=(
        convolution(64, 64, 56),
        convolution(64, 64, 56, channels_last=True),
        convolution(64, 64, 56, batch=1),
        convolution(256, 256, 14),
        convolution(256, 256, 14, channels_last=True),
        convolution(512, 512, 7),
        convolution(512, 512, 7, batch=1),
        convolution(512, 512, 7, channels_last=True),
        convolution(64, 128, 56, stride=2),
        convolution(64, 128, 56, stride=2, channels_last=True),
        convolution(3, 64, 224, 7, stride=2, batch=4),
        convolution(3, 64, 224, 7, stride=2, batch=4, channels_last=True),
        convolution(256, 64, 56, 1),
        convolution(64, 256, 56, 1),
        convolution(1, 16, 28, 5, batch=64),
        convolution(128, 128, 56, groups=128),
        convolution(128, 128, 56, groups=128, channels_last=True),
        convolution(128, 128, 56, groups=32),
        convolution(128, 128, 56, groups=32, channels_last=True),
        convolution(32, 32, 28, batch=16, trained=True),
        convolution(64, 64, 56, batch=1, trained=True),
        convolution(64, 64, 56, trained=True, channels_last=True),
        Case(
            "conv1d",
            lambda t, x: partial(t.conv1d, x(16, 64, 512), x(64, 64, 3), x(64), 1, 1),
            flops=2.0 * 16 * 512 * 64 * 64 * 3,
        ),
        Case(
            "conv3d",
            lambda t, x: partial(t.conv3d, x(1, 16, 16, 28, 28), x(16, 16, 3, 3, 3), None, 1, 1),
            flops=2.0 * 16 * 784 * 256 * 27,
        ),
        Case(
            "transposed 4x4",
            lambda t, x: partial(t.conv_transpose2d, x(8, 64, 14, 14), x(64, 32, 4, 4), x(32), 2, 1),
            flops=2.0 * 8 * 196 * 64 * 32 * 16,
        ),
    ),
)
