"""Turns the documentation of functions, classes and entries into Markdown.

Their form is the same everywhere: paragraphs, indented formulas and code, and the sections below.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Iterator
from html import escape

# The address of a name in backticks; None without a page.
Linker = Callable[[str], "str | None"]

_WITH_NAMES = ("Args", "Arguments", "Keyword args", "Attributes", "Raises", "Shape")
_SECTION = re.compile(
    rf"^(?P<title>{'|'.join(_WITH_NAMES)}|Returns|Yields|Examples?|Notes?|Warning):{{1,2}}(?P<rest> .*)?$"
)
_NAMED = re.compile(r"^(?P<names>[*\w][\w*., /]*?(?: \([^()]*\))?): +(?P<text>.+)$", re.DOTALL)
_CODE = re.compile(r"``(?P<double>.+?)``|`(?P<single>[^`\n]+)`")
_ROLE = re.compile(r":(?:class|func|meth|attr|mod|obj):(?=`)")


def to_markdown(text: str, link: Linker | None = None, own: Collection[str] = ()) -> str:
    """``own`` are the names of arguments, which do not become links."""
    lines = inspect.cleandoc(text).split("\n")
    spoken = _Spoken(link, frozenset(own))
    return "\n\n".join(part for part in _parts(lines, spoken) if part)


def summary_of(text: str | None) -> str:
    """The first sentence."""
    paragraph = " ".join(inspect.cleandoc(text or "").split("\n\n")[0].split())
    end = re.search(r"[.:](?= [A-Z(`]|$)", paragraph)
    return paragraph if end is None else paragraph[: end.start()] + "."


def spoken_as_html(text: str) -> str:
    """A sentence for a table: names of code in backticks, everything else as it is."""
    parts = []
    end = 0
    for match in _CODE.finditer(text):
        parts.append(escape(text[end : match.start()]))
        parts.append(f"<code>{escape(match['double'] or match['single'])}</code>")
        end = match.end()
    return "".join([*parts, escape(text[end:])])


class _Spoken:
    """Prose as Markdown: names of code in backticks, everything else as it is."""

    def __init__(self, link: Linker | None, own: frozenset[str]) -> None:
        self.link = link
        self.own = own

    def __call__(self, text: str) -> str:
        parts = []
        end = 0
        text = _ROLE.sub("", text)
        for match in _CODE.finditer(text):
            parts += [_escaped(text[end : match.start()]), self.code(match["double"] or match["single"])]
            end = match.end()
        return "".join([*parts, _escaped(text[end:])])

    def code(self, text: str) -> str:
        shown = f"`` {text} ``" if "`" in text else f"`{text}`"
        address = None if self.link is None or text in self.own else self.link(text)
        return f"[{shown}]({address})" if address else shown


def _escaped(text: str) -> str:
    """Without meaning for Markdown."""
    return re.sub(r"([*_\[\]])(?=\S)", r"\\\1", text).replace("<", "&lt;")


def _parts(lines: list[str], spoken: _Spoken) -> Iterator[str]:
    """Paragraphs and indented blocks up to the first section, then the sections."""
    prose: list[str] = []
    number = 0
    while number < len(lines):
        heading = _SECTION.match(lines[number])
        if heading is None:
            prose.append(lines[number])
            number += 1
            continue

        yield from _prose(prose, spoken)
        prose = []
        end = _end_of_section(lines, number + 1)
        body = [heading["rest"].strip()] if heading["rest"] else []
        body += inspect.cleandoc("\n".join(["", *lines[number + 1 : end]])).split("\n")
        yield from _section(heading["title"], body, spoken)
        number = end
    yield from _prose(prose, spoken)


def _end_of_section(lines: list[str], start: int) -> int:
    """A section goes on as long as lines are indented or empty."""
    indented = (i for i in range(start, len(lines)) if lines[i] and not lines[i].startswith(" "))
    return next(indented, len(lines))


def _prose(lines: list[str], spoken: _Spoken) -> Iterator[str]:
    for block in re.split(r"\n[ ]*\n", "\n".join(lines).strip("\n")):
        if block.startswith("    "):
            yield _code(inspect.cleandoc("\n" + block), "text")
        elif ">>> " in block and block.lstrip().startswith(">>> "):
            yield _code(inspect.cleandoc("\n" + block), "pycon")
        elif block.strip():
            yield spoken(block)


def _section(title: str, body: list[str], spoken: _Spoken) -> Iterator[str]:
    text = "\n".join(body).strip("\n")
    if not text:
        return

    if title.startswith("Example"):
        yield f'<p class="section">{title}</p>'
        yield from _example(text, spoken)
    elif title in _WITH_NAMES:
        yield f'<p class="section">{title}</p>'
        yield from _definitions(body, spoken)
    elif title in ("Note", "Notes", "Warning"):
        kind = "warning" if title == "Warning" else "note"
        yield f"!!! {kind}\n\n" + "\n".join(f"    {line}" for line in spoken(text).split("\n"))
    else:
        yield f'<p class="section">{title}</p>'
        yield spoken(text)


def _example(text: str, spoken: _Spoken) -> Iterator[str]:
    for block in re.split(r"\n[ ]*\n(?=[A-Z])|(?<=[.:])\n[ ]*\n", text):
        is_prose = ">>>" not in block and block[:1].isupper() and block.rstrip().endswith((".", ":"))
        yield spoken(block) if is_prose else _code(block, "pycon" if ">>>" in block else "python")


def _definitions(body: list[str], spoken: _Spoken) -> Iterator[str]:
    """``name: text`` as a list of terms; lines without a name stay paragraphs."""
    entries: list[list[str]] = []
    for line in body:
        if line.startswith(" ") and entries:
            entries[-1].append(line.strip())
        elif line.strip():
            entries.append([line.strip()])

    items = []
    for entry in entries:
        named = _NAMED.match(" ".join(entry))
        if named is None:
            items.append(f"<dd markdown>{spoken(' '.join(entry))}</dd>")
        else:
            items.append(f"<dt>{escape(named['names'])}</dt><dd markdown>{spoken(named['text'])}</dd>")
    yield '<dl class="parameters" markdown>\n' + "\n".join(items) + "\n</dl>"


def _code(text: str, language: str) -> str:
    return f"```{language}\n{text}\n```"
