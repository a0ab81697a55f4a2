"""The cases of the speed benchmark, one file for each group."""

from __future__ import annotations

from ..case import Case, Group
from . import (
    attention,
    calls,
    convolution,
    elementwise,
    images,
    indexing,
    layouts,
    low_precision,
    products,
    random,
    reductions,
    steps,
    transforms,
)

GROUPS: tuple[Group, ...] = (
    calls.GROUP,
    elementwise.GROUP,
    layouts.GROUP,
    reductions.GROUP,
    products.GROUP,
    low_precision.GROUP,
    convolution.GROUP,
    images.GROUP,
    indexing.GROUP,
    random.GROUP,
    attention.GROUP,
    steps.GROUP,
    transforms.GROUP,
)


def find(name: str) -> Case:
    """The case of a name `group/case`."""
    group_name, case_name = name.split("/", 1)
    for group in GROUPS:
        for case in group.cases:
            if (group.name, case.name) == (group_name, case_name):
                return case
    raise KeyError(f"no benchmark case is named {name!r}")
