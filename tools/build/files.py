"""Writes files only when their content changes, so that time stamps stay and ninja has less to do."""

from __future__ import annotations

import os
from pathlib import Path


def write_if_changed(path: Path, content: bytes | str) -> bool:
    data = content.encode() if isinstance(content, str) else content
    try:
        if path.read_bytes() == data:
            return False
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_bytes(data)
    os.replace(temporary, path)
    return True


def mirror(source: Path, destination: Path, pattern: str = "**/*") -> None:
    """Makes `destination` hold the same files as `source`.

    Files that are equal are not touched; files that `source` lacks are removed.
    """
    wanted = {
        path.relative_to(source)
        for path in source.glob(pattern)
        if path.is_file() and "__pycache__" not in path.parts
    }
    for relative in sorted(wanted):
        write_if_changed(destination / relative, (source / relative).read_bytes())
    if destination.exists():
        for path in destination.rglob("*"):
            if path.is_file() and path.relative_to(destination) not in wanted:
                path.unlink()
