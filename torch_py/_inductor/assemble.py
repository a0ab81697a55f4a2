"""From a schedule to a program: the steps that `torch_py._C._compiler.Program` runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch_py._inductor import config
from torch_py._inductor.fuse import Entry, made_by, read_of
from torch_py._inductor.ir import Buffer, Extern, LoopGraph, View
from torch_py._inductor.memory import Plan, plan_memory
from torch_py._inductor.nests import Nest
from torch_py._inductor.print_cpp import Kernel
from torch_py._inductor.program import Formula, Program, ProgramWriter, Slot
from torch_py.utils._pytree import tree_map


class Assembly:
    """Writes one program. `kernels` has the function of each nest, by its id, and the name to call."""

    def __init__(
        self, graph: LoopGraph, schedule: Sequence[Entry], kernels: dict[int, tuple[Kernel, str]]
    ) -> None:
        self.graph = graph
        self.schedule = schedule
        self.kernels = kernels
        self.writer = ProgramWriter()
        self.slots: dict[Buffer, int] = {}
        self.outputs = [b for b in graph.outputs if isinstance(b, Buffer)]
        self.kept = {b.memory for b in self.outputs}
        self.used = self.kept.union(*map(read_of, schedule))
        self.plan: Plan = plan_memory(schedule, self.kept)

    def program(self, library: str | None) -> Program:
        return Program(*self.description(library))

    def description(self, library: str | None) -> tuple[Any, ...]:
        """The arguments of `Program`."""
        self.write()
        return self.writer.description([self._output(value) for value in self.graph.outputs], library)

    def _output(self, value: Any) -> int | Formula | None:
        """A result as a program has it: the slot of a tensor, an integer as a formula, or None."""
        if value is None:
            return None
        if isinstance(value, int):
            return Formula((int(value),))
        if not isinstance(value, Buffer):
            raise TypeError(f"a compiled graph returns tensors, integers and None, got {value!r}")
        return self.slots[value]

    def write(self) -> None:
        """Writes all steps."""
        writer = self.writer
        for entry in self.graph.inputs:
            if isinstance(entry, Buffer):
                self.slots[entry] = writer.input(entry.name, entry.facts)
            else:
                writer.integer_input(entry)
        for buffer, tensor in self.graph.constants:
            self.slots[buffer] = writer.constant(buffer.name, tensor)

        writer.arena(self.plan.size)
        for number, step in enumerate(self.schedule):
            self._add(step)
            self._drop_after(step, number)

    def _slot(self, buffer: Buffer) -> int:
        if buffer not in self.slots:
            self.slots[buffer] = self.writer.slot(buffer.name, buffer.facts)
        return self.slots[buffer]

    def _add(self, entry: Entry) -> None:
        if isinstance(entry, Nest):
            self._add_kernel(entry)
        elif isinstance(entry, View):
            base = entry.buffer.base
            assert base is not None
            self.writer.view(self._slot(entry.buffer), self._slot(base), entry.buffer.offset)
        else:
            assert isinstance(entry, Extern)
            self._add_call(entry)

    def _add_kernel(self, nest: Nest) -> None:
        kernel, name = self.kernels[id(nest)]
        for item in nest.items:
            memory = item.buffer.memory
            if item.place == "memory" and memory not in self.slots:
                self._make(memory)
        if kernel.extent > 0:
            slots = [self._slot(buffer) for buffer in kernel.buffers]
            grain = max(kernel.grain, _share(kernel.extent))
            changed = {item.buffer for item in nest.items if item.buffer.memory.kind == "input"}
            written = sorted(self._slot(buffer) for buffer in changed)
            self.writer.kernel(name, slots, kernel.extent, grain, written=written)

    def _make(self, memory: Buffer) -> None:
        slot = self._slot(memory)
        if memory in self.plan.offsets:
            self.writer.place(slot, self.plan.offsets[memory])
        else:
            self.writer.allocate(slot)

    def _add_call(self, entry: Extern) -> None:
        args, kwargs = tree_map(self._as_argument, (list(entry.args), dict(entry.kwargs)))
        self.writer.call(entry.operator, args, kwargs, _as_results(entry.results, self._result))

    def _as_argument(self, value: Any) -> Any:
        return Slot(self._slot(value)) if isinstance(value, Buffer) else value

    def _result(self, buffer: Buffer) -> int | None:
        # What nobody reads has no slot.
        return self._slot(buffer) if buffer in self.used else None

    def _drop_after(self, entry: Entry, number: int) -> None:
        dropped = [
            self.slots[memory]
            for memory in read_of(entry) | made_by(entry)
            if memory.kind == "temporary" and memory in self.slots and memory not in self.kept
            if self.plan.last_use[memory] == number and memory not in self.plan.offsets
        ]
        for slot in sorted(dropped):
            self.writer.drop(slot)


def _share(extent: int) -> int:
    """How much of a kernel each thread does at least."""
    threads = config.cpp.threads
    return -(-extent // threads) if threads > 0 else 1


def _as_results(results: Any, slot: Any) -> tuple[Any, ...]:
    """Results as a program takes them: one for each result of the operator, a tuple for a list."""
    if results is None:
        return ()
    if isinstance(results, Buffer):
        return (slot(results),)
    return tuple(
        slot(r) if isinstance(r, Buffer) else None if r is None else tuple(map(slot, r)) for r in results
    )
