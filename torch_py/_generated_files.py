"""Finds what the generator has written for Python: next to the package, or in the build of a checkout."""

from __future__ import annotations

from pathlib import Path

_FOLDERS = (
    Path(__file__).parent / "_generated",
    Path(__file__).parents[1] / "build" / "generated" / "torch_py" / "_generated",
)


def generated_file(name: str) -> Path:
    """The path of a file such as ``operators.json``."""
    return next(folder / name for folder in _FOLDERS if (folder / name).exists())
