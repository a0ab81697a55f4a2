"""Pooling, resampling, padding and sampling of images."""

from __future__ import annotations

from functools import partial

from ..case import Case, Group

GROUP = Group(
    "images",
    mean_goal=0.5,
    worst_goal=1.05,
    cases=(
        Case("max_pool1d", lambda t, x: partial(t.max_pool1d, x(16, 64, 512), 2)),
        Case("max_pool2d 2", lambda t, x: partial(t.max_pool2d, x(8, 64, 56, 56), 2)),
        Case("max_pool2d 3, stride 2", lambda t, x: partial(t.max_pool2d, x(8, 64, 56, 56), 3, 2, 1)),
        Case("max_pool3d", lambda t, x: partial(t.max_pool3d, x(2, 16, 16, 28, 28), 2)),
        Case("avg_pool2d 2", lambda t, x: partial(t.nn.functional.avg_pool2d, x(8, 64, 56, 56), 2)),
        Case("avg_pool2d 3", lambda t, x: partial(t.nn.functional.avg_pool2d, x(8, 64, 56, 56), 3, 1, 1)),
        Case(
            "adaptive_avg_pool2d 1",
            lambda t, x: partial(t.nn.functional.adaptive_avg_pool2d, x(16, 512, 7, 7), 1),
        ),
        Case(
            "adaptive_avg_pool2d 4",
            lambda t, x: partial(t.nn.functional.adaptive_avg_pool2d, x(8, 64, 28, 28), 4),
        ),
        Case(
            "interpolate, nearest",
            lambda t, x: partial(t.nn.functional.interpolate, x(4, 32, 32, 32), scale_factor=2),
        ),
        Case(
            "interpolate, bilinear",
            lambda t, x: partial(
                t.nn.functional.interpolate, x(4, 32, 32, 32), scale_factor=2, mode="bilinear"
            ),
        ),
        Case(
            "interpolate, bicubic",
            lambda t, x: partial(
                t.nn.functional.interpolate, x(4, 8, 64, 64), scale_factor=2, mode="bicubic"
            ),
        ),
        Case(
            "grid_sample",
            lambda t, x: partial(
                t.nn.functional.grid_sample, x(4, 16, 64, 64), t.tanh(x(4, 64, 64, 2)), align_corners=False
            ),
        ),
        Case("pixel_shuffle", lambda t, x: partial(t.pixel_shuffle, x(4, 64, 64, 64), 2), bytes=8.0 * 2**20),
        Case("pad with zeros", lambda t, x: partial(t.nn.functional.pad, x(8, 32, 56, 56), (1, 1, 1, 1))),
        Case(
            "pad by reflection",
            lambda t, x: partial(t.nn.functional.pad, x(8, 32, 56, 56), (1, 1, 1, 1), "reflect"),
        ),
        Case("unfold", lambda t, x: partial(t.nn.functional.unfold, x(4, 16, 56, 56), 3, 1, 1)),
    ),
)
