"""References must resolve: paths in Markdown files, and titles of Notes in all texts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from .finding import Finding
from .tree import CPP, PYTHON, ROOT, files

INDEX = "docs/architecture.md"
HEADING = "<!-- The list below is written by make format. -->"

# A note begins with its title, in a comment or docstring: alone on a line, or followed by `.` or `:`. After
# another sentence, text must follow: otherwise it is a reference.
TITLE = re.compile(r"^\s*(?:///?|#)?\s*Note \[([^\]]+)\](?:$|[.:](?: |$))")
TITLE_WITHIN = re.compile(r"\. Note \[([^\]]+)\][.:] ")
REFERENCE = re.compile(r"Note \[([^\]]+)\]")
TOP_LEVEL = "aten|c10|codegen|docs|examples|templates|tests|tools|torch_py"
GENERATED = ("aten/ops/", "aten/register/", "torch_py/_generated/")  # looked up once they are built
PATH = re.compile(rf"`((?:{TOP_LEVEL})/[\w./-]+)`")
EXEMPT = ("tools/lint/references.py", "tests/tools/test_lint.py")


def check(root: Path = ROOT) -> Iterator[Finding]:
    sources = _sources(root)
    pages = {path: (root / path).read_text() for path in files((".md",), root)}
    titles = note_titles(sources)

    yield from check_titles(sources)
    yield from check_notes({**sources, **pages}, titles)
    yield from check_paths(pages, root)
    if index_of(pages.get(INDEX, "")) != index(titles):
        yield Finding(INDEX, 0, "the list of Notes is out of date; make format")


def _sources(root: Path) -> dict[str, str]:
    paths = files((*CPP, *PYTHON, ".yaml"), root)
    return {path: (root / path).read_text(errors="replace") for path in paths if path not in EXEMPT}


def note_titles(sources: Mapping[str, str]) -> dict[str, str]:
    """The file of each Note, by title."""
    titles: dict[str, str] = {}
    for path, text in sources.items():
        for _, title in titles_in(text):
            titles.setdefault(title, path)
    return titles


def titles_in(text: str) -> Iterator[tuple[int, str]]:
    """Line numbers and titles; a reference that begins a line continues the sentence above."""
    above = ""
    for number, line in enumerate(text.splitlines(), 1):
        found = TITLE.search(line) or TITLE_WITHIN.search(line)
        if found and not re.search(r"[\w,(]$", above):
            yield number, found[1]
        above = line.rstrip()


def check_titles(sources: Mapping[str, str]) -> Iterator[Finding]:
    """Reports a Note whose title another file has, too."""
    first = note_titles(sources)
    for path, text in sources.items():
        for number, title in titles_in(text):
            if first[title] != path:
                yield Finding(path, number, f"{first[title]} has a Note [{title}], too; rename one")


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
    before = page.read_text()
    after = before.partition(HEADING + "\n")[0] + HEADING + "\n" + index(note_titles(_sources(root)))
    if after != before:
        page.write_text(after)
