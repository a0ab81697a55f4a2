"""Files of saved programs: a zip container with the program as JSON and tensors as raw bytes, without pickle.

Members of the container are not compressed, so that what is read is not larger than the file.
"""

from __future__ import annotations

import json
import os
import zipfile
from typing import IO, Any

from torch_py._serialization.writer import write_path, write_stream

_PROGRAM = "program.json"
_BYTES = "tensors.bin"
_EXTRA = "extra/"
_LARGEST_PROGRAM = 1 << 28
_MOST_MEMBERS = 10_000


class ArchiveError(RuntimeError):
    """A file that is not a saved program, or a damaged one."""


def write_archive(
    f: Any, kind: str, program: dict[str, Any], data: bytes, extra: dict[str, Any] | None
) -> None:
    """Writes a program to `f`, a path or a file open for writing. `kind` tells which function reads it."""
    text = json.dumps({"kind": kind, "version": 1, "program": program}, allow_nan=False)
    members = [(_PROGRAM, text.encode()), (_BYTES, data)]
    for name, content in (extra or {}).items():
        members.append((_EXTRA + name, content.encode() if isinstance(content, str) else bytes(content)))

    def write(file: IO[bytes], _: str) -> None:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
            for name, content in members:
                archive.writestr(zipfile.ZipInfo(name), content)

    if isinstance(f, (str, os.PathLike)):
        write_path(write, os.fspath(f))
    else:
        write_stream(write, f)


def read_archive(f: Any, kind: str, extra: dict[str, Any] | None) -> tuple[dict[str, Any], bytes]:
    """The program and the bytes of its tensors. Fills `extra` with the contents of the names that it has.

    Raises ArchiveError for everything that `write_archive` does not write, and OSError for a path that cannot
    be read.
    """
    try:
        with zipfile.ZipFile(f) as archive:
            _check_members(archive)
            if any(name.endswith("constants.pkl") for name in archive.namelist()):
                raise ArchiveError("the file holds TorchScript of PyTorch, which torch_py cannot run")
            text = archive.read(_PROGRAM)
            data = archive.read(_BYTES)
            for name in extra or ():
                if _EXTRA + name in archive.namelist():
                    extra[name] = archive.read(_EXTRA + name)  # type: ignore[index]
    except (zipfile.BadZipFile, KeyError, EOFError, NotImplementedError, ValueError) as error:
        raise ArchiveError(f"not a file of a saved program, or a damaged one: {error}") from None
    return _parsed(text, kind), data


def _check_members(archive: zipfile.ZipFile) -> None:
    members = archive.infolist()
    if len(members) > _MOST_MEMBERS or len({member.filename for member in members}) < len(members):
        raise ArchiveError("a damaged file of a saved program: it has too many members, or one twice")
    for member in members:
        if member.compress_type != zipfile.ZIP_STORED or member.compress_size != member.file_size:
            raise ArchiveError(f"a damaged file of a saved program: {member.filename!r} is compressed")
        if member.filename == _PROGRAM and member.file_size > _LARGEST_PROGRAM:
            raise ArchiveError("the program in this file is too large to be read")


def _parsed(text: bytes, kind: str) -> dict[str, Any]:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ArchiveError(f"a damaged file of a saved program: {error}") from None

    if not isinstance(content, dict) or not isinstance(content.get("program"), dict):
        raise ArchiveError("a damaged file of a saved program: its program is missing")
    if content.get("kind") != kind:
        raise ArchiveError(f"the file holds a {content.get('kind')!r}, where a {kind!r} was expected")
    if content.get("version") != 1:
        raise ArchiveError(f"the file has version {content.get('version')!r}; this torch_py reads version 1")
    return content["program"]
