"""The values that a Node saves in the forward call, for its formulas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from codegen.expressions import cpp_formula
from codegen.expressions.needs import Metadata, Needs
from codegen.model import Derivative, Operator
from codegen.schema import Argument
from codegen.targets.torch_py import cpp

# Types of arguments that view memory of the caller -> types that own a copy of it.
_OWNING = {
    "IntArrayRef": "at::DimVector",
    "OptionalIntArrayRef": "std::optional<at::DimVector>",
    "std::string_view": "std::string",
    "std::optional<std::string_view>": "std::optional<std::string>",
    "ArrayRef<double>": "std::vector<double>",
    "std::optional<ArrayRef<double>>": "std::optional<std::vector<double>>",
    "ArrayRef<Scalar>": "std::vector<at::Scalar>",
}


class Saved(NamedTuple):
    """A plain value that a Node saves in the forward call.

    Formulas call it ``name``. The Node keeps it as ``member``, of the C++ type ``type``, and sets it to the
    C++ expression ``value``.
    """

    name: str
    member: str
    type: str
    value: str
    is_argument: bool


class SavedTensor(NamedTuple):
    """A tensor or a list of tensors that a Node keeps as SavedVariable."""

    name: str
    member: str
    is_list: bool
    is_result: bool
    position: int  # the number of the result; 0 for arguments
    inputs: tuple[str, ...]  # arguments whose gradients use it


def saved_values(
    operator: Operator, derivatives: Sequence[Derivative], needed: Sequence[Needs], all_plain: bool
) -> tuple[tuple[Saved, ...], tuple[SavedTensor, ...]]:
    """The plain values and the tensors that the formulas of ``derivatives`` need.

    ``all_plain``: every plain argument is saved, because the backward calls the operator again.
    """
    plain: dict[str, Saved] = {}
    tensors: dict[str, SavedTensor] = {}
    if all_plain:
        plain.update((a.name, _argument(a)) for a in operator.schema.arguments.non_tensors)

    for derivative, used in zip(derivatives, needed):
        for name in used.arguments:
            argument = operator.schema.arguments.find(name)
            assert argument is not None, f"{operator.name}: needs() names {name}, which is not an argument"
            if argument.type.is_tensor_like:
                is_list = argument.type.is_list
                saved = SavedTensor(
                    name, f"{name}_", is_list, is_result=False, position=0, inputs=derivative.inputs
                )
                _add(tensors, saved)
            else:
                plain[name] = _argument(argument)

        for name in used.results:
            position = int(name.removeprefix("result") or 0)
            is_list = operator.schema.returns[position].type.is_list
            saved = SavedTensor(
                name, f"{name}_", is_list, is_result=True, position=position, inputs=derivative.inputs
            )
            _add(tensors, saved)

        for metadata in used.metadata:
            plain[metadata.member] = _metadata(operator, metadata)

    return tuple(plain.values()), tuple(tensors.values())


def _add(tensors: dict[str, SavedTensor], tensor: SavedTensor) -> None:
    """Adds a tensor; if it is saved already, adds to the inputs whose gradients use it."""
    before = tensors.get(tensor.name)
    if before is not None:
        tensor = tensor._replace(inputs=(*before.inputs, *tensor.inputs))
    tensors[tensor.name] = tensor


def _metadata(operator: Operator, metadata: Metadata) -> Saved:
    """A property of a tensor that is not saved itself, such as ``self.sizes()``."""
    value = cpp_formula(metadata.node, operator)
    if metadata.kind == "int[]":
        value = f"own({value})"

    # An absent tensor has no properties.
    target = operator.schema.arguments.find(metadata.target)
    if target is not None and target.type.is_optional and metadata.method != "defined":
        value = f"{metadata.target}.defined() ? {value} : {metadata.cpp_type}()"
    return Saved(metadata.member, f"{metadata.member}_", metadata.cpp_type, value, is_argument=False)


def _argument(argument: Argument) -> Saved:
    """An argument of the operator, copied where its type views memory of the caller."""
    type_ = cpp.argument_type(argument.type).removeprefix("const ").removesuffix("&")
    value = f"own({argument.name})" if type_ in _OWNING else argument.name
    member_type = _qualified(_OWNING.get(type_, type_))
    return Saved(argument.name, f"{argument.name}_", member_type, value, is_argument=True)


def _qualified(type_: str) -> str:
    """The C++ type as written outside of namespace at."""
    for name in ("Scalar", "ScalarType", "Layout", "Device", "MemoryFormat", "Generator*"):
        if type_ == name:
            return f"at::{name}"
        if type_ == f"std::optional<{name}>":
            return f"std::optional<at::{name}>"
    return type_
