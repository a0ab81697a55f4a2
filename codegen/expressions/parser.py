"""Reads an expression: a tokenizer and a Pratt parser.

From loosest to tightest: ``c ? a : b`` and ``a if c else b``; ``or``; ``and``; ``not``; comparisons (which
chain) and ``in``; ``+ -``; ``* / %``; unary ``-``; ``**`` (to the right); calls, methods, indexing.
"""

from __future__ import annotations

import math
import re
from functools import partial
from typing import NamedTuple

from codegen.expressions import nodes
from codegen.expressions.errors import ExpressionError
from codegen.expressions.nodes import (
    Binary,
    Boolean,
    Call,
    Compare,
    Conditional,
    Index,
    ListOf,
    Logical,
    Method,
    Name,
    Node,
    Nothing,
    Number,
    String,
    TupleOf,
    Unary,
)

# Deeper trees would exhaust the stack of the recursive passes; no formula comes near it.
MAXIMUM_DEPTH = 120

_TOKEN = re.compile(
    r"""
    \s*(?:
    (?P<number>(?:\d+\.\d*|\.\d+|\d+)(?:[eE][+-]?\d+)?)
  | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
  | (?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
  | (?P<operator>\*\*|//|==|!=|<=|>=|&&|\|\||::|->|[-+*/%<>()\[\],.?:=!^&|~@;{}$\\`\#"'])
  | (?P<end>\Z)
    )
    """,
    re.VERBOSE,
)

# C++ and Python spellings that people write from habit, and ours.
_FOREIGN = {
    "&&": "write 'and'",
    "||": "write 'or'",
    "!": "write 'not'",
    "^": "write '**' for a power",
    "//": "write 'floor(a / b)'",
    "::": "write the operator's name alone, without a namespace",
    "=": "write '==' to compare; arguments of a call are given by position",
    "->": "write '.'",
    "&": "write 'and'",
    "|": "write 'or'",
    "~": "write 'not'",
    ";": "write one expression, without ';'",
    '"': "close the string with '\"'",
    "'": 'close the string with "\'"',
}
# Mathematical characters, and those that a text processor substitutes.
_MEANT = {
    "×": "*",
    "·": "*",
    "÷": "/",
    "−": "-",
    "–": "-",
    "≤": "<=",
    "≥": ">=",
    "≠": "!=",
    "²": "** 2",
    "³": "** 3",
    "π": "pi",
    "∞": "inf",
}
_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
_INFIX_LEVELS = {
    "or": nodes.OR,
    "and": nodes.AND,
    "in": nodes.COMPARISON,
    **dict.fromkeys(_COMPARISONS, nodes.COMPARISON),
    **{symbol: nodes.binary_precedence(symbol) for symbol in ("+", "-", "*", "/", "%", "**")},
}
_KEYWORDS = ("and", "or", "not", "in", "if", "else")
_POSTFIX = frozenset(".[(")
_BOOLEANS = {"true": True, "True": True, "false": False, "False": False}
_NOTHING = ("none", "None")


class Token(NamedTuple):
    kind: str  # number, name, keyword, string, operator, end
    text: str
    offset: int


# As Token(...), in one call less.
_token = partial(tuple.__new__, Token)


def tokenize(text: str) -> list[Token]:
    tokens = []
    match = _TOKEN.match
    position = 0
    while True:
        found = match(text, position)
        if found is None:
            raise _unexpected_character(text, len(text) - len(text[position:].lstrip()))

        kind = found.lastgroup or ""
        start, position = found.span(kind)
        word = text[start:position]
        if kind == "end":
            tokens.append(_token((kind, word, position)))
            return tokens

        if kind == "name" and word in _KEYWORDS:
            kind = "keyword"
        elif kind == "number" and (text.startswith("_", position) or text[position : position + 1].isalpha()):
            raise _letter_after_number(text, word, position)
        tokens.append(_token((kind, word, start)))


def _unexpected_character(text: str, position: int) -> ExpressionError:
    meant = _MEANT.get(text[position])
    hint = f"write '{meant}'" if meant else ""
    return ExpressionError(f"unexpected character {text[position]!r}", position, hint)


def _letter_after_number(text: str, number: str, position: int) -> ExpressionError:
    letter = text[position]
    hint = (
        "write the number without a suffix" if letter in "fFlLuU" else "write '*' between a number and a name"
    )
    return ExpressionError(f"unexpected {letter!r} after the number {number}", position, hint)


def parse(text: str) -> Node:
    """The tree of ``text``; raises ExpressionError at the first mistake."""
    return _Parser(text).parse()


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = tokenize(text)
        self.position = 0
        self.token = self.tokens[0]
        self.depth = 0

    def parse(self) -> Node:
        if self.token.kind == "end":
            raise ExpressionError("the expression is empty", 0, "write a formula such as 'grad * 2'")
        node = self.expression()
        if self.token.kind != "end":
            raise self.unexpected("the end of the expression")
        if len(self.tokens) > MAXIMUM_DEPTH and _depth(node) > MAXIMUM_DEPTH:
            raise ExpressionError("the expression is nested too deeply", 0, "split it over several operators")
        return node

    def advance(self) -> Token:
        token = self.token
        if token.kind != "end":
            self.position += 1
            self.token = self.tokens[self.position]
        return token

    def at(self, *texts: str) -> bool:
        """Whether one of these operators or keywords comes next: no other token has their texts."""
        return self.token.text in texts

    def expect(self, text: str, opened: Token | None = None) -> None:
        if self.at(text):
            self.advance()
        elif opened is not None and self.token.kind == "end":
            raise ExpressionError(f"'{opened.text}' is not closed", opened.offset, f"add '{text}'")
        else:
            raise self.unexpected(f"'{text}'")

    def unexpected(self, expected: str) -> ExpressionError:
        token = self.token
        if token.kind == "end":
            return ExpressionError(f"the expression ends where {expected} should follow", token.offset)
        hint = _FOREIGN.get(token.text, "") if token.kind == "operator" else ""
        if token.text in (")", "]") and not hint:
            hint = f"remove '{token.text}' or open it before"
        if not hint and token.kind in ("name", "number", "string") and self.position > 0:
            hint = f"write an operator or ',' before {token.text!r}"
        return ExpressionError(f"unexpected {token.text!r} where {expected} should be", token.offset, hint)

    def expression(self) -> Node:
        self.depth += 1
        if self.depth > MAXIMUM_DEPTH:
            raise ExpressionError(
                "the expression is nested too deeply", self.token.offset, "split it over several operators"
            )
        node = self.conditional()
        self.depth -= 1
        return node

    def conditional(self) -> Node:
        node = self.operation(nodes.OR)
        if self.at("?"):
            self.advance()
            then = self.expression()
            self.expect(":")
            return Conditional(node, then, self.expression(), offset=node.offset)

        if self.at("if"):
            self.advance()
            condition = self.operation(nodes.OR)
            self.expect("else")
            return Conditional(condition, node, self.expression(), offset=node.offset)
        return node

    def operation(self, at_least: int) -> Node:
        """Pratt's loop: a prefix, then every infix that binds at least as tightly as ``at_least``."""
        node = self.prefix()
        while True:
            level = self.infix_level()
            if level < at_least:
                return node
            if level == nodes.COMPARISON:
                node = self.comparison(node)
                continue

            token = self.advance()
            right = self.operation(level if token.text == "**" else level + 1)
            made = Logical if level in (nodes.OR, nodes.AND) else Binary
            node = made(token.text, node, right, offset=node.offset)

    def infix_level(self) -> int:
        text = self.token.text
        if text == "not":
            text = self.tokens[self.position + 1].text
            return nodes.COMPARISON if text == "in" else 0
        return _INFIX_LEVELS.get(text, 0)

    def comparison(self, first: Node) -> Node:
        operators: list[str] = []
        operands = [first]
        while self.infix_level() == nodes.COMPARISON:
            operator = self.advance().text
            if operator == "not":
                self.advance()
                operator = "not in"
            operators.append(operator)
            operands.append(self.operation(nodes.SUM))
        return Compare(tuple(operators), tuple(operands), offset=first.offset)

    def prefix(self) -> Node:
        token = self.token
        if self.at("-", "+", "not"):
            self.advance()

            self.depth += 1
            if self.depth > MAXIMUM_DEPTH:
                raise ExpressionError(
                    "the expression is nested too deeply", token.offset, "split it over several operators"
                )

            operand = self.operation(nodes.NOT if token.text == "not" else nodes.NEGATION)
            self.depth -= 1
            return operand if token.text == "+" else Unary(token.text, operand, offset=token.offset)

        return self.postfix(self.atom())

    def postfix(self, node: Node) -> Node:
        while True:
            text = self.token.text
            if text not in _POSTFIX:
                return node

            if text == ".":
                self.advance()
                if self.token.kind != "name":
                    raise self.unexpected("the name of a method")
                name = self.advance().text
                arguments = self.arguments() if self.at("(") else None
                node = Method(node, name, arguments, offset=node.offset)

            elif text == "[":
                opened = self.advance()
                index = self.expression()
                self.expect("]", opened)
                node = Index(node, index, offset=node.offset)

            elif isinstance(node, Name):
                node = Call(node.name, self.arguments(), offset=node.offset)
            else:
                return node

    def arguments(self) -> tuple[Node, ...]:
        opened = self.advance()
        return self.items(opened, ")")[0]

    def items(self, opened: Token, closing: str) -> tuple[tuple[Node, ...], bool]:
        """The items up to ``closing``, and whether a comma follows the last."""

        items: list[Node] = []
        comma = False

        while not self.at(closing):
            if self.token.kind == "end":
                raise ExpressionError(f"'{opened.text}' is not closed", opened.offset, f"add '{closing}'")
            items.append(self.expression())
            comma = self.at(",")
            if not comma:
                break
            self.advance()

        self.expect(closing, opened)
        return tuple(items), comma

    def atom(self) -> Node:
        token = self.token
        if token.kind == "number":
            self.advance()
            return Number(_number(token), offset=token.offset)

        if token.kind == "string":
            self.advance()
            return String(re.sub(r"\\(.)", r"\1", token.text[1:-1]), offset=token.offset)

        if token.kind == "name":
            self.advance()
            if token.text in _BOOLEANS:
                return Boolean(_BOOLEANS[token.text], offset=token.offset)
            return (
                Nothing(offset=token.offset)
                if token.text in _NOTHING
                else Name(token.text, offset=token.offset)
            )

        if self.at("["):
            self.advance()
            return ListOf(self.items(token, "]")[0], offset=token.offset)
        if self.at("("):
            self.advance()
            if self.at(")"):
                raise ExpressionError("'()' holds no expression", token.offset)
            items, comma = self.items(token, ")")
            return items[0] if len(items) == 1 and not comma else TupleOf(items, offset=token.offset)

        raise self.unexpected("a value")


def _number(token: Token) -> int | float:
    if not token.text.isdigit():
        value = float(token.text)
        if math.isinf(value):
            raise ExpressionError(f"{token.text} is larger than any float64", token.offset, "write 'inf'")
        return value

    if len(token.text) > 19 or int(token.text) >= 2**63:
        raise ExpressionError(
            f"{token.text} does not fit 64 bits",
            token.offset,
            "write it as a float, with '.0' or an exponent",
        )

    return int(token.text)


def _depth(node: Node) -> int:
    """Without recursion, since a sum of a thousand terms is a thousand deep."""
    deepest = 0
    pending = [(node, 1)]
    while pending:
        part, depth = pending.pop()
        deepest = max(deepest, depth)
        pending += [(child, depth + 1) for child in nodes.children(part)]
    return deepest
