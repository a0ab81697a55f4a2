"""What a break says: the line, what is there, why that ends the graph, and how to avoid it."""

from __future__ import annotations

import linecache
from typing import TYPE_CHECKING

from torch_py._dynamo.breaks import Break

if TYPE_CHECKING:
    from torch_py._dynamo.frame import Frame


def explained(reason: Break) -> str:
    """At most eight lines."""
    lines = [f"graph break: {reason.what}"]
    if reason.frames:
        lines += _place(reason.frames[0])
    lines.append(f"  why: {reason.why}")
    if reason.hint:
        lines.append(f"  hint: {reason.hint}")
    return "\n".join(lines)


def _place(frame: Frame) -> list[str]:
    """The line of the program, with carets below the part that breaks."""
    code = frame.code
    first, last, start, end = _position(frame)
    where = f'  File "{code.co_filename}", line {first}, in {code.co_name}'
    text = linecache.getline(code.co_filename, first or 0).rstrip("\n")
    if not text.strip():
        return [where]
    indent = len(text) - len(text.lstrip())
    shown = [where, "    " + text.strip()]
    if start is not None and end is not None:
        if last != first:
            end = len(text)
        shown.append("    " + " " * (start - indent) + "^" * max(end - start, 1))
    return shown


def _position(frame: Frame) -> tuple[int | None, int | None, int | None, int | None]:
    code = frame.code
    if not hasattr(code, "co_positions"):
        return frame.line, None, None, None
    positions = list(code.co_positions())
    # An instruction with prefixes has its place in the last of them; caches have it, too.
    index = frame.instruction.offset // 2
    return positions[index] if index < len(positions) else (frame.line, None, None, None)
