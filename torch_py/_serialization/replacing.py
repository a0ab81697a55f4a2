"""Writing a file so that its name never means half of it."""

from __future__ import annotations

import contextlib
import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file to write; at the end of the block it takes the place of `path`, unless the block raised: then `path` is as before.

    Links are followed and permissions kept. What is no regular file (a pipe, a device), or stands in a folder that takes no new
    files, is written directly.
    """
    target = Path(os.path.realpath(path))
    exists = target.exists()
    if (exists and not target.is_file()) or not os.access(target.parent, os.W_OK) or (exists and not os.access(target, os.W_OK)):
        with open(target, "wb") as direct:
            yield direct
        return
    unfinished = target.with_name(f".{target.name}.{os.getpid()}-{threading.get_ident()}.unfinished")
    try:
        with open(unfinished, "wb") as file:
            yield cast(Any, file)
        if exists:
            shutil.copymode(target, unfinished)
        os.replace(unfinished, target)
    except BaseException:
        with contextlib.suppress(OSError):
            unfinished.unlink()
        raise
