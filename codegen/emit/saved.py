"""The values that a Node saves in the forward call, for its formulas."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from codegen.expressions import cpp_formula, needs
from codegen.model import Derivative, Operator, cpp
from codegen.schema import Argument

# Argument types that view memory of the caller -> the type that owns a copy.
_OWNING = {
    "IntArrayRef": "at::DimVector",
    "OptionalIntArrayRef": "std::optional<at::DimVector>",
    "std::string_view": "std::string",
    "std::optional<std::string_view>": "std::optional<std::string>",
    "ArrayRef<double>": "std::vector<double>",
    "std::optional<ArrayRef<double>>": "std::optional<std::vector<double>>",
    "ArrayRef<Scalar>": "std::vector<at::Scalar>",
}


@dataclass(frozen=True)
class Saved:
    """A plain value: ``member`` of ``type``, set to ``value`` in the forward call and called ``name`` in
    formulas."""

    name: str
    member: str
    type: str
    value: str
    is_argument: bool


@dataclass(frozen=True)
class SavedTensor:
    """A tensor, or a list of tensors, by SavedVariable."""

    name: str
    member: str
    is_list: bool
    is_result: bool
    position: int  # of a result among the results
    inputs: tuple[str, ...]  # arguments whose gradients use it


def saved_values(
    operator: Operator, derivatives: Sequence[Derivative], all_plain: bool
) -> tuple[tuple[Saved, ...], tuple[SavedTensor, ...]]:
    """``all_plain``: the backward calls the operator again."""
    plain: dict[str, Saved] = {}
    tensors: dict[str, SavedTensor] = {}
    if all_plain:
        for argument in operator.schema.arguments.non_tensors:
            plain[argument.name] = _argument(argument)
    for derivative in derivatives:
        assert derivative.formula is not None
        used = needs(derivative.formula.node, operator)
        for name in used.arguments:
            argument_ = operator.schema.arguments.find(name)
            assert argument_ is not None, f"{operator.name}: needs() names {name}, which is no argument"
            if argument_.type.is_tensor_like:
                _add(
                    tensors,
                    SavedTensor(name, f"{name}_", argument_.type.is_list, False, 0, derivative.inputs),
                )
            else:
                plain[name] = _argument(argument_)
        for name in used.results:
            position = int(name.removeprefix("result") or 0)
            is_list = operator.schema.returns[position].type.is_list
            _add(tensors, SavedTensor(name, f"{name}_", is_list, True, position, derivative.inputs))
        for metadata in used.metadata:
            value = cpp_formula(metadata.node, operator)
            value = f"own({value})" if metadata.kind == "int[]" else value
            target = operator.schema.arguments.find(metadata.target)
            if target is not None and target.type.is_optional and metadata.method != "defined":
                # nothing has no properties
                value = f"{metadata.target}.defined() ? {value} : {metadata.cpp_type}()"
            plain[metadata.member] = Saved(
                metadata.member, f"{metadata.member}_", metadata.cpp_type, value, False
            )
    return tuple(plain.values()), tuple(tensors.values())


def _add(tensors: dict[str, SavedTensor], tensor: SavedTensor) -> None:
    before = tensors.get(tensor.name)
    inputs = (*(before.inputs if before else ()), *tensor.inputs)
    tensors[tensor.name] = SavedTensor(
        tensor.name, tensor.member, tensor.is_list, tensor.is_result, tensor.position, inputs
    )


def _argument(argument: Argument) -> Saved:
    """An argument of the operator, copied where its type views memory of the caller."""
    type_ = cpp.argument_type(argument.type).removeprefix("const ").removesuffix("&")
    value = f"own({argument.name})" if type_ in _OWNING else argument.name
    member_type = _qualified(_OWNING.get(type_, type_))
    return Saved(argument.name, f"{argument.name}_", member_type, value, is_argument=True)


def _qualified(type_: str) -> str:
    """Types of namespace at, as seen from outside it."""
    for name in ("Scalar", "ScalarType", "Layout", "Device", "MemoryFormat", "Generator*"):
        if type_ == name:
            return f"at::{name}"
        if type_ == f"std::optional<{name}>":
            return f"std::optional<at::{name}>"
    return type_
