"""Which variables a function may still read from some instruction on."""

from __future__ import annotations

from functools import lru_cache
from types import CodeType

from torch_py._dynamo.decode import decode
from torch_py._dynamo.decode.instructions import Program

_READING = frozenset(
    "load_fast load_fast_check load_fast_and_clear delete_fast load_deref load_closure load_classderef "
    "load_from_dict_or_deref delete_deref store_deref make_cell".split()
)
_READING_PAIRS = frozenset(("load_fast_load_fast", "store_fast_load_fast"))
# Functions that see all variables of their caller.
_SEEING_ALL = frozenset(("locals", "vars", "dir", "eval", "exec"))


@lru_cache(maxsize=2048)
def slots_read_from(code: CodeType, offset: int) -> frozenset[int]:
    """The slots that instructions from an offset on may read, including those that they write first."""
    program = decode(code)
    if not _SEEING_ALL.isdisjoint(code.co_names):
        return frozenset(range(len(program.names)))

    first = _first_reached(program, offset)
    rest = [instruction for instruction in program.instructions if instruction.offset >= first]
    found = frozenset(instruction.arg for instruction in rest if instruction.op in _READING)
    return found.union(*(instruction.arg for instruction in rest if instruction.op in _READING_PAIRS))


def _first_reached(program: Program, offset: int) -> int:
    """The lowest offset that a run from `offset` on may reach: jumps backward are those of loops."""
    targets = [
        instruction.arg
        for instruction in program.instructions
        if instruction.offset >= offset and instruction.op.startswith("jump")
    ]
    targets += [row.target for row in program.handlers if row.end > offset]
    lowest = min(targets, default=offset)
    return _first_reached(program, lowest) if lowest < offset else offset
