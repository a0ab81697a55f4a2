"""Phrases that give a translated sentence away; usually the whole sentence wants another form."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .finding import Finding
from .tree import NOT_SOURCES, ROOT, files

SUFFIXES = (".py", ".pyi", ".cpp", ".h", ".yaml", ".md", ".toml", "Makefile")
# This file and its test quote what they look for.
EXEMPT = (*NOT_SOURCES, "tools/lint/voice.py", "tests/tools/test_lint.py")


@dataclass(frozen=True)
class Phrase:
    pattern: re.Pattern[str]
    advice: str


PHRASES = (
    Phrase(
        re.compile(r"(?<!\b[Tt]here )\b(?:is|are) no (?!longer\b|more than\b)\w+"),
        "say what it is, or `is not a ...`",
    ),
    Phrase(
        re.compile(r"\b(?:is|are) none\b(?! of\b)|\bthere is none of\b"), "`does not have ...`, `has no ...`"
    ),
    Phrase(re.compile(r"\bone behind the other\b"), "`one after another`"),
    Phrase(re.compile(r"\b[Mm]end(?:s|ed|ing)?\b"), "`fix`, `repair`, `remedy`"),
    Phrase(re.compile(r"\bstands? (?:in|at|below|above|first|behind)\b"), "`is`, `is listed`, `comes`"),
    Phrase(re.compile(r"\b[Bb]eside\b"), "`next to`, `in addition to`, `besides`, `along with`"),
    Phrase(re.compile(r"\bnothing is said twice\b"), "name what is shared and where"),
    Phrase(re.compile(r"\bwhose \w+ (?:is|are) no\b"), "`without ...`, `that does not have ...`"),
)


def check(root: Path = ROOT) -> Iterator[Finding]:
    for path in files(SUFFIXES, root):
        if not path.startswith(EXEMPT):
            yield from check_text(path, (root / path).read_text(errors="replace"))


def check_text(path: str, text: str) -> Iterator[Finding]:
    for number, line in enumerate(text.splitlines(), 1):
        for phrase in PHRASES:
            found = phrase.pattern.search(line)
            if found:
                yield Finding(path, number, f"«{found[0]}» reads translated; write {phrase.advice}")
