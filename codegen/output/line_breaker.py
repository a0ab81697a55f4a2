"""Breaks one line of C++ into several.

A line is broken after commas, or after operators where it lacks commas, and as far outside its brackets as
possible. Each line then holds as many items as fit. A continuation line is indented by four columns:

    Tensor add_Tensor(DispatchKeySet keys, const Tensor& self, const Tensor& other,
        const Scalar& alpha) {
"""

from __future__ import annotations

import re
from collections.abc import Sequence

# By how much a continuation line is indented more than the line that it continues.
INDENT = 4

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)\'|//.*|(?<=\w)<|(?<![ -])>|[()\[\]{},]')
_CLOSING = {"(": ")", "[": "]", "{": "}", "<": ">"}
# Operators that a line may be broken after, loosest binding first.
_OPERATORS = tuple(re.compile(f" (?:{one}) ") for one in (r"\?|:", r"\|\|", "&&", r"[+-]", "[*/]"))
_ANY_OPERATOR = re.compile(r" (?:[?+*/-]|\|\||&&) ")


def break_line(line: str, width: int) -> str:
    """``line``, broken so that its parts fit into ``width`` columns where that is possible."""
    return _Breaker(line, width).result()


class Bracket:
    """A pair of brackets in a line, or a string or comment, which is never broken."""

    __slots__ = ("start", "end", "commas", "inner", "is_list")

    def __init__(self, start: int) -> None:
        self.start = start
        self.end = 0  # behind the closing bracket
        self.commas: list[int] = []  # positions of the commas between its items
        self.inner: list[Bracket] = []
        self.is_list = False  # whether there are commas inside, at any depth

    def items(self) -> list[tuple[int, int]]:
        """Where each item begins and ends: its comma belongs to it, the blank before it does too."""
        cuts = [self.start, *self.commas, self.end - 2]
        return [(before + 1, after + 1) for before, after in zip(cuts, cuts[1:])]


def brackets_of(line: str) -> list[Bracket]:
    """The outermost brackets that open and close in ``line``.

    A bracket without its partner, as in ``void f() {``, counts as text.
    """
    outermost = Bracket(-1)
    stack = [outermost]
    for match in _TOKEN.finditer(line):
        token, position = match[0], match.start()
        if token in _CLOSING:
            stack.append(Bracket(position))
        elif token == ",":
            stack[-1].commas.append(position)
        elif len(token) > 1:
            opaque = Bracket(position)
            opaque.end = match.end()
            stack[-1].inner.append(opaque)
        elif len(stack) > 1 and _CLOSING[line[stack[-1].start]] == token:
            closed = stack.pop()
            closed.end = position + 1
            closed.is_list = bool(closed.commas) or any(b.is_list for b in closed.inner)
            stack[-1].inner.append(closed)

    for unclosed in stack[1:]:
        outermost.inner += unclosed.inner
    return outermost.inner


class _Breaker:
    """Distributes one line over several. Positions are those in the original line."""

    def __init__(self, line: str, width: int) -> None:
        self.line = line
        self.width = width
        self.has_operators = _ANY_OPERATOR.search(line) is not None
        self.finished: list[str] = []
        self.current = ""

    def result(self) -> str:
        self._put(0, len(self.line), brackets_of(self.line), 0)
        return "\n".join([*self.finished, self.current])

    def _put(self, start: int, end: int, brackets: Sequence[Bracket], reserve: int) -> None:
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
        breakable = [b for b in breakable if b.is_list or self._is_block(b)] or breakable
        for index, bracket in enumerate(breakable):
            is_last = index + 1 == len(breakable)
            following = end + reserve if is_last else breakable[index + 1].start + 1
            self.current += self.line[position : bracket.start]
            self._put_bracket(bracket, following - bracket.end)
            position = bracket.end
        self.current += self.line[position:end]

    def _put_bracket(self, bracket: Bracket, reserve: int) -> None:
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

    def _breakable(self, brackets: Sequence[Bracket]) -> list[Bracket]:
        """All but strings and comments."""
        return [b for b in brackets if self.line[b.start] in _CLOSING]

    def _is_block(self, bracket: Bracket) -> bool:
        """Whether this is the body of a lambda: braces around a statement."""
        return self.line[bracket.start] == "{" and self.line[bracket.end - 3] == ";"

    def _put_block(self, block: Bracket) -> None:
        """The statement of a lambda on a line of its own, indented like the statements around it."""
        margin = self.current[: len(self.current) - len(self.current.lstrip())]
        self.finished.append(f"{self.current}{{")
        self.current = f"{margin}  "
        self._put(block.start + 2, block.end - 2, block.inner, 0)
        self.finished.append(self.current)
        self.current = f"{margin}}}"

    def _fill(
        self, items: Sequence[tuple[int, int]], brackets: Sequence[Bracket], reserve: int, breaks_first: bool
    ) -> None:
        """As many items on each line as fit.

        ``breaks_first``: the first item may go to a new line too, and an item that was broken ends its line.
        """
        margin = self._continuation()
        was_broken = False
        for index, (start, end) in enumerate(items):
            behind = reserve if index + 1 == len(items) else 0
            if not was_broken and self._fits(end - start + behind):
                self.current += self.line[start:end]
                continue

            inside = [b for b in brackets if start <= b.start < end]
            columns = self._first_columns(start, end, inside) + behind
            gains = bool(self._breakable(inside)) or len(margin) + columns <= self.width
            may_move = index > 0 or (breaks_first and gains)
            if was_broken or (may_move and not self._fits(columns)):
                start = self._start_line(start, margin)

            before = len(self.finished)
            self._put(start, end, inside, behind)
            ends_block = self.current.lstrip().startswith("}")
            was_broken = breaks_first and len(self.finished) > before and not ends_block

    def _first_columns(self, start: int, end: int, brackets: Sequence[Bracket]) -> int:
        """The columns that a long item needs on its first line: a lambda, those before its body."""
        block = next((b for b in brackets if self._is_block(b)), None)
        return end - start if block is None else block.start + 1 - start

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
        return " " * (len(begun) - len(begun.lstrip()) + INDENT)

    def _pieces(self, start: int, end: int, brackets: Sequence[Bracket]) -> list[tuple[int, int]]:
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
