"""Noticing that the process that started this one is gone."""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import threading
from collections.abc import Callable


def when_parent_ends(action: Callable[[], object]) -> None:
    """Calls `action` on a thread of its own when the parent has ended, in whatever way. Does nothing in a
    process without a parent."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        multiprocessing.connection.wait([parent.sentinel])
        action()

    threading.Thread(target=watch, name="watch of the parent", daemon=True).start()
