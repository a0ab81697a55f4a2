"""``lowering:`` formulas: what is refused, and the trees that the compiler reads."""

import pytest

from codegen.expressions import Signature, check_lowering, lowering_tree, parse

CLAMP = Signature.parse("clamped(Tensor self, Scalar? low) -> Tensor")
SUM = Signature.parse("added(Tensor self, int[1]? dim=None) -> Tensor")


@pytest.mark.parametrize(
    ("source", "operator", "structure"),
    [
        ("low == none ? self : maximum(self, low)", CLAMP, "pointwise"),
        ("sum(self)", SUM, "reduction"),
        ("sum(self * self) / count", SUM, "reduction"),
        ("any(self != 0)", SUM, "reduction"),
    ],
)
def test_right_formulas(source, operator, structure):
    assert check_lowering(parse(source), operator, structure) == []


@pytest.mark.parametrize(
    ("source", "operator", "structure", "offset", "message"),
    [
        ("self == none ? low : self", CLAMP, "pointwise", 0, "only an optional argument can be none"),
        ("low < none ? self : low", CLAMP, "pointwise", 0, "this does not compare with none"),
        ("self", CLAMP, "pointwise", 0, "argument 'low' is not used"),
        ("self / count", SUM, "reduction", 0, "'self' is an element outside of a reduction"),
        ("count", SUM, "reduction", 0, "a reduction is needed, found 0"),
        ("sum(sum(self))", SUM, "reduction", 4, "a reduction within another"),
        ("sum(self / count)", SUM, "reduction", 11, "'count' is known after the reduction"),
        ("sum(self, 2)", SUM, "reduction", 0, "'sum' takes one formula"),
        ("total(self)", SUM, "reduction", 0, "unknown function 'total'"),
    ],
)
def test_mistakes(source, operator, structure, offset, message):
    first = check_lowering(parse(source), operator, structure)[0]
    assert (first.offset, first.message) == (offset, message)


def test_trees():
    assert lowering_tree(parse("-x + 2 * exp(y)")) == ("+", ("negative", "x"), ("*", 2, ("exp", "y")))
    assert lowering_tree(parse("0 < x <= 1")) == ("and", ("<", 0, "x"), ("<=", "x", 1))
    assert lowering_tree(parse("x != none ? x : 0")) == ("where", ("not", ("is_none", "x")), "x", 0)
