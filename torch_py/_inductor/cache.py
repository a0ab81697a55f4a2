"""Compiled libraries on disk, by the digest of what they were made from, and small entries (entries.py).

An entry is one file, such as `ab/KEY.so`: the library and, after it, a digest of the library and the key. It
appears by renaming, so readers never see a part of one. Programs run what is in it, so the folder must be the
user's own and closed to others, and an entry whose digest is wrong is made anew. Nothing is ever unpickled.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import cast

from torch_py import _logging
from torch_py._records import Fields

log = _logging.topic("cache")

_DIGEST = 32  # bytes at the end of an entry
_SIZE_LIMIT = 1 << 30  # bytes; TORCH_PY_CACHE_LIMIT
_SWEEP_EVERY = 3600  # seconds, between looks at the size
_KEPT_SHARE = 0.75  # of the limit, when entries are removed
_LEFT_AFTER = 600  # seconds; compilers are killed after 60

Compile = Callable[[str, str], None]


class Cache(Fields):
    """A folder of compiled libraries."""

    folder: Path
    _opened = cast("Cache | None", None)  # what `opened` has found; not a field

    @classmethod
    def opened(cls) -> Cache:
        """The cache of this process: the user's, or a temporary one if that cannot be used."""
        folder = default_folder()
        current = cls._opened
        if current is None or (current.folder != folder and not current.folder.name.startswith(_PREFIX)):
            cls._opened = current = cls(_usable(folder))
        return current

    def library(self, key: str, source: str, compile: Compile, again: bool = False) -> str:
        """The path of the library with a key. Without a good one, or `again`, `compile` makes it of the
        source.
        """
        found = None if again else self.known(key)
        log.info("%s %s", "miss" if found is None else "hit", key)
        if found is not None:
            return found

        path = self.place(key, ".so")
        self._compile(path, key, source, compile)
        if self._has_to_sweep():
            sweep(self.folder, _limit(), keep=path)
        return str(path)

    def known(self, key: str) -> str | None:
        """The path of the library that was compiled for a key; None if it is absent or damaged."""
        return None if self.read(key, ".so") is None else str(self.place(key, ".so"))

    def read(self, key: str, suffix: str) -> bytes | None:
        """What was kept under a key; None if it is absent, damaged, or not a file of the user's own."""
        path = self.place(key, suffix)
        try:
            facts = os.lstat(path)
            if not stat.S_ISREG(facts.st_mode) or facts.st_uid != os.geteuid():
                return None
            kept = path.read_bytes()
        except OSError:
            return None

        content = kept[:-_DIGEST]
        if not content or kept[-_DIGEST:] != _digest_of(content, key):
            return None
        with suppress(OSError):  # a cache that may only be read
            os.utime(path)
        return content

    def write(self, key: str, suffix: str, content: bytes) -> None:
        """Keeps something under a key."""
        path = self.place(key, suffix)
        work = path.with_suffix(f".{os.urandom(8).hex()}.part")
        work.write_bytes(content + _digest_of(content, key))
        os.replace(work, path)

    def place(self, key: str, suffix: str) -> Path:
        """Where something is kept under a key; the folder is there."""
        path = self.folder / key[:2] / f"{key}{suffix}"
        path.parent.mkdir(mode=0o700, exist_ok=True)
        return path

    def _has_to_sweep(self) -> bool:
        """Whether no process has looked at the size for a while. From now on, this one has."""
        swept = self.folder / "swept"
        is_new = not swept.exists()
        is_due = not is_new and not 0 < time.time() - swept.stat().st_mtime < _SWEEP_EVERY
        if is_new or is_due:
            swept.touch(0o600)
        return is_due

    def _compile(self, path: Path, key: str, source: str, compile: Compile) -> None:
        """Compiles in a folder of its own, and keeps the result and its text."""
        work = self.folder / f"{_PREFIX}{os.getpid()}-{os.urandom(8).hex()}"
        work.mkdir(mode=0o700)
        try:
            text, target = work / "kernels.cpp", work / "kernels.so"
            text.write_text(source)
            compile(str(text), str(target))
            self.write(key, ".so", target.read_bytes())
            target.unlink()
            os.replace(text, path.with_suffix(".cpp"))  # for people
        finally:
            _remove(work)


_PREFIX = "torch_py-"
_SUFFIXES = (".so", ".cpp", ".race", ".graph", ".call")  # libraries, results of races, programs, calls


def default_folder() -> Path:
    """TORCHINDUCTOR_CACHE_DIR, or `torch_py/kernels` in the user's folder for caches."""
    named = os.environ.get("TORCHINDUCTOR_CACHE_DIR")
    if named:
        return Path(named)
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(home) / "torch_py" / "kernels"


def _limit() -> int:
    given = os.environ.get("TORCH_PY_CACHE_LIMIT", "")
    return int(given) if given.isdecimal() else _SIZE_LIMIT


def _usable(folder: Path) -> Path:
    """The folder, if nobody else can write to it; otherwise a temporary one that goes with the process."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        facts = os.stat(folder, follow_symlinks=True)

        if facts.st_uid != os.geteuid():
            raise PermissionError(f"it belongs to user {facts.st_uid}")
        if facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise PermissionError("others may write to it")
        if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
            raise PermissionError("it is read-only")

        return folder
    except OSError as problem:
        import tempfile  # imported here: most folders can be used

        temporary = Path(tempfile.mkdtemp(prefix=_PREFIX))
        log.warning("compiled code is kept in %s: %s cannot be used: %s", temporary, folder, problem)
        owner = os.getpid()
        atexit.register(lambda: _remove(temporary) if os.getpid() == owner else None)
        return temporary


def _remove(folder: Path) -> None:
    """Removes a folder, and what is in it."""
    try:
        os.rmdir(folder)
    except OSError:
        import shutil  # imported here: what compilations make is moved, and leaves an empty folder

        shutil.rmtree(folder, ignore_errors=True)


def _digest_of(content: bytes, key: str) -> bytes:
    return hashlib.sha256(key.encode() + content).digest()


def sweep(folder: Path, limit: int, keep: Path | None = None) -> None:
    """Where entries take more than `limit` bytes of the disk, removes those that were not used for longest,
    until there is room for more; and what processes that were killed have left.
    """
    from glob import escape, glob  # imported here: most processes write few entries

    inside = escape(str(folder))
    entries = []
    for path in glob(f"{inside}/??/*"):
        if path.endswith(_SUFFIXES):
            with suppress(OSError):  # another process has removed it
                facts = os.stat(path)
                entries.append((facts.st_mtime, facts.st_blocks * 512, path))  # which is their unit

    total = sum(size for _, size, _ in entries)
    least = total if total <= limit else limit * _KEPT_SHARE
    for _, size, path in sorted(entries):
        if total <= least:
            break
        if path != str(keep):
            total -= size
            Path(path).unlink(missing_ok=True)

    for work in map(Path, [*glob(f"{inside}/{_PREFIX}*"), *glob(f"{inside}/??/*.part")]):
        # The process that compiled there may be in another container, so its number says nothing.
        with suppress(OSError):
            if time.time() - work.stat().st_mtime > _LEFT_AFTER:
                work.unlink() if work.suffix == ".part" else _remove(work)
