"""Notices when the process that started this one has ended."""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import threading
from collections.abc import Callable


def when_parent_ends(action: Callable[[], object]) -> None:
    """Calls `action` on a separate thread when the parent process has ended, in whatever way.

    Does nothing in a process without a parent.
    """
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        multiprocessing.connection.wait([parent.sentinel])
        action()

    threading.Thread(target=watch, name="watch of the parent", daemon=True).start()
