"""cat and stack: one loop for each tensor, which stores into a part of the result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch_py._inductor.dtypes import CPP
from torch_py._inductor.formulas import NotLoweredError
from torch_py._inductor.ir import cast
from torch_py._inductor.lower.context import Lowering, Value, rule

_LARGEST = 16  # tensors; the loops of more take longer to compile than they save


@rule("cat")
def cat(lowering: Lowering, node: Any, tensors: Sequence[Value], dim: int = 0) -> Value:
    example = node.meta["val"]
    parts = [t for t in tensors if t.sizes != (0,) or len(example.shape) == 1]
    if len(parts) > _LARGEST or any(t.dtype not in CPP or len(t.sizes) != len(example.shape) for t in parts):
        raise NotLoweredError("many tensors, or of several ranks")

    dim %= len(example.shape)
    lowering.check(example)
    buffer = lowering.buffer(node.name, example)
    offset = 0
    for part in parts:
        if 0 not in part.sizes:
            axes, index = lowering.space(part.sizes)
            place = [i + offset if d == dim else i for d, i in enumerate(index)]
            lowering.store(buffer, axes, place, cast(part.at(index), example.dtype))
        offset += part.sizes[dim]
    return Value.of(buffer)
