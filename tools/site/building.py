"""Writes all pages, and lets MkDocs build the site of them."""

from __future__ import annotations

import logging
import re
import shutil
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.plugins import BasePlugin

from codegen.diagnostics import did_you_mean
from tools.site import tables
from tools.site.documents import Documents
from tools.site.navigation import Navigation, navigation
from tools.site.operators.catalogue import public_names, subjects_of
from tools.site.operators.declared import Declared
from tools.site.operators.generated import Generated
from tools.site.operators.page import Pages
from tools.site.operators.writing import Explorer
from tools.site.reference.names import AddressBook
from tools.site.reference.writing import Reference
from tools.site.sources import Sources

ROOT = Path(__file__).resolve().parents[2]
# The theme indents its HTML deeply, which is half of a small page.
_INDENTATION = re.compile(r"\s*\n\s*")
_VERBATIM = re.compile(r"(<pre.*?</pre>)", re.DOTALL)
_PLACE = re.compile(r"<!-- place: (?P<key>.*?) -->")


@dataclass(frozen=True)
class Site:
    """``only`` restricts the explorer to the operators of these names, for tests."""

    folder: Path
    only: Collection[str] = ()

    @property
    def pages(self) -> Path:
        return self.folder / "pages"

    @property
    def html(self) -> Path:
        return self.folder / "html"

    def build(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.pages.mkdir(parents=True)

        sources = Sources(ROOT)
        Documents(ROOT, sources).write(self.pages)
        book = AddressBook()
        explorer = self._explorer(sources, book)
        reference = self._reference(explorer, book)
        explorer.write()
        reference.write()
        sources.write(self.pages)
        found = tables.write(ROOT, self.pages / "tables", book) if not self.only else {}

        self._run_mkdocs(explorer, navigation(explorer.subjects, found))

    def _explorer(self, sources: Sources, book: AddressBook) -> Explorer:
        declared = Declared(ROOT)
        subjects = list(subjects_of(declared))
        known = {subject.slug for subject in subjects}
        for name in self.only:
            if name not in known:
                raise SystemExit(f"--only: no page of an operator '{name}'; {did_you_mean(name, known)}")
        if self.only:
            subjects = [subject for subject in subjects if subject.slug in self.only]

        pages = Pages(declared, sources, Generated(ROOT), book)
        return Explorer(pages, subjects, self.pages / "operators")

    def _reference(self, explorer: Explorer, book: AddressBook) -> Reference:
        pages = {
            name: f"operators/{subject.slug}.md"
            for subject in explorer.subjects
            for name in public_names(subject)
        }
        return Reference(self.pages / "reference", book, pages)

    def _run_mkdocs(self, explorer: Explorer, nav: Navigation) -> None:
        logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(message)s")
        config = load_config(
            str(Path(__file__).parent / "mkdocs.yml"),
            docs_dir=str(self.pages),
            site_dir=str(self.html),
            nav=nav,
        )
        config.plugins["torch_py"] = _Finishing(explorer.parts)
        config.plugins.run_event("startup", command="build", dirty=False)
        build(config)


class _Finishing(BasePlugin):  # type: ignore[type-arg, no-untyped-call]
    """Places operators in the navigation without a line for each, and puts code below their facts."""

    def __init__(self, parts: Mapping[str, str]) -> None:
        super().__init__()
        self.parts = parts

    def on_nav(self, nav: Any, config: Any, files: Any) -> Any:
        """Pages of operators are below the explorer, those of classes below the reference."""
        sections = {item.title: item for item in nav.items}
        parents = {"operators/": sections["Operators"], "reference/": sections["Reference"]}
        listed = {page.file.src_uri for page in nav.pages}

        for file in files.documentation_pages():
            folder = file.src_uri.partition("/")[0] + "/"
            if folder in parents and file.src_uri not in listed:
                file.page.parent = parents[folder]
        return nav

    def on_post_page(self, output: str, page: Any, config: Any) -> str:
        html = _PLACE.sub(lambda match: self.parts[match["key"]], output)
        pieces = _VERBATIM.split(html)
        pieces[::2] = [_INDENTATION.sub("\n", piece) for piece in pieces[::2]]
        return "".join(pieces)
