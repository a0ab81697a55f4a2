"""Lines and columns in the units that editors count."""

from __future__ import annotations

import pytest

from codegen.lsp.text import Lines, normalised

TEXT = "ä𝔸b\n\nlast\u2028line"


@pytest.mark.parametrize(
    "encoding, columns",
    [("utf-8", [0, 2, 6, 7]), ("utf-16", [0, 1, 3, 4]), ("utf-32", [0, 1, 2, 3])],
)
def test_columns_count_units(encoding: str, columns: list[int]) -> None:
    lines = Lines(TEXT, encoding)
    assert [lines.position(offset) for offset in range(4)] == [(0, column) for column in columns]
    assert [lines.offset(0, column) for column in columns] == list(range(4))


def test_only_newlines_end_lines() -> None:
    lines = Lines(TEXT)
    assert len(lines) == 3
    assert lines.line(2) == "last\u2028line"
    assert lines.position(len(TEXT)) == (2, 9)


@pytest.mark.parametrize("line, column, offset", [(0, 99, 3), (1, 5, 4), (2, 99, 14), (99, 0, 14), (0, 2, 2)])
def test_positions_outside_of_the_text_are_the_nearest_inside(line: int, column: int, offset: int) -> None:
    assert Lines(TEXT).offset(line, column) == offset


def test_normalised_texts_have_the_lines_and_columns_of_the_editor() -> None:
    assert normalised("a\r\nb\rc\nd\ud800e") == "a\nb\nc\nd\ufffde"
