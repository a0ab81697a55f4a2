"""Breaks the long lines of generated code, once per file and after rendering, so that templates need not.

A line that fits is left alone. A longer one is broken after commas, or after operators where there are none,
as far outside its brackets as possible:

    Tensor add_Tensor(DispatchKeySet keys, const Tensor& self, const Tensor& other,
        const Scalar& alpha) {

String literals and ``//`` comments stay whole even where they are too long: one searches for them. Stubs are
laid out as ruff does it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

CPP_WIDTH = 100
STUB_WIDTH = 110

# By how much a continuation line is indented more than the line that it continues.
_INDENT = 4

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)\'|//.*|(?<=\w)<|(?<![ -])>|[()\[\]{},]')
_CLOSING = {"(": ")", "[": "]", "{": "}", "<": ">"}
# Operators that a line may be broken after, loosest binding first.
_OPERATORS = tuple(re.compile(f" (?:{one}) ") for one in (r"\?|:", r"\|\|", "&&", r"[+-]", "[*/]"))
_ANY_OPERATOR = re.compile(r" (?:[?+*/-]|\|\||&&) ")
_CONDITION = re.compile(r" *(?:if|for) ")
# Where a line has none of these, its brackets hold plain lists.
_NESTING = re.compile(r"""["'\[{?|+*]|&&""")


def wrapped(path: str, text: str) -> str:
    """The text of the generated file ``path`` with its long lines broken."""
    if path.endswith((".cpp", ".h")):
        return _each_long_line(text, CPP_WIDTH, wrap_cpp)
    if path.endswith(".pyi"):
        return _each_long_line(text, STUB_WIDTH, wrap_stub)
    return text


def _each_long_line(text: str, width: int, wrap: Callable[[str], str]) -> str:
    lines = text.split("\n")
    return "\n".join([line if len(line) <= width else wrap(line) for line in lines])


def wrap_cpp(line: str, width: int = CPP_WIDTH) -> str:
    """One long line of C++, broken into several."""
    start = line.lstrip()
    if start.startswith("///"):
        return _wrap_words(line, width)
    if start.startswith(("//", "#")) or start.endswith("\\"):
        return line

    if line.count("(") == 1 and _NESTING.search(line, 0, len(line) - 1) is None:
        filled = _fill_plain_list(line, width)
        if filled is not None:
            return filled
    if " = " in line and "," not in line:
        left, right = line.split(" = ", 1)
        margin = " " * (len(line) - len(start) + _INDENT)
        if len(margin) + len(right) <= width:
            return f"{left} =\n{margin}{right}"

    brackets = _brackets_of(line)
    if _CONDITION.match(line):
        return "\n".join(_condition_and_statement(line, brackets, width))
    return "\n".join(_Breaker(line, width).lines(0, len(line), brackets))


def wrap_stub(line: str, width: int = STUB_WIDTH) -> str:
    """One long line of a Python stub: ``def name(...) -> type: ...`` or ``from module import names``."""
    margin = " " * (len(line) - len(line.lstrip()))
    imported = re.fullmatch(r"(from [\w.]+ import )(.*)", line)
    if imported is not None:
        return _exploded(f"{imported[1]}(", imported[2].split(", "), ")", margin)

    parameters = next((b for b in _brackets_of(line) if line[b.start] == "("), None)
    if line.lstrip().startswith("#") or parameters is None:
        return line

    head, tail = line[: parameters.start + 1], line[parameters.end - 1 :]
    inside = line[parameters.start + 1 : parameters.end - 1]
    if len(margin) + _INDENT + len(inside) <= width:
        return f"{head}\n{margin}{' ' * _INDENT}{inside}\n{margin}{tail}"
    items = [line[a:b].strip(" ,") for a, b in parameters.items()]
    return _exploded(head, items, tail, margin)


def _exploded(head: str, items: Sequence[str], tail: str, margin: str) -> str:
    """Every item on a line of its own."""
    return "\n".join([head, *(f"{margin}{' ' * _INDENT}{item}," for item in items), margin + tail])


def _fill_plain_list(line: str, width: int) -> str | None:
    """What ``_Breaker`` does, faster, for most lines; None where an item needs more than a line."""
    head, _, rest = line.partition("(")
    inside, _, tail = rest.partition(")")
    items = inside.split(", ")
    if len(items) == 1:
        return None

    head += "("
    tail = f"){tail}"
    margin = " " * (len(head) - len(head.lstrip()) + _INDENT)
    for item in items:
        if item.count("<") != item.count(">") or len(margin) + len(item) + len(tail) >= width:
            return None

    lines = []
    current = head + items[0]
    if len(current) + 1 > width:
        lines.append(head)
        current = margin + items[0]
    for item in items[1:-1]:
        if len(current) + len(item) + 3 > width:
            lines.append(f"{current},")
            current = margin + item
        else:
            current += f", {item}"

    last = items[-1] + tail
    if len(current) + len(last) + 2 > width:
        return "\n".join([*lines, f"{current},", margin + last])
    return "\n".join([*lines, f"{current}, {last}"])


def _wrap_words(line: str, width: int) -> str:
    """A documentation comment, broken between words."""
    prefix = line[: line.index("///") + 3]
    lines = []
    current = prefix
    for word in line[len(prefix) :].split():
        if len(current) + 1 + len(word) > width and current != prefix:
            lines.append(current)
            current = prefix
        current += f" {word}"
    return "\n".join([*lines, current])


class _Bracket:
    """A pair of brackets in a line, or a string or comment, which is never broken."""

    __slots__ = ("start", "end", "commas", "inner")

    def __init__(self, start: int) -> None:
        self.start = start
        self.end = 0  # behind the closing bracket
        self.commas: list[int] = []  # positions of the commas between its items
        self.inner: list[_Bracket] = []

    def items(self) -> list[tuple[int, int]]:
        """Where each item begins and ends: its comma belongs to it, the blank before it does too."""
        cuts = [self.start, *self.commas, self.end - 2]
        return [(before + 1, after + 1) for before, after in zip(cuts, cuts[1:])]


def _brackets_of(line: str) -> list[_Bracket]:
    """The outermost brackets that open and close in ``line``.

    A bracket without its partner, as in ``void f() {``, counts as text.
    """
    outermost = _Bracket(-1)
    stack = [outermost]
    for match in _TOKEN.finditer(line):
        token, position = match[0], match.start()
        if token in _CLOSING:
            stack.append(_Bracket(position))
        elif token == ",":
            stack[-1].commas.append(position)
        elif len(token) > 1:
            opaque = _Bracket(position)
            opaque.end = match.end()
            stack[-1].inner.append(opaque)
        elif len(stack) > 1 and _CLOSING[line[stack[-1].start]] == token:
            closed = stack.pop()
            closed.end = position + 1
            stack[-1].inner.append(closed)

    for unclosed in stack[1:]:
        outermost.inner += unclosed.inner
    return outermost.inner


def _condition_and_statement(line: str, brackets: Sequence[_Bracket], width: int) -> Iterator[str]:
    """``if (condition) statement;``: the statement goes to a line of its own, where it is no block."""
    condition = brackets[0]
    following = line[condition.end :].strip()
    if following in ("", "{"):
        yield from _Breaker(line, width).lines(0, len(line), brackets)
        return

    yield from _Breaker(line, width).lines(0, condition.end, brackets[:1])
    statement = " " * (len(line) - len(line.lstrip()) + 2) + following
    yield wrap_cpp(statement, width) if len(statement) > width else statement


class _Breaker:
    """Distributes one line over several. Positions are those in the original line."""

    def __init__(self, line: str, width: int) -> None:
        self.line = line
        self.width = width
        self.has_operators = _ANY_OPERATOR.search(line) is not None
        self.finished: list[str] = []
        self.current = ""

    def lines(self, start: int, end: int, brackets: Sequence[_Bracket]) -> list[str]:
        self._put(start, end, brackets, 0)
        return [*self.finished, self.current]

    def _put(self, start: int, end: int, brackets: Sequence[_Bracket], reserve: int) -> None:
        """Appends ``line[start:end]``; ``reserve`` more columns are needed behind it."""
        if self._fits(end - start + reserve):
            self.current += self.line[start:end]
            return
        pieces = self._pieces(start, end, brackets)
        if len(pieces) > 1:
            self._fill(pieces, brackets, reserve, breaks_first=False)
            return

        position = start
        breakable = self._breakable(brackets)
        for index, bracket in enumerate(breakable):
            is_last = index + 1 == len(breakable)
            following = end + reserve if is_last else breakable[index + 1].start + 1
            self.current += self.line[position : bracket.start]
            self._put_bracket(bracket, following - bracket.end)
            position = bracket.end
        self.current += self.line[position:end]

    def _put_bracket(self, bracket: _Bracket, reserve: int) -> None:
        if self._fits(bracket.end - bracket.start + reserve):
            self.current += self.line[bracket.start : bracket.end]
            return
        if self._is_block(bracket):
            self._put_block(bracket)
            return

        self.current += self.line[bracket.start]
        items = bracket.items()
        if len(items) == 1 and self._breakable(bracket.inner):
            self._put(*items[0], bracket.inner, reserve + 1)  # what is inside can be broken
        else:
            self._fill(items, bracket.inner, reserve + 1, breaks_first=True)
        self.current += self.line[bracket.end - 1]

    def _breakable(self, brackets: Sequence[_Bracket]) -> list[_Bracket]:
        """All but strings and comments."""
        return [b for b in brackets if self.line[b.start] in _CLOSING]

    def _is_block(self, bracket: _Bracket) -> bool:
        """Whether this is the body of a lambda: braces around a statement."""
        return self.line[bracket.start] == "{" and self.line[bracket.end - 3] == ";"

    def _put_block(self, block: _Bracket) -> None:
        """The statement of a lambda on a line of its own, indented like the statements around it."""
        margin = self.current[: len(self.current) - len(self.current.lstrip())]
        self.finished.append(f"{self.current}{{")
        self.current = f"{margin}  "
        self._put(block.start + 2, block.end - 2, block.inner, 0)
        self.finished.append(self.current)
        self.current = f"{margin}}}"

    def _fill(
        self,
        items: Sequence[tuple[int, int]],
        brackets: Sequence[_Bracket],
        reserve: int,
        breaks_first: bool,
    ) -> None:
        """As many items on each line as fit.

        ``breaks_first``: the first item may go to a new line too, and an item that was broken ends its line.
        """
        margin = self._continuation()
        was_broken = False
        for index, (start, end) in enumerate(items):
            behind = reserve if index + 1 == len(items) else 0
            inside = [b for b in brackets if start <= b.start < end]
            columns = self._columns(start, end, inside) + behind
            gains = bool(self._breakable(inside)) or len(margin) + columns <= self.width
            if was_broken or ((index > 0 or breaks_first and gains) and not self._fits(columns)):
                start = self._start_line(start, margin)

            before = len(self.finished)
            self._put(start, end, inside, behind)
            ends_block = self.current.lstrip().startswith("}")
            was_broken = breaks_first and len(self.finished) > before and not ends_block

    def _columns(self, start: int, end: int, brackets: Sequence[_Bracket]) -> int:
        """What an item needs on its first line: of a lambda that does not fit, the part before its body."""
        block = next((b for b in brackets if self._is_block(b)), None)
        if block is None or self._fits(end - start):
            return end - start
        return block.start + 1 - start

    def _fits(self, columns: int) -> bool:
        return len(self.current) + columns <= self.width

    def _start_line(self, start: int, margin: str) -> int:
        """Ends the current line; the position of the first character of the next one."""
        self.finished.append(self.current.rstrip())
        self.current = margin
        while self.line[start] == " ":
            start += 1
        return start

    def _continuation(self) -> str:
        """The indentation of what continues the current line, or begins it."""
        if self.current.isspace():
            return self.current
        begun = self.current or self.line
        return " " * (len(begun) - len(begun.lstrip()) + _INDENT)

    def _pieces(self, start: int, end: int, brackets: Sequence[_Bracket]) -> list[tuple[int, int]]:
        """``line[start:end]`` cut after its loosest operators outside of brackets."""
        if not self.has_operators:
            return [(start, end)]

        bare = self.line[start:end]
        for bracket in brackets:
            masked = "_" * (bracket.end - bracket.start)
            bare = bare[: bracket.start - start] + masked + bare[bracket.end - start :]

        for operator in _OPERATORS:
            cuts = [start + match.end() - 1 for match in operator.finditer(bare)]
            if cuts and (operator is not _OPERATORS[0] or " ? " in bare):
                return list(zip([start, *cuts], [*cuts, end]))
        return [(start, end)]
