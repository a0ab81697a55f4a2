"""Headers of the standard library that a file needs, whichever library the compiler brings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from .finding import Finding
from .layering import INCLUDE
from .tree import CPP, ROOT, files

# Some versions of the standard library declare them in <string> and others, and some do not.
FIXED_WIDTH = re.compile(r"\b(?:u?int(?:8|16|32|64|ptr)_t)\b")
DECLARES = ("cstdint", "stdint.h", "Python.h")


def check(root: Path = ROOT) -> Iterator[Finding]:
    yield from check_texts({path: (root / path).read_text(errors="replace") for path in files(CPP, root)})


def check_texts(texts: dict[str, str]) -> Iterator[Finding]:
    reached: dict[str, bool] = {}
    for path, text in texts.items():
        use = FIXED_WIDTH.search(text)
        if use and not _reaches(path, texts, reached):
            line = text.count("\n", 0, use.start()) + 1
            yield Finding(path, line, f"{use[0]} without <cstdint>, directly or by an include of ours")


def _reaches(path: str, texts: dict[str, str], reached: dict[str, bool]) -> bool:
    """Whether a file includes what declares these types; `reached` holds what is known already."""
    if path not in reached:
        reached[path] = False  # for files that include each other
        reached[path] = any(
            name in DECLARES or _reaches_by(name, texts, reached) for name in _included(texts[path])
        )
    return reached[path]


def _reaches_by(name: str, texts: dict[str, str], reached: dict[str, bool]) -> bool:
    """A generated file is taken to have what it needs: the build of every compiler is its test."""
    place = f"tests/emulation/include/{name}"
    found = name if name in texts else place if place in texts else None
    if found is not None:
        return _reaches(found, texts, reached)
    return name.startswith(("aten/", "torch_py/"))


def _included(text: str) -> list[str]:
    return [found[1] for line in text.splitlines() if (found := INCLUDE.match(line))]
