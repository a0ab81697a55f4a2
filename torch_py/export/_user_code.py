"""Where in the user's program a call comes from."""

from __future__ import annotations

import linecache
import os
import sys
from types import FrameType

import torch_py

ROOT = os.path.dirname(torch_py.__file__) + os.sep
_DEPTH = 30


def _frames() -> list[FrameType]:
    """The frames of this thread, the innermost one first."""
    found = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        found.append(frame)
        frame = frame.f_back
    return found


def user_stack(outermost: FrameType | None = None) -> str:
    """The stack of the exported program, innermost call last, as a traceback prints it.

    Frames of torch_py are left out, and so is everything outside of `outermost`.
    """
    lines: list[str] = []
    for frame in _frames():
        if frame is outermost or len(lines) == _DEPTH:
            break
        if not frame.f_code.co_filename.startswith(ROOT):
            lines.append(_described(frame))
    return "".join(reversed(lines)).rstrip("\n")


def _described(frame: FrameType) -> str:
    file = frame.f_code.co_filename
    text = f'  File "{file}", line {frame.f_lineno}, in {frame.f_code.co_name}\n'
    source = linecache.getline(file, frame.f_lineno, frame.f_globals).strip()
    return f"{text}    {source}\n" if source else text


def innermost_line(stack: str | None) -> str:
    """The last place of a stack, to end a message with: ``(model.py:12: return x + 1)``; empty without a
    stack."""
    lines = (stack or "").strip().split("\n")
    for position in range(len(lines) - 1, -1, -1):
        line = lines[position].strip()
        if not line.startswith('File "'):
            continue
        file, _, rest = line.removeprefix('File "').partition('", line ')
        number = rest.partition(", in ")[0]
        source = lines[position + 1].strip() if position + 1 < len(lines) else ""
        return f" ({file}:{number}: {source})" if source else f" ({file}:{number})"
    return ""
