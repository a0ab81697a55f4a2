"""From a schedule to a program: the steps that `torch_py._C._compiler.Program` runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch_py._C._compiler import Slot
from torch_py._inductor import config
from torch_py._inductor.ir import Buffer
from torch_py._inductor.memory import Plan, plan_memory
from torch_py._inductor.nests import Entry, Nest
from torch_py._inductor.statements import Extern, LoopGraph, View
from torch_py.utils._pytree import tree_map


class Assembly:
    """Writes one program. Without an arena, every temporary has memory of its own."""

    def __init__(self, graph: LoopGraph, schedule: Sequence[Entry], has_arena: bool = True) -> None:
        self.graph = graph
        self.kept = graph.returned
        self.used = self.kept.union(*(entry.reads() for entry in schedule))
        self.plan: Plan = plan_memory(schedule, self.kept, has_arena)

        # By the number of a slot: inputs come first, then constants, then what steps make.
        self.names: list[str] = []
        self.facts: list[Any] = []
        self.slots: dict[Buffer | str, int] = {}
        self.symbols: list[tuple[int, None]] = []  # the inputs that are integers: s0, s1, ... in formulas
        self.steps: list[tuple[Any, ...]] = []
        self._write(schedule)

    def description(self, library: str | None = None) -> tuple[Any, ...]:
        """The arguments of `Program`."""
        return (
            len(self.graph.inputs),
            self.facts,
            self.steps,
            [self._output(value) for value in self.graph.outputs],
            [tensor for _, tensor in self.graph.constants],
            library,
            self.symbols,
            self.names,
            "program",
        )

    def _output(self, value: Any) -> int | tuple[int] | None:
        """A result as a program has it: the slot of a tensor, an integer as a formula, or None."""
        if isinstance(value, int):
            return (int(value),)
        return None if value is None else self.slots[value]

    def _write(self, schedule: Sequence[Entry]) -> None:
        for position, entry in enumerate(self.graph.inputs):
            self._slot(entry)
            if not isinstance(entry, Buffer):
                self.symbols.append((position, None))
        for buffer, _ in self.graph.constants:
            self._slot(buffer)

        if self.plan.size:
            self._step("arena_size", self.plan.size)
        for number, entry in enumerate(schedule):
            if isinstance(entry, Nest):
                self._add_kernel(entry)
            elif isinstance(entry, Extern):
                self._add_call(entry)
            elif isinstance(entry, View):
                base = entry.buffer.base
                assert base is not None
                self._step("view", self._slot(entry.buffer), self._slot(base), entry.buffer.offset)
            self._drop_after(entry, number)

    def _step(self, *step: Any) -> None:
        self.steps.append(step)

    def _slot(self, value: Buffer | str) -> int:
        """The slot of a tensor, or of an input that is an integer."""
        if value not in self.slots:
            self.slots[value] = len(self.facts)
            self.names.append(str(value))
            self.facts.append(value.facts if isinstance(value, Buffer) else int)
        return self.slots[value]

    def _add_kernel(self, nest: Nest) -> None:
        kernel = nest.kernel
        assert kernel is not None
        for buffer in nest.stored():
            memory = buffer.memory
            if memory in self.slots:
                continue
            if memory in self.plan.offsets:
                self._step("arena", self._slot(memory), self.plan.offsets[memory])
            else:
                self._step("allocate", self._slot(memory))

        slots = tuple([self._slot(buffer) for buffer in kernel.buffers])
        threads = config.cpp.threads
        grain = max(kernel.grain, -(-kernel.extent // threads) if threads > 0 else 1)
        changed = {item.buffer for item in nest.items if item.buffer.memory.kind == "input"}
        written = tuple(sorted(self._slot(buffer) for buffer in changed))
        self._step("kernel", kernel.name, slots, kernel.extent, grain, (), written)

    def _add_call(self, entry: Extern) -> None:
        args, kwargs = tree_map(self._as_argument, (list(entry.args), dict(entry.kwargs)))
        results = entry.results if isinstance(entry.results, tuple) else (entry.results,)
        slots = () if entry.results is None else tree_map(self._result, results)
        self._step("extern", entry.operator, tuple(args), kwargs, slots)

    def _as_argument(self, value: Any) -> Any:
        return Slot(self._slot(value)) if isinstance(value, Buffer) else value

    def _result(self, buffer: Buffer | None) -> int | None:
        # What nobody reads has no slot.
        return self._slot(buffer) if buffer in self.used else None

    def _drop_after(self, entry: Entry, number: int) -> None:
        dropped = [
            self.slots[memory]
            for memory in entry.reads() | entry.makes()
            if memory.kind == "temporary" and memory in self.slots and memory not in self.kept
            if self.plan.last_use[memory] == number and memory not in self.plan.offsets
        ]
        for slot in sorted(dropped):
            self._step("drop", slot)
