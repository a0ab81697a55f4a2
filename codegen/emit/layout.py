"""Lines no longer than the formatter would make them, so that generated code needs none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

WIDTH = 140

# Items of a list of parameters or arguments: texts, and lists of texts.
Items = Sequence[str | Sequence[str]]


def fill(head: str, nested: Items, tail: str = "", separator: str = ",") -> str:
    """``head`` + items + ``tail``; what does not fit continues below the first item.

    ``head`` ends with the opening bracket. Where items are too long to stand behind it, they all start in the
    next line.
    """
    items = list(_flat(nested))
    line = f"{head}{f'{separator} '.join(items)}{tail}"
    if len(line) <= WIDTH and "\n" not in line:
        return line
    text = _filled(head, " " * len(head), items, tail, separator)
    if "\n" in text and max(map(len, text.split("\n"))) > WIDTH:
        margin = " " * (len(head) - len(head.lstrip()) + 4)
        text = f"{head}\n{_filled(margin, margin, items, tail, separator)}"
    return text


def _filled(head: str, margin: str, items: list[str], tail: str, separator: str) -> str:
    lines: list[str] = []
    line = head
    for position, item in enumerate(items):
        is_last = position + 1 == len(items)
        text = item + (tail if is_last else separator)
        fits = len(line) + (line[-1:] == separator) + len(text) <= WIDTH
        if not fits and position > 0:
            lines.append(line)
            line = margin + text
        else:
            line += (" " if position > 0 else "") + text
    if not items:
        line += tail
    return "\n".join([*lines, line])


def _flat(items: Items) -> Iterator[str]:
    for item in items:
        if isinstance(item, str):
            yield item
        else:
            yield from item


def comment(text: str, prefix: str = "// ") -> str:
    """Words of ``text`` in comment lines."""
    lines: list[str] = []
    line = prefix.rstrip()
    for word in text.split():
        if len(line) + 1 + len(word) > WIDTH and line != prefix.rstrip():
            lines.append(line)
            line = prefix.rstrip()
        line += " " + word
    return "\n".join([*lines, line])


def indented(text: str, columns: int) -> str:
    """Every line but empty ones moved to the right."""
    return "\n".join(" " * columns + line if line else line for line in text.split("\n"))


def cpp_string(text: str) -> str:
    """A C++ string literal."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def cpp_lines(text: str, columns: int) -> str:
    """A C++ string literal, one piece a line, that follows ``columns`` of indentation."""
    lines = text.split("\n")
    pieces = [cpp_string(line + ("\n" if i + 1 < len(lines) else "")) for i, line in enumerate(lines)]
    return ("\n" + " " * columns).join(pieces)
