"""What texts refer to must exist: files by their path, Notes by their title."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from .finding import Finding
from .tree import CPP, PYTHON, ROOT, files

INDEX = "docs/architecture.md"
HEADING = "<!-- The list below is written by make format. -->"

# A note begins with its title, in a comment or docstring: alone on a line, or followed by `.` or `:`.
TITLE = re.compile(r"(?:^\s*(?:///?|#)?\s*|\. )Note \[([^\]]+)\](?:$|[.:](?: |$))")
REFERENCE = re.compile(r"Note \[([^\]]+)\]")
TOP_LEVEL = "aten|c10|codegen|docs|examples|templates|tests|tools|torch_py"
GENERATED = ("aten/ops/", "aten/register/", "torch_py/_generated/")  # looked up once they are built
PATH = re.compile(rf"`((?:{TOP_LEVEL})/[\w./-]+)`")
EXEMPT = ("tools/lint/references.py", "tests/tools/test_lint.py")


def check(root: Path = ROOT) -> Iterator[Finding]:
    sources = {
        path: (root / path).read_text(errors="replace")
        for path in files((*CPP, *PYTHON, ".yaml"), root)
        if path not in EXEMPT
    }
    pages = {path: (root / path).read_text() for path in files((".md",), root)}
    titles = note_titles(sources)

    yield from check_notes({**sources, **pages}, titles)
    yield from check_paths(pages, root)
    if index_of(pages.get(INDEX, "")) != index(titles):
        yield Finding(INDEX, 0, "the list of Notes is out of date; make format")


def note_titles(sources: Mapping[str, str]) -> dict[str, str]:
    """The file of each Note, by title."""
    titles = {}
    for path, text in sources.items():
        for line in text.splitlines():
            if found := TITLE.search(line):
                titles[found[1]] = path
    return titles


def check_notes(texts: Mapping[str, str], titles: Mapping[str, str]) -> Iterator[Finding]:
    for path, text in texts.items():
        for number, line in enumerate(text.splitlines(), 1):
            for title in REFERENCE.findall(line):
                if title not in titles:
                    yield Finding(path, number, f"no file has a Note [{title}]; name one that exists")


def check_paths(pages: Mapping[str, str], root: Path) -> Iterator[Finding]:
    for path, text in pages.items():
        for number, line in enumerate(text.splitlines(), 1):
            for named in PATH.findall(line):
                if named.startswith(GENERATED) and not (root / "build/generated").exists():
                    continue
                if not any((place / named).exists() for place in (root, root / "build/generated")):
                    yield Finding(path, number, f"`{named}` does not exist; name a path of the tree")


def index(titles: Mapping[str, str]) -> str:
    rows = [f"| {title} | `{titles[title]}` |" for title in sorted(titles, key=str.lower)]
    return "\n".join(["", "| note | file |", "|---|---|", *rows, ""])


def index_of(page: str) -> str:
    return page.partition(HEADING + "\n")[2]


def fix(root: Path = ROOT) -> None:
    page = root / INDEX
    if not page.exists():
        return
    sources = {
        path: (root / path).read_text(errors="replace")
        for path in files((*CPP, *PYTHON), root)
        if path not in EXEMPT
    }
    before = page.read_text()
    after = before.partition(HEADING + "\n")[0] + HEADING + "\n" + index(note_titles(sources))
    if after != before:
        page.write_text(after)
