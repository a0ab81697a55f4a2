"""The dtypes that ONNX's operators accept and return, as their definitions in the package `onnx` say."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import torch_py
from torch_py import _C

# The name of each dtype in onnx.TensorProto, and in the definitions of operators.
_NAMES = {
    "float32": ("FLOAT", "tensor(float)"),
    "float64": ("DOUBLE", "tensor(double)"),
    "float16": ("FLOAT16", "tensor(float16)"),
    "bfloat16": ("BFLOAT16", "tensor(bfloat16)"),
    "int64": ("INT64", "tensor(int64)"),
    "int32": ("INT32", "tensor(int32)"),
    "int16": ("INT16", "tensor(int16)"),
    "int8": ("INT8", "tensor(int8)"),
    "uint8": ("UINT8", "tensor(uint8)"),
    "bool": ("BOOL", "tensor(bool)"),
    "complex64": ("COMPLEX64", "tensor(complex64)"),
    "complex128": ("COMPLEX128", "tensor(complex128)"),
}
_DTYPES = {text: getattr(torch_py, name) for name, (_, text) in _NAMES.items()}
# What may be computed in a wider dtype and converted back, with the same result.
_NARROW = (torch_py.bool, torch_py.uint8, torch_py.int8, torch_py.int16)
_WIDER = (torch_py.int32, torch_py.int64)


def _name(dtype: _C.dtype) -> str:
    return str(dtype).rpartition(".")[2]


def onnx_dtype(dtype: _C.dtype) -> int:
    """ONNX's number for `dtype`."""
    import onnx

    return int(getattr(onnx.TensorProto, _NAMES[_name(dtype)][0]))


@functools.cache
def _dtype_of_number(number: int) -> _C.dtype:
    return next(getattr(torch_py, name) for name in _NAMES if onnx_dtype(getattr(torch_py, name)) == number)


@functools.cache
def _definition(op_type: str, opset: int) -> Any:
    import onnx

    return onnx.defs.get_schema(op_type, opset, "")


@functools.cache
def _accepted(op_type: str, opset: int) -> dict[str, tuple[_C.dtype, ...]]:
    """The dtypes that each type variable of an operator may stand for."""
    return {
        constraint.type_param_str: tuple(
            _DTYPES[text] for text in constraint.allowed_type_strs if text in _DTYPES
        )
        for constraint in _definition(op_type, opset).type_constraints
    }


class NotAccepted(Exception):
    """An operator of ONNX does not accept a dtype, the argument of the exception."""


def dtypes_of_node(
    op_type: str,
    opset: int,
    given: Sequence[_C.dtype | None],
    outputs: int,
    attributes: Mapping[str, Any],
) -> tuple[list[_C.dtype | None], list[_C.dtype], list[_C.dtype]]:
    """The dtypes that a node takes in place of those given, those that it returns, and those that it would
    return for the inputs as they are.

    Integers that it does not accept are widened. Raises NotAccepted if there is no such dtype.
    """
    definition = _definition(op_type, opset)
    accepted = _accepted(op_type, opset)
    variables = [_at(definition.inputs, place).type_str for place in range(len(given))]

    own: dict[str, _C.dtype] = {}
    used: dict[str, _C.dtype] = {}
    for variable, dtype in zip(variables, given):
        if dtype is None or variable not in accepted or variable in own:
            continue
        own[variable] = dtype
        candidates = (dtype, *(_WIDER if dtype in _NARROW else ()))
        found = next((each for each in candidates if each in accepted[variable]), None)
        if found is None:
            raise NotAccepted(dtype)
        used[variable] = found

    taken = [None if dtype is None else used.get(name, dtype) for name, dtype in zip(variables, given)]
    results = [_at(definition.outputs, place).type_str for place in range(outputs)]
    returned, wanted = (
        [_result(text, bound, accepted, attributes) for text in results] for bound in (used, own)
    )
    return taken, returned, wanted


def _at(parameters: Sequence[Any], place: int) -> Any:
    """A parameter by its place; the last one may stand for any number."""
    return parameters[min(place, len(parameters) - 1)]


def _result(
    text: str,
    bound: Mapping[str, _C.dtype],
    accepted: Mapping[str, tuple[_C.dtype, ...]],
    attributes: Mapping[str, Any],
) -> _C.dtype:
    if text in bound:
        return bound[text]
    if text in _DTYPES:
        return _DTYPES[text]

    number = attributes.get("to", attributes.get("dtype"))
    if number is not None:
        return _dtype_of_number(number)
    return accepted[text][0] if len(accepted[text]) == 1 else torch_py.float32
