"""The pages that are written by hand: README, CONTRIBUTING and docs/, with links that fit the site."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tools.site.formulas import typeset
from tools.site.sources import Sources

_LINK = re.compile(r"(?P<before>!?\[[^\]\n]*\])\((?P<target>[^()\s#]*)(?P<anchor>#[^()\s]*)?\)")
# Tutorials come before operators of whose names one is part of a question.
_FIRST = "---\nsearch:\n  boost: 5\n---\n"
# Pages outside docs/, by the address that they have on the site.
_ELSEWHERE = {
    "README.md": "readme.md",
    "CONTRIBUTING.md": "contributing.md",
    "examples/README.md": "examples.md",
}


@dataclass(frozen=True)
class Documents:
    root: Path
    sources: Sources

    def pages(self) -> Mapping[str, str]:
        """Where each file of the repository is on the site."""
        found = dict(_ELSEWHERE)
        for path in sorted((self.root / "docs").rglob("*.md")):
            below = path.relative_to(self.root / "docs").as_posix()
            at_top = "/" in below or below == "index.md"
            found[f"docs/{below}"] = below if at_top else f"guide/{below}"
        return found

    def write(self, folder: Path) -> None:
        pages = self.pages()
        for path, page in pages.items():
            text = (self.root / path).read_text(encoding="utf-8")
            target = folder / page
            target.parent.mkdir(parents=True, exist_ok=True)
            head = _FIRST if page.startswith("tutorials/") else ""
            target.write_text(head + typeset(self._linked(text, path, page, pages)), encoding="utf-8")

        for picture in (self.root / "docs").glob("*.svg"):
            (folder / "guide" / picture.name).write_bytes(picture.read_bytes())

    def _linked(self, text: str, path: str, page: str, pages: Mapping[str, str]) -> str:
        """Links to files of the repository become links to pages, or to the sources."""

        def replaced(match: re.Match[str]) -> str:
            target = match["target"]
            if not target or "://" in target or target.startswith("mailto:"):
                return match[0]

            wanted = os.path.normpath(os.path.join(os.path.dirname(path), target))
            anchor = match["anchor"] or ""
            if wanted in pages:
                return f"{match['before']}({_relative(pages[wanted], page)}{anchor})"
            if wanted.startswith("docs/") and wanted.endswith(".svg"):
                return f"{match['before']}({_relative('guide/' + wanted[5:], page)})"
            if (self.root / wanted).is_file():
                return f"{match['before']}({_relative(self.sources.link(wanted), page)})"
            return match["before"].lstrip("!")[1:-1]

        return _LINK.sub(replaced, text)


def _relative(target: str, page: str) -> str:
    return os.path.relpath(target, os.path.dirname(page) or ".")
