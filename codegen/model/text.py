"""The YAML text of one entry, as explain and the generated files show it."""

from __future__ import annotations

import hashlib
import textwrap

from codegen.yaml import MapValue


def entry_text(entry: MapValue) -> str:
    """The entry from its ``- `` to its last line, dedented; comments that belong to the next entry are left
    out."""
    source = entry.source.text
    start = source.rfind("\n", 0, entry.start) + 1
    lines = source[start : entry.end].rstrip().split("\n")
    indent = entry.start - start
    while len(lines) > 1 and (not lines[-1].strip() or _indent(lines[-1]) < indent):
        lines.pop()
    return textwrap.dedent("\n".join(lines)) + "\n"


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def digest_of(text: str) -> bytes:
    """Stands for the text of an entry where many are compared with those of an earlier run."""
    return hashlib.blake2b(text.encode(), digest_size=16).digest()
