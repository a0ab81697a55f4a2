"""Tools that watch a program while it trains."""

from torch_py.distributed._tools.mem_tracker import MemTracker

__all__ = ["MemTracker"]
