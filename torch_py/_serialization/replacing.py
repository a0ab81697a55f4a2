"""Writes a file so that its name never refers to an incomplete file."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

# Note [Files in progress]
# The data goes to a file without a name, where the file system has such files (O_TMPFILE): it disappears with
# the process, however that ends. The finished file gets the target's name if that is free. Linux can rename a
# file over another one, but not a file without a name; so if the target exists, the finished file first gets
# the name .NAME.0.unfinished and is renamed from there.
#
# Elsewhere the file has such a name from the start. Its writer holds a lock on it. A file of that name
# without a lock belongs to a process that was killed, and the next writer of the same target removes it.
# Tested in tests/torch_py/_serialization/test_replacing.py.

_MOST_WRITERS = 1000  # of one target at the same time

# What open() reports where there are no files without names.
_UNSUPPORTED = (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT, errno.ENOSYS, errno.EPERM)


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Opens a file for writing.

    At the end of the block it replaces `path`; if the block raises, or the process is killed, `path` stays as
    it was.

    Links are followed and permissions are kept. Anything that is not a regular file (a pipe, a device), or
    that is in a folder without write permission, is written directly.
    """
    target = Path(os.path.realpath(path))
    exists = target.exists()
    if (
        (exists and not target.is_file())
        or not os.access(target.parent, os.W_OK)
        or (exists and not os.access(target, os.W_OK))
    ):
        with open(target, "wb") as direct:
            yield direct
        return

    # In the same folder, because only a file of the same file system can replace the target.
    descriptor, name = _open_unnamed(target)
    if descriptor < 0:
        descriptor, name = _open_named(target)

    with open(descriptor, "wb") as file:
        try:
            yield cast(Any, file)
            file.flush()
            os.close(os.dup(descriptor))  # network file systems report failed writes at a close
            os.fchmod(descriptor, stat.S_IMODE(target.stat().st_mode) if exists else 0o666 & ~_mask())
            if name is None and not exists and _has_become(target, descriptor):
                return
            if name is None:
                name = _name_for(descriptor, target)
            os.replace(name, target)
            name = None
        finally:
            if name is not None:
                with contextlib.suppress(OSError):
                    os.unlink(name)


def _open_unnamed(target: Path) -> tuple[int, Path | None]:
    """A locked file without a name in the target's folder; -1 where the system does not have such files."""
    if not hasattr(os, "O_TMPFILE") or not os.path.isdir("/proc/self/fd"):
        return -1, None
    try:
        descriptor = os.open(target.parent, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except OSError as error:
        if error.errno in _UNSUPPORTED:
            return -1, None
        raise

    _lock_own(descriptor)
    return descriptor, None


def _open_named(target: Path) -> tuple[int, Path | None]:
    """A new locked file with one of the target's unfinished names."""
    flags = os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC
    for name in _free_names(target):
        with contextlib.suppress(FileExistsError):
            descriptor = os.open(name, flags, 0o600)
            _lock_own(descriptor)
            # Another writer may have taken it for a dead one's before it was locked.
            if os.fstat(descriptor).st_nlink == 1:
                return descriptor, name
            os.close(descriptor)
    raise _too_many(target)


def _has_become(name: Path, descriptor: int) -> bool:
    """Gives a file without a name this one, if it is free and the system can."""
    with contextlib.suppress(OSError):
        return _link(descriptor, name)
    return False


def _name_for(descriptor: int, target: Path) -> Path:
    """Gives a file without a name, or a copy of it, one of the target's unfinished names."""
    try:
        for name in _free_names(target):
            if _link(descriptor, name):
                return name
    except OSError:  # a file system that has such files, but cannot name them
        return _copy(descriptor, target)
    raise _too_many(target)


def _copy(descriptor: int, target: Path) -> Path:
    """Puts a copy with a name into the place of an open file without one."""
    copy, name = _open_named(target)
    with open(copy, "wb") as file, open(os.dup(descriptor), "rb") as source:
        source.seek(0)
        shutil.copyfileobj(source, file)
        file.flush()
        os.fchmod(copy, stat.S_IMODE(os.fstat(descriptor).st_mode))
        os.dup2(copy, descriptor, inheritable=False)  # and with it the lock
    return name


def _too_many(target: Path) -> OSError:
    return OSError(errno.EBUSY, f"{_MOST_WRITERS} processes are writing this file", str(target))


def _link(descriptor: int, name: Path) -> bool:
    """Names an open file; False if the name is taken."""
    try:
        # The unused src_dir_fd makes Python call linkat(), which follows the link in /proc.
        os.link(f"/proc/self/fd/{descriptor}", name, src_dir_fd=descriptor, follow_symlinks=True)
    except FileExistsError:
        return False
    return True


def _free_names(target: Path) -> Iterator[Path]:
    """Names for a file in progress that no living writer uses. Another one may take them at any moment."""
    for number in range(_MOST_WRITERS):
        name = target.parent / f".{target.name[:100]}.{number}.unfinished"
        if _remove_dead(name):
            yield name


def _remove_dead(name: Path) -> bool:
    """Whether the name is free, possibly because the file of a killed writer was removed."""
    try:
        descriptor = os.open(name, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return True
    except OSError:  # someone else's
        return False

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails while the writer lives
        # It was opened before it was locked: the name may belong to another file by now.
        if os.path.samestat(os.fstat(descriptor), os.stat(name, follow_symlinks=False)):
            os.unlink(name)
        return True
    except OSError:
        return False
    finally:
        os.close(descriptor)


def _lock_own(descriptor: int) -> None:
    """Locks a new file for as long as it is open.

    Without locks, which some network file systems do not have, nobody removes files of killed writers.
    """
    with contextlib.suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_EX)


def _mask() -> int:
    """The permissions that new files do not get.

    It can only be read by setting it, to the strictest value for a moment.
    """
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
