"""Python parameters: rows for the argument binder, conversions to C++, and type tests of the fast path."""

from __future__ import annotations

from dataclasses import dataclass, replace

from codegen.model import Operator
from codegen.output.literals import cpp_string
from codegen.remembered import cached_property, remembered_by
from codegen.schema import Argument, Arguments, Symbol
from codegen.targets.torch_py import cpp
from codegen.targets.torch_py.analysis.functions import Function

# Type of the schema -> Kind.
_KINDS = {
    "Tensor": "Tensor",
    "int": "Int",
    "SymInt": "Int",
    "float": "Float",
    "bool": "Bool",
    "SymBool": "Bool",
    "str": "String",
    "Scalar": "Scalar",
    "ScalarType": "ScalarType",
    "Layout": "Layout",
    "Device": "Device",
    "MemoryFormat": "MemoryFormat",
    "Generator": "Generator",
}
# Kind -> text in signatures that error messages list.
_TEXTS = {
    "Tensor": "Tensor",
    "TensorOrNumber": "Tensor or Number",
    "TensorList": "tuple of Tensors",
    "OptionalTensorList": "tuple of Tensors",
    "Int": "int",
    "IntList": "tuple of ints",
    "Float": "float",
    "FloatList": "tuple of floats",
    "Bool": "bool",
    "BoolList": "tuple of bools",
    "Scalar": "Number",
    "ScalarList": "tuple of Numbers",
    "String": "str",
    "ScalarType": "torch.dtype",
    "Layout": "torch.layout",
    "Device": "torch.device",
    "MemoryFormat": "torch.memory_format",
    "Generator": "torch.Generator",
}
# Kind -> accessor of Arguments; optional_NAME is the accessor of the optional form.
_ACCESSORS = {
    "Int": "integer",
    "Float": "real",
    "Bool": "boolean",
    "Scalar": "scalar",
    "String": "string",
    "ScalarType": "dtype",
    "Layout": "layout",
    "Device": "device",
    "MemoryFormat": "memory_format",
    "IntList": "int_list",
    "FloatList": "real_list",
    "ScalarList": "scalar_list",
    "TensorList": "tensor_list",
    "OptionalTensorList": "tensor_list",
}
# Kind -> tests for arguments that need no conversion.
_PLAIN = {
    "Tensor": ("is_plain_tensor",),
    "TensorOrNumber": ("is_plain_tensor", "is_plain_number"),
    "Int": ("is_plain_int",),
    "Float": ("is_plain_float", "is_plain_int"),
    "Bool": ("is_plain_bool",),
    "Scalar": ("is_plain_number",),
}
_FACTORY_ARGUMENTS = ("dtype", "layout", "device", "pin_memory")


@dataclass(frozen=True)
class Parameter:
    """A row of a parameter table. ``argument`` is None for requires_grad and out, which only Python has."""

    name: str
    kind: str
    flags: tuple[str, ...]
    list_size: int
    argument: Argument | None
    slot: int
    is_of_new: bool = False  # the device of a factory that has no tensor to take it from

    @property
    def is_keyword_only(self) -> bool:
        return "kKeywordOnly" in self.flags

    @property
    def is_required(self) -> bool:
        return "kOptional" not in self.flags

    @cached_property
    def row(self) -> str:
        flags = " | ".join(self.flags) or "kNone"
        return f'{{"{self.name}", Kind::{self.kind}, {flags}, {self.list_size}}}'

    @property
    def cpp_name(self) -> str:
        return self.argument.name if self.argument is not None else self.name

    def with_flag(self, flag: str) -> Parameter:
        return replace(self, flags=(*self.flags, flag))

    @cached_property
    def declarations(self) -> list[str]:
        """The statements that declare the C++ argument: ``const auto alpha = args.scalar(2, 1);``"""
        if self.kind == "TensorOrNumber":
            return [
                f"at::NumberTensor {self.cpp_name}_number;",
                f"const auto& {self.cpp_name} = {self.conversion};",
            ]
        reference = "&" if self.kind == "Tensor" else ""
        return [f"const auto{reference} {self.cpp_name} = {self.conversion};"]

    @property
    def conversion(self) -> str:
        """The C++ expression for the argument's value."""
        argument = self.argument
        assert argument is not None
        optional = argument.type.is_optional
        slot = self.slot

        if self.kind == "Tensor":
            return f"args.{'optional_' if optional else ''}tensor({slot})"
        if self.kind == "TensorOrNumber":
            value = f"args.tensor_or_number({slot}, {self.cpp_name}_number)"
            return f"args.given({slot}) ? {value} : {self.cpp_name}_number.get()" if optional else value
        if self.kind == "Generator":
            return f"args.generator({slot})"
        if self.is_of_new:
            return f"device_of_new(args, {slot})"
        if self.kind == "BoolList":
            return f"args.bool_array<{self.list_size}>({slot})"
        return self._with_default(argument, optional)

    def _with_default(self, argument: Argument, optional: bool) -> str:
        accessor = ("optional_" if optional else "") + _ACCESSORS[self.kind]
        inputs = [str(self.slot)]
        if self.kind == "IntList":
            inputs.append(str(self.list_size))

        default = _default(argument, self.list_size)
        if default is None:
            return f"args.{accessor}({', '.join(inputs)})"
        if not optional:
            return f"args.{accessor}({', '.join([*inputs, default])})"

        # Accessors of optional arguments take no default: an absent argument has it, None has none.
        type_ = _qualified(cpp.argument_type(argument.type).removeprefix("const ").removesuffix("&"))
        given = f"args.{accessor}({', '.join(inputs)})"
        return f"args.object({self.slot}) == nullptr ? {type_}({default}) : {given}"


def _qualified(type_: str) -> str:
    """``std::optional<at::Layout>`` for ``std::optional<Layout>``."""
    return type_.replace("std::optional<", "std::optional<at::") if type_[14:15].isupper() else type_


def _default(argument: Argument, list_size: int) -> str | None:
    """The default in C++; None for arguments without a default, or with None as their default."""
    if not argument.has_default or argument.default_value is None:
        return None

    value = argument.default_value
    if argument.type.is_list:
        values = value if isinstance(value, tuple) else (value,) * max(list_size, 1)
        return "{" + ", ".join(cpp.number(v) for v in values) + "}"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Symbol):
        text = cpp.default_argument(argument).removeprefix(" = ")
        return text if text.startswith("/*") else f"at::{text}"
    if isinstance(value, str):
        return cpp_string(value)
    return cpp.number(value)


class Parameters(tuple[Parameter, ...]):
    """A list of parameters, with what is remembered of it."""


def parameters_of(operator: Operator, function: Function, out: Function | None) -> Parameters:
    """The operator's arguments in schema order, then requires_grad of factories, then out."""
    outs = 0 if out is None else len(out.out_names)
    return _parameters_of(function.schema.arguments, operator.scalars, is_factory(operator), outs)


@remembered_by
def _parameters_of(arguments: Arguments, scalars: tuple[str, ...], makes_new: bool, outs: int) -> Parameters:
    found: list[Parameter] = []
    for argument in arguments.flat_all:
        keyword_only = argument in arguments.kwarg_only
        found.append(_parameter(argument, argument.name in scalars, keyword_only, len(found)))

    if makes_new:
        if not any(p.kind.startswith("Tensor") for p in found):
            found = [replace(p, is_of_new=p.kind == "Device") for p in found]
        found.append(Parameter("requires_grad", "Bool", ("kOptional", "kKeywordOnly"), 0, None, len(found)))

    if outs:
        flags = ("kOptional", "kNullable", "kKeywordOnly", "kOutput")
        kind = "Tensor" if outs == 1 else "TensorList"
        found.append(Parameter("out", kind, flags, 0 if outs == 1 else outs, None, len(found)))
    return Parameters(found)


def is_factory(operator: Operator) -> bool:
    """Whether the operator makes a tensor of a given dtype on a given device."""
    returns = operator.schema.returns
    names = operator.schema.arguments.names()
    return all(n in names for n in _FACTORY_ARGUMENTS) and len(returns) == 1 and not returns[0].is_alias


def _parameter(argument: Argument, takes_number: bool, keyword_only: bool, slot: int) -> Parameter:
    """The row of one of the operator's arguments."""
    list_type = argument.type.list_type
    kind = _KINDS[argument.type.base.name]
    size = 0
    if list_type is not None:
        kind, size = f"{kind}List", list_type.size or 0
        if kind == "TensorList" and list_type.element.is_optional:
            kind = "OptionalTensorList"
    elif kind == "Tensor" and takes_number:
        kind = "TensorOrNumber"

    flags = []
    if argument.has_default:
        flags.append("kOptional")
    if argument.type.is_optional or (argument.has_default and argument.default_value == ()):
        flags.append("kNullable")  # None also stands for an empty list where that is the default
    if keyword_only:
        flags.append("kKeywordOnly")

    name = "input" if argument.name == "self" and argument.type.is_plain("Tensor") else argument.spelling
    return Parameter(name, kind, tuple(flags), size, argument, slot)


def signature_text(name: str, parameters: Parameters, self_slot: int) -> str:
    """``add(Tensor input, Tensor or Number other, *, Number alpha = 1, Tensor out = None)``"""
    return f"{name}({_listed(parameters, self_slot)})"


@remembered_by
def _listed(parameters: Parameters, self_slot: int) -> str:
    parts = []
    starred = False
    for position, parameter in enumerate(parameters):
        if position == self_slot:
            continue
        if parameter.is_keyword_only and not starred:
            parts.append("*")
            starred = True
        parts.append(f"{_TEXTS[parameter.kind]} {parameter.name}{_default_text(parameter)}")
    return ", ".join(parts)


def _default_text(parameter: Parameter) -> str:
    if parameter.is_required:
        return ""

    argument = parameter.argument
    if argument is None:
        return " = False" if parameter.kind == "Bool" else " = None"

    value = argument.default_value
    if isinstance(value, Symbol) and argument.type.base.name in ("MemoryFormat", "ScalarType", "Layout"):
        return f" = torch.{value.name}"
    if argument.type.is_list and isinstance(value, tuple):
        return f" = ({', '.join(map(str, value))}{',' if len(value) == 1 else ''})"
    return f" = {argument.default}"


@dataclass(frozen=True)
class FastCall:
    """An all-positional call of ``count`` arguments of exactly the expected types."""

    count: int
    tests: tuple[str, ...]


@remembered_by
def fast_calls(parameters: Parameters, self_slot: int) -> tuple[FastCall, ...]:
    """The all-positional calls that need no binding, one for each number of arguments."""
    if self_slot > 0:  # Arguments.set puts self first
        return ()

    positional = [p for i, p in enumerate(parameters) if i != self_slot and not p.is_keyword_only]
    if any(p.is_required for p in parameters if p.is_keyword_only):
        return ()

    found = []
    tests: list[str] = []
    for count in range(len(positional) + 1):
        if count > 0:
            test = _test(positional[count - 1], f"args[{count - 1}]")
            if test is None:
                break
            tests.append(test)

        if all(not p.is_required for p in positional[count:]):
            found.append(FastCall(count, tuple(tests) if count != 1 else (_bare(tests[0]),)))
    return tuple(found)


def _bare(test: str) -> str:
    """``test`` without the parentheses that it needs next to other tests."""
    return test[1:-1] if test.startswith("(") else test


def _test(parameter: Parameter, value: str) -> str | None:
    """A condition for arguments that need no conversion; None if only the binder can decide."""
    if parameter.kind == "IntList" and parameter.list_size == 1 and "kVarargs" not in parameter.flags:
        return f"is_plain_int({value})"
    if parameter.kind not in _PLAIN:
        return None
    tests = [f"{test}({value})" for test in _PLAIN[parameter.kind]]
    return tests[0] if len(tests) == 1 else f"({' || '.join(tests)})"
