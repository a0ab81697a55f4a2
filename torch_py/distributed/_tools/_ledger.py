"""The memory of tensors, by device and by kind: what there is now, and at the worst moment."""

from __future__ import annotations

import enum
import weakref
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from torch_py._tensor import Tensor


class _MemRefType(str, enum.Enum):
    """What memory is used for."""

    PARAM = "Parameter"
    BUFFER = "Buffer"
    GRAD = "Gradient"
    ACT = "Activation"
    TEMP = "Temp"
    OPT = "Optstate"
    OTHER = "Other"


TOTAL = "Total"
Snapshot = dict[Any, dict[str, int]]  # device -> kind, or TOTAL -> bytes


@dataclass
class _Block:
    """One storage; it is free when the last tensor on it is gone."""

    device: Any
    size: int
    kind: _MemRefType
    tensors: int = 0


class Ledger:
    """Counts the storages of tensors that it is told about, as long as one of the tensors lives."""

    def __init__(self) -> None:
        self._blocks: dict[int, _Block] = {}  # by address
        self._known: dict[int, weakref.ref[Tensor]] = {}  # by the id of a tensor
        self._bytes: dict[Any, dict[_MemRefType, int]] = defaultdict(lambda: dict.fromkeys(_MemRefType, 0))
        self.peak: Snapshot = {}

    def note(self, tensor: Tensor, kind: _MemRefType) -> None:
        """Counts the memory of a tensor, once for all that share it."""
        if id(tensor) in self._known or tensor.numel() == 0 or tensor.is_meta:
            return
        storage = tensor.untyped_storage()
        address = storage._address()
        block = self._blocks.get(address)
        if block is None:
            block = self._blocks[address] = _Block(tensor.device, storage.nbytes(), kind)
            self._change(block, block.size)

        block.tensors += 1
        key = id(tensor)
        self._known[key] = weakref.ref(tensor, lambda _: self._forget(key, address))

    def label(self, tensor: Tensor, kind: _MemRefType) -> None:
        """Counts the memory of a tensor as of this kind, whatever it was before."""
        self.note(tensor, kind)
        if id(tensor) not in self._known:
            return
        block = self._blocks[tensor.untyped_storage()._address()]
        self._change(block, -block.size)
        block.kind = kind
        self._change(block, block.size)

    def knows_memory_of(self, tensor: Tensor) -> bool:
        """Whether the memory of a tensor is counted."""
        return tensor.untyped_storage()._address() in self._blocks

    def snapshot(self) -> Snapshot:
        """The bytes in use now."""
        return {
            device: {**{kind: size for kind, size in kinds.items()}, TOTAL: sum(kinds.values())}
            for device, kinds in self._bytes.items()
        }

    def _forget(self, key: int, address: int) -> None:
        self._known.pop(key, None)
        block = self._blocks[address]
        block.tensors -= 1
        if block.tensors == 0:
            del self._blocks[address]
            self._change(block, -block.size)

    def _change(self, block: _Block, size: int) -> None:
        self._bytes[block.device][block.kind] += size
        total = sum(self._bytes[block.device].values())
        if total > self.peak.get(block.device, {}).get(TOTAL, -1):
            self.peak[block.device] = self.snapshot()[block.device]
