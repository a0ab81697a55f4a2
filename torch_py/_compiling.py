"""`lock`: one thread of a process captures or compiles at a time. Settings are those of the process, too."""

from __future__ import annotations

import os
import threading

lock = threading.RLock()
# A process that forks waits for the capture of another thread: in the child nobody would end it, give the
# lock back, or undo what the capture has written to objects of the program.
os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)
