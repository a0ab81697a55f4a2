"""Small entries of the cache: values as JSON (program_json.py), with a digest that tells damaged ones; and
what all keys depend on."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator
from functools import cache as _remembered
from pathlib import Path
from typing import Any, TypeVar

from torch_py import _logging
from torch_py._inductor import config
from torch_py._inductor.cache import Cache
from torch_py._inductor.compile_cpp import find_compiler, identity
from torch_py._inductor.program_json import NotWrittenError, decoded, encoded
from torch_py.version import __version__

log = _logging.topic("cache")

Used = TypeVar("Used")


def read_entry(key: str, suffix: str, use: Callable[[Any], Used | None]) -> Used | None:
    """What `use` makes of the value that was kept under a key.

    None if the cache has no such entry, if it is damaged, or if `use` raises an error or returns None.
    """
    path = Cache.opened().place(key, suffix)
    try:
        digest, _, text = path.read_text().partition("\n")
        if digest != digest_of(key, text):
            return None
        found = use(decoded(json.loads(text)))
        os.utime(path)
    except (OSError, ValueError, TypeError, RuntimeError) as problem:
        if not isinstance(problem, FileNotFoundError):
            log.info("an entry cannot be used: %s", problem)
        return None
    return found


def write_entry(key: str, suffix: str, value: Any) -> None:
    """Keeps a value under a key, if it can be written."""
    path = Cache.opened().place(key, suffix)
    work = path.with_suffix(f".{os.getpid()}")
    try:
        text = json.dumps(encoded(value))
        work.write_text(f"{digest_of(key, text)}\n{text}")
        os.replace(work, path)
    except (OSError, NotWrittenError) as problem:
        log.info("%s: an entry is not kept: %s", suffix, problem)


def digest_of(key: str, text: str) -> str:
    """The first line of the entry with a key and a text."""
    return hashlib.sha256(f"{key}\n{text}".encode()).hexdigest()


# Keys
# ------------------------------------------------------------


def key_of_parts(*parts: str) -> str:
    """The key for some text, with these settings, this C++ compiler and this build of the library.

    Raises NoCompilerError.
    """
    settings = repr(sorted(config.shallow_copy_dict().items(), key=lambda item: item[0]))
    every = [*parts, *identity(find_compiler()), settings, __version__, _build()]
    return hashlib.sha256("\0".join(every).encode()).hexdigest()


@_remembered
def _build() -> str:
    """The files of the library, by size and time of the last change."""
    return repr(sorted(_files(str(Path(__file__).parent.parent))))


def _files(folder: str) -> Iterator[tuple[str, int, int]]:
    """The modules and shared libraries below a folder."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith((".py", ".so")):
                facts = entry.stat()
                yield entry.path, facts.st_size, facts.st_mtime_ns
            elif "." not in entry.name and entry.name not in _OTHERS and entry.is_dir():
                yield from _files(entry.path)


# Folders without modules that are imported.
_OTHERS = frozenset({"__pycache__", "csrc", "include"})
