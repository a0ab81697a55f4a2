"""Shortens a program while it still shows what is wrong."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator


def shortened(text: str, is_wrong: Callable[[str], bool], seconds: float) -> str:
    """`text` without the lines that `is_wrong` does not need; the first and the last line stay."""
    end = time.monotonic() + seconds
    candidates = _shorter(text.split("\n"))
    while time.monotonic() < end:
        shorter = next(candidates, None)
        if shorter is None:
            break
        if is_wrong(shorter):
            text = shorter
            candidates = _shorter(text.split("\n"))
    return text


def _shorter(lines: list[str]) -> Iterator[str]:
    """The text with fewer lines, many first; also with the body of a block in place of the block."""
    for count in (8, 4, 2, 1):
        for start in range(1, len(lines) - count):
            yield "\n".join([*lines[:start], *lines[start + count :]])

    for start in range(1, len(lines) - 1):
        body = _body(lines, start)
        if body:
            inner = [line[4:] for line in lines[start + 1 : start + 1 + body]]
            yield "\n".join([*lines[:start], *inner, *lines[start + 1 + body :]])


def _body(lines: list[str], start: int) -> int:
    """The number of lines below a line that are indented more."""
    depth = len(lines[start]) - len(lines[start].lstrip())
    count = 0
    for line in lines[start + 1 : -1]:
        if len(line) - len(line.lstrip()) <= depth:
            break
        count += 1
    return count
