"""Writes a file so that its name never refers to an incomplete file."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Opens a file for writing.

    At the end of the block it replaces `path`; if the block raises, `path` stays as it was.

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

    # In the same folder, because only a file of the same file system can replace the target. The unique name
    # keeps concurrent writers apart.
    descriptor, unfinished = tempfile.mkstemp(".unfinished", f".{target.name[:100]}.", target.parent)
    try:
        with open(descriptor, "wb") as file:
            yield cast(Any, file)
        os.chmod(unfinished, stat.S_IMODE(target.stat().st_mode) if exists else 0o666 & ~_mask())
        os.replace(unfinished, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(unfinished)
        raise


def _mask() -> int:
    """The permissions that new files do not get.

    It can only be read by setting it, to the strictest value for a moment.
    """
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
