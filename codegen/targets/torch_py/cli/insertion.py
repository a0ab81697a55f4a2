"""Adds what ``new`` drafts to files that people write."""

from __future__ import annotations

import re
from pathlib import Path

from codegen.targets.torch_py.emit.native import header_of_source
from codegen.targets.torch_py.rooms import end_of_chapter

_DISPATCH = "AT_DISPATCH_"
# What a generator of arguments imports.
_SAMPLES_HEAD = """\
from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.registry import SampleInput, samples
"""


def with_entry(text: str, topic: str, entry: str, chapter: str = "") -> str:
    """Adds ``entry`` at the end of ``topic``; a new topic becomes the last one of ``chapter``."""
    found = re.search(rf"^  {re.escape(topic)}:[^\n]*\n", text, re.MULTILINE)
    if found is None:
        return _with_topic(text, topic, entry, end_of_chapter(text, chapter))

    # The next topic, or the comment above it.
    following = re.compile(r"^ {0,2}(?=\S)", re.MULTILINE).search(text, found.end())
    end = following.start() if following else len(text)

    before = text[:end].rstrip() + "\n"
    is_first = before.endswith(found.group().rstrip() + "\n")
    return before + ("" if is_first else "\n") + entry + ("\n" + text[end:] if following else "")


def _with_topic(text: str, topic: str, entry: str, end: int) -> str:
    """Puts a new topic with its first entry at the index ``end``."""
    before = text[:end].rstrip("\n") + "\n" if text else ""
    if re.search(r"^library:", text, re.MULTILINE) and not re.search(r"^topics:", text, re.MULTILINE):
        before += "topics:"
    after = "\n" + text[end:] if end < len(text) else ""
    return f"{before}\n  {topic}:\n{entry}{after}"


def with_stub(path: Path, stub: str, text: str | None = None, loops: str = "aten/iteration/Loops.h") -> str:
    """The text of the C++ file ``path`` with ``stub`` at the end of its namespace.

    ``text`` replaces the file's own, as it is after earlier insertions. A stub with a loop needs ``loops``.
    Files named ``.isa.cpp`` have a namespace for each instruction set.
    """
    if text is None and not path.exists():
        return _new_source(path, stub, loops)

    text = path.read_text(encoding="utf-8") if text is None else text
    for header in _headers(path, stub, loops):
        text = _with_include(text, header)
    namespace = "CPU_CAPABILITY" if path.name.endswith(".isa.cpp") else _namespace(path)
    closing_braces = re.finditer(rf"^\}}[^\n]*\b{namespace}\b", text, re.MULTILINE)

    # Without a comment that names the namespace, the last brace of the file closes it.
    ends = [found.start() for found in closing_braces] or [text.rfind("}")]
    end = ends[-1]
    return f"{text[:end].rstrip()}\n\n{stub}\n{text[end:]}" if end >= 0 else f"{text}\n{stub}"


def _headers(path: Path, stub: str, loops: str) -> tuple[str, ...]:
    """What the stub needs besides the declarations of its file; kernels for CUDA have none of these."""
    return ("aten/Dispatch.h", loops) if _DISPATCH in stub or path.suffix == ".cu" else ()


def _with_include(text: str, header: str) -> str:
    """Adds ``#include "header"`` to the last block of them, sorted as ``make format`` sorts it."""
    line = f'#include "{header}"\n'
    if line in text:
        return text
    blocks = list(re.finditer(r'(?:^#include "[^"\n]*"\n)+', text, re.MULTILINE))
    if not blocks:
        return f"{line}{text}"

    block = blocks[-1]
    lines = block.group().splitlines(keepends=True)
    own = lines[:1] if "/declarations/" in lines[0] else []
    included = "".join([*own, *sorted([*lines[len(own) :], line])])
    return f"{text[: block.start()]}{included}{text[block.end() :]}"


def _namespace(path: Path) -> str:
    return "at::native::cuda" if path.suffix == ".cu" else "at::native"


def _new_source(path: Path, stub: str, loops: str) -> str:
    """A C++ file that holds only ``stub``."""
    declarations = [] if path.suffix == ".cu" else [header_of_source(_below_root(path))]
    includes = [*declarations, *_headers(path, stub, loops)]
    head = [f'#include "{include}"' for include in includes]

    opening = [f"namespace {_namespace(path)} {{"]
    closing = [f"}}  // namespace {_namespace(path)}"]
    if path.name.endswith(".isa.cpp"):
        opening = [*opening, "inline namespace CPU_CAPABILITY {"]
        closing = ["}  // namespace CPU_CAPABILITY", *closing]

    return "\n".join([*head, "", *opening, "", stub, *closing, ""])


def with_samples(path: Path, generator: str, topic: str) -> str:
    """The text of the samples file ``path`` with ``generator`` at its end."""
    if not path.exists():
        return f'"""Arguments of the topic {topic}."""\n\n{_SAMPLES_HEAD}\n\n{generator}'

    text = path.read_text(encoding="utf-8")
    for line in _SAMPLES_HEAD.splitlines():
        if " import " in line:
            module, names = line.removeprefix("from ").split(" import ")
            text = _with_import(text, module, names.split(", "))
    return f"{text.rstrip()}\n\n\n{generator}"


def _with_import(text: str, module: str, names: list[str]) -> str:
    """Adds ``names`` to the import from ``module``; ``make format`` sorts an import that is new."""
    found = re.search(rf"^from {re.escape(module)} import (?P<names>[\w, ]+)$", text, re.MULTILINE)
    if found is not None:
        # Classes come before functions, as ruff sorts them.
        merged = sorted({*found["names"].split(", "), *names}, key=lambda name: (name.islower(), name))
        return f"{text[: found.start('names')]}{', '.join(merged)}{text[found.end('names') :]}"

    future = re.search(r"^from __future__ import .*\n\n?", text, re.MULTILINE)
    end = future.end() if future else 0
    return f"{text[:end]}from {module} import {', '.join(names)}\n{text[end:]}"


def _below_root(path: Path) -> str:
    """The path inside the checkout: ``aten/native/cpu/SumKernel.isa.cpp``."""
    text = path.as_posix()
    return text[text.rindex("aten/native/") :]
