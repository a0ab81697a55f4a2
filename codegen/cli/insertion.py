"""Puts what ``new`` drafts into files that people write."""

from __future__ import annotations

import re
from pathlib import Path

from codegen.emit.native import header_of_source
from codegen.model.rooms import end_of_chapter


def with_entry(text: str, topic: str, entry: str, chapter: str = "") -> str:
    """``text`` with ``entry`` at the end of ``topic``; a new topic is the last one of ``chapter``."""
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
    before = text[:end].rstrip("\n") + "\n" if text else ""
    behind = "\n" + text[end:] if end < len(text) else ""
    return f"{before}\n  {topic}:\n{entry}{behind}"


def with_stub(path: Path, stub: str, text: str | None = None, loops: str = "aten/iteration/Loops.h") -> str:
    """The file, which would read ``text``, with ``stub`` at the end of the namespace of kernels; ``.isa.cpp``
    files have one per instruction set."""
    per_instruction_set = path.name.endswith(".isa.cpp")
    if text is None and not path.exists():
        includes = [header_of_source(_below_root(path)), "aten/Dispatch.h", loops]
        opening, closing = ["namespace at::native {"], ["}  // namespace at::native"]
        if per_instruction_set:
            opening, closing = (
                [*opening, "inline namespace CPU_CAPABILITY {"],
                ["}  // namespace CPU_CAPABILITY", *closing],
            )
        head = [f'#include "{include}"' for include in includes]
        return "\n".join([*head, "", *opening, "", stub, *closing, ""])
    text = path.read_text(encoding="utf-8") if text is None else text
    closing_brace = re.compile(
        r"^\}[^\n]*\bCPU_CAPABILITY\b" if per_instruction_set else r"^\}[^\n]*\bat::native\b", re.MULTILINE
    )
    ends = [found.start() for found in closing_brace.finditer(text)] or [text.rfind("}")]
    return (
        f"{text[: ends[-1]].rstrip()}\n\n{stub}\n{text[ends[-1] :]}" if ends[-1] >= 0 else f"{text}\n{stub}"
    )


def _below_root(path: Path) -> str:
    """``aten/native/cpu/SumKernel.isa.cpp``, whatever the checkout's own folder."""
    text = path.as_posix()
    return text[text.rindex("aten/native/") :]
