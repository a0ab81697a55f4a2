"""Chapters of a file: a comment ``# Chapter linalg: ...`` above the first topic of each."""

from __future__ import annotations

import re

BANNER = re.compile(r"^ *# Chapter (?P<name>[a-z_]+):", re.MULTILINE)


def chapter_at(text: str, index: int) -> str:
    """The chapter that the character at ``index`` of the YAML is in; empty before the first one."""
    banners = BANNER.findall(text, 0, index)
    return banners[-1] if banners else ""
