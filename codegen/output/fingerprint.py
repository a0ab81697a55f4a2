"""Records what a generated tree was made from, so that a run with nothing to do ends at once.

Imports neither jinja2 nor yaml: an unchanged run only reads the stamp and looks at some hundred files.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from codegen.target import Target

# Written into every folder that the generator fills.
STAMP = ".stamp.json"

_PACKAGE = Path(__file__).resolve().parents[1]


def is_current(output: Path, yaml_path: Path, target: Target, base: Path | None = None) -> bool:
    """Whether ``output`` was made from exactly these inputs and nobody has touched it since."""
    return is_made_from(output, inputs_digest(yaml_path, target, base))


def is_made_from(output: Path, inputs: str) -> bool:
    stamp = read_stamp(output)
    return stamp is not None and stamp.get("inputs") == inputs and is_untouched(output, stamp)


def is_untouched(output: Path, stamp: Mapping[str, Any]) -> bool:
    """Whether all generated files are as they were written."""
    files = stamp.get("files", {})
    # Thousands of paths: joined as texts, they cost a third.
    folder = os.fspath(output)
    return bool(files) and all(_state(f"{folder}/{name}") == state for name, state in files.items())


def read_stamp(output: Path) -> dict[str, Any] | None:
    try:
        found = json.loads((output / STAMP).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def write_stamp(
    output: Path, inputs: str, files: Iterable[str], known: Mapping[str, list[int]] | None = None
) -> None:
    """``known`` has the states of further files, which have not changed."""
    folder = os.fspath(output)
    states = {**(known or {}), **{name: _state(f"{folder}/{name}") for name in files}}
    temporary = output / f"{STAMP}.new"
    temporary.write_text(json.dumps({"inputs": inputs, "files": states}), encoding="utf-8")
    os.replace(temporary, output / STAMP)


def inputs_digest(yaml_path: Path, target: Target, base: Path | None = None) -> str:
    """A digest of the declarations and of all else that output depends on."""
    return with_declarations(surroundings_digest(yaml_path, target, base), yaml_path)


def with_declarations(around: str, yaml_path: Path) -> str:
    """The digest of all inputs, given that of everything but the declarations."""
    digest = hashlib.sha256(around.encode())
    digest.update(_content(yaml_path))
    return digest.hexdigest()


def surroundings_digest(yaml_path: Path, target: Target, base: Path | None = None) -> str:
    """A digest of the contents of generator and templates, and of the state of scanned files.

    ``base`` is the file that a library extends: the generated tree depends on its kernels and samples too.
    """
    digest = hashlib.sha256(f"{target.name}\0{sys.version}\0{yaml_path.name}\0".encode())
    inputs = map(os.fspath, target.inputs(yaml_path.parent))
    for path in (*_sources(target, base), *inputs):
        digest.update(os.path.basename(path).encode() + b"\0" + _content(path) + b"\0")

    for name, state in _scanned_inputs(target, [yaml_path, *([base] if base is not None else [])]):
        digest.update(f"{name}\0{state}\0".encode())
    return digest.hexdigest()


def _content(path: Path | str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b"missing"


# Paths are texts here, as those of some hundred files cost a run that has little to do.


def _sources(target: Target, base: Path | None) -> Iterator[str]:
    if base is not None:
        yield os.fspath(base)
    sources = {_PACKAGE} if _PACKAGE in target.folder.parents else {_PACKAGE, target.folder}
    for folder in sorted(sources):
        yield from _files_below(folder, ".py")
    if target.templates is not None:
        yield from _files_below(target.templates, "")


def _files_below(folder: Path, suffix: str) -> list[str]:
    found = []
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != "__pycache__"]
        found += [f"{place}/{name}" for name in names if name.endswith(suffix)]
    return sorted(found)


def _scanned_inputs(target: Target, declarations: Iterable[Path]) -> Iterator[tuple[str, list[int]]]:
    """Kernel files, sample generators and others: the model looks for names in them."""
    for path in declarations:
        root = f"{path.parent}/"
        for found in map(os.fspath, target.dialect.scanned_files(path.parent)):
            yield found.removeprefix(root), _state(found)


def _state(path: Path | str) -> list[int]:
    try:
        status = os.stat(path)
    except OSError:
        return []
    return [status.st_size, status.st_mtime_ns]
