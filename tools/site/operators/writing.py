"""Writes the pages of the explorer: one for each operator, one for each chapter, and the list of all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tools.site.operators.catalogue import Subject, by_chapter, by_topic
from tools.site.operators.page import Pages
from tools.site.operators.support import COLUMNS
from tools.site.rendering import render

_MARKS = {"yes": "●", "partly": "◐", "no": "–"}


@dataclass
class Explorer:
    """``parts`` are pieces of HTML for the finished pages, which need no Markdown and no search:
    they replace the comment ``<!-- place: KEY -->``."""

    pages: Pages
    subjects: Sequence[Subject]
    folder: Path
    parts: dict[str, str] = field(default_factory=dict)

    def write(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        topics = by_topic(self.subjects)
        about = self.pages.declared.chapters
        for subject in self.subjects:
            self._write_subject(subject, topics[subject.topic])
        for chapter, members in by_chapter(self.subjects).items():
            text = render("chapter.md", chapter=chapter, about=about[chapter], topics=by_topic(members))
            (self.folder / f"{chapter}.md").write_text(text, encoding="utf-8")
        text = render(
            "operators.md", chapters=by_chapter(self.subjects), about=about, total=len(self.subjects)
        )
        (self.folder / "index.md").write_text(text, encoding="utf-8")

    def _write_subject(self, subject: Subject, topic: Sequence[Subject]) -> None:
        overloads = self.pages.overloads(subject)
        text = render(
            "operator.md",
            subject=subject,
            overloads=overloads,
            chapter=subject.chapter,
            columns=COLUMNS,
            marks=_MARKS,
            tags=_tags(subject),
            neighbours=[other for other in topic if other is not subject and not other.is_of_lists],
        )
        (self.folder / f"{subject.slug}.md").write_text(text, encoding="utf-8")

        sources = self.pages.sources
        for number, overload in enumerate(overloads):
            self.parts[f"{subject.slug} {number}"] = render(
                "below.html",
                overload=overload,
                yaml_link=lambda line: sources.link("native_functions.yaml", line),
            )


def _tags(subject: Subject) -> list[str]:
    """The structure, and the forms that a page shows below its title."""
    first = subject.first
    found: list[str] = [first.structure]
    if first.expr is not None:
        found.append("formula")
    return found
