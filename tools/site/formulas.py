"""Formulas as MathML, which browsers typeset without scripts or fonts from elsewhere."""

from __future__ import annotations

import re
from functools import cache

from latex2mathml.converter import convert

_DISPLAYED = re.compile(r"^\$\$\n?(?P<latex>.+?)\n?\$\$$", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"(?<![\\$\w])\$(?P<latex>[^\s$](?:[^$\n]*[^\s$\\])?)\$(?![\w$])")
_CODE = re.compile(r"(```.*?```|``.+?``|`[^`\n]+`)", re.DOTALL)


@cache
def displayed(latex: str) -> str:
    """A formula on a line of its own. The search index leaves it out."""
    return f'<div class="formula" data-search-exclude>{convert(latex, display="block")}</div>'


@cache
def inline(latex: str) -> str:
    return str(convert(latex))


def typeset(markdown: str) -> str:
    """Markdown with the formulas between dollar signs typeset. Code stays as it is."""
    parts = _CODE.split(markdown)
    for index in range(0, len(parts), 2):
        text = _DISPLAYED.sub(lambda match: displayed(match["latex"]), parts[index])
        parts[index] = _INLINE.sub(lambda match: inline(match["latex"]), text)
    return "".join(parts)
