"""Completion, hover, definitions, outline and renaming, in a small checkout. ``«»`` is the cursor."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from codegen.lsp.completion import VALUES, WITHOUT_WORDS, complete
from codegen.lsp.definition import definitions
from codegen.lsp.facts import Facts
from codegen.lsp.hover import hover
from codegen.lsp.places import Place, place_at
from codegen.lsp.rename import RenameError, argument_at, rename
from codegen.lsp.symbols import Symbol, symbols
from codegen.lsp.text import Lines
from codegen.model import vocabulary
from tests.lsp.project import OPERATORS


def place(right: str, marked: str, text: str = OPERATORS) -> Place:
    """The cursor in ``marked``, which takes the place of ``right``."""
    assert text.count(right) >= 1, right
    at = text.index(right)
    offset = at + marked.index("«»")
    return place_at(Lines(text[:at] + marked.replace("«»", "") + text[at + len(right) :]), offset)


def labels(facts: Facts, right: str, marked: str) -> list[str]:
    return [item.label for item in complete(place(right, marked), facts).items]


# Completion


@pytest.mark.parametrize(
    "right, marked, some, others",
    [
        ("      samples: binary", "      «»", ["samples", "tags"], ["func", "structure", "doc"]),
        ("      samples: binary", "      ta«»", ["tags", "samples"], ["dtypes"]),
        ("topics:", "to«»", ["topics", "library"], ["dtype_sets"]),
        ("structure: reduction", "structure: «»", list(vocabulary.STRUCTURES), ["floating"]),
        ("function, method", "function, «»", ["method", "inplace"], ["function"]),
        ("dtypes: all", "dtypes: «»", ["floating", "all", "float32", "half"], ["random"]),
        ("non_differentiable: random", "non_differentiable: «»", ["random"], []),
        ("requires: positive", "requires: «»", ["positive", "self", "p", "dim"], ["cap"]),
        ("requires: positive", "requires:\n        - «»", ["positive", "check", "self", "p"], ["cap"]),
        ("check: cap > 0", "check: «»", ["cap", "numel"], ["positive"]),
        ("CPU: mul_kernel", "CP«»", ["CPU", "CUDA"], ["mul_kernel"]),
        ("CPU: mul_kernel", "CPU: «»", ["mul_kernel"], ["total_kernel"]),
        ("CPU: mul_kernel", "CPU: tot«»", ["mul_kernel", "total_kernel"], []),
        ("self: grad * other", "self: grad * «»", ["other", "self", "grad", "mul", "total", "pi"], ["cap"]),
        ("self: grad * other", "self: grad * self.«»", ["sizes", "dim"], ["mul"]),
        ("other: grad * self", "ot«»", ["self", "other"], ["grad"]),
        ("expr: -self", "expr: «»", ["self", "exp", "pi"], ["mul", "grad"]),
        ("samples: binary", "samples: «»", ["unary", "binary"], []),
        ("Tensor other) -> Tensor\n", "«») -> Tensor\n", ["Tensor", "Scalar"], ["mul"]),
        ("between ``-cap``", "between ``«»", ["cap", "self", "mul"], []),
        ("between ``-cap``", "between «»", [], ["cap"]),
        ("got {cap}", "got {«»", ["cap", "self", "operator"], ["positive"]),
        (
            "structure: reduction",
            "structure: reduction\n      promotion: «»",
            ["same", "index"],
            ["comparison"],
        ),
        (
            "structure: reduction",
            "structure: reduction\n      variants: «»",
            ["function", "out"],
            ["inplace"],
        ),
        ("samples: binary", "deprecated: {si«»}", ["since", "use"], ["func"]),
        ("samples: binary", "renamed:\n        fr«»", ["from", "since"], ["func"]),
        ("  Capping:\n", "  «»Capping:\n", [], ["func"]),
    ],
)
def test_completion(facts: Facts, right: str, marked: str, some: list[str], others: list[str]) -> None:
    found = labels(facts, right, marked)
    assert [label for label in some if label not in found] == []
    assert [label for label in others if label in found] == []
    assert len(found) == len(set(found))


def test_every_key_is_known() -> None:
    assert {*VALUES, *WITHOUT_WORDS} == {*vocabulary.ENTRY_KEYS}


def test_completion_replaces_what_is_written(facts: Facts) -> None:
    where = place("      samples: binary", "      ta«»")
    found = complete(where, facts)
    (tags,) = [item for item in found.items if item.label == "tags"]
    assert where.text[found.span.start : found.span.end] == "ta"
    assert tags.insert == "tags: "
    assert "look up" in tags.meaning


def test_completion_in_the_file_of_a_backend(facts: Facts, project: Path) -> None:
    backend = replace(facts, path=project.parent / "backend.yaml", kind="backend")
    text = "backend: mine\ndevice:\n  count: x\ndispatch:\n  PrivateUse1:\n    mul.Tensor: f\n"
    for right, marked, some in [
        ("  count: x", "  «»", "allocate"),
        ("mul.Tensor: f", "mu«»", "mul.Tensor"),
        ("mul.Tensor: f", "mul.Tensor: «»", "total_kernel"),
    ]:
        found = complete(place(right, marked, text), backend)
        assert some in [item.label for item in found.items]


# Hover


@pytest.mark.parametrize(
    "right, marked, words",
    [
        ("func: mul.Tensor", "func: m«»ul.Tensor", "aten/native/cpu/ArithmeticKernel.isa.cpp:4"),
        ("func: mul.Tensor", "fu«»nc: mul.Tensor", "native_functions.yaml:16:13"),
        ("Tensor other)", "Tensor ot«»her)", "Tensor other"),
        ("lowering: self", "lowe«»ring: self", "the formula that a kernel written by hand computes"),
        ("structure: reduction", "structure: reduc«»tion", "`dim` and `keepdim`"),
        ("dtypes: all", "dtypes: a«»ll", "int64, float32, float64"),
        ("CPU: mul_kernel", "CPU: mul«»_kernel", "void mul_kernel(TensorIteratorBase& iter)"),
        ("mul(grad, 1", "m«»ul(grad, 1", "mul.Tensor(Tensor self, Tensor other) -> Tensor"),
        ("tanh(self / cap)\n", "ta«»nh(self / cap)\n", "`1 - tanh(x) * tanh(x)`"),
        ("requires: positive", "requires: posi«»tive", "p > 0"),
        ("non_differentiable: random", "non_differentiable: ran«»dom", "it returns random numbers"),
        ("- check: cap", "- che«»ck: cap", "the condition"),
        ("  Capping:", "  Capp«»ing:", "aten/native/cpu/CappingKernel.isa.cpp"),
        ("dtype_sets:", "dtype«»_sets:", "named sets of dtypes"),
        ("samples: binary\n", "tags: along«»_dim\n", "acts along its `dim`"),
    ],
)
def test_hover(facts: Facts, right: str, marked: str, words: str) -> None:
    found = hover(place(right, marked), facts)
    assert found is not None
    assert words in found.markdown


@pytest.mark.parametrize(
    "right, marked",
    [("doc: Negates.", "doc: «» Negates."), ("func: neg(", "func: ne«»gg("), ("\n\ntopics", "\n«»\ntopics")],
)
def test_hover_over_nothing(facts: Facts, right: str, marked: str) -> None:
    assert hover(place(right, marked), facts) is None


# Definitions


@pytest.mark.parametrize(
    "right, marked, expected",
    [
        (
            "func: mul.Tensor",
            "func: mul.Ten«»sor",
            ["aten/native/cpu/ArithmeticKernel.isa.cpp:4", "tests/ops/samples/unary.py:6"],
        ),
        (
            "func: total",
            "func: to«»tal",
            ["aten/native/cpu/CappingKernel.isa.cpp:4", "tests/ops/samples/unary.py:2"],
        ),
        ("CPU: mul_kernel", "CPU: mul«»_kernel", ["aten/native/cpu/ArithmeticKernel.isa.cpp:4"]),
        ("samples: binary", "samples: bin«»ary", ["tests/ops/samples/unary.py:6"]),
        ("mul(grad, 1", "m«»ul(grad, 1", ["native_functions.yaml:16"]),
        ("requires: positive", "requires: posi«»tive", ["native_functions.yaml:7"]),
        ("non_differentiable: random", "non_differentiable: ran«»dom", ["native_functions.yaml:12"]),
        ("dtypes: all", "dtypes: a«»ll", ["native_functions.yaml:4"]),
        ("[floating, int64]", "[float«»ing, int64]", ["native_functions.yaml:3"]),
        ("  Capping:", "  Capp«»ing:", ["aten/native/cpu/CappingKernel.isa.cpp:1"]),
        ("Tensor other)", "Tensor ot«»her)", []),
        ("doc: Negates.", "doc: Neg«»ates.", []),
    ],
)
def test_definitions(facts: Facts, right: str, marked: str, expected: list[str]) -> None:
    found = definitions(place(right, marked), facts)
    assert [f"{t.path.relative_to(facts.root).as_posix()}:{t.line + 1}" for t in found] == expected


# Outline


def outline(found: list[Symbol] | tuple[Symbol, ...]) -> dict[str, object]:
    return {symbol.name: outline(symbol.children) for symbol in found}


def test_outline() -> None:
    found = symbols(Lines(OPERATORS))
    assert outline(found) == {
        "dtype_sets": {"floating": {}, "all": {}},
        "requirements": {"positive": {}},
        "reasons": {"random": {}},
        "topics": {
            "Arithmetic": {"mul.Tensor": {}, "neg": {}},
            "Capping": {"capped": {}, "shrunk": {}, "total": {}},
        },
    }

    (total,) = [s for topic in found[-1].children for s in topic.children if s.name == "total"]
    assert total.detail == "reduction"
    assert (
        OPERATORS[total.span.start : total.span.end]
        == OPERATORS[OPERATORS.index("    - func: total") :].rstrip()
    )
    assert OPERATORS[total.name_span.start : total.name_span.end] == "total"


def test_outline_of_half_a_file() -> None:
    for stop in range(0, len(OPERATORS), 7):
        for symbol in symbols(Lines(OPERATORS[:stop])):
            assert symbol.span.start <= symbol.name_span.start <= symbol.name_span.end <= symbol.span.end


# Renaming


def renamed(facts: Facts, right: str, marked: str, new: str) -> str:
    where = place(right, marked)
    text = where.text
    for edit in reversed(rename(where, facts, new)):
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    return text


@pytest.mark.parametrize(
    "right, marked",
    [
        ("float cap=1.0) -> Tensor\n", "float c«»ap=1.0) -> Tensor\n"),
        ("expr: cap *", "expr: «»cap *"),
        ("got {cap}", "got {cap«»}"),
        ("and ``cap``", "and ``c«»ap``"),
    ],
)
def test_an_argument_is_renamed_in_its_whole_entry(facts: Facts, right: str, marked: str) -> None:
    start = OPERATORS.index("    - func: capped(")
    end = OPERATORS.index("    - func: shrunk(")
    entry = OPERATORS[start:end].replace("capped", "CAPPED").replace("cap must", "CAP must")
    expected = entry.replace("cap", "bound").replace("CAPPED", "capped").replace("CAP must", "cap must")
    assert renamed(facts, right, marked, "bound") == OPERATORS[:start] + expected + OPERATORS[end:]


ENTRY = """\
    - func: f.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
      scalars: [other, self]
      deprecated_orders: self, alpha, other
      derivatives:
        self: grad
        other, self: 'where(other == other, mul(grad, other.dim()), grad)'
      lowering: >
        self +
        alpha * other
      reference: "self + np.add(other, äther) * alpha"
      requires: [other > 0, {check: "dim(other) > 1", message: "äther {dim(other)} {other}"}]
      doc: other ``self + other`` ``torch.other`` ``other(self)`` ``another``
"""
EXPECTED = """\
    - func: f.Tensor(Tensor self, Tensor second, *, Scalar alpha=1) -> Tensor
      scalars: [second, self]
      deprecated_orders: self, alpha, second
      derivatives:
        self: grad
        second, self: 'where(second == second, mul(grad, second.dim()), grad)'
      lowering: >
        self +
        alpha * second
      reference: "self + np.add(second, äther) * alpha"
      requires: [second > 0, {check: "dim(second) > 1", message: "äther {dim(second)} {second}"}]
      doc: other ``self + second`` ``torch.other`` ``other(self)`` ``another``
"""


def test_derivatives_lists_and_references_follow(facts: Facts) -> None:
    text = f"topics:\n  A:\n{ENTRY}"
    where = place("Tensor other,", "Tensor o«»ther,", text)
    edits = rename(where, facts, "second")
    for edit in reversed(edits):
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    assert text == f"topics:\n  A:\n{EXPECTED}"


@pytest.mark.parametrize(
    "right, marked, new, message",
    [
        ("float cap=1.0) -> Tensor\n", "float c«»ap=1.0) -> Tensor\n", "self", "'self' is another argument"),
        ("float cap=1.0) -> Tensor\n", "float c«»ap=1.0) -> Tensor\n", "lambda", "'lambda' is not a name"),
        ("float cap=1.0) -> Tensor\n", "float c«»ap=1.0) -> Tensor\n", "1x", "'1x' is not a name"),
        (
            "float p) -> Tensor",
            "float «»p) -> Tensor",
            "q",
            "the requirement 'positive', which other entries share",
        ),
        ("func: neg(", "func: ne«»g(", "q", "the cursor is not on an argument"),
        ("expr: -self", "expr: -se«»lf +", "q", "the cursor is not on an argument"),
    ],
)
def test_what_cannot_be_renamed(facts: Facts, right: str, marked: str, new: str, message: str) -> None:
    with pytest.raises(RenameError, match=message):
        rename(place(right, marked), facts, new)


def test_only_arguments_can_be_renamed() -> None:
    where = place("expr: -self", "expr: -s«»elf")
    span = argument_at(where)
    assert span is not None and where.at(span) == "self"
    assert argument_at(place("doc: Negates.", "doc: Neg«»ates.")) is None
    assert argument_at(place("topics:", "top«»ics:")) is None
