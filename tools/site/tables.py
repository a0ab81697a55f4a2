"""The tables that `make parity` and `make tested` write, as pages. Those that have not run are left out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from tools.site.reference.names import AddressBook

# File in build/docs: the page's title, and what it is.
_TABLES = {
    "parity": (
        "Every schema",
        "Each schema of PyTorch's `native_functions.yaml`, and the first difference here.",
    ),
    "names": ("Every name", "Each public name of PyTorch, and those that programs use."),
    "tested": ("Every test", "The tests that ran on each operator."),
}
_ROW = re.compile(r"^\| `(?P<name>[^`]+)` \|", re.MULTILINE)
_HEAD = "---\ntitle: {title}\nsearch:\n  exclude: true\nhide: [toc]\n---\n# {title}\n\n{text}\n\n"
_FILTER = '<input class="filter" type="search" placeholder="Filter" aria-label="Filter" data-filter-rows>\n\n'


def write(root: Path, folder: Path, book: AddressBook) -> Mapping[str, str]:
    """Titles and pages of the tables that exist."""
    found = {}
    for name, (title, text) in _TABLES.items():
        path = root / "build" / "docs" / f"{name}.md"
        if not path.is_file():
            continue

        table = path.read_text(encoding="utf-8")
        table = table[table.index("|") :]
        folder.mkdir(parents=True, exist_ok=True)
        page = folder / f"{name}.md"
        head = _HEAD.format(title=title, text=text)
        page.write_text(head + _FILTER + _linked(table, book), encoding="utf-8")
        found[title] = f"{folder.name}/{page.name}"
    return found


def _linked(table: str, book: AddressBook) -> str:
    """The table with links from the names that have a page: ``torch.nn.Linear``, ``add.Tensor``."""

    def replaced(match: re.Match[str]) -> str:
        name = match["name"]
        found = book.pages.get(name) or book.pages.get(f"torch.{name.partition('.')[0]}")
        return f"| [`{name}`](../{found}) |" if found else match[0]

    return _ROW.sub(replaced, table)
