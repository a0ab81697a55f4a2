"""docs/entries.md lists every word that an entry may use, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from codegen.dtypes import DTYPE_ALIASES, DTYPES
from codegen.expressions import CONSTANTS, FUNCTIONS
from codegen.expressions.rows import REDUCTIONS
from codegen.expressions.scope import METADATA_METHODS, REQUIREMENT_FUNCTIONS
from codegen.model import load, vocabulary
from codegen.targets.torch_py import keys
from codegen.targets.torch_py.python_modules import PYTHON_MODULES

REPOSITORY = Path(__file__).resolve().parents[2]
TEXT = (REPOSITORY / "docs" / "entries.md").read_text()
SECTIONS = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", TEXT, re.MULTILINE | re.DOTALL))


def rows(section: str) -> list[str]:
    """First cells of the table."""
    return re.findall(r"^\| `([^`]+)` \|", SECTIONS[section], re.MULTILINE)


@pytest.mark.parametrize(
    "section, words",
    [
        ("A file", vocabulary.DOCUMENT_KEYS),
        ("Structures", vocabulary.STRUCTURES),
        ("Variants", vocabulary.VARIANTS),
        ("Requirements", vocabulary.REQUIREMENT_KEYS),
        ("Promotion", tuple(vocabulary.PROMOTIONS)),
    ],
)
def test_tables_list_every_word(section: str, words: tuple[str, ...]) -> None:
    assert rows(section) == list(words)


def test_keys_of_an_entry() -> None:
    assert sorted(rows("An entry")) == sorted(vocabulary.ENTRY_KEYS)


@pytest.mark.parametrize(
    "section, words",
    [
        ("A file", (*DTYPES, *DTYPE_ALIASES)),
        ("An entry", (*PYTHON_MODULES, *keys.TAGS)),
        ("Dispatch", keys.DISPATCH_KEYS),
        ("Promotion", {word for known in vocabulary.PROMOTIONS.values() for word in known}),
        ("Requirements", vocabulary.ERRORS),
        ("Derivatives", CONSTANTS),
    ],
)
def test_words_are_documented(section: str, words: tuple[str, ...]) -> None:
    assert [word for word in words if f"`{word}`" not in SECTIONS[section]] == []


def test_functions_are_documented() -> None:
    table = re.findall(
        r"^\| `(\w+)\((.*?)\)` \| (.*?) \| ?(.*?) ?\|$", SECTIONS["The expression language"], re.MULTILINE
    )
    expected = []
    for function in FUNCTIONS.values():
        derivatives = ", ".join("none" if d is None else f"`{d}`" for d in function.derivatives)
        expected.append((function.name, ", ".join(function.parameters), derivatives, function.note))
    assert table == expected
    assert [name for name in REQUIREMENT_FUNCTIONS if f"`{name}(x" not in SECTIONS["Requirements"]] == []
    assert [name for name in METADATA_METHODS if f"`x.{name}(" not in SECTIONS["Derivatives"]] == []


def test_reductions_are_documented() -> None:
    table = re.findall(r"^\| `(\w+)\(x\)` \| (.*?) \|$", SECTIONS["Formulas over rows"], re.MULTILINE)
    assert table == [(reduction.name, reduction.note) for reduction in REDUCTIONS.values()]


def test_examples_of_structures() -> None:
    """CONTRIBUTING names, in this order, a pointwise operator, a reduction, a shaped one and a composite."""
    program = load(REPOSITORY / "native_functions.yaml")
    page = (REPOSITORY / "CONTRIBUTING.md").read_text()
    (named,) = re.findall(r"here a pointwise one.*?```sh\n(.*?)```", page, re.DOTALL)

    examples = [line.split()[-1] for line in named.splitlines()]
    found = [next(o.structure for o in program if o.base_name == name) for name in examples]
    assert found == ["pointwise", "reduction", "shaped", "composite"]


def test_other_pages_link_to_it() -> None:
    for document in ("README.md", "CONTRIBUTING.md", "native_functions.yaml"):
        assert "docs/entries.md" in (REPOSITORY / document).read_text(), document
