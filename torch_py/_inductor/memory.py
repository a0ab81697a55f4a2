"""Memory of temporary tensors: one arena, in which tensors that are not alive together share places."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from torch_py._inductor import config
from torch_py._inductor.ir import Buffer
from torch_py._inductor.nests import Entry, Nest
from torch_py._inductor.statements import Extern
from torch_py._ops import OpOverload
from torch_py._records import Fields
from torch_py._shapes.arguments import reach
from torch_py._subclasses.calls import takes_place

_ALIGNMENT = 64


class Plan(Fields):
    """Where each memory is, and after which entry of the schedule nobody needs it.

    `offsets` has what is in the arena. Other memories that nests make are allocated one by one. Ranges of the
    arena are taken by first fit; neighbouring `free` ranges are one, and the last one has no end.
    """

    offsets: dict[Buffer, int] = {}
    last_use: dict[Buffer, int] = {}
    size: int = 0  # of the arena
    free: list[tuple[int, float]] = [(0, math.inf)]  # begin, end

    def take(self, count: int) -> int:
        number = next(n for n, (begin, end) in enumerate(self.free) if end - begin >= count)
        begin, end = self.free[number]
        self.free[number : number + 1] = [(begin + count, end)] if end - begin > count else []
        self.size = max(self.size, begin + count)
        return begin

    def give(self, begin: int, count: int) -> None:
        ranges: list[tuple[int, float]] = sorted([*self.free, (begin, begin + count)])
        self.free = []
        for low, high in ranges:
            if self.free and self.free[-1][1] == low:
                self.free[-1] = (self.free[-1][0], high)
            else:
                self.free.append((low, high))


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
                    plan.offsets[memory] = plan.take(bytes_of(memory))
        for memory in entry.reads() | entry.makes() if config.allow_buffer_reuse else ():
            if memory in plan.offsets and plan.last_use[memory] == number:
                plan.give(plan.offsets[memory], bytes_of(memory))
    return plan


def _looks_at_memory(target: Any) -> bool:
    if not isinstance(target, OpOverload):
        return True
    return takes_place(target) or any(result.alias_info for result in target._schema.returns)


def bytes_of(memory: Buffer) -> int:
    """The size of a memory, rounded up."""
    count: int = reach(memory.sizes, memory.strides) * memory.dtype.itemsize
    return max(-(-count // _ALIGNMENT), 1) * _ALIGNMENT
