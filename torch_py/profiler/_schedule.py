"""Which steps of a program a profile records."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, IntEnum


class ProfilerActivity(IntEnum):
    """What may be measured. Here: the CPU."""

    CPU = 0
    XPU = 1
    MTIA = 2
    CUDA = 3
    HPU = 4
    PrivateUse1 = 5


class ProfilerAction(Enum):
    """What a schedule says of a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


def schedule(
    *, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0, skip_first_wait: int = 0
) -> Callable[[int], ProfilerAction]:
    """Steps: `skip_first`, then cycles of `wait`, `warmup` and
    `active`, `repeat` of them (0: without end)."""
    if wait < 0 or warmup < 0 or active <= 0 or repeat < 0 or skip_first < 0:
        raise AssertionError(
            f"schedule: expected wait, warmup, repeat, skip_first >= 0 and active > 0, got {wait=}, "
            f"{warmup=}, {repeat=}, {skip_first=}, {active=}"
        )
    length = wait + warmup + active

    def action(step: int) -> ProfilerAction:
        if step < 0:
            raise AssertionError(f"schedule: expected step >= 0, got {step}")

        step -= skip_first
        if skip_first_wait:
            step += wait
        if step < 0 or (repeat and step // length >= repeat):
            return ProfilerAction.NONE

        place = step % length
        if place < wait:
            return ProfilerAction.NONE
        if place < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD_AND_SAVE if place == length - 1 else ProfilerAction.RECORD

    return action


def always(step: int) -> ProfilerAction:
    return ProfilerAction.RECORD
