"""Which value every tensor of a run has, although tensors share memory and programs write to it.

Note [Views and writes]
ONNX has values only. A tensor that the program sees is an Entry here: it has a value of its own, or it is a
view of another entry, made by a call. A write gives an entry a new value. If the entry is a view, the tensor
that owns the memory gets a new value, too: its old value with the elements of the view replaced (the call
`write_view`). Other views of that tensor are then out of date, and the calls that made them are repeated when
they are used the next time. So a write through any chain of views has the effect that it has in memory.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from torch_py._tensor import Tensor
from torch_py.onnx._calls import Call, Constant, Value
from torch_py.onnx.errors import OnnxExporterError

# The name of the call that replaces the elements of a view.
WRITE_VIEW = "write_view"


@dataclass(eq=False)
class Entry:
    """A tensor that the program uses."""

    tensor: Tensor  # kept, so that neither its identity nor its memory is used again
    value: Value | Constant
    base: Entry | None = None  # the tensor that this one is a view of
    made_by: Call | None = None  # the call that made the view
    position: int = 0  # of the view among the results of the call
    shapes: tuple[Any, ...] = ()  # of all results of the call
    version: int = 0  # how often the memory had been written to when `value` was recorded
    writes: int = 0  # how often the memory was written to; counted by the entry without a base

    @property
    def root(self) -> Entry:
        """The entry that owns the memory."""
        return self if self.base is None else self.base.root


@dataclass
class Memory:
    """The entries of one run."""

    record: Callable[[Call | None, str, dict[str, Any], Any], Call]  # see Recorder._append
    # By identity: the tensor, its entry, and the place in memory that it had.
    _entries: dict[int, tuple[Tensor, Entry, Any]] = field(default_factory=dict)
    _by_storage: dict[int, list[Entry]] = field(default_factory=dict)

    def add(self, entry: Entry) -> Entry:
        """From here on the program uses this tensor."""
        entry.version = entry.root.writes
        self.note(entry.tensor, entry)
        return entry

    def note(self, tensor: Tensor, entry: Entry) -> None:
        """From here on this object, as it is now, is that entry."""
        self._entries[id(tensor)] = tensor, entry, _place(tensor)
        address = address_of(tensor)
        sharing = self._by_storage.setdefault(address, []) if address else []
        if entry not in sharing:
            sharing.append(entry)

    def knows(self, tensor: Tensor) -> bool:
        """Whether a tensor has an entry, or shares its memory with one that has."""
        return id(tensor) in self._entries or not tensor.numel() or address_of(tensor) in self._by_storage

    def entry(self, tensor: Tensor) -> Entry:
        """The entry of a tensor. One that was never seen is a constant, unless it shares the memory of
        another: `x.data` is another object for the same elements."""
        known = self._entries.get(id(tensor))
        if known is not None and known[2] == _place(tensor):
            return known[1]

        sharing = self._by_storage.get(address_of(tensor), [])
        for entry in sharing:
            if is_same_place(entry.tensor, tensor):
                self.note(tensor, entry)
                return entry
        if known is not None:
            raise OnnxExporterError(
                f"torch.onnx.export: a tensor of shape {tuple(tensor.shape)} got other memory in a way that "
                "could not be seen, such as an assignment to .data"
            )
        if sharing:
            raise OnnxExporterError(
                f"torch.onnx.export: a tensor of shape {tuple(tensor.shape)} is a view of another one that "
                "was made in a way that could not be seen; use the operators of torch to make views"
            )
        return self.add(Entry(tensor, Constant(tensor)))

    def value(self, tensor: Tensor) -> Value | Constant:
        """The value of a tensor now."""
        return self._current(self.entry(tensor))

    def _current(self, entry: Entry) -> Value | Constant:
        if entry.base is None or entry.version == entry.root.writes:
            return entry.value

        # The memory was written to since: repeat the call that made the view.
        call = entry.made_by
        assert call is not None
        outputs = [entry.tensor if i == entry.position else None for i in range(len(call.results))]
        arguments = call.arguments | {"self": self._current(entry.base)}
        again = self.record(call, call.name, arguments, outputs)
        entry.value = _result(again, entry.position)
        entry.version = entry.root.writes
        return entry.value

    def make_view_of_itself(self, tensor: Tensor) -> None:
        """Prepares for a call that changes the geometry of a tensor in place.

        Its entry goes on as the base of views, and the tensor gets an entry for its new geometry.
        """
        entry = self.entry(tensor)
        entry.tensor = tensor.detach()
        self.note(tensor, Entry(tensor, entry.value, entry, version=entry.version))

    def replace_view(self, tensor: Tensor, call: Call) -> None:
        """Notes the call that `make_view_of_itself` has prepared for."""
        entry = self._entries[id(tensor)][1]
        self.note(tensor, entry)
        entry.made_by = call
        entry.shapes = (tuple(tensor.shape),)
        entry.value = _result(call, 0)

    def write(self, entry: Entry, value: Value) -> None:
        """Records that the elements of a tensor are now `value`."""
        if entry.base is not None:
            call = entry.made_by
            assert call is not None
            view = {key: part for key, part in call.arguments.items() if key != "self"}
            arguments = {
                "self": self._current(entry.base),
                "value": value,
                "view": [call.overload, view, entry.position, [list(shape) for shape in entry.shapes]],
            }
            written = self.record(None, WRITE_VIEW, arguments, [entry.base.tensor])
            self.write(entry.base, _result(written, 0))
        else:
            entry.writes += 1

        entry.value = value
        entry.version = entry.root.writes


def _result(call: Call, position: int) -> Value:
    value = call.results[position]
    assert value is not None
    return value


def address_of(tensor: Tensor) -> int:
    """Where the memory of a tensor begins; 0 without memory."""
    return int(tensor.untyped_storage()._address()) if tensor.numel() else 0


def is_same_place(one: Tensor, other: Tensor) -> bool:
    """Whether two tensors are the same elements in memory."""
    return _place(one) == _place(other)


def _place(tensor: Tensor) -> tuple[Any, ...]:
    return (address_of(tensor), tensor.storage_offset(), tensor.shape, tensor.stride(), tensor.dtype)
