"""Calls operators in each of their forms, in torch_py or PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from codegen.targets.torch_py.python_modules import PYTHON_MODULES
from tests.ops.operators import Operator
from tests.ops.samples import SampleInput


def function_of(operator: Operator, torch: Any) -> Callable[..., Any] | None:
    """The operator as a function.

    For torch_py this is the generated one, even where a public module wraps it.
    """
    name = operator.base_name
    if torch.__name__ != "torch":
        module = PYTHON_MODULES[operator.python_module]
        return getattr(getattr(torch._C, module.namespace), module.name_in(name), None)
    if operator.python_module in ("linalg", "special", "fft"):
        return getattr(getattr(torch._C, PYTHON_MODULES[operator.python_module].namespace), name, None)
    if is_only_in_aten(operator):
        return getattr(getattr(torch.ops.aten, name, None), operator.schema.overload_name or "default", None)
    if operator.python_module == "nn":
        return getattr(torch._C._nn, name, getattr(torch, name, None))
    return getattr(torch._C._VariableFunctions, name, getattr(torch, name, None))


def python_name(operator: Operator) -> str:
    """The name inside its Python module: `det` for `linalg_det`, which is torch.linalg.det."""
    return str(operator.base_name).removeprefix(f"{operator.python_module}_")


def is_only_in_aten(operator: Operator) -> bool:
    """Whether PyTorch's Python lacks a function: private helpers and ``tensor[:, index]``."""
    return operator.python_module == "private" or any(
        str(argument.type) == "Tensor?[]" for argument in operator.schema.arguments
    )


def has_gaps(operator: Operator, sample: SampleInput) -> bool:
    arguments = operator.bind(sample) or {}
    return any(
        isinstance(value, list) and any(item is None for item in value) for value in arguments.values()
    )


def by_indexing(operator: Operator, sample: SampleInput) -> Any:
    """Reads ``tensor[:, index]`` or writes ``tensor[:, index] = values``, with a colon for every gap."""
    own, indices, *values = sample.positional
    key = tuple(slice(None) if index is None else index for index in indices)
    if not operator.is_mutation:
        return own[key]
    own[key] = values[0]
    return own


def is_called_as_method(operator: Operator, torch: Any) -> bool:
    return "function" not in operator.variants and not (
        torch.__name__ == "torch" and is_only_in_aten(operator)
    )


def exists_in(operator: Operator, torch: Any) -> bool:
    """Whether `call` finds a function or method. PyTorch lacks operators that only torch_py has."""
    if is_called_as_method(operator, torch):
        return hasattr(torch.Tensor, operator.base_name)
    return function_of(operator, torch) is not None


def call(operator: Operator, torch: Any, sample: SampleInput) -> Any:
    """Calls the function if the operator has one, otherwise the method."""
    if torch.__name__ != "torch" and has_gaps(operator, sample) and operator.base_name != "index_put":
        return by_indexing(operator, sample)
    if is_called_as_method(operator, torch):
        return method(operator, torch, sample)
    function = function_of(operator, torch)
    assert function is not None, f"{torch.__name__} has no function {operator.base_name}"
    return function(*sample.positional, **sample.kwargs)


def method_parts(
    operator: Operator, sample: SampleInput
) -> tuple[Any, tuple[Any, ...], dict[str, Any]] | None:
    """The tensor whose method is called, positional arguments and keywords; None if self is a number."""
    own = operator.schema.arguments.self_argument
    names = [argument.name for argument in operator.schema.arguments.positional]
    if own is None:
        return None
    position = names.index(own.name)
    if position >= len(sample.positional) or not hasattr(sample.positional[position], "stride"):
        return None
    rest = tuple(value for index, value in enumerate(sample.positional) if index != position)
    return sample.positional[position], rest, sample.kwargs


def method(operator: Operator, torch: Any, sample: SampleInput, name: str | None = None) -> Any:
    parts = method_parts(operator, sample)
    assert parts is not None, f"{operator} has no self to call a method of: {sample}"
    own, positional, keywords = parts
    return getattr(own, name or operator.base_name)(*positional, **keywords)


def inplace_name(operator: Operator) -> str:
    return f"{operator.base_name}_"


def inplace(operator: Operator, torch: Any, sample: SampleInput) -> Any:
    """Calls the in-place method, or the function where PyTorch has no method, as for some activations."""
    name = inplace_name(operator)
    if hasattr(torch.Tensor, name):
        return method(operator, torch, sample, name)
    module = torch._C._nn if operator.python_module == "nn" else torch
    return getattr(module, name)(*sample.positional, **sample.kwargs)


def tensors_of(result: Any) -> list[Any]:
    """The tensors of a result, which is a tensor, a tuple, or neither."""
    if isinstance(result, (list, tuple)):
        return [item for item in result if hasattr(item, "stride")]
    return [result] if hasattr(result, "stride") else []
