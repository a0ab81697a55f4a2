"""Broadcasting, strided and transposed operands, copies between layouts and dtypes, joins."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ..case import Case, Group, OnnxNode


def transposed_copy(size: int) -> Case:
    return Case(
        f"transposed copy {size}",
        lambda t, x: x(size, size).t().contiguous,
        bytes=8.0 * size**2,
        arrays=lambda np, x: (
            lambda a: np.ascontiguousarray(a.T) if hasattr(np, "ascontiguousarray") else a.T + 0,
            (x(size, size),),
        ),
        onnx=OnnxNode("Transpose", ((size, size),), {"perm": [1, 0]}),
    )


def cast(source: str, target: str, moved: float) -> Case:
    def make(t: Any, x: Any) -> Callable[[], Any]:
        return partial(x(1000, 1000).to(getattr(t, source)).to, getattr(t, target))

    return Case(f"{source} to {target}", make, bytes=moved * 1e6)


def cast_transposed(t: Any, x: Any) -> Callable[[], Any]:
    return partial(x(1024, 1024).t().to, t.bfloat16, memory_format=t.contiguous_format)


GROUP = Group(
    "layouts",
    mean_goal=0.5,
    worst_goal=1.05,
    cases=(
        transposed_copy(1024),
        transposed_copy(2048),
        transposed_copy(4096),
        Case("transposed copy, cast", cast_transposed, bytes=6.0 * 1024**2),
        Case(
            "add its transpose",
            lambda t, x: (lambda a: partial(t.add, a, a.t()))(x(2048, 2048)),
            bytes=12.0 * 2048**2,
        ),
        Case(
            "permuted heads", lambda t, x: x(16, 128, 8, 32).permute(0, 2, 1, 3).contiguous, bytes=8.0 * 2**19
        ),
        Case(
            "NCHW to NHWC",
            lambda t, x: partial(x(8, 64, 56, 56).contiguous, memory_format=t.channels_last),
            bytes=8.0 * 8 * 64 * 56**2,
        ),
        Case(
            "NHWC to NCHW",
            lambda t, x: x(8, 56, 56, 64).permute(0, 3, 1, 2).contiguous,
            bytes=8.0 * 8 * 64 * 56**2,
        ),
        Case("add a row", lambda t, x: partial(t.add, x(1024, 1024), x(1024)), bytes=8.0 * 1024**2),
        Case("add a column", lambda t, x: partial(t.add, x(1024, 1024), x(1024, 1)), bytes=8.0 * 1024**2),
        Case(
            "add every second",
            lambda t, x: partial(t.add, x(1024, 1024), x(1024, 2048)[:, ::2]),
            bytes=16.0 * 1024**2,
        ),
        Case(
            "add short rows",
            lambda t, x: partial(t.add, x(65536, 24)[:, :16], x(65536, 16)),
            bytes=12.0 * 2**20,
        ),
        Case("copy", lambda t, x: x(1 << 22).clone, bytes=8.0 * 2**22),
        Case("fill", lambda t, x: x(1 << 22).zero_, bytes=4.0 * 2**22),
        cast("float32", "bfloat16", 6),
        cast("bfloat16", "float32", 6),
        cast("float32", "float16", 6),
        cast("float32", "float64", 12),
        cast("int64", "float32", 12),
        Case("cat rows", lambda t, x: partial(t.cat, [x(500, 1000), x(500, 1000)], 0), bytes=8e6),
        Case("cat columns", lambda t, x: partial(t.cat, [x(1000, 500), x(1000, 500)], 1), bytes=8e6),
        Case("stack last", lambda t, x: partial(t.stack, [x(1000, 500), x(1000, 500)], -1), bytes=8e6),
        Case("flip columns", lambda t, x: partial(t.flip, x(1000, 1000), (1,)), bytes=8e6),
        Case("roll", lambda t, x: partial(t.roll, x(1000, 1000), 3, 1), bytes=8e6),
        Case("repeat", lambda t, x: partial(x(100, 100).repeat, 10, 10), bytes=4e6),
        Case("tril", lambda t, x: partial(t.tril, x(1000, 1000)), bytes=8e6),
    ),
)
