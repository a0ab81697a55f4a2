"""Calls at typical model sizes, for operators whose arguments cannot just be enlarged."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

# Name, then a function of the library and of a maker of normally distributed tensors, which gives the call.
TYPICAL: dict[str, Callable[[Any, Any], Callable[[], Any]]] = {
    "conv2d 3x3": lambda t, x: partial(t.conv2d, x(8, 64, 28, 28), x(64, 64, 3, 3), x(64), 1, 1),
    "conv2d 3x3 large image": lambda t, x: partial(t.conv2d, x(1, 64, 112, 112), x(64, 64, 3, 3), None, 1, 1),
    "conv2d 3x3 stride 2": lambda t, x: partial(t.conv2d, x(8, 64, 28, 28), x(128, 64, 3, 3), None, 2, 1),
    "conv2d 1x1": lambda t, x: partial(t.conv2d, x(8, 64, 28, 28), x(256, 64, 1, 1)),
    "conv2d 7x7 stem": lambda t, x: partial(t.conv2d, x(4, 3, 112, 112), x(64, 3, 7, 7), None, 2, 3),
    "conv2d 5x5 small": lambda t, x: partial(t.conv2d, x(64, 1, 28, 28), x(16, 1, 5, 5), x(16)),
    "conv2d depthwise": lambda t, x: partial(t.conv2d, x(8, 64, 28, 28), x(64, 1, 3, 3), None, 1, 1, 1, 64),
    "conv2d groups": lambda t, x: partial(t.conv2d, x(8, 64, 28, 28), x(64, 16, 3, 3), None, 1, 1, 1, 4),
    "conv1d": lambda t, x: partial(t.conv1d, x(16, 64, 512), x(64, 64, 3), x(64), 1, 1),
    "conv3d": lambda t, x: partial(t.conv3d, x(1, 16, 16, 28, 28), x(16, 16, 3, 3, 3), None, 1, 1),
    "conv_transpose2d": lambda t, x: partial(
        t.conv_transpose2d, x(8, 64, 14, 14), x(64, 32, 4, 4), x(32), 2, 1
    ),
    "conv_transpose1d": lambda t, x: partial(t.conv_transpose1d, x(16, 64, 128), x(64, 32, 4), x(32), 2, 1),
    "linear": lambda t, x: partial(t.nn.functional.linear, x(128, 512), x(512, 512), x(512)),
    "linear 3d": lambda t, x: partial(t.nn.functional.linear, x(16, 64, 256), x(256, 256), x(256)),
    "bmm": lambda t, x: partial(t.bmm, x(64, 64, 64), x(64, 64, 64)),
    "einsum": lambda t, x: partial(t.einsum, "bhqd,bhkd->bhqk", x(8, 4, 64, 32), x(8, 4, 64, 32)),
    "scaled_dot_product_attention": lambda t, x: partial(
        t.nn.functional.scaled_dot_product_attention, x(4, 8, 128, 64), x(4, 8, 128, 64), x(4, 8, 128, 64)
    ),
    "layer_norm": lambda t, x: partial(t.nn.functional.layer_norm, x(16, 128, 256), (256,), x(256), x(256)),
    "rms_norm": lambda t, x: partial(t.nn.functional.rms_norm, x(16, 128, 256), (256,), x(256)),
    "group_norm": lambda t, x: partial(t.nn.functional.group_norm, x(8, 64, 28, 28), 8, x(64), x(64)),
    "instance_norm": lambda t, x: partial(t.nn.functional.instance_norm, x(8, 64, 28, 28)),
    "batch_norm training": lambda t, x: partial(
        t.nn.functional.batch_norm, x(8, 64, 28, 28), t.zeros(64), t.ones(64), x(64), x(64), True
    ),
    "batch_norm evaluation": lambda t, x: partial(
        t.nn.functional.batch_norm, x(8, 64, 28, 28), t.zeros(64), t.ones(64), x(64), x(64)
    ),
    "softmax rows": lambda t, x: partial(t.softmax, x(1024, 512), -1),
    "softmax attention": lambda t, x: partial(t.softmax, x(32, 8, 64, 64), -1),
    "log_softmax": lambda t, x: partial(t.log_softmax, x(128, 10000), -1),
    "cross_entropy": lambda t, x: partial(
        t.nn.functional.cross_entropy, x(1024, 1000), t.arange(1024) % 1000
    ),
    "max_pool1d": lambda t, x: partial(t.max_pool1d, x(16, 64, 512), 2),
    "max_pool2d 2": lambda t, x: partial(t.max_pool2d, x(8, 64, 56, 56), 2),
    "max_pool2d 3 stride 2": lambda t, x: partial(t.max_pool2d, x(8, 64, 56, 56), 3, 2, 1),
    "max_pool3d": lambda t, x: partial(t.max_pool3d, x(2, 16, 16, 28, 28), 2),
    "avg_pool1d": lambda t, x: partial(t.avg_pool1d, x(16, 64, 512), 2),
    "avg_pool2d 2": lambda t, x: partial(t.nn.functional.avg_pool2d, x(8, 64, 56, 56), 2),
    "avg_pool2d 3": lambda t, x: partial(t.nn.functional.avg_pool2d, x(8, 64, 56, 56), 3, 1, 1),
    "adaptive_avg_pool2d 1": lambda t, x: partial(t.nn.functional.adaptive_avg_pool2d, x(16, 512, 7, 7), 1),
    "adaptive_avg_pool2d 4": lambda t, x: partial(t.nn.functional.adaptive_avg_pool2d, x(8, 64, 28, 28), 4),
    "adaptive_max_pool2d 1": lambda t, x: partial(t.nn.functional.adaptive_max_pool2d, x(16, 512, 7, 7), 1),
    "interpolate nearest": lambda t, x: partial(
        t.nn.functional.interpolate, x(4, 32, 32, 32), scale_factor=2
    ),
    "interpolate bilinear": lambda t, x: partial(
        t.nn.functional.interpolate, x(4, 32, 32, 32), scale_factor=2, mode="bilinear"
    ),
    "interpolate bicubic": lambda t, x: partial(
        t.nn.functional.interpolate, x(4, 8, 64, 64), scale_factor=2, mode="bicubic"
    ),
    "grid_sample": lambda t, x: partial(
        t.nn.functional.grid_sample, x(4, 16, 64, 64), t.tanh(x(4, 64, 64, 2)), align_corners=False
    ),
    "pixel_shuffle": lambda t, x: partial(t.pixel_shuffle, x(4, 64, 64, 64), 2),
    "pad constant": lambda t, x: partial(t.nn.functional.pad, x(8, 32, 56, 56), (1, 1, 1, 1)),
    "pad reflect": lambda t, x: partial(t.nn.functional.pad, x(8, 32, 56, 56), (1, 1, 1, 1), "reflect"),
    "unfold": lambda t, x: partial(t.nn.functional.unfold, x(4, 16, 56, 56), 3, 1, 1),
    "embedding": lambda t, x: partial(
        t.nn.functional.embedding, (t.arange(4096) * 7919) % 10000, x(10000, 256)
    ),
    "embedding_bag": lambda t, x: partial(
        t.nn.functional.embedding_bag, (t.arange(8192) * 7919) % 10000, x(10000, 64), t.arange(0, 8192, 8)
    ),
    "dropout": lambda t, x: partial(t.nn.functional.dropout, x(1000, 1000), 0.5),
    "lstm": lambda t, x: partial(t.nn.LSTM(64, 128, batch_first=True), x(16, 32, 64)),
    "gru": lambda t, x: partial(t.nn.GRU(64, 128, batch_first=True), x(16, 32, 64)),
    "glu": lambda t, x: partial(t.nn.functional.glu, x(1000, 1024)),
    "norm": lambda t, x: partial(t.norm, x(1000, 1000)),
    "linalg_vector_norm dim": lambda t, x: partial(t.linalg.vector_norm, x(1000, 1000), 2, -1),
    "normalize": lambda t, x: partial(t.nn.functional.normalize, x(1000, 256)),
    "cosine_similarity": lambda t, x: partial(t.cosine_similarity, x(1000, 256), x(1000, 256)),
    "cdist": lambda t, x: partial(t.cdist, x(256, 64), x(256, 64)),
    "sum columns": lambda t, x: partial(t.sum, x(1000, 1000), 0),
    "sum rows": lambda t, x: partial(t.sum, x(1000, 1000), 1),
    "sum short rows": lambda t, x: partial(t.sum, x(100000, 10), 1),
    "sum middle": lambda t, x: partial(t.sum, x(32, 512, 64), 1),
    "mean outer and inner": lambda t, x: partial(t.mean, x(32, 64, 28, 28), (0, 2, 3)),
    "mean leading": lambda t, x: partial(t.mean, x(64, 128, 128), 0),
    "mean trailing": lambda t, x: partial(t.mean, x(32, 256, 14, 14), (2, 3)),
    "var rows": lambda t, x: partial(t.var, x(1000, 1000), 1),
    "var columns": lambda t, x: partial(t.var, x(1000, 1000), 0),
    "max rows": lambda t, x: partial(t.max, x(1000, 1000), 1),
    "max columns": lambda t, x: partial(t.max, x(1000, 1000), 0),
    "argmax rows": lambda t, x: partial(t.argmax, x(1000, 1000), 1),
    "amax columns": lambda t, x: partial(t.amax, x(1000, 1000), 0),
    "cumsum rows": lambda t, x: partial(t.cumsum, x(1000, 1000), 1),
    "cumsum columns": lambda t, x: partial(t.cumsum, x(1000, 1000), 0),
    "add broadcast row": lambda t, x: partial(t.add, x(1000, 1000), x(1000)),
    "add broadcast column": lambda t, x: partial(t.add, x(1000, 1000), x(1000, 1)),
    "add transposed": lambda t, x: partial(t.add, x(1000, 1000), x(1000, 1000).t()),
    "contiguous transposed": lambda t, x: x(1000, 1000).t().contiguous,
    "contiguous permuted": lambda t, x: x(16, 128, 8, 32).permute(0, 2, 1, 3).contiguous,
    "to bfloat16": lambda t, x: partial(x(1000, 1000).to, t.bfloat16),
    "to float64": lambda t, x: partial(x(1000, 1000).to, t.float64),
    "cat rows": lambda t, x: partial(t.cat, [x(500, 1000), x(500, 1000)], 0),
    "cat columns": lambda t, x: partial(t.cat, [x(1000, 500), x(1000, 500)], 1),
    "stack last": lambda t, x: partial(t.stack, [x(1000, 500), x(1000, 500)], -1),
    "where": lambda t, x: partial(t.where, x(1000, 1000) > 0, x(1000, 1000), x(1000, 1000)),
    "masked_fill": lambda t, x: partial(t.masked_fill, x(1000, 1000), x(1000, 1000) > 0, 0.0),
    "masked_select": lambda t, x: partial(t.masked_select, x(1000, 1000), x(1000, 1000) > 0),
    "index rows": lambda t, x: (lambda rows, index: lambda: rows[index])(
        x(10000, 128), (t.arange(8192) * 7919) % 10000
    ),
    "index boolean": lambda t, x: (lambda rows, mask: lambda: rows[mask])(x(10000, 128), x(10000) > 0),
    "index_select": lambda t, x: partial(t.index_select, x(10000, 128), 0, (t.arange(8192) * 7919) % 10000),
    "gather rows": lambda t, x: partial(
        t.gather, x(1000, 1000), 1, (t.arange(1000000).reshape(1000, 1000) * 7919) % 1000
    ),
    "scatter_add": lambda t, x: partial(
        t.scatter_add, x(1000, 64), 0, (t.arange(640000).reshape(10000, 64) * 7919) % 1000, x(10000, 64)
    ),
    "index_add": lambda t, x: partial(
        t.index_add, x(1000, 64), 0, (t.arange(10000) * 7919) % 1000, x(10000, 64)
    ),
    "sort rows": lambda t, x: partial(t.sort, x(1000, 1000), -1),
    "sort long": lambda t, x: partial(t.sort, x(200000), -1),
    "topk": lambda t, x: partial(t.topk, x(1000, 1000), 10),
    "multinomial": lambda t, x: partial(t.multinomial, x(64, 1000).abs(), 10, True),
    "one_hot": lambda t, x: partial(t.nn.functional.one_hot, t.arange(10000) % 100, 100),
    "arange": lambda t, x: partial(t.arange, 1000000),
    "zeros": lambda t, x: partial(t.zeros, 1000000),
    "randn": lambda t, x: partial(t.randn, 1000000),
    "rand": lambda t, x: partial(t.rand, 1000000),
    "randperm": lambda t, x: partial(t.randperm, 100000),
    "tril": lambda t, x: partial(t.tril, x(1000, 1000)),
    "inverse": lambda t, x: partial(t.linalg.inv, x(256, 256)),
    "svd": lambda t, x: partial(t.linalg.svd, x(128, 128)),
    "cholesky": lambda t, x: (lambda m: partial(t.linalg.cholesky, m @ m.t() + 256 * t.eye(256)))(
        x(256, 256)
    ),
    "fft": lambda t, x: partial(t.fft.rfft, x(256, 4096)),
    "stft": lambda t, x: partial(
        t.stft, x(4, 16000), 512, 128, window=t.hann_window(512), return_complex=True
    ),
    "floor_divide": lambda t, x: partial(t.floor_divide, x(1000000), x(1000000)),
    "remainder number": lambda t, x: partial(t.remainder, 100 * x(1000000), 1.5),
    "integer add": lambda t, x: partial(t.add, t.arange(1000000), t.arange(1000000)),
    "integer floor_divide": lambda t, x: partial(t.floor_divide, t.arange(1000000), 7),
    "integer remainder": lambda t, x: partial(t.remainder, t.arange(1000000), 7),
    "integer sum": lambda t, x: partial(t.sum, t.arange(1000000)),
}
