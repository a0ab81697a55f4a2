"""Writes a GraphModule as a Python package."""

from __future__ import annotations

import builtins
import os
from pathlib import Path
from types import BuiltinFunctionType, FunctionType
from typing import TYPE_CHECKING, Any

from torch_py.fx._code_generation import _custom_builtins
from torch_py.nn.modules.container import Sequential
from torch_py.nn.modules.module import Module
from torch_py.serialization import save

if TYPE_CHECKING:
    from torch_py.fx.graph_module import GraphModule

# Layers whose `repr` is a call of their constructor.
_PRINTED = (
    "AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AvgPool1d AvgPool2d AvgPool3d "
    "BatchNorm1d BatchNorm2d BatchNorm3d Conv1d Conv2d Conv3d Dropout Dropout1d Dropout2d Dropout3d "
    "ELU Flatten GELU Hardsigmoid Hardswish Identity LeakyReLU Linear MaxPool1d MaxPool2d MaxPool3d "
    "ReLU ReLU6 SELU SiLU Sigmoid Softmax Softplus Tanh"
).split()


def write(module: GraphModule, folder: str | os.PathLike[str], name: str) -> None:
    """Writes `module.py` with the class `name`, its state dict, and the layers that cannot be printed."""
    directory = Path(folder)
    directory.mkdir(parents=True, exist_ok=True)
    save(module.state_dict(), directory / "state_dict.pt")

    python_code = module.graph.python_code(root_module="self")
    lines = [
        f'"""Written by torch.fx: {name} runs the code of a traced module on its parameters."""',
        "",
        "from pathlib import Path",
        "",
        *import_statements(python_code.globals),
        "",
        *wrap_statements(python_code.globals),
        "",
        "",
        f"class {name}(torch.nn.Module):",
        "    def __init__(self):",
        "        super().__init__()",
        "        folder = Path(__file__).parent",
        *(f"        {line}" for line in _constructor(module, directory)),
        '        self.load_state_dict(torch.load(folder / "state_dict.pt"))',
        "",
        *(f"    {line}".rstrip() for line in python_code.src.strip().split("\n")),
        "",
    ]
    (directory / "module.py").write_text("\n".join(lines), encoding="utf-8")
    (directory / "__init__.py").write_text(f"from .module import {name}\n", encoding="utf-8")


def import_statements(names: dict[str, Any]) -> list[str]:
    """The statements that import the globals of the code. Raises RuntimeError for what cannot be imported."""
    statements = [_custom_builtins[name].import_str for name in names if name in _custom_builtins]
    for name, value in names.items():
        if name not in _custom_builtins:
            statements.append(_import(name, value))
    return sorted(statements, key=lambda text: text.startswith("NoneType"))


def wrap_statements(names: dict[str, Any]) -> list[str]:
    """The statements that mark functions, so that tracing the module records their calls as well."""
    return [
        f'torch.fx.wrap("{name}")'
        for name, value in names.items()
        if (isinstance(value, (FunctionType, BuiltinFunctionType)) or hasattr(value, "import_statement"))
        and getattr(builtins, name, None) is not value
    ]


def _import(name: str, value: Any) -> str:
    if hasattr(value, "import_statement"):
        return str(value.import_statement(name))
    module = getattr(value, "__module__", None)
    own_name = getattr(value, "__qualname__", None) or getattr(value, "_name", None)
    if module is None or own_name is None or "<" in own_name:
        raise RuntimeError(f"to_folder: the code uses {value!r}, which cannot be imported")
    if module == "builtins":
        return f"from builtins import {own_name}" + (f" as {name}" if name != own_name else "")
    owner, _, last = own_name.rpartition(".")
    if owner:
        return f"import {module}; {name} = {module}.{own_name}"
    return f"from {module} import {last} as {name}" if name != last else f"from {module} import {last}"


def _constructor(module: GraphModule, directory: Path) -> list[str]:
    """The statements that make the layers, parameters and buffers."""
    statements = []
    for name, child in module.named_children():
        if _is_printed(child):
            statements.append(f"self.add_module({name!r}, {_printed(child)})")
            continue
        save(child, directory / f"{name}.pt")
        statements.append(
            f'self.add_module({name!r}, torch.load(folder / "{name}.pt", weights_only=False))'
            f"  # {type(child).__name__}"
        )

    for name, tensor in module._parameters.items():
        if tensor is not None:
            empty = f"torch.empty({list(tensor.shape)}, dtype={tensor.dtype})"
            statements.append(
                f"self.register_parameter({name!r}, torch.nn.Parameter({empty}, {tensor.requires_grad}))"
            )
    for name, tensor in module._buffers.items():
        if tensor is not None:
            persistent = name not in module._non_persistent_buffers_set
            empty = f"torch.empty({list(tensor.shape)}, dtype={tensor.dtype})"
            if not persistent:
                save(tensor, directory / f"{name}.pt")
                empty = f'torch.load(folder / "{name}.pt")'
            statements.append(f"self.register_buffer({name!r}, {empty}, persistent={persistent})")
    return statements


def _is_printed(module: Module) -> bool:
    if type(module) is Sequential:
        return all(_is_printed(child) for child in module.children())
    return type(module).__name__ in _PRINTED and type(module).__module__.split(".")[1:2] == ["nn"]


def _printed(module: Module) -> str:
    if type(module) is Sequential:
        inside = ", ".join(_printed(child) for child in module.children())
        return f"torch.nn.Sequential({inside})"
    return f"torch.nn.{module!r}"
