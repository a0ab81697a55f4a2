"""Reading expressions and printing them back: precedence, round trips, where and how mistakes are
reported."""

import pytest

from codegen.expressions import ExpressionError, parse, to_source
from codegen.expressions.nodes import (
    Binary,
    Call,
    Compare,
    Conditional,
    Index,
    Method,
    Name,
    Number,
    Unary,
    names,
)

ROUND_TRIPS = [
    "cap * tanh(self / cap)",
    "-x ** 2",
    "(-x) ** 2",
    "a - (b - c)",
    "a - b - c",
    "a / (b * c)",
    "a / b * c",
    "2 ** 3 ** x",
    "(2 ** 3) ** x",
    "2 ** -x",
    "-(a + b)",
    "-a * b",
    "-(a * b)",
    "--x",
    "a % b",
    "0 <= p <= 1 and not q",
    "a or b and c",
    "(a or b) and c",
    "not a == b",
    "(not a) == b",
    "(a < b) == c",
    "c ? a : b",
    "c ? a : d ? e : f",
    "(c ? a : b) ? d : e",
    "c ? (d ? e : f) : g",
    "(c ? a : b) * 2",
    "x in [1, 2]",
    "x not in []",
    "grads[0].sizes()",
    "self.options",
    "x[i + 1][0]",
    "f()",
    "f(a, (b, c), [d])",
    "(a,)",
    "(a, b)",
    "f((a))",
    '"te\\"xt"',
    "1.5e-07",
    "true",
    "none",
    "(1).dim()",
    "not not a",
]


@pytest.mark.parametrize("source", ROUND_TRIPS)
def test_round_trip(source):
    node = parse(source)
    assert parse(to_source(node)) == node
    if source not in ("c ? (d ? e : f) : g", "f((a))"):  # written with parentheses that are not needed
        assert to_source(node) == source


def test_precedence():
    a = Name("a")
    b = Name("b")
    c = Name("c")
    assert parse("a + b * c") == Binary("+", a, Binary("*", b, c))
    assert parse("a - b - c") == Binary("-", Binary("-", a, b), c)
    assert parse("a ** b ** c") == Binary("**", a, Binary("**", b, c))
    assert parse("-a ** b") == Unary("-", Binary("**", a, b))
    assert parse("-a * b") == Binary("*", Unary("-", a), b)
    assert parse("a < b <= c") == Compare(("<", "<="), (a, b, c))
    assert parse("a if b else c") == parse("b ? a : c") == Conditional(b, a, c)
    assert parse("+a") == a
    assert parse("x.size(0)[1]") == Index(Method(Name("x"), "size", (Number(0),)), Number(1))
    assert parse("f(a, b,)") == Call("f", (a, b))


def test_numbers_keep_their_type():
    assert parse("2") != parse("2.0")
    assert to_source(parse("2.")) == "2.0"
    assert len({parse("1"), parse("1.0"), parse("1")}) == 2


def test_offsets_and_names():
    node = parse("foo + bar(baz, foo)")
    assert (node.offset, node.right.offset, node.right.arguments[1].offset) == (0, 6, 15)
    assert names(node) == ("foo", "baz")


@pytest.mark.parametrize(
    "source, offset, message, hint",
    [
        ("", 0, "empty", "write a formula"),
        ("a && b", 2, "unexpected '&&'", "write 'and'"),
        ("a || b", 2, "unexpected '||'", "write 'or'"),
        ("!a", 0, "unexpected '!'", "write 'not'"),
        ("a ^ 2", 2, "unexpected '^'", "write '**'"),
        ("a // b", 2, "unexpected '//'", "floor(a / b)"),
        ("at::exp(x)", 2, "unexpected '::'", "without a namespace"),
        ("f(a, dim=1)", 8, "unexpected '='", "by position"),
        ("f(a", 1, "'(' is not closed", "add ')'"),
        ("[1, 2", 0, "'[' is not closed", "add ']'"),
        ("(a + b", 0, "'(' is not closed", "add ')'"),
        ("a)", 1, "unexpected ')'", "remove ')'"),
        ("a b", 2, "unexpected 'b'", "write an operator"),
        ("a +", 3, "ends where a value should follow", ""),
        ("a ? b", 5, "ends where ':' should follow", ""),
        ("self.", 5, "the name of a method", ""),
        ("2x", 1, "after the number 2", "write '*'"),
        ("1.5f", 3, "after the number 1.5", "without a suffix"),
        ("99999999999999999999", 0, "does not fit 64 bits", "float"),
        ("1e400", 0, "larger than any float64", "inf"),
        ("a § b", 2, "unexpected character", ""),
        ("()", 0, "holds no expression", ""),
        ("'abc", 0, "unexpected", "close the string"),
        ("(" * 500, 120, "nested too deeply", "split"),
        ("-" * 500 + "a", 119, "nested too deeply", "split"),
        ("+".join("a" * 500), 0, "nested too deeply", "split"),
    ],
)
def test_mistakes(source, offset, message, hint):
    with pytest.raises(ExpressionError) as caught:
        parse(source)
    assert caught.value.offset == offset
    assert message in caught.value.message
    assert hint in caught.value.hint
