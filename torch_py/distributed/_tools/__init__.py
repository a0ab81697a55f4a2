"""Tools that watch a program while it trains."""

from torch_py.distributed._tools.mem_tracker import MemTracker
from torch_py.distributed._tools.memory_tracker import MemoryTracker

__all__ = ["MemTracker", "MemoryTracker"]
