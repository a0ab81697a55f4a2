"""Counters of what was compiled."""

from __future__ import annotations

from collections import Counter, defaultdict

from torch_py._dynamo.decode import is_supported as is_dynamo_supported
from torch_py._pytorch_names.packages import lacking as _lacking

# By kind: "graph_break" counts reasons; "stats" has the numbers of graphs and of captures.
counters: defaultdict[str, Counter[str]] = defaultdict(Counter)


def is_compile_supported(device_type: str) -> bool:
    """Whether functions on such a device can be compiled."""
    return is_dynamo_supported() and device_type.partition(":")[0] in ("cpu", "cuda")


__getattr__ = _lacking(__name__)
