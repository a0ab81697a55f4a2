"""``aten/register/<Topic>.cpp``: entries, calls, wrappers around kernels, and what registers them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from codegen.model import Kernel, Operator
from codegen.schema import Argument
from codegen.targets.torch_py import cpp
from codegen.targets.torch_py.analysis.functions import Function, functions_of
from codegen.targets.torch_py.analysis.gradient_kind import GradientKind, gradient_kind
from codegen.targets.torch_py.analysis.kernels import (
    DirectKernel,
    autograd_keys,
    cuda_entry,
    direct_kernels,
    layout_entries,
    loop_entries,
    shaped_outputs,
)
from codegen.targets.torch_py.emit.native import loop_parameters
from codegen.targets.torch_py.emit.places import place_of
from codegen.targets.torch_py.emit.requirements import Check, checks_of
from codegen.targets.torch_py.kernels import is_per_isa
from codegen.targets.torch_py.keys import LAYOUT_KEYS

# Their kernels are set when the library of a backend is loaded.
ACCELERATORS = "kAcceleratorKeys"


class Kernels(NamedTuple):
    """An object of at::native::loops: the kernels of an operator by device."""

    name: str
    result: str
    parameters: tuple[str, ...]
    chosen: str  # expression of the CPU's kernel
    entry: str  # of the operator
    written: int  # bit k: the kernel writes to parameter k
    meta: str = ""  # a function with the kernel's parameters that checks calls on meta

    @property
    def signature(self) -> str:
        return f"{self.result}({', '.join(self.parameters)})"


class Loop(NamedTuple):
    """The loop of an operator: one for each device, held in ``kernels``, or one function for all of them."""

    kernels: Kernels | None  # None where ``direct`` is set
    direct: str  # native::NAME, or empty
    keys: str
    kernel: str
    origin: str


class Wrapper(NamedTuple):
    """A function of type ``Op::Schema``: checks, then the kernel as the structure calls it."""

    function: Function
    name: str
    style: str  # the template: pointwise, reduction, shaped, mutation, foreach, direct or layout
    loop: Loop | None
    kernel: str  # of a direct wrapper: native::NAME
    keys: str
    origin: str
    kernels: Kernels | None = None  # of a direct wrapper whose kernel depends on the device

    @property
    def form(self) -> str:
        return self.function.form

    @property
    def one_device(self) -> tuple[str, ...]:
        """Arguments, as NamedTensors, that must be on one device.

        Kernels that read memory need this; composites, copies between devices and loops behind a
        TensorIterator, which checks itself, do not.
        """
        operator = self.function.operator
        serves_all = "kDenseBackends" in self.keys or "kDecomposed" in self.keys
        composes = serves_all and not (self.style == "direct" and operator.derivatives)
        tensors = operator.schema.arguments.tensors
        if self.style in ("pointwise", "reduction", "foreach", "layout") or composes:
            return ()
        if len(tensors) < 2 or "mixes_devices" in operator.tags:
            return ()
        return tuple(f'{{"{a.name}", {a.name}{", true" if _holds_optionals(a) else ""}}}' for a in tensors)

    @property
    def label(self) -> str:
        """The kernel as the dispatcher shows it."""
        return self.loop.kernel if self.loop is not None else self.kernel.removeprefix("native::")

    @property
    def device(self) -> str:
        """The device whose kernel a direct wrapper calls, or an operator that copies between devices."""
        lists = ", ".join(a.name if a.type.is_list else f"{{&{a.name}, 1}}" for a in self.function.tensors)
        return f"device_of_call(keys, {{{lists}}})"


def _holds_optionals(argument: Argument) -> bool:
    """``Tensor?[] indices``: those of a tensor on another device may be on the CPU."""
    of_list = argument.type.list_type
    return of_list is not None and of_list.element.is_optional


class Section(NamedTuple):
    """Everything that is generated for one operator."""

    operator: Operator
    place: str
    functions: tuple[Function, ...]
    checks: tuple[Check, ...]  # of every form
    checks_of_forms: tuple[Check, ...]  # of one form each
    loop: Loop | None
    wrappers: tuple[Wrapper, ...]
    gradient: GradientKind
    autograd_keys: str

    @property
    def checked(self) -> list[Argument]:
        """Arguments that the checks look at."""
        arguments = self.operator.schema.arguments.flat_all
        return [a for a in arguments if any(check.mentions(a.name) for check in self.checks)]

    @property
    def checked_parameters(self) -> list[str]:
        return [cpp.parameter(a) for a in self.checked]

    @property
    def checked_names(self) -> list[str]:
        return [a.name for a in self.checked]

    @property
    def kernels(self) -> list[Kernels]:
        """What the section adds to at::native::loops."""
        found = [self.loop.kernels] if self.loop is not None else []
        found += [wrapper.kernels for wrapper in self.wrappers]
        return list(dict.fromkeys(kernels for kernels in found if kernels is not None))


class CudaKernel(NamedTuple):
    """A kernel of the CUDA library, and the object of at::native::loops that it is set in."""

    name: str
    function: str
    declaration: str


def cuda_kernels(sections: Sequence[Section]) -> list[CudaKernel]:
    found = []
    for section in sections:
        entry = cuda_entry(section.operator)
        for kernels in section.kernels if entry is not None else ():
            assert entry is not None
            declaration = f"{kernels.result} {entry.kernel}({', '.join(kernels.parameters)})"
            found.append(CudaKernel(kernels.name, entry.kernel, declaration))
    return found


def kernels_header(topic: str) -> str:
    """The generated header with the kernels of a topic by device."""
    return f"aten/native/loops/{topic}.h"


def sections(operators: Sequence[Operator], dtype_sets: Mapping[str, Collection[str]]) -> list[Section]:
    return [_section(operator, dtype_sets) for operator in operators]


def _section(operator: Operator, dtype_sets: Mapping[str, Collection[str]]) -> Section:
    loop = _loop(operator)
    functions = functions_of(operator)
    checks = checks_of(operator, dtype_sets)
    return Section(
        operator,
        place_of(operator),
        functions,
        tuple(check for check in checks if check.form is None),
        tuple(check for check in checks if check.form is not None),
        loop,
        tuple(wrapper for function in functions for wrapper in _wrappers(function, loop)),
        gradient_kind(operator),
        autograd_keys(operator),
    )


def _wrappers(function: Function, loop: Loop | None) -> Iterator[Wrapper]:
    operator = function.operator
    if loop is not None:
        yield Wrapper(
            function, function.struct, operator.structure, loop, loop.kernel, loop.keys, loop.origin
        )

    # Next to a loop, direct kernels serve the declared form only.
    if loop is None or function.form == "function":
        yield from _direct_wrappers(function, is_only=loop is None)

    yield from _layout_wrappers(function)

    if operator.each is not None:
        keys = "kDecomposedKeys"
        if operator.read_arguments:
            keys += " - DispatchKey::Transform"
        origin = f"each {operator.each.operator.name}"
        yield Wrapper(function, function.struct, "foreach", None, function.struct, keys, origin)


def _loop(operator: Operator) -> Loop | None:
    """The loop of the dispatch map, if the structure calls one."""
    entries = loop_entries(operator)
    if not entries:
        return None

    first = entries[0]
    assert first.definition is not None
    origin = first.definition.path
    if first.key == "All":
        return Loop(None, f"native::{first.kernel}", "kDenseBackends", first.kernel, origin)

    meta = operator.dispatch_for("Meta")
    kernels = Kernels(
        f"{operator.unambiguous_name}_loop",
        "void",
        loop_parameters(operator),
        _chosen(first.kernel, first.definition),
        f"ops::{operator.unambiguous_name}::entry",
        _written(operator),
        f"&{meta.kernel}" if meta is not None else "",
    )
    names = [ACCELERATORS, "DispatchKey::CPU", "DispatchKey::Meta"]
    return Loop(kernels, "", key_set(names), first.kernel, origin)


def _chosen(kernel: str, definition: Kernel) -> str:
    """The variant of ``kernel`` for the processor."""
    return f"TORCH_PY_CHOOSE_KERNEL({kernel})" if is_per_isa(definition) else f"&{kernel}"


def _written(operator: Operator) -> int:
    """Which parameters of a kernel it writes to, as bits. Of an iterator, always operand 0."""
    if operator.structure in ("pointwise", "reduction"):
        return 1

    arguments = operator.schema.arguments.flat_all
    bits = sum(1 << k for k, a in enumerate(arguments) if a in operator.schema.mutable_arguments)
    if operator.structure == "shaped":
        bits |= sum(1 << (len(arguments) + k) for k in range(len(shaped_outputs(operator))))
    return bits


def key_set(names: Sequence[str]) -> str:
    """``DispatchKeySet(DispatchKey::CPU) | DispatchKey::Meta``"""
    if names[0].startswith("k"):
        return " | ".join(names)
    return " | ".join([f"DispatchKeySet({names[0]})", *names[1:]])


def _direct_wrappers(function: Function, is_only: bool) -> Iterator[Wrapper]:
    """Of kernels that take the operator's own arguments.

    A decomposition is registered first: a device's own kernel replaces it below autograd, where no graph is
    recorded.
    """
    operator = function.operator
    kernels = sorted(direct_kernels(operator), key=lambda direct: "All" not in direct.keys)
    for direct in kernels:
        everywhere = _everywhere(operator, len(kernels))
        names = [everywhere if key == "All" else f"DispatchKey::{key}" for key in direct.keys]
        by_device = _kernels_by_device(operator, direct)
        # A decomposition serves the devices that have no kernel of their own.
        if by_device is not None and (cuda_entry(operator) or operator.dispatch_for("All") is None):
            names.insert(0, ACCELERATORS)

        suffix = "" if is_only and len(kernels) == 1 else f"_{direct.keys[0]}"
        origin = direct.definition.path
        kernel = f"native::{direct.kernel}"
        yield Wrapper(
            function, function.struct + suffix, "direct", None, kernel, key_set(names), origin, by_device
        )


def _everywhere(operator: Operator, kernels: int) -> str:
    """The keys of a function for every device.

    What is made of other operators is seen as those, unless a device has a kernel for the whole: then
    recorded graphs have the whole, except for operators whose tags say otherwise.
    """
    if gradient_kind(operator) != "decomposed":
        is_composed = "composed_in_transforms" in operator.tags
        return "kDenseBackends | DispatchKey::Transform" if is_composed else "kDenseBackends"
    is_recorded_whole = kernels > 1 and "composed_in_graphs" not in operator.tags
    keys = "kDecomposedAboveDevices" if is_recorded_whole else "kDecomposedKeys"
    return f"{keys} - DispatchKey::Transform" if "whole_in_transforms" in operator.tags else keys


def _layout_wrappers(function: Function) -> Iterator[Wrapper]:
    """Of kernels for tensors of other layouts: one kernel, with the operator's own arguments, for each form.

    Where the operators that a composition calls record the graph, it runs above autograd.
    """
    operator = function.operator
    if len(function.out_names) > 1:
        return

    for entry in layout_entries(operator):
        assert entry.definition is not None
        names = [f"DispatchKey::{entry.key}"]
        if gradient_kind(operator) == "decomposed" and function.form != "out":
            names.append(f"DispatchKey::{LAYOUT_KEYS[entry.key][1]}")
        name = f"{function.struct}_{entry.key}"
        kernel = f"native::{entry.kernel}"
        yield Wrapper(function, name, "layout", None, kernel, key_set(names), entry.definition.path)


def _kernels_by_device(operator: Operator, direct: DirectKernel) -> Kernels | None:
    """Of a direct kernel that reads memory; the others serve every device."""
    if "CPU" not in direct.keys:
        return None

    return Kernels(
        f"{operator.unambiguous_name}_kernels",
        cpp.results_type(operator.schema) if operator.structure != "mutation" else "void",
        tuple(cpp.parameter(a) for a in operator.schema.arguments.flat_all),
        _chosen(direct.kernel, direct.definition),
        f"ops::{operator.unambiguous_name}::entry",
        _written(operator) if operator.structure != "shaped" else 0,
    )
