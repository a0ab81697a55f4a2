"""Writing a file so that its name never means half of it."""

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
    """A file to write; at the end of the block it takes the place of `path`, unless the block raised: then
    `path` is as before.

    Links are followed and permissions kept. What is no regular file (a pipe, a device), or stands in a folder
    that takes no new files, is written directly.
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
    # In the same folder, as only a file of the same file system can take its place; a name of its own for
    # whoever else saves there.
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
    """Of the permissions of new files. It can only be read by setting it; that it is the strictest for a
    moment harms nobody."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
