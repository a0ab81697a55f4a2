"""Moves on the stack, constants and local variables."""

from __future__ import annotations

from types import CellType
from typing import Any

from torch_py._dynamo.breaks import Break
from torch_py._dynamo.frame import NULL, UNBOUND, Frame, Pending


def nop(frame: Frame, arg: Any) -> None:
    pass


resume = precall = kw_names = copy_free_vars = nop


def pop_top(frame: Frame, arg: Any) -> None:
    frame.stack.pop()


gen_start = pop_top


def push_null(frame: Frame, arg: Any) -> None:
    frame.stack.append(NULL)


def copy(frame: Frame, depth: int) -> None:
    frame.stack.append(frame.stack[-depth])


def swap(frame: Frame, depth: int) -> None:
    stack = frame.stack
    stack[-1], stack[-depth] = stack[-depth], stack[-1]


def rotate(frame: Frame, depth: int) -> None:
    """Moves the top below `depth` - 1 others."""
    frame.stack.insert(-depth, frame.stack[-1])
    frame.stack.pop()


rot_n = rotate


def dup_top_two(frame: Frame, arg: Any) -> None:
    frame.stack += frame.stack[-2:]


def load_const(frame: Frame, value: Any) -> None:
    frame.stack.append(value)


def load_fast(frame: Frame, slot: int) -> None:
    value = frame.locals[slot]
    if type(value) is Pending:
        value = frame.slot(slot)
    elif value is UNBOUND:
        raise frame.unbound(slot)
    frame.stack.append(value)


load_fast_check = load_fast


def load_fast_and_clear(frame: Frame, slot: int) -> None:
    value = frame.slot(slot)
    frame.stack.append(NULL if value is UNBOUND else value)
    frame.locals[slot] = UNBOUND


def load_fast_load_fast(frame: Frame, slots: tuple[int, int]) -> None:
    load_fast(frame, slots[0])
    load_fast(frame, slots[1])


def store_fast(frame: Frame, slot: int) -> None:
    value = frame.stack.pop()
    frame.locals[slot] = UNBOUND if value is NULL else value


def store_fast_store_fast(frame: Frame, slots: tuple[int, int]) -> None:
    store_fast(frame, slots[0])
    store_fast(frame, slots[1])


def store_fast_load_fast(frame: Frame, slots: tuple[int, int]) -> None:
    store_fast(frame, slots[0])
    load_fast(frame, slots[1])


def delete_fast(frame: Frame, slot: int) -> None:
    if frame.locals[slot] is UNBOUND:
        raise frame.unbound(slot)
    frame.locals[slot] = UNBOUND


def make_cell(frame: Frame, slot: int) -> None:
    value = frame.slot(slot)
    cell = CellType() if value is UNBOUND else CellType(value)
    frame.locals[slot] = frame.capture.made(cell)


def make_cell_of(frame: Frame, arg: tuple[int, int | None]) -> None:
    """Makes a cell in a slot of its own, with the value of a parameter (Python 3.10)."""
    slot, parameter = arg
    if parameter is not None:
        frame.locals[slot] = frame.locals[parameter]
        frame.locals[parameter] = UNBOUND
    make_cell(frame, slot)


def load_closure(frame: Frame, slot: int) -> None:
    """Pushes a cell itself."""
    frame.stack.append(frame.slot(slot))


def unsupported(frame: Frame, arg: Any) -> None:
    raise Break(f"the instruction {frame.instruction.opname}", "the compiler does not know it", "")
