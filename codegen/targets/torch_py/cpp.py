"""C++ spellings of schema types, and the signatures that kernels must have.

Argument types are chosen for calls without copies: tensors by reference, lists as views, numbers by value.
"""

from __future__ import annotations

import math

from codegen.dtypes import DTYPE_ALIASES, DTYPE_CONSTANTS
from codegen.model.keywords import cpp_identifier
from codegen.model.operator import Operator
from codegen.remembered import remembered
from codegen.schema import Argument, FunctionSchema, ListType, OptionalType, Symbol, Type
from codegen.targets.torch_py import keys

_VALUES = {
    "Tensor": "Tensor",
    "int": "int64_t",
    "SymInt": "int64_t",
    "float": "double",
    "bool": "bool",
    "SymBool": "bool",
    "str": "std::string_view",
    "Scalar": "Scalar",
    "ScalarType": "ScalarType",
    "Layout": "Layout",
    "Device": "Device",
    "DeviceIndex": "DeviceIndex",
    "MemoryFormat": "MemoryFormat",
    "Generator": "Generator*",
    "Storage": "Storage",
    "Stream": "Stream",
    "QScheme": "QScheme",
    "Dimname": "Dimname",
    "DimVector": "DimVector",
    "ConstQuantizerPtr": "ConstQuantizerPtr",
}
_BY_REFERENCE = ("Tensor", "Scalar", "Storage")
_CONSTANTS = {
    "Mean": "/*mean*/ 1",
    "Sum": "/*sum*/ 2",
    "contiguous_format": "MemoryFormat::Contiguous",
    "preserve_format": "MemoryFormat::Preserve",
    "channels_last": "MemoryFormat::ChannelsLast",
    "channels_last_3d": "MemoryFormat::ChannelsLast3d",
    "strided": "Layout::Strided",
}


@remembered
def argument_type(type_: Type) -> str:
    """``Tensor?`` -> ``const Tensor&`` (possibly undefined), ``int[2]`` -> ``IntArrayRef``."""
    if isinstance(type_, OptionalType):
        return _optional_type(type_.element)
    if isinstance(type_, ListType):
        return _list_type(type_)
    value = _VALUES[type_.name]
    return f"const {value}&" if type_.name in _BY_REFERENCE else value


def _optional_type(element: Type) -> str:
    if isinstance(element, ListType):
        inner = _list_type(element)
        return "OptionalIntArrayRef" if inner == "IntArrayRef" else f"std::optional<{inner}>"
    name = element.base.name
    if name == "Tensor":
        return "const Tensor&"
    if name == "Generator":
        return "Generator*"
    value = f"std::optional<{_VALUES[name]}>"
    return f"const {value}&" if name in _BY_REFERENCE else value


def _list_type(type_: ListType) -> str:
    name = type_.base.name
    if name == "Tensor":
        return "TensorList"
    if name in ("int", "SymInt"):
        return "IntArrayRef"
    if name == "bool" and type_.size is not None:
        return f"std::array<bool, {type_.size}>"
    return f"ArrayRef<{_VALUES[name]}>"


def result_type(type_: Type) -> str:
    """By value: ``Tensor[]`` -> ``std::vector<Tensor>``."""
    if isinstance(type_, ListType):
        return f"std::vector<{_VALUES[type_.base.name]}>"
    return _VALUES[type_.base.name]


def results_type(schema: FunctionSchema) -> str:
    """``void``, one type, or a tuple."""
    types = [result_type(r.type) for r in schema.returns]
    if not types:
        return "void"
    return types[0] if len(types) == 1 else f"std::tuple<{', '.join(types)}>"


@remembered
def default_argument(argument: Argument) -> str:
    """`` = 1`` for a declaration, empty without a default."""
    if not argument.has_default:
        return ""

    value = argument.default_value
    if value is None:
        return " = {}" if argument.type.base.name != "Generator" else " = nullptr"
    if isinstance(value, bool):
        return f" = {str(value).lower()}"

    if isinstance(value, tuple):
        return " = {" + ", ".join(number(v) for v in value) + "}"
    if isinstance(value, str):
        return ' = "' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'

    if isinstance(value, Symbol):
        return f" = {_CONSTANTS.get(value.name) or _scalar_type(value.name)}"

    return f" = {number(value)}"


def _scalar_type(name: str) -> str:
    """``ScalarType::Long`` for ``long`` and ``int64``."""
    return f"ScalarType::{DTYPE_CONSTANTS[DTYPE_ALIASES.get(name, name)].removeprefix('k')}"


def number(value: object) -> str:
    """A literal: ``2``, ``0.5``, infinity, not a number."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and not math.isfinite(value):
        limits = "std::numeric_limits<double>::"
        return (
            f"{limits}quiet_NaN()" if math.isnan(value) else f"{'-' if value < 0 else ''}{limits}infinity()"
        )
    return "std::numeric_limits<int64_t>::min()" if value == -(2**63) else str(value)


def parameter(argument: Argument, with_default: bool = False) -> str:
    return (
        f"{argument_type(argument.type)} "
        f"{cpp_identifier(argument.name)}{default_argument(argument) if with_default else ''}"
    )


def function_signature(schema: FunctionSchema, name: str | None = None, with_defaults: bool = True) -> str:
    """``Tensor add(const Tensor& self, ...)``; an out form is ``NAME_out`` and takes its out arguments
    first."""
    called = name or (schema.base_name + ("_out" if schema.is_out else ""))
    ordered = [parameter(a) for a in schema.arguments.out]
    ordered += [parameter(a, with_defaults) for a in schema.arguments.flat_non_out]
    return f"{results_type(schema)} {called}({', '.join(ordered)})"


def is_loop(operator: Operator, key: str) -> bool:
    """Whether the kernel of ``key`` is a loop behind a generated wrapper; others take the operator's own
    arguments."""
    if key == "All":
        return operator.structure in keys.LOOP_FOR_ALL_STRUCTURES
    return operator.structure in keys.LOOP_STRUCTURES and key in keys.LOOP_KEYS


def kernel_signature(operator: Operator, kernel: str, key: str) -> str:
    """The signature that the C++ function of a dispatch entry must have."""
    arguments = operator.schema.arguments
    every = [parameter(a) for a in arguments.flat_all]

    if is_loop(operator, key):
        if operator.structure == "pointwise":
            every = ["TensorIteratorBase& iter", *(parameter(a) for a in arguments.non_tensors)]
        elif operator.structure == "reduction":
            every = [
                "TensorIteratorBase& iter",
                *(parameter(a) for a in reduction_kernel_arguments(operator)),
            ]
        elif operator.structure == "shaped":
            every += [
                f"{argument_type(r.type)} out{i}"
                for i, r in enumerate(operator.schema.returns)
                if not r.is_write
            ]

    writes = is_loop(operator, key) or operator.structure == "mutation" or key == keys.INPLACE_KEY
    result = "void" if writes else results_type(operator.schema)

    return f"{result} {kernel}({', '.join(every)})"


def reduction_kernel_arguments(operator: Operator) -> tuple[Argument, ...]:
    """The arguments of the loop: ``dim``, ``keepdim`` and ``dtype`` are in the iterator already."""
    return tuple(
        a for a in operator.schema.arguments.non_tensors if a.name not in ("dim", "keepdim", "dtype")
    )


def shape_signature(operator: Operator, rule: str) -> str:
    """The signature of the shape rule of a ``shaped`` operator."""
    fresh = [r for r in operator.schema.returns if not r.is_write]
    result = "TensorSpec" if len(fresh) == 1 else f"std::tuple<{', '.join(['TensorSpec'] * len(fresh))}>"
    return f"{result} {rule}({', '.join(parameter(a) for a in operator.schema.arguments.flat_all)})"
