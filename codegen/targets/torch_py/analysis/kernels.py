"""The kernels of an operator: loops, direct kernels (called with its own arguments), and printed formulas."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from codegen.expressions.functions import FUNCTIONS
from codegen.expressions.nodes import Call, walk
from codegen.model import DispatchEntry, Kernel, Operator
from codegen.targets.torch_py import cpp
from codegen.targets.torch_py.keys import CUDA_FOLDER, CUDA_KEY, INPLACE_KEY, LAYOUT_KEYS

EXPR_FOLDER = "aten/native/cpu/expr"  # kernels printed from formulas
CUDA_EXPR_FOLDER = f"{CUDA_FOLDER}/expr"
# Of one file for a device, so that none takes long to compile: one for each formula and dtype.
INSTANCES_PER_FILE = 60
# Kernels of a formula over rows and a dtype: rows in registers and in memory, and columns.
_FORMS_OF_ROWS = 7


def loop_entries(operator: Operator) -> tuple[DispatchEntry, ...]:
    """Entries of the dispatch map whose kernel is a loop inside a generated wrapper.

    Without that of the CUDA library, which the wrapper finds at run time.
    """
    return tuple(
        d for d in operator.dispatch if cpp.is_loop(operator, d.key) and d.is_available and d.key != CUDA_KEY
    )


def cuda_entry(operator: Operator) -> DispatchEntry | None:
    """The kernel in the CUDA library, which many operators lack."""
    entry = operator.dispatch_for(CUDA_KEY)
    return entry if entry is not None and entry.is_available else None


def runs_on_host(operator: Operator) -> bool:
    """Whether CUDA tensors take the CPU's kernel, on copies in the memory of the host.

    Of an operator as declared: a formula will have a kernel. One with a function for every device needs none.
    """
    if operator.expr is not None or operator.dispatch_for("All") is not None:
        return False
    return operator.dispatch_for("CPU") is not None and cuda_entry(operator) is None


class DirectKernel(NamedTuple):
    """A kernel that is called with the operator's own arguments, for the keys that name it."""

    kernel: str
    keys: tuple[str, ...]
    definition: Kernel


def direct_kernels(operator: Operator) -> tuple[DirectKernel, ...]:
    """All kernels of the dispatch map except loops and those of layouts, each with the keys it serves."""
    found: dict[str, DirectKernel] = {}
    for entry in operator.dispatch:
        if cpp.is_loop(operator, entry.key) or entry.definition is None:
            continue
        if entry.key in (INPLACE_KEY, CUDA_KEY, *LAYOUT_KEYS):
            continue

        before = found.get(entry.kernel)
        keys = (*(before.keys if before else ()), entry.key)
        found[entry.kernel] = DirectKernel(entry.kernel, keys, entry.definition)

    return tuple(found.values())


def layout_entries(operator: Operator) -> tuple[DispatchEntry, ...]:
    """The kernels for tensors of layouts other than strided."""
    return tuple(d for d in operator.dispatch if d.key in LAYOUT_KEYS and d.is_available)


def autograd_keys(operator: Operator) -> str:
    """The keys of an operator's autograd kernel: of strided tensors, and of the layouts with a kernel."""
    layouts = [f"DispatchKey::{LAYOUT_KEYS[d.key][1]}" for d in layout_entries(operator)]
    return " | ".join(["kAutogradKeys", *layouts])


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


def with_cuda_formulas(topic: str, operators: Iterable[Operator]) -> tuple[Operator, ...]:
    """The operators of a topic, with a CUDA kernel for each formula that has none written by hand.

    Their files are TOPIC.cu, TOPIC-2.cu and so on, and TOPIC-rows.cu of formulas over rows; no other topic
    has such a name. Libraries outside the tree have no CUDA part.
    """
    elements = _Files(topic, 1)
    rows = _Files(f"{topic}-rows", _FORMS_OF_ROWS)
    found = []
    for operator in operators:
        cpu = operator.dispatch_for("CPU")
        if operator.expr is None or operator.library is not None or cpu is None or cpu.definition is None:
            found.append(operator)
            continue
        if operator.dispatch_for(CUDA_KEY) is not None or not is_formula_kernel(cpu.definition.path):
            found.append(operator)
            continue

        path = (rows if operator.is_over_rows else elements).path_for(len(operator.dtypes))
        entry = replace(cpu, key=CUDA_KEY, definition=cpu.definition._replace(path=path))
        found.append(operator.changed(dispatch=(*operator.dispatch, entry)))
    return tuple(found)


class _Files:
    """Files for the kernels of a topic: the next one begins where one would have too many."""

    def __init__(self, name: str, forms: int) -> None:
        self.name = name
        self.forms = forms
        self.number = 1
        self.instances = 0

    def path_for(self, dtypes: int) -> str:
        own = dtypes * self.forms
        self.instances += own
        if self.instances > INSTANCES_PER_FILE and self.instances > own:
            self.number += 1
            self.instances = own
        return f"{CUDA_EXPR_FOLDER}/{self.name}{f'-{self.number}' if self.number > 1 else ''}.cu"


def is_formula_kernel(path: str) -> bool:
    """Whether the kernels in this file are printed from formulas."""
    return path.startswith(EXPR_FOLDER)
