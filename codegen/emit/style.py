"""What follows from an operator's structure: which wrapper serves it, and how it meets autograd."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from codegen.emit.functions import Function
from codegen.model import DispatchEntry, Kernel, Operator
from codegen.model.vocabulary import INPLACE_KEY

Gradient = Literal["none", "decomposed", "node"]


def gradient_of(operator: Operator) -> Gradient:
    """``decomposed`` operators run above autograd; ``node`` ones have a generated Node; others record
    nothing."""
    if operator.is_composite_implicit:
        return "decomposed"
    if operator.non_differentiable is not None or not operator.tensor_arguments:
        return "none"
    if operator.derivatives and all(d.is_non_differentiable for d in operator.derivatives):
        return "none"
    return "node"


def is_loop(operator: Operator, entry: DispatchEntry) -> bool:
    return operator.is_loop(entry.key)


@dataclass(frozen=True)
class Direct:
    """A kernel that is called with the operator's own arguments, for the keys that name it."""

    kernel: str
    keys: tuple[str, ...]
    definition: Kernel


def direct_kernels(operator: Operator) -> tuple[Direct, ...]:
    """Kernels of the dispatch map that are no loops, with the keys they serve."""
    found: dict[str, Direct] = {}
    for entry in operator.dispatch:
        if is_loop(operator, entry) or entry.definition is None or entry.key == INPLACE_KEY:
            continue
        before = found.get(entry.kernel)
        keys = (*(before.keys if before else ()), entry.key)
        found[entry.kernel] = Direct(entry.kernel, keys, entry.definition)
    return tuple(found.values())


def loop_entries(operator: Operator) -> tuple[DispatchEntry, ...]:
    return tuple(d for d in operator.dispatch if is_loop(operator, d) and d.is_available)


def is_decomposed(function: Function) -> bool:
    return gradient_of(function.operator) == "decomposed"
