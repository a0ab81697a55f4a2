"""Names that a target has without an entry, which an operator may not take."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class TakenNames:
    """Each name with what has it: ``a property of Tensor``, ``a module``."""

    methods: dict[str, str] = field(default_factory=dict)
    functions: dict[str, str] = field(default_factory=dict)
