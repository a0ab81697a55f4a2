"""The truth of values that programs branch on, where the branch may belong to an `assert`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch_py._dynamo.frame import Frame


def truth_before_jump(frame: Frame, value: Any) -> bool:
    """The truth of a value, which the next instruction may ask for."""
    following = frame.program.instructions[frame.at]
    if following.op in ("jump_if_true", "jump_if_false"):
        jumps_if = following.op == "jump_if_true"
        return condition(frame, value, frame.at + 1, following.arg, jumps_if)
    return frame.capture.truth(value)


def condition(frame: Frame, value: Any, following: int, target: int, jumps_if: bool) -> bool:
    """The truth of a value, for a jump to the offset `target`; `following` is the instruction after it.

    The capture may assume that an `assert` holds. The jump leads over its error, or to it: at the end of a
    loop, Python 3.12 and later jump to the error and go on with the jump back.
    """
    instructions = frame.program.instructions
    for position, holds in ((following, jumps_if), (frame.program.index_of[target], not jumps_if)):
        if instructions[position].op == "load_assertion_error" and frame.capture.assumes(value, holds):
            return holds
    return frame.capture.truth(value)
