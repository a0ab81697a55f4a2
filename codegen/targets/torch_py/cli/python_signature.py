"""Prints the Python signatures of an operator."""

from __future__ import annotations

from pathlib import Path

from codegen.model import Operator
from codegen.schema import Argument
from codegen.targets.torch_py.cli.callers import callers
from codegen.targets.torch_py.python_modules import qualified

_TYPES = {
    "int": "int",
    "SymInt": "int",
    "float": "float",
    "bool": "bool",
    "str": "str",
    "Scalar": "Number",
    "ScalarType": "dtype",
    "Device": "device",
    "Layout": "layout",
    "MemoryFormat": "memory_format",
}


def python_signatures(operator: Operator, root: Path) -> list[str]:
    """The function, the method and the in-place method, as far as the operator has them; ``root`` holds
    ``torch_py``."""
    arguments = operator.arguments
    result = _result(operator)
    found = []

    if operator.is_function:
        keywords = [_parameter(a) for a in arguments.kwarg_only] + (["out=None"] if operator.has_out else [])
        found += _functions(
            operator,
            operator.python_name,
            f"({_joined(arguments.positional, keywords, True)}) -> {result}",
            root,
        )

    behind = arguments.pre_self + arguments.post_self
    keywords = [_parameter(a) for a in arguments.kwarg_only]

    if operator.is_method:
        found.append(f"Tensor.{operator.python_name}({_joined(behind, keywords, False)}) -> {result}")

    if operator.has_inplace_function:
        found += _functions(
            operator,
            f"{operator.python_name}_",
            f"({_joined(arguments.positional, keywords, True)}) -> Tensor",
            root,
        )
    if operator.has_inplace_method:
        found.append(
            f"Tensor.{operator.inplace_schema().base_name}({_joined(behind, keywords, False)}) -> Tensor"
        )

    return found


def _functions(operator: Operator, name: str, signature: str, root: Path) -> list[str]:
    """Operators of nn are called through functions written in Python, mostly of the same name."""
    if operator.library is None and operator.python_module == "nn":
        found = callers(root / "torch_py" / "nn", name, signature)
        if found:
            return found
    module = operator.library or qualified("torch", operator.python_module)
    return [f"{module}.{name}{signature}"]


def _joined(positional: tuple[Argument, ...], keywords: list[str], is_function: bool) -> str:
    parts = [_parameter(a, is_function) for a in positional]
    return ", ".join(parts + (["*", *keywords] if keywords else []))


def _parameter(argument: Argument, is_function: bool = False) -> str:
    # PyTorch calls the first argument of its functions `input` where it is a tensor.
    name = (
        "input"
        if is_function and argument.name == "self" and argument.type.is_plain("Tensor")
        else argument.name
    )
    type_ = _type(argument)
    return f"{name}: {type_}" + (f" = {argument.default}" if argument.has_default else "")


def _type(argument: Argument) -> str:
    base = _TYPES.get(argument.type.base.name, argument.type.base.name)
    if argument.type.is_list:
        base = f"Sequence[{base}]"
    return f"{base} | None" if argument.type.is_optional else base


def _result(operator: Operator) -> str:
    names = []
    for result in operator.schema.returns:
        name = _TYPES.get(result.type.base.name, result.type.base.name)
        names.append(f"list[{name}]" if result.type.is_list else name)
    if len(names) == 1:
        return names[0]
    return f"tuple[{', '.join(names)}]" if names else "None"
