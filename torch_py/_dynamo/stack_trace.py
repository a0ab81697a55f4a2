"""The lines of the program that a node comes from."""

from __future__ import annotations

import linecache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch_py._dynamo.frame import Frame


def stack_trace(frame: Frame | None) -> str:
    """The calls of interpreted frames, outermost first, as Python prints them."""
    if frame is None:
        return ""
    lines = []
    for caller in reversed(frame.caller_frames()):
        code, number = caller.code, caller.line
        lines.append(f'  File "{code.co_filename}", line {number}, in {code.co_name}\n')
        text = linecache.getline(code.co_filename, number or 0).strip()
        if text:
            lines.append(f"    {text}\n")
    return "".join(lines)
