"""The C++ functions of an operator (declared, in-place and out form) and how C++ spells them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from codegen.model import Operator
from codegen.model.keywords import cpp_identifier
from codegen.remembered import cached_property, remembered, remembered_by
from codegen.schema import Argument, Arguments, FunctionSchema
from codegen.targets.torch_py import cpp

# A struct in at::ops with such a name would hide the namespace.
_NAMESPACES = frozenset(["std", "at", "c10"])

Form = Literal["function", "inplace", "out"]


@dataclass(frozen=True)
class Function:
    """One dispatched function: one struct in at::ops, one free function in at."""

    operator: Operator
    schema: FunctionSchema
    form: Form

    @cached_property
    def struct(self) -> str:
        """``add_Tensor``, ``add__Tensor``, ``add_Tensor_out``"""
        name = cpp_identifier(self.schema.unambiguous_name)
        return f"{name}_" if name in _NAMESPACES else name

    @cached_property
    def entry_name(self) -> str:
        """``add.Tensor_out``, as the dispatcher knows it; of a library ``my_ops::softcap``."""
        return self.operator.in_namespace(str(self.schema.name))

    @cached_property
    def entry_schema(self) -> str:
        """The schema, which begins with that name."""
        return self.operator.in_namespace(str(self.schema))

    @cached_property
    def name(self) -> str:
        """The free function: ``add``, ``add_``, ``add_out``."""
        return cpp_identifier(self.schema.base_name + ("_out" if self.form == "out" else ""))

    @cached_property
    def python_name(self) -> str:
        return self.schema.base_name.removeprefix(f"{self.operator.python_module}_")

    @cached_property
    def result(self) -> str:
        return cpp.results_type(self.schema)

    @property
    def arguments(self) -> tuple[Argument, ...]:
        """In schema order, out arguments last."""
        return self.schema.arguments.flat_all

    @property
    def parameters(self) -> tuple[str, ...]:
        """``const Tensor& self`` ..., in schema order."""
        return _parameters(self.schema.arguments)

    @property
    def types(self) -> tuple[str, ...]:
        return _types(self.schema.arguments)

    @property
    def names(self) -> tuple[str, ...]:
        return self.schema.arguments.names()

    @property
    def tensors(self) -> tuple[Argument, ...]:
        return self.schema.arguments.tensors

    @property
    def casts(self) -> bool:
        """Whether torch.autocast converts the arguments."""
        return not self.operator.autocast.is_none and self.form == "function"

    @property
    def autocast_policies(self) -> tuple[str, ...]:
        """The enumerator of each device: ``LowerPrecision`` for lower_precision."""
        words = self.operator.autocast.words
        return tuple(f"autocast::Policy::{_enumerator(word)}" for word in words)

    @property
    def declared_parameters(self) -> tuple[str, ...]:
        """The parameters of the free function: out arguments first, with defaults."""
        return declared_parameters(self.schema.arguments, ())

    @cached_property
    def written(self) -> tuple[Argument, ...]:
        return self.schema.mutable_arguments

    @cached_property
    def out_names(self) -> tuple[str, ...]:
        return tuple(a.name for a in self.schema.arguments.out)


def _enumerator(word: str) -> str:
    return "".join(part.capitalize() for part in word.split("_"))


@remembered
def _parameters(arguments: Arguments) -> tuple[str, ...]:
    return tuple(cpp.parameter(a) for a in arguments)


@remembered
def _types(arguments: Arguments) -> tuple[str, ...]:
    return tuple(cpp.argument_type(a.type) for a in arguments)


@remembered_by
def declared_parameters(arguments: Arguments, scalars: tuple[str, ...]) -> tuple[str, ...]:
    """Parameters of a declaration; those named in ``scalars`` take a Scalar."""
    ordered = [*arguments.out, *arguments.flat_non_out]

    # In C++ every parameter after one with a default needs a default as well.
    first_default = len(ordered)
    while first_default > 0 and _may_have_default(ordered[first_default - 1]):
        first_default -= 1

    texts = []
    for position, argument in enumerate(ordered):
        if argument.name in scalars:
            texts.append(f"const Scalar& {argument.name}")
        else:
            texts.append(cpp.parameter(argument, with_default=position >= first_default))
    return tuple(texts)


def _may_have_default(argument: Argument) -> bool:
    return argument.has_default and not argument.is_write


@remembered
def functions_of(operator: Operator) -> tuple[Function, ...]:
    """All functions of an operator, the declared form first."""
    declared = operator.schema
    found = [Function(operator, declared, "inplace" if is_self_mutating(operator) else "function")]
    if operator.has_inplace:
        found.append(Function(operator, operator.inplace_schema(), "inplace"))
    if operator.has_out:
        found.append(Function(operator, operator.out_schema(), "out"))
    return tuple(found)


def is_self_mutating(operator: Operator) -> bool:
    """Whether the operator is declared in its in-place form, as ``fill_(Tensor(a!) self, ...)`` is."""
    own = operator.schema.arguments.self_argument
    return own is not None and own.is_write


def functions(operators: Iterable[Operator]) -> list[Function]:
    return [f for operator in operators for f in functions_of(operator)]


def file_stem(operator: Operator) -> str:
    """The name of the header that declares the operator: ``add`` for add, add_ and add_out."""
    return operator.schema.name.name.base
