"""Mistakes that torchgen refuses are refused here, too: at the right character, with a hint."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from codegen.diagnostics import Diagnostics
from codegen.model import Program, read_program

_FOLDER = Path(__file__).parent
_PART = re.compile(r"^--- (\w+)(?: \| ([^\n]*))?\n(.*?)(?=^--- |\Z)", re.MULTILINE | re.DOTALL)
_HEAD = "topics:\n  Mistakes:\n"
_INDENT = 4


@dataclass(frozen=True)
class Mistake:
    title: str
    entries: str  # of PyTorch's native_functions.yaml
    derivatives: str  # of PyTorch's derivatives.yaml
    peer_message: str
    ours: str
    place: str  # LINE:COL in ours
    message: str


def _mistakes() -> list[Mistake]:
    found = []
    for block in (_FOLDER / "torchgen.txt").read_text().split("\n=== ")[1:]:
        title, _, body = block.partition("\n")
        parts = {name: (head, text) for name, head, text in _PART.findall(body)}
        entries_head, entries = parts["torchgen"]
        head, derivatives = parts.get("derivatives", (entries_head, "[]"))
        place, _, message = parts["ours"][0].partition(" | ")
        found.append(Mistake(title, entries, derivatives, head, parts["ours"][1].strip(), place, message))
    return found


MISTAKES = _mistakes()


def test_there_are_twenty_five_with_a_message_each():
    assert len(MISTAKES) >= 25
    assert len({mistake.title for mistake in MISTAKES}) == len(MISTAKES)
    assert all(mistake.peer_message and mistake.place and mistake.message for mistake in MISTAKES)


@functools.cache
def _tags() -> Path:
    package = importlib.util.find_spec("torchgen")
    assert package is not None and package.submodule_search_locations
    return Path(package.submodule_search_locations[0]) / "packaged" / "ATen" / "native" / "tags.yaml"


def _peer_reads(entries: str, derivatives: str, folder: Path) -> None:
    """Reads both texts as PyTorch's build does."""
    module = importlib.import_module("torchgen.packaged.autograd.load_derivatives")
    entries_file = folder / "native_functions.yaml"
    derivatives_file = folder / "derivatives.yaml"
    entries_file.write_text(entries)
    derivatives_file.write_text(derivatives)
    module.load_derivatives(str(derivatives_file), str(entries_file), str(_tags()))


@pytest.mark.skipif(importlib.util.find_spec("torchgen") is None, reason="torchgen is not installed")
@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda m: m.title)
def test_torchgen_refuses_them(mistake: Mistake, tmp_path: Path):
    with pytest.raises((AssertionError, RuntimeError)) as caught:
        _peer_reads(mistake.entries, mistake.derivatives, tmp_path)
    assert mistake.peer_message in str(caught.value)


@pytest.mark.skipif(importlib.util.find_spec("torchgen") is None, reason="torchgen is not installed")
def test_torchgen_accepts_an_entry_without_mistakes(tmp_path: Path):
    entries = "- func: capped(Tensor self) -> Tensor\n  dispatch:\n    CPU: capped_cpu\n"
    _peer_reads(entries, "- name: capped(Tensor self) -> Tensor\n  self: grad\n", tmp_path)


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda m: m.title)
def test_they_are_refused_here(mistake: Mistake, checkout: Path, tree: Program):
    text = _HEAD + "".join(f"{' ' * _INDENT}{line}\n" for line in mistake.ours.splitlines())
    problems = Diagnostics()
    read_program(checkout / "mistakes.yaml", problems, tree, checkout, text=text)

    line, column = map(int, mistake.place.split(":"))
    place = (line + _HEAD.count("\n"), column + _INDENT)
    there = [p for p in problems.sorted() if (p.location.line, p.location.column) == place]
    told = [p for p in there if mistake.message in p.message]
    assert told, problems.render()
    assert all(problem.hint for problem in told), problems.render()
