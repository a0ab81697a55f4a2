"""``aten/register/<Topic>.cpp``: entries, calls, wrappers around kernels, and what registers them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from codegen.analysis.functions import Function, functions_of
from codegen.analysis.gradient_kind import GradientKind, gradient_kind
from codegen.analysis.kernels import DirectKernel, direct_kernels, loop_entries
from codegen.emit.literals import cpp_string
from codegen.emit.places import place_of
from codegen.emit.requirements import Check, checks_of
from codegen.model import Operator, cpp
from codegen.schema import Argument


@dataclass(frozen=True)
class Loop:
    """The loop of an operator: for the CPU, held in ``stub``, or one function for every device."""

    stub: str
    chosen: str  # expression of the CPU's loop; empty where ``direct`` is set
    direct: str  # native::NAME, or empty
    keys: str
    kernel: str
    origin: str


@dataclass(frozen=True)
class Wrapper:
    """A function of type ``Op::Schema``: checks, then the kernel as the structure calls it."""

    function: Function
    name: str
    style: str  # the template: pointwise, reduction, shaped, mutation, foreach or direct
    loop: Loop | None
    kernel: str  # of a direct wrapper: native::NAME
    keys: str
    origin: str

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
        composes = "kDenseBackends" in self.keys and not (self.style == "direct" and operator.derivatives)
        tensors = operator.schema.arguments.tensors
        if self.style in ("pointwise", "reduction", "foreach") or composes:
            return ()
        if len(tensors) < 2 or "mixes_devices" in operator.tags:
            return ()
        return tuple(f'{{"{a.name}", {a.name}{", true" if _holds_optionals(a) else ""}}}' for a in tensors)

    @property
    def label(self) -> str:
        """The kernel as the dispatcher shows it."""
        if self.loop is not None:
            return self.loop.kernel
        name = self.kernel.removeprefix("native::")
        return name.removeprefix(f"{self.function.operator.unambiguous_name}_")


def _holds_optionals(argument: Argument) -> bool:
    """``Tensor?[] indices``: those of a tensor on another device may be on the CPU."""
    of_list = argument.type.list_type
    return of_list is not None and of_list.element.is_optional


@dataclass(frozen=True)
class Stub:
    """A file-local name for a kernel whose variant is chosen at start-up."""

    name: str
    kernel: str  # expression
    label: str = ""  # of a loop: the operator's name in messages, as a C++ literal


@dataclass(frozen=True)
class Section:
    """Everything that is generated for one operator."""

    operator: Operator
    place: str
    functions: tuple[Function, ...]
    checks: tuple[Check, ...]  # of every form
    checks_of_forms: tuple[Check, ...]  # of one form each
    loop: Loop | None
    wrappers: tuple[Wrapper, ...]
    gradient: GradientKind

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
    def stubs(self) -> list[Stub]:
        found = []
        if self.loop is not None and not self.loop.direct:
            found.append(Stub(self.loop.stub, self.loop.chosen, cpp_string(self.operator.name)))
        for direct in direct_kernels(self.operator):
            if direct.definition.is_per_isa:
                found.append(Stub(_chosen_name(self.operator, direct), _chosen(direct.kernel)))
        return found


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

    if operator.each is not None:
        keys = key_set(["kDenseBackends", "kAutogradKeys"])
        origin = f"each {operator.each.operator.name}"
        yield Wrapper(function, function.struct, "foreach", None, function.struct, keys, origin)


def _loop(operator: Operator) -> Loop | None:
    """The loop of the dispatch map, if the structure calls one."""
    entries = loop_entries(operator)
    if not entries:
        return None

    stub = f"{operator.unambiguous_name}_loop"
    first = entries[0]
    assert first.definition is not None
    origin = first.definition.path
    if first.key == "All":
        return Loop(stub, "", f"native::{first.kernel}", "kDenseBackends", first.kernel, origin)

    chosen = _chosen(first.kernel) if first.definition.is_per_isa else f"&{first.kernel}"
    names = [f"DispatchKey::{e.key}" for e in entries]
    if operator.dispatch_for("Meta") is None:
        names.append("DispatchKey::Meta")
    return Loop(stub, chosen, "", key_set(names), first.kernel, origin)


def _chosen(kernel: str) -> str:
    """The variant of ``kernel`` for the processor."""
    return f"TORCH_PY_CHOOSE_KERNEL({kernel})"


def _chosen_name(operator: Operator, direct: DirectKernel) -> str:
    """The stub that holds the chosen variant."""
    return f"{operator.unambiguous_name}_{direct.kernel}"


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
        names = ["kDenseBackends" if key == "All" else f"DispatchKey::{key}" for key in direct.keys]
        if gradient_kind(operator) == "decomposed" and "All" in direct.keys:
            names.append("kAutogradKeys")

        suffix = "" if is_only and len(kernels) == 1 else f"_{direct.keys[0]}"
        name = _chosen_name(operator, direct) if direct.definition.is_per_isa else direct.kernel
        origin = direct.definition.path
        kernel = f"native::{name}"
        yield Wrapper(function, function.struct + suffix, "direct", None, kernel, key_set(names), origin)
