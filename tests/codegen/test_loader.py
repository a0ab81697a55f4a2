"""codegen.yaml: values keep their text and their place."""

from __future__ import annotations

import textwrap
import time

import pytest

from codegen.diagnostics import Diagnostics
from codegen.yaml import Document, ListValue, MapValue, Text, load_document


def load(text: str) -> tuple[Document, Diagnostics]:
    problems = Diagnostics()
    return load_document("file.yaml", textwrap.dedent(text), problems), problems


def value(text: str, *keys: str) -> Text:
    document, problems = load(text)
    assert not problems, problems.render()
    found = document.root
    for key in keys:
        assert isinstance(found, MapValue)
        found = found.get(key)
    assert isinstance(found, Text)
    return found


@pytest.mark.parametrize(
    "text, expected",
    [
        ("a: no", "no"),
        ("a: 1.0", "1.0"),
        ("a: ~", "~"),
        ("a:", ""),
        ("a: 2020-01-01", "2020-01-01"),
        ("a: 'x'", "x"),
        ("a: 0x10", "0x10"),
    ],
)
def test_scalars_stay_text(text, expected):
    assert value(text, "a").text == expected


def test_places_of_keys_and_values():
    document, _ = load("a: 1\nb:\n  c: [x, y]\n")
    root = document.root
    assert isinstance(root, MapValue)
    assert [(k.text, k.location.line, k.location.column) for k, _ in root] == [("a", 1, 1), ("b", 2, 1)]
    inner = root.get("b")
    assert isinstance(inner, MapValue)
    items = inner.get("c")
    assert isinstance(items, ListValue)
    assert [(i.location.line, i.location.column) for i in items] == [(3, 7), (3, 10)]
    assert root.key("b") is not None and root.key("z") is None and root.get("z") is None


@pytest.mark.parametrize(
    "text",
    [
        "a: one two MARK three\n",
        "a: 'it''s one MARK'\n",
        'a: "one \\" two \\t MARK"\n',
        "a: |\n  one\n  two MARK three\n",
        "a: |  # why\n  one\n    two MARK three\n",
        "a: >\n  one\n  two\n\n  three MARK\n",
        "a: >-\n   one\n     MARK\n",
        "a: one\n  two\n  MARK\n",
        "a: 'one\n  two ''\n  MARK'\n",
        'a: "one\n  two\\n\n  MARK"\n',
        "b: ä é ∂\na: ∂ MARK\n",
    ],
)
def test_offsets_inside_scalars(text):
    found = value(text, "a")
    location = found.location_at(found.text.index("MARK"))
    line = next(i for i, line in enumerate(text.split("\n"), 1) if "MARK" in line)
    assert (location.line, location.column) == (line, text.split("\n")[line - 1].index("MARK") + 1)


def test_the_offset_after_the_end_is_after_the_last_character():
    found = value("a: 'one'\nb: 2\n", "a")
    assert (found.location_at(3).line, found.location_at(3).column) == (1, 8)
    block = value("a: |\n  one\nb: 2\n", "a")
    assert (block.location_at(len(block.text)).line, block.location_at(len(block.text)).column) == (2, 6)


def test_duplicate_keys_are_reported_and_the_first_wins():
    document, problems = load("a: 1\nb: 2\na: 3\n")
    assert isinstance(document.root, MapValue)
    assert [k.text for k, _ in document.root] == ["a", "b"]
    assert problems.render().startswith(
        "file.yaml:3:1: yaml: the key 'a' occurs twice; remove one: the first is in line 1"
    )


def test_keys_are_words():
    _, problems = load("[a, b]: 1\n")
    assert "a key is a list or a map" in problems.render()


def test_an_empty_file_has_no_root():
    document, problems = load("# nothing\n")
    assert document.root is None and not problems


def test_aliases_share_a_value():
    document, problems = load("a: &x 1\nb: *x\n")
    assert not problems and isinstance(document.root, MapValue)
    found = document.root.get("b")
    assert isinstance(found, Text) and found.text == "1"


def test_every_entry_that_is_not_yaml_is_reported():
    document, problems = load("""\
        topics:
          A:
            - func: one(Tensor self) -> Tensor
              doc: a: b
            - func: two(Tensor self) -> Tensor
              doc: fine
            - func: three(Tensor self) -> Tensor
              doc: [
            - func: four(Tensor self) -> Tensor
        """)
    assert [(d.operator, d.location.line) for d in problems.sorted()] == [("one", 4), ("three", 8)]
    assert document.unreadable == {"one", "three"}
    assert isinstance(document.root, MapValue)


def test_five_hundred_entries_load_quickly():
    entry = """\
        - func: op{0}(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
          variants: function, method
          dispatch:
            CPU, Meta: add_kernel
          derivatives:
            self: grad
            other: grad * alpha
          doc: |
            Adds one tensor to another.
    """
    text = "topics:\n  A:\n" + "".join(
        textwrap.indent(textwrap.dedent(entry.format(i)), "    ") for i in range(500)
    )

    start = time.process_time()
    document, problems = load(text)
    assert time.process_time() - start < 1.0  # 0.1 s; the rest is for busy machines
    assert document.root is not None and not problems


@pytest.mark.parametrize("depth", [60, 1000, 100_000])
@pytest.mark.parametrize("opening, closing", [("[", "]"), ("{a: ", "}"), ("- ", "")])
def test_nesting_is_limited(depth: int, opening: str, closing: str):
    document, problems = load("a: 1\n" if not depth else opening * depth + "x" + closing * depth + "\n")
    assert document.root is None
    [problem] = problems.sorted()
    assert problem.location.line == 1 and "nested too deeply" in problem.message


def test_aliases_may_not_multiply():
    lists = [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 11)]
    document, problems = load("a0: &a0 x\n" + "\n".join(lists) + "\n")
    assert document.root is None
    [problem] = problems.sorted()
    assert "aliases" in problem.message
