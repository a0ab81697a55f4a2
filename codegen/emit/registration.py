"""``aten/register/<Topic>.cpp``: entries, calls, wrappers around kernels, and what registers them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from codegen.analysis.functions import Function, functions_of
from codegen.analysis.gradient_kind import GradientKind, gradient_kind
from codegen.analysis.kernels import direct_kernels, loop_entries, shaped_outputs
from codegen.emit import foreach, native
from codegen.emit.layout import cpp_string
from codegen.emit.places import place_of
from codegen.emit.requirements import Check, checks_of
from codegen.model import Operator, cpp, vocabulary
from codegen.schema import Argument

PROMOTIONS = {
    "default": "Default",
    "int_to_float": "IntToFloat",
    "comparison": "Comparison",
    "same": "Same",
    "complex_to_real": "ComplexToReal",
}
REDUCTION_DTYPES = {
    "same": "Same",
    "extremum": "Extremum",
    "int_to_long": "IntToLong",
    "int_to_float": "IntToFloat",
    "bool": "Bool",
    "index": "Index",
}
FORMS = {"function": "Function", "inplace": "Inplace", "out": "Out"}


@dataclass(frozen=True)
class Loop:
    """The loops of an operator, held in ``stub`` by device; ``direct`` ones are one function for every
    device."""

    stub: str
    parameters: tuple[str, ...]
    cpu: str  # expression, nullptr when there is none
    cuda: str
    direct: str  # native::NAME, or empty
    keys: str
    kernel: str
    origin: str

    @property
    def types(self) -> tuple[str, ...]:
        return tuple(p.rsplit(" ", 1)[0] for p in self.parameters)


@dataclass(frozen=True)
class Wrapper:
    """A function of type ``Op::Schema``: checks, then the kernel as the structure calls it."""

    function: Function
    name: str
    style: str  # pointwise, reduction, shaped, mutation, foreach, or direct
    loop: Loop | None
    kernel: str  # of a direct wrapper: native::NAME
    keys: str
    origin: str

    @property
    def form(self) -> str:
        return self.function.form

    @property
    def one_device(self) -> tuple[str, ...]:
        """Arguments, as NamedTensors, that must be on one device: of kernels which read memory, and of none
        that moves it."""
        composes = "kDenseBackends" in self.keys and not (
            self.style == "direct" and self.function.operator.derivatives
        )
        tensors = self.function.operator.schema.arguments.tensors
        if composes or len(tensors) < 2 or "mixes_devices" in self.function.operator.tags:
            return ()
        return tuple(f'{{"{a.name}", {a.name}{", true" if _holds_optionals(a) else ""}}}' for a in tensors)

    @property
    def kernel_name(self) -> str:
        return self.kernel.removeprefix("native::").removeprefix(
            f"{self.function.operator.unambiguous_name}_"
        )


@dataclass(frozen=True)
class Stub:
    """A file-local name for a kernel whose variant is chosen at start-up."""

    name: str
    label: str  # in messages
    types: str
    cpu: str
    cuda: str
    loop: bool


@dataclass(frozen=True)
class Section:
    """All that is generated for one operator."""

    operator: Operator
    place: str
    functions: tuple[Function, ...]
    checks: tuple[Check, ...]
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
            types = ", ".join(self.loop.types)
            found.append(
                Stub(
                    self.loop.stub, cpp_string(self.operator.name), types, self.loop.cpu, self.loop.cuda, True
                )
            )
        for direct in direct_kernels(self.operator):
            if direct.definition.is_per_isa:
                signature = f"{cpp.results_type(self.operator.schema)}({', '.join(self.functions[0].types)})"
                choice = f"TORCH_PY_CHOOSE_KERNEL({direct.kernel}, {signature})"
                found.append(
                    Stub(f"{self.operator.unambiguous_name}_{direct.kernel}", "", "", choice, "", False)
                )
        return found


def sections(operators: Sequence[Operator], dtype_sets: Mapping[str, Collection[str]]) -> list[Section]:
    return [_section(operator, dtype_sets) for operator in operators]


def _section(operator: Operator, dtype_sets: Mapping[str, Collection[str]]) -> Section:
    found = functions_of(operator)
    loop = _loop(operator)
    wrappers: list[Wrapper] = []
    for function in found:
        if loop is not None:
            wrappers.append(
                Wrapper(
                    function, function.struct, operator.structure, loop, loop.kernel, loop.keys, loop.origin
                )
            )
        wrappers += _direct_wrappers(function, is_only=loop is None)
        if operator.each is not None:
            keys, origin = key_set(["kDenseBackends", "kAutogradKeys"]), f"each {operator.each.operator.name}"
            wrappers.append(
                Wrapper(function, function.struct, "foreach", None, function.struct, keys, origin)
            )
    return Section(
        operator,
        place_of(operator),
        found,
        checks_of(operator, dtype_sets),
        loop,
        tuple(wrappers),
        gradient_kind(operator),
    )


def _loop(operator: Operator) -> Loop | None:
    entries = loop_entries(operator)
    if not entries:
        return None
    stub = f"{operator.unambiguous_name}_loop"
    by_key = {e.key: e for e in entries}
    types = ", ".join(p.rsplit(" ", 1)[0] for p in native.loop_parameters(operator))
    first = entries[0]
    assert first.definition is not None
    if "All" in by_key:
        return Loop(
            stub, (), "", "", f"native::{first.kernel}", "kDenseBackends", first.kernel, first.definition.path
        )
    cpu = cuda = "nullptr"
    if "CPU" in by_key:
        definition = by_key["CPU"].definition
        assert definition is not None
        kernel = by_key["CPU"].kernel
        cpu = f"TORCH_PY_CHOOSE_KERNEL({kernel}, void({types}))" if definition.is_per_isa else f"&{kernel}"
    if "CUDA" in by_key:
        cuda = f"&cuda::{by_key['CUDA'].kernel}"
    names = [f"DispatchKey::{e.key}" for e in entries]
    if operator.dispatch_for("Meta") is None:
        names.append("DispatchKey::Meta")
    return Loop(
        stub,
        native.loop_parameters(operator),
        cpu,
        cuda,
        "",
        key_set(names),
        first.kernel,
        first.definition.path,
    )


def key_set(names: Sequence[str]) -> str:
    """``DispatchKeySet(DispatchKey::CPU) | DispatchKey::Meta``"""
    if names[0].startswith("k"):
        return " | ".join(names)
    return " | ".join([f"DispatchKeySet({names[0]})", *names[1:]])


def _direct_wrappers(function: Function, is_only: bool) -> list[Wrapper]:
    """Of kernels that take the operator's own arguments. Beside loops they serve the declared form only.

    A decomposition is registered first: a device's own kernel replaces it below autograd, where no graph is
    recorded.
    """
    operator = function.operator
    found = []
    kernels = sorted(direct_kernels(operator), key=lambda direct: "All" not in direct.keys)
    for direct in kernels:
        if not is_only and function.form != "function":
            continue
        names = ["kDenseBackends" if key == "All" else f"DispatchKey::{key}" for key in direct.keys]
        if gradient_kind(operator) == "decomposed" and "All" in direct.keys:
            names.append("kAutogradKeys")
        suffix = "" if is_only and len(kernels) == 1 else f"_{direct.keys[0]}"
        kernel = f"native::{direct.kernel}"  # the function, or the variant chosen at start-up
        if direct.definition.is_per_isa:
            kernel = f"native::{operator.unambiguous_name}_{direct.kernel}"
        found.append(
            Wrapper(
                function,
                function.struct + suffix,
                "direct",
                None,
                kernel,
                key_set(names),
                direct.definition.path,
            )
        )
    return found


# What the templates of wrappers ask

body_of = foreach.body_of


def tensor_addresses(operator: Operator) -> tuple[str, ...]:
    return tuple(f"&{a.name}" for a in operator.schema.arguments.tensors)


def plain_names(operator: Operator) -> tuple[str, ...]:
    """Arguments of a pointwise loop behind the iterator."""
    return tuple(a.name for a in operator.schema.arguments.non_tensors)


def loop_names(operator: Operator) -> tuple[str, ...]:
    """Arguments of a reduction loop behind the iterator."""
    return tuple(a.name for a in cpp.reduction_kernel_arguments(operator))


def reduction_dim(operator: Operator) -> str:
    """The ``dims`` argument of make_reduction."""
    argument = operator.schema.arguments.find("dim")
    if argument is None:
        return "std::nullopt"
    if argument.type.is_list:
        return "dim"
    if argument.type.is_optional:
        return "dim ? OptionalIntArrayRef(IntArrayRef(*dim)) : std::nullopt"
    return "IntArrayRef(dim)"


def reduction_argument(operator: Operator, name: str, absent: str) -> str:
    return name if operator.schema.arguments.find(name) is not None else absent


def key_expression(function: Function) -> str:
    """The keys that choose a call's kernel."""
    tensors = [f"keys_of({a.name})" for a in function.tensors]
    if not tensors:
        device = next((a for a in function.arguments if a.type.base.name == "Device"), None)
        return f"keys_of_device({device.name})" if device is not None else "DispatchKeySet(DispatchKey::CPU)"
    union = " | ".join(tensors)
    if all(_may_be_absent(a) for a in function.tensors):
        return f"keys_or_cpu({union})"
    return union


def _holds_optionals(argument: Argument) -> bool:
    """``Tensor?[] indices``: those of a tensor on another device may be on the CPU."""
    of_list = argument.type.list_type
    return of_list is not None and of_list.element.is_optional


def _may_be_absent(argument: Argument) -> bool:
    return argument.type.is_list or argument.type.is_optional


def inplace_kernel(operator: Operator) -> str:
    """The function that changes self; empty where the in-place form copies."""
    entry = operator.dispatch_for(vocabulary.INPLACE_KEY)
    return "" if entry is None else f"native::{entry.kernel}"


def self_and_others(operator: Operator) -> str:
    """``self``, and a list of what else a kernel reads."""
    return "self, {" + ", ".join(a.name for a in operator.schema.arguments.tensors if a.name != "self") + "}"


def specs(operator: Operator) -> list[str]:
    return [f"spec{i}" for i in range(len(shaped_outputs(operator)))]


def suffixed(names: Sequence[str], suffix: str) -> list[str]:
    return [name + suffix for name in names]


def input_lists(operator: Operator) -> tuple[str, ...]:
    """Tensors whose memory an out= result must not share."""
    return tuple(a.name for a in operator.schema.arguments.tensors)


def output_dtype(operator: Operator) -> str:
    """Whether ``out`` may have another dtype: where a ``dtype`` or several inputs of any dtypes decide the
    result's."""
    arguments = operator.schema.arguments
    return (
        "Castable"
        if any(
            a.type.base.name == "ScalarType" or a.type.is_tensor_like and a.type.is_list for a in arguments
        )
        else "Exact"
    )


def returned(function: Function) -> str:
    """What a function that writes to its arguments returns."""
    names = [a.name for a in function.written if not a.type.is_list]
    if not function.schema.returns:
        return ""
    return names[0] if len(names) == 1 else "{" + ", ".join(names) + "}"
