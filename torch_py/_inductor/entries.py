"""Small entries of the cache: values as JSON (program_json.py), with a digest that tells damaged ones."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from typing import Any, TypeVar

from torch_py import _logging
from torch_py._inductor.cache import Cache
from torch_py._inductor.program_json import NotWrittenError, decoded, encoded

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
