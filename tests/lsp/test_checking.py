"""What is found after a keystroke is what a check of the whole file finds."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from codegen.lsp.checking import ERROR, WARNING, Checked, Checker, Finding
from codegen.lsp.files import Bases
from codegen.lsp.ranges import correction, span_of
from codegen.lsp.text import Lines, normalised
from codegen.targets.torch_py import TARGET
from tests.errors.conftest import checkout as checkout
from tests.errors.test_errors import CASES, PRELUDE, Case
from tests.lsp.project import OPERATORS

# What is right, what is written instead, and words of the message.
EDITS = [
    (
        "      dtypes: floating\n      expr: cap",
        "      dtyps: floating\n      expr: cap",
        "unknown key 'dtyps'",
    ),
    ("tanh(self / cap)\n", "tahn(self / cap)\n", "tahn"),
    ("self / cap)\n      der", "self / cp)\n      der", "cp"),
    ("mul(grad, 1", "mull(grad, 1", "mull"),
    ("variants: function, method", "variants: function, methd", "unknown variant 'methd'"),
    ("CPU: mul_kernel", "CPU: mull_kernel", "defined nowhere"),
    ("requires: positive", "requires: positiv", "unknown requirement 'positiv'"),
    ("random\n      reference", "ramdom\n      reference", "unknown reason 'ramdom'"),
    ("    - func: shrunk(", "      - func: shrunk(", "indentation"),
    ('got {cap}"', "got {cap}", "a quote is not closed"),
    ("      structure: reduction\n", "", "the entry has no 'structure'"),
    ("      samples: binary\n", "      samples: binary\n      out_dtype: castable\n", "variant out"),
    ("  Capping:\n", "    - func: fresh(Tensor self)\n\n  Capping:\n", "'->'"),
    ("doc: Negates.", "doc: 'TODO: what it does'", "the doc is that of the draft"),
    ("float p) -> Tensor", "float p) -> ", "expected a return's type"),
]


@pytest.fixture
def checker(project: Path) -> Checker:
    return Checker(project, Bases(TARGET))


@pytest.mark.parametrize("right, wrong, words", EDITS, ids=[wrong.strip()[:40] for _, wrong, _ in EDITS])
def test_changed_entries(checker: Checker, checked: Checked, right: str, wrong: str, words: str) -> None:
    assert OPERATORS.count(right) == 1
    text = OPERATORS.replace(right, wrong)

    found = checker.check_changes(text, checked)
    assert found is not None
    # That nothing else uses a name is known when all entries have been read.
    whole = {f for f in checker.check(text).findings if "no entry uses" not in f.diagnostic.message}
    assert set(found) == whole
    assert any(words in finding.diagnostic.message for finding in found)


def test_findings_of_other_entries_stay_where_their_entries_go(checker: Checker) -> None:
    wrong = OPERATORS.replace("doc: A sum.", "dog: A sum.").replace("doc: The product", "dog: The product")
    before = checker.check(wrong)
    text = wrong.replace("      doc: Negates.\n", "      doc: |\n        Negates.\n\n        All of it.\n")

    found = checker.check_changes(text, before)
    assert set(found or ()) == set(checker.check(text).findings)
    lines = {f.diagnostic.location.line for f in before.findings}
    assert {f.diagnostic.location.line for f in found or ()} == {
        min(lines),
        *(n + 3 for n in lines - {min(lines)}),
    }


def test_a_mistake_that_is_corrected_is_gone(checker: Checker, checked: Checked) -> None:
    wrong = OPERATORS.replace("func: neg(", "func: neg[")
    before = checker.check(wrong)
    assert before.findings
    assert checker.check_changes(OPERATORS, before) == ()
    assert checker.check_changes(OPERATORS, checked) == ()


@pytest.mark.parametrize(
    "text",
    [
        OPERATORS.replace("float64]", "float64, half]"),
        "",
        "topics:\n",
        OPERATORS.replace("topics:", "topic:"),
    ],
    ids=["a set", "no text", "no entries", "no topics"],
)
def test_what_concerns_all_entries_needs_the_whole_file(
    checker: Checker, checked: Checked, text: str
) -> None:
    assert checker.check_changes(text, checked) is None


@functools.lru_cache(maxsize=1)
def _prelude(path: Path) -> tuple[Checker, Checked]:
    checker = Checker(path, Bases(TARGET))
    return checker, checker.check(PRELUDE)


ENTRIES = [case for case in CASES if case.first_line > 1]


@pytest.mark.parametrize("case", ENTRIES, ids=lambda case: case.title)
def test_cases(case: Case, checkout: Path) -> None:
    """Every mistake of tests/errors, typed behind the good entries."""
    checker, before = _prelude(checkout / "native_functions.yaml")
    found = checker.check_changes(case.text, before)
    assert found is not None
    errors = [f for f in found if f.severity == ERROR]
    assert set(errors) == {f for f in checker.check(case.text).findings if f.severity == ERROR}

    lines = Lines(case.text)
    for finding in errors:
        span = span_of(finding.diagnostic, lines)
        assert lines.number_at(span.start) + 1 == finding.diagnostic.location.line


def findings(checker: Checker, right: str, wrong: str) -> tuple[Lines, list[Finding]]:
    text = OPERATORS.replace(right, wrong, 1)
    return Lines(text), list(checker.check(text).findings)


@pytest.mark.parametrize(
    "right, wrong, marked, corrected",
    [
        ("variants: function, method", "variants: function, methd", "methd", "method"),
        ("structure: reduction", "structure: reducton", "reducton", "reduction"),
        ("samples: binary", "sample: binary", "sample", "samples"),
        ("mul(grad, 1", "mull(grad, 1", "mull", "mul"),
        ("tanh(self / cap)\n", "tanhh(self / cap)\n", "tanhh", "tanh"),
        ("grad * other", "grad * othr", "othr", "other"),
        ('got {cap}"', 'got {capp}"', "capp", "cap"),
        ("requires: positive", "requires: positiv", "positiv", "positive"),
        ("CPU: mul_kernel", "CPU: mull_kernel", "mull_kernel", "mul_kernel"),
        ("dtypes: all", "dtypes: floatin", "floatin", "floating"),
    ],
)
def test_corrections(checker: Checker, right: str, wrong: str, marked: str, corrected: str) -> None:
    lines, found = findings(checker, right, wrong)
    (finding, *_) = [f for f in found if "did you mean" in f.diagnostic.hint]
    span = span_of(finding.diagnostic, lines)
    assert lines.text[span.start : span.end] == marked

    answer = correction(finding.diagnostic, lines)
    assert answer is not None
    title, edit = answer
    assert title == f"Change to {corrected}"
    assert (edit.span, edit.text) == (span, corrected)


def test_needless_keys_can_be_removed(checker: Checker) -> None:
    added = "      structure: reduction\n      dispatch:\n        CPU: total_kernel\n      promotion: same\n"
    lines, found = findings(checker, "      structure: reduction\n", added)
    assert [f.severity for f in found] == [WARNING, WARNING]

    text = lines.text
    for finding in reversed(found):  # the last one first, so that lines before it stay
        answer = correction(finding.diagnostic, Lines(text))
        assert answer is not None
        edit = answer[1]
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    assert text == OPERATORS


@pytest.mark.parametrize(
    "name, text, kind",
    [
        ("native_functions.yaml", "", "operators"),
        ("ops.yaml", "library: my_ops\n", "operators"),
        ("ops.yaml", "topics:\n  A:\n    - func: f(Tensor self) -> Tensor\n", None),
        ("mine.yaml", "backend: mine\n", "backend"),
        ("docker.yaml", "topics:\n  - kafka\n", None),
        ("ci.yml", "jobs: {}\n", None),
    ],
)
def test_other_files_are_left_alone(name: str, text: str, kind: str | None) -> None:
    assert Bases(TARGET).kind_of(Path(name), text) == kind


GARBAGE = [
    "\0",
    "\ud800",
    "topics: [[[[",
    "topics:\n  A:\n    - func: \n",
    "topics:\n\t- func: x\n",
    "[" * 100_000,
    "topics: &a [*a]\n",
    "topics:\n  A:\n    - func: !!binary x\n",
    "? [a]\n: b\n",
    "\ufeff" + OPERATORS,
    OPERATORS.replace("\n", "\r\n"),
    OPERATORS.replace(": ", ":"),
    OPERATORS[: len(OPERATORS) // 2],
    "library: 7\ntopics:\n",
    "backend: x\ndispatch: 3\n",
    "%YAML 9.9\n---\n...\n",
]


@pytest.mark.parametrize("text", GARBAGE, ids=range(len(GARBAGE)))
def test_garbage_is_checked(checker: Checker, checked: Checked, text: str) -> None:
    text = normalised(text)
    lines = Lines(text)
    for found in (checker.check(text).findings, checker.check_changes(text, checked) or ()):
        for finding in found:
            span = span_of(finding.diagnostic, lines)
            assert 0 <= span.start <= span.end <= len(text)
            correction(finding.diagnostic, lines)


def test_every_prefix_of_a_file_is_checked(checker: Checker, checked: Checked) -> None:
    """While an entry is written, there is an answer after each keystroke."""
    start = OPERATORS.index("    - func: shrunk")
    end = OPERATORS.index("    - func: total")
    for stop in range(start, end, 3):
        text = OPERATORS[:stop] + "\n" + OPERATORS[end:]
        found = checker.check_changes(text, checked)
        assert found is not None
        assert all("total" != f.diagnostic.operator for f in found)
