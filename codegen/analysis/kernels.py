"""The kernels of an operator: loops, direct kernels (called with its own arguments), and printed formulas."""

from __future__ import annotations

from dataclasses import dataclass

from codegen.expressions.functions import FUNCTIONS
from codegen.expressions.nodes import Call, walk
from codegen.model import DispatchEntry, Kernel, Operator
from codegen.model.vocabulary import INPLACE_KEY

EXPR_FOLDER = "aten/native/cpu/expr"  # kernels printed from formulas


def loop_entries(operator: Operator) -> tuple[DispatchEntry, ...]:
    """Entries of the dispatch map whose kernel is a loop inside a generated wrapper."""
    return tuple(d for d in operator.dispatch if operator.is_loop(d.key) and d.is_available)


@dataclass(frozen=True)
class DirectKernel:
    """A kernel that is called with the operator's own arguments, for the keys that name it."""

    kernel: str
    keys: tuple[str, ...]
    definition: Kernel


def direct_kernels(operator: Operator) -> tuple[DirectKernel, ...]:
    """All kernels of the dispatch map except loops, each with the keys it serves."""
    found: dict[str, DirectKernel] = {}
    for entry in operator.dispatch:
        if operator.is_loop(entry.key) or entry.definition is None or entry.key == INPLACE_KEY:
            continue

        before = found.get(entry.kernel)
        keys = (*(before.keys if before else ()), entry.key)
        found[entry.kernel] = DirectKernel(entry.kernel, keys, entry.definition)

    return tuple(found.values())


def shaped_outputs(operator: Operator) -> tuple[str, ...]:
    """Parameter names of the tensors that a shaped kernel fills."""
    fresh = [r for r in operator.schema.returns if not r.is_write]
    return tuple(f"out{i}" for i in range(len(fresh)))


def formula_kernel_path(operator: Operator) -> str:
    """The generated file with the loop of ``operator``'s formula.

    It is compiled once per instruction set (``.isa.cpp``) unless one of its functions gains nothing by it.
    """
    assert operator.expr is not None
    called = [FUNCTIONS.get(part.function) for part in walk(operator.expr.node) if isinstance(part, Call)]
    gains = all(function is None or function.vectorises for function in called)

    suffix = ".isa.cpp" if gains else ".cpp"
    return f"{EXPR_FOLDER}/{operator.unambiguous_name}Kernel{suffix}"


def is_formula_kernel(path: str) -> bool:
    """Whether the kernels in this file are printed from formulas."""
    return path.startswith(EXPR_FOLDER)
