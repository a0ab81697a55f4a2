"""Questions about the Python code that runs: how it unpacks a value, and where the program called from."""

from __future__ import annotations

import dis
import os
import traceback
from types import FrameType

import torch_py

_ROOT = os.path.dirname(torch_py.__file__) + os.sep


def unpacked_count(frame: FrameType) -> int | None:
    """How many values the instruction that `frame` is at unpacks an iterable to (`a, b = x`); None for every
    other instruction."""
    for instruction in dis.get_instructions(frame.f_code):
        if instruction.offset >= frame.f_lasti and instruction.opname != "EXTENDED_ARG":
            return instruction.arg if instruction.opname == "UNPACK_SEQUENCE" else None
    return None


def user_stack() -> str:
    """The stack of the program that is being traced, innermost last, without the frames of torch_py."""
    frames = [frame for frame in traceback.extract_stack() if not frame.filename.startswith(_ROOT)]
    return "".join(traceback.StackSummary.from_list(frames).format()).strip()


# What comes before the jump of a test; comparisons have tests of their own since Python 3.13.
_TESTS = ("COMPARE_OP", "NOT_TAKEN", "TO_BOOL")


def assertion_message(frame: FrameType) -> str | None:
    """The text of the `assert` whose condition `frame` is about to test, '' if it has none or one that is
    computed; None if it tests something else."""
    following = [
        instruction
        for instruction in dis.get_instructions(frame.f_code)
        if instruction.offset >= frame.f_lasti and instruction.opname not in _TESTS
    ][:3]
    names = [instruction.opname for instruction in following]
    if len(names) < 3 or not names[0].endswith("IF_TRUE") or names[1] != "LOAD_ASSERTION_ERROR":
        return None
    return following[2].argval if names[2] == "LOAD_CONST" else ""
