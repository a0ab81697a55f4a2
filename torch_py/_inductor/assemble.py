"""From a schedule to a program: the steps of `torch_py._C._compiler.Program`, and the memory of temporaries.

Temporaries have places in one arena, which those that are not alive together share.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch_py._C._compiler import Slot
from torch_py._inductor import config
from torch_py._inductor.ir import Buffer
from torch_py._inductor.loops import Entry, Extern, LoopGraph, Nest, View
from torch_py._ops import OpOverload
from torch_py._records import Fields
from torch_py._shapes.arguments import reach
from torch_py._subclasses.calls import takes_place
from torch_py.utils._pytree import tree_map

_ALIGNMENT = 64


class Plan(Fields):
    """Where each memory is, and after which entry of the schedule nobody needs it.

    `offsets` has what is in the arena. Other memories that nests make are allocated one by one.
    """

    offsets: dict[Buffer, int] = {}
    last_use: dict[Buffer, int] = {}
    size: int = 0  # of the arena
    taken: dict[Buffer, tuple[int, int]] = {}  # begin and end, of those that are still needed

    def take(self, memory: Buffer) -> None:
        """Gives a memory the first place between those that are taken."""
        count = bytes_of(memory)
        begin = 0
        for start, end in sorted(self.taken.values()):
            if start - begin >= count:
                break
            begin = end
        self.offsets[memory] = begin
        self.taken[memory] = (begin, begin + count)
        self.size = max(self.size, begin + count)


def plan_memory(schedule: Sequence[Entry], outputs: set[Buffer], has_arena: bool = True) -> Plan:
    """Places for the temporaries of nests, if there is an arena. What is an output, or may live on in a
    result of a call, is left out.
    """
    plan = Plan()
    for number, entry in enumerate(schedule):
        for memory in entry.reads() | entry.makes():
            plan.last_use[memory] = number
    if not has_arena:
        return plan

    # Results of calls may look at their arguments, or count from the start of their memory.
    calls = [e for e in schedule if isinstance(e, Extern) and _looks_at_memory(e.operator)]
    apart = outputs.union(*(call.reads() for call in calls))
    for number, entry in enumerate(schedule):
        if isinstance(entry, Nest):
            for memory in dict.fromkeys(buffer.memory for buffer in entry.stored()):
                if memory.kind == "temporary" and memory not in apart and memory not in plan.offsets:
                    plan.take(memory)
        for memory in entry.reads() | entry.makes() if config.allow_buffer_reuse else ():
            if memory in plan.offsets and plan.last_use[memory] == number:
                del plan.taken[memory]
    return plan


def _looks_at_memory(target: Any) -> bool:
    if not isinstance(target, OpOverload):
        return True
    return takes_place(target) or any(result.alias_info for result in target._schema.returns)


def bytes_of(memory: Buffer) -> int:
    """The size of a memory, rounded up."""
    count: int = reach(memory.sizes, memory.strides) * memory.dtype.itemsize
    return max(-(-count // _ALIGNMENT), 1) * _ALIGNMENT


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
