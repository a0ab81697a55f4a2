"""Types that a traced program gives to values."""

from __future__ import annotations

from typing import Any

from torch_py.fx.proxy import Proxy


def annotate(val: Any, type: Any) -> Any:
    """Sets the type of the node behind a proxy and returns `val`; other values are returned as they are.

    Raises RuntimeError if the node has a type already.
    """
    if isinstance(val, Proxy):
        if val.node.type:
            raise RuntimeError(
                "Tried to annotate a value that already had a type on it! Existing type is "
                f"{val.node.type} and new type is {type}. This could happen if you tried to annotate a "
                "function parameter value (in which case you should use the type slot on the function "
                "signature) or you called annotate on the same value twice"
            )
        val.node.type = type
    return val
