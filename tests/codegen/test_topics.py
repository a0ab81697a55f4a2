"""A file that is read topic by topic says the same as one that is read as a whole."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from codegen.diagnostics import Diagnostics
from codegen.model import loading, read_program
from codegen.model.chapters import chapter_at, chapters_of
from codegen.model.topics import read_alone, split_topics
from codegen.targets.torch_py import TARGET
from tests.codegen.synthetic import write_entries

_INSERTED = (
    "'",
    '"',
    "[",
    "]",
    "{",
    ": ",
    "#",
    "|",
    "&a ",
    "*a",
    "- ",
    "\n",
    "\t",
    "  Topic000:\n",
    "<<<<<<< x\n",
)


def _read(path: Path, text: str) -> tuple[str, list[str]]:
    """The problems, and what was read in spite of them."""
    problems = Diagnostics()
    program = read_program(path, problems, text=text, dialect=TARGET.dialect)
    topics = [] if program is None else [f"{t.location} {t.operators}" for t in program.topics.values()]
    return problems.render(), topics


def _mutated(text: str, choice: random.Random) -> str:
    """One or two slips of a typist."""
    for _ in range(choice.randrange(1, 3)):
        place = choice.randrange(len(text))
        end = place + choice.choice((0, 1, 1, 5, 40))
        text = text[:place] + choice.choice(("", *_INSERTED)) + text[end:]
    return text


@pytest.mark.parametrize("seed", range(60))
def test_slips_are_told_alike(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_entries(tmp_path, 12)
    right = path.read_text().replace("  Topic000:", "  # Chapter waves: all of them\n  Topic000:")
    wrong = _mutated(right, random.Random(seed))

    by_topic = _read(path, wrong)
    monkeypatch.setattr(loading, "split_topics", lambda text: None)
    assert by_topic == _read(path, wrong)


def test_pieces_of_a_file(tmp_path: Path) -> None:
    text = write_entries(tmp_path, 120).read_text()
    split = split_topics(text)
    assert split is not None
    assert split.head + "".join(topic.text for topic in split.topics) == text
    assert [topic.name for topic in split.topics] == ["Called", "Topic000", "Topic001"]
    for topic in split.topics:
        assert text.split("\n")[topic.first_line - 1] == f"  {topic.name}:"
        found = read_alone("operators.yaml", topic)
        assert found is not None and found[0].location.line == topic.first_line


@pytest.mark.parametrize(
    "text",
    [
        "library: l\n",
        "topics:\n",
        "topics:\n  A:\n  B:\n  A:\n",
        "topics:\n  A:\n    - func: f() -> ()\nreasons:\n  r: it is\n",
    ],
)
def test_files_that_are_read_as_a_whole(text: str) -> None:
    assert split_topics(text) is None


def test_chapters() -> None:
    text = "# Chapter one: a\nx\n  # Chapter two: b\ny # Chapter three: c\n# Chapter four\n"
    chapters = chapters_of(text)
    assert [(chapter.start, chapter.name) for chapter in chapters] == [(0, "one"), (19, "two")]
    assert [chapter_at(chapters, index) for index in (0, 1, 19, 20)] == ["", "one", "one", "two"]
