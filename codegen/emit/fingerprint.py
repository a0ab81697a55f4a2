"""Records what a generated tree was made from, so that a run with nothing to do ends at once.

Imports neither jinja2 nor yaml: an unchanged run only reads the stamp and looks at some hundred files.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from codegen.scanned import STAMP, kernel_files, sample_files, taken_name_files

_PACKAGE = Path(__file__).resolve().parents[1]
_TEMPLATES = _PACKAGE.parent / "templates"


def is_current(
    output: Path, yaml_path: Path, base: Path | None = None, selection: Path | None = None
) -> bool:
    """Whether ``output`` was made from exactly these inputs and nobody has touched it since."""
    stamp = read_stamp(output)
    if stamp is None or stamp.get("inputs") != inputs_digest(yaml_path, base, selection):
        return False

    files = stamp.get("files", {})
    return bool(files) and all(_state(output / name) == state for name, state in files.items())


def read_stamp(output: Path) -> dict[str, Any] | None:
    try:
        found = json.loads((output / STAMP).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def write_stamp(output: Path, inputs: str, files: Iterable[str]) -> None:
    states = {name: _state(output / name) for name in files}
    temporary = output / f"{STAMP}.new"
    temporary.write_text(json.dumps({"inputs": inputs, "files": states}), encoding="utf-8")
    os.replace(temporary, output / STAMP)


def inputs_digest(yaml_path: Path, base: Path | None = None, selection: Path | None = None) -> str:
    """A digest of the contents of declarations, generator and templates, and of the state of scanned files.

    ``base`` is the file that a library extends: the generated tree depends on its kernels and samples too.
    ``selection`` is the list of the operators that are to work.
    """
    digest = hashlib.sha256()
    for path in (*_read_inputs(yaml_path, base), *([selection] if selection is not None else [])):
        digest.update(path.name.encode() + b"\0")
        try:
            digest.update(path.read_bytes() + b"\0")
        except OSError:
            digest.update(b"missing\0")

    for name, state in _scanned_inputs([yaml_path, *([base] if base is not None else [])]):
        digest.update(f"{name}\0{state}\0".encode())
    return digest.hexdigest()


def _read_inputs(yaml_path: Path, base: Path | None) -> Iterator[Path]:
    yield yaml_path
    if base is not None:
        yield base
    yield from sorted(p for p in _PACKAGE.rglob("*.py") if "__pycache__" not in p.parts)
    yield from sorted(p for p in _TEMPLATES.rglob("*") if p.is_file())


def _scanned_inputs(declarations: Iterable[Path]) -> Iterator[tuple[str, list[int]]]:
    """Kernel files, sample generators and the package: the model looks for names in them."""
    for path in declarations:
        root = path.parent
        for found in (*kernel_files(root), *sample_files(root), *taken_name_files(root)):
            yield found.relative_to(root).as_posix(), _state(found)


def _state(path: Path) -> list[int]:
    try:
        status = path.stat()
    except OSError:
        return []
    return [status.st_size, status.st_mtime_ns]
