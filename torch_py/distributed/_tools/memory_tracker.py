"""`MemoryTracker`: how the memory of a program grows from operator to operator."""

from __future__ import annotations

import pickle
from collections import defaultdict
from typing import Any

from torch_py._tensor import Tensor
from torch_py.distributed._tools._ledger import TOTAL, Ledger, _MemRefType
from torch_py.nn.modules.module import Module
from torch_py.utils._python_dispatch import TorchDispatchMode
from torch_py.utils._pytree import tree_leaves
from torch_py.utils.module_tracker import ModuleTracker

__all__ = ["MemoryTracker"]

_MIB = 2**20


class _Recorder(TorchDispatchMode):
    """Notes the bytes of tensors in use after each operator."""

    def __init__(self, tracker: MemoryTracker) -> None:
        super().__init__()
        self._tracker = tracker

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        self._tracker._note(func, result)
        return result


class MemoryTracker:
    """Records the memory of tensors after each operator, from `start_monitor` to `stop`.

        tracker = MemoryTracker()
        tracker.start_monitor(model)
        model(x).sum().backward()
        tracker.stop()
        tracker.summary()

    `memories_allocated` has a row for each call: its name, module.operator_number, and MiB in use.
    """

    def __init__(self) -> None:
        self.memories_allocated: dict[int, tuple[str, float]] = {}
        self._counts: dict[str, int] = defaultdict(int)
        self._ledger = Ledger()
        self._modules = ModuleTracker()
        self._recorder: _Recorder | None = None

    def start_monitor(self, root_module: Module) -> None:
        """Begins to record; the parameters and buffers of `root_module` are in use from the start.

        Raises RuntimeError if it records already.
        """
        if self._recorder is not None:
            raise RuntimeError("MemoryTracker.start_monitor: it records already; call stop() first")
        for parameter in root_module.parameters():
            self._ledger.note(parameter, _MemRefType.PARAM)
        for buffer in root_module.buffers():
            self._ledger.note(buffer, _MemRefType.BUFFER)

        self._modules.__enter__()
        self._recorder = _Recorder(self)
        self._recorder.__enter__()

    def stop(self) -> None:
        """Ends the recording. Raises RuntimeError unless it records."""
        if self._recorder is None:
            raise RuntimeError("MemoryTracker.stop: it does not record; call start_monitor() first")
        self._recorder.__exit__(None, None, None)
        self._modules.__exit__(None, None, None)
        self._recorder = None

    def summary(self, top: int = 20) -> None:
        """Prints the operators that made memory grow most, and by how many MiB."""
        growth: dict[str, float] = defaultdict(float)
        before = 0.0
        for name, size in self.memories_allocated.values():
            growth[name] += size - before
            before = size

        print(f"Top {top} ops that generate memory:")
        for name, size in sorted(growth.items(), key=lambda row: -row[1])[:top]:
            print(f"{name}: {size:.6f} MiB")

    def save_stats(self, path: str) -> None:
        """Writes what was recorded to a file, for `load`."""
        with open(path, "wb") as file:
            pickle.dump({"memories_allocated": self.memories_allocated}, file, pickle.HIGHEST_PROTOCOL)

    def load(self, path: str) -> None:
        """Reads what `save_stats` has written. The file must be trusted: it is a pickle."""
        with open(path, "rb") as file:
            self.memories_allocated = pickle.load(file)["memories_allocated"]

    def _note(self, func: Any, result: Any) -> None:
        for leaf in tree_leaves(result):
            if isinstance(leaf, Tensor):
                self._ledger.note(leaf, _MemRefType.OTHER)

        module = max(self._modules.parents - {"Global"}, key=len, default="Global")
        place = f"{module}.{'backward' if self._modules.is_bw else 'forward'}.{func.overloadpacket.__name__}"
        self._counts[place] += 1
        total = sum(kinds[TOTAL] for kinds in self._ledger.snapshot().values())
        row = f"{place}_{self._counts[place]}", total / _MIB
        self.memories_allocated[len(self.memories_allocated)] = row
