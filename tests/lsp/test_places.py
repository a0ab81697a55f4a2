"""The key or value at the cursor, of text that need not be YAML."""

from __future__ import annotations

import re

import pytest

from codegen.lsp.places import Place, place_at
from codegen.lsp.text import Lines

TEXT = """\
dtype_sets:
  real: [flo«set»]
dty«top»
topics:
  Foo:
    # comment
    - func: f(Tensor self, «argument»float p=1) -> Tensor
      va«key»
      variants: function, me«word»
      dispatch:
        CP«inner key»
        CUDA: f_ker«inner value»
      derivatives:
        self: grad * «formula»
          + ot«continued»
      requires:
      - dim(«item»self) == 2
      - {check: p > 0, error: Val«flow value», message: "a {p}"}
      - {check: p > 0, err«flow key»}
      - check: p > 0
        mess«map key»
      doc: |
        text ``se«block»
      «blank»
  Ba«topic»
"""
ENTRY = ("topics", "Foo", "-")


def places() -> dict[str, Place]:
    marks = {}
    text = TEXT
    while found := re.search("«(.*?)»", text):
        marks[found[1]] = found.start()
        text = text[: found.start()] + text[found.end() :]
    lines = Lines(text)
    return {name: place_at(lines, offset) for name, offset in marks.items()}


@pytest.mark.parametrize(
    "name, path, key, before",
    [
        ("set", ("dtype_sets",), "real", "[flo"),
        ("top", (), None, "dty"),
        ("argument", ENTRY, "func", "f(Tensor self, "),
        ("key", ENTRY, None, "va"),
        ("word", ENTRY, "variants", "function, me"),
        ("inner key", (*ENTRY, "dispatch"), None, "CP"),
        ("inner value", (*ENTRY, "dispatch"), "CUDA", "f_ker"),
        ("formula", (*ENTRY, "derivatives"), "self", "grad * "),
        ("continued", (*ENTRY, "derivatives"), "self", "+ ot"),
        ("item", (*ENTRY, "requires", "-"), None, "dim("),
        ("flow value", (*ENTRY, "requires", "-"), "error", "Val"),
        ("flow key", (*ENTRY, "requires", "-"), None, "err"),
        ("map key", (*ENTRY, "requires", "-"), None, "mess"),
        ("block", ENTRY, "doc", "text ``se"),
        ("blank", ENTRY, None, ""),
        ("topic", ("topics",), None, "Ba"),
    ],
)
def test_places(name: str, path: tuple[str, ...], key: str | None, before: str) -> None:
    place = places()[name]
    assert (place.path, place.key, place.before) == (path, key, before)


def test_places_in_an_entry_know_it() -> None:
    place = places()["formula"]
    assert place.operator_name == "f"
    assert (
        place.schema is not None
        and place.schema.arguments.names() == ("self", "p")
        or list(place.schema.arguments.names()) == ["self", "p"]
    )
    assert {"func", "variants", "doc"} <= place.keys_in_entry()
    assert places()["topic"].entry is None


def test_every_character_of_any_text_is_a_place() -> None:
    for text in (TEXT, "- \n-\n :\n{[", "", "\t- func", ": :\n  - - a: b:\n"):
        lines = Lines(text)
        for offset in range(len(text) + 1):
            place = place_at(lines, offset)
            assert place.entry is None or place.entry.start <= len(text)
            assert place.word.start <= offset <= place.word.end
