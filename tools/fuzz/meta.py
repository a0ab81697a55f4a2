"""Calls operators with the same unusual arguments on the CPU and on the meta device.

The command line is `python -m tools.fuzz.meta LOG SEED START SECONDS [COUNT [OPERATOR]]`.

Run by `python -m tools.fuzz --meta`. What is recorded with stand-ins is only right if a call without data is
refused where the call with data is: an error that comes later has left the `try` around it. Values are the
one thing that a meta tensor cannot refuse.
"""

from __future__ import annotations

import torch_py
from tests.ops.calling import tensors_of
from tests.ops.comparison import outcome
from tests.ops.operators import Operator, all_operators
from tests.ops.test_meta import has_meta, moved, moves_devices

from .comparing import compare_calls
from .peer import Call, make_call


def difference(made: Call) -> str | None:
    """What differs between the devices, as "kind: details"."""
    here = made.sample(torch_py)
    there = moved(made.operator, here)
    expected, found = outcome(made.run, torch_py, here), outcome(made.run, torch_py, there)

    if expected.error is not None and found.error is not None:
        return None
    if found.error is not None:
        return None if is_about_data(found.error) or is_empty(made) else f"refuses: {text(found.error)}"
    if expected.error is not None:
        return None if is_about_values(made, expected.error) else f"accepts: {text(expected.error)}"

    for ours, theirs in zip(tensors_of(found.result), tensors_of(expected.result), strict=True):
        if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
            return f"form: {ours.dtype} {tuple(ours.shape)} on meta, {theirs.dtype} {tuple(theirs.shape)}"
    return None


def is_about_data(error: Exception) -> bool:
    """Whether the call needs elements, or memory, that a meta tensor does not have: the memory of a view is
    larger."""
    words = ("meta", "out of bounds for storage", "but the storage has")
    return any(word in str(error).lower() for word in words)


def is_empty(made: Call) -> bool:
    """Whether a tensor has no elements: kernels differ in what they look at first then."""
    return any(tensor.numel() == 0 for tensor in made.sample(torch_py).tensors())


# Of elements, and of memory: a meta tensor has neither.
_REFUSED_WITH_DATA = (
    "out of bounds",
    "out of range: ",
    "out of memory",
    "ZeroDivisionError",
    "weights sum to zero",
    "size does not match required size",
    "along axis to sum to",
    "is zero and using it on lu_solve",
)


def is_about_values(made: Call, error: Exception) -> bool:
    """Whether the CPU refuses an element: it says so, or accepts the same call with other elements."""
    if is_empty(made):
        return True
    if isinstance(error, torch_py.linalg.LinAlgError) or any(w in str(error) for w in _REFUSED_WITH_DATA):
        return True
    with_ones = made.sample(torch_py).map(lambda tensor: torch_py.ones_like(tensor))
    with_zeros = made.sample(torch_py).map(lambda tensor: torch_py.zeros_like(tensor))
    return any(outcome(made.run, torch_py, sample).error is None for sample in (with_ones, with_zeros))


def text(error: Exception) -> str:
    return f"{type(error).__name__} {str(error).splitlines()[0][:160] if str(error) else ''}"


def is_known(made: Call, found: str) -> bool:
    """A sequence of bool is promoted with what is searched, which the check on meta does not know."""
    return made.operator.base_name in ("searchsorted", "bucketize") and "'Bool'" in found


def compared(operator: Operator) -> bool:
    return has_meta(operator) and not moves_devices(operator)


if __name__ == "__main__":
    compare_calls(
        [operator for operator in all_operators() if compared(operator)],
        lambda operator: operator.base_name,
        make_call,
        difference,
        is_known,
        lambda made: made.operator,
    )
