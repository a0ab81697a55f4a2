"""Layers of `torch.nn` in saved graphs: their class, settings and state as JSON and tensors."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import torch_py
from torch_py.export._archive import ArchiveError
from torch_py.export._tensors import TensorWriter
from torch_py.export._values import ValueReader, written
from torch_py.jit._functions import functions, name_of_function
from torch_py.nn.modules.module import Module
from torch_py.nn.parameter import Parameter

_OF_EVERY_MODULE = frozenset(vars(Module()))


def layer_as_json(layer: Module, path: str, tensors: TensorWriter) -> dict[str, Any]:
    """A layer with all layers inside. Raises NotImplementedError for other classes, and for settings that are
    not plain values."""
    name = _name_of(type(layer))
    if _class_named(name) is not type(layer):
        kind = type(layer).__name__
        raise NotImplementedError(f"torch.jit.save: '{path}' is a {kind}, which is not a layer of torch.nn")
    settings = {}
    for attribute, value in vars(layer).items():
        if attribute in _OF_EVERY_MODULE or attribute in _DERIVED:
            continue
        try:
            settings[attribute] = _setting(value, tensors)
        except NotImplementedError as error:
            raise NotImplementedError(
                f"torch.jit.save: '{path}.{attribute}' cannot be saved: {error}"
            ) from None
    if any(vars(layer)[hooks] for hooks in ("_forward_hooks", "_forward_pre_hooks")):
        raise NotImplementedError(f"torch.jit.save: '{path}' has hooks, which cannot be saved")

    return {
        "class": name,
        "settings": settings,
        "training": layer.training,
        "parameters": [[n, written(p, tensors)] for n, p in layer._parameters.items()],
        "buffers": [
            [n, n not in layer._non_persistent_buffers_set, written(b, tensors)]
            for n, b in layer._buffers.items()
        ],
        "layers": [
            [n, layer_as_json(m, f"{path}.{n}", tensors)] for n, m in layer._modules.items() if m is not None
        ],
    }


def _setting(value: Any, tensors: TensorWriter) -> Any:
    """A plain value, or a function of torch such as an activation."""
    name = name_of_function(value) if callable(value) else None
    return written(value, tensors) if name is None else {"function": name}


# Attributes that are made of others.
_DERIVED = frozenset(("_flat_weights",))


def layer_of_json(content: Any, reader: ValueReader) -> Module:
    """The layer. Raises ArchiveError, or an error of Python, for what `layer_as_json` does not make."""
    kind = _class_named(content["class"])
    if kind is None:
        raise ArchiveError(f"the program needs the layer {content['class']!r}, which torch.nn does not have")
    layer = kind.__new__(kind)
    Module.__init__(layer)
    for attribute, value in content["settings"].items():
        if attribute in _OF_EVERY_MODULE or attribute.startswith("__"):
            raise ArchiveError(
                f"a damaged file of a saved program: {attribute!r} is not a setting of a layer"
            )
        is_function = isinstance(value, dict) and "function" in value
        vars(layer)[attribute] = functions()[value["function"]] if is_function else reader.read(value)
    vars(layer)["training"] = bool(content["training"])

    for name, value in content["parameters"]:
        parameter = reader.read(value)
        if parameter is not None and not isinstance(parameter, Parameter):
            raise ArchiveError("a damaged file of a saved program: a parameter of a layer is missing")
        layer.register_parameter(name, parameter)
    for name, persistent, value in content["buffers"]:
        layer.register_buffer(name, reader.read(value), persistent=bool(persistent))
    for name, inside in content["layers"]:
        layer.add_module(name, layer_of_json(inside, reader))
    return layer


def is_layer(module: Module) -> bool:
    """Whether a module, and all modules inside, are layers of torch.nn."""
    return all(_class_named(_name_of(type(inside))) is type(inside) for inside in module.modules())


def _name_of(kind: type) -> str:
    """`linear.Linear`: the path of a class below torch.nn.modules."""
    return f"{kind.__module__.rpartition('.nn.modules.')[2]}.{kind.__name__}"


def _class_named(name: Any) -> Any:
    """The layer of torch.nn with this path; None for everything else."""
    module, _, own = name.rpartition(".") if isinstance(name, str) else ("", "", "")
    place = getattr(torch_py.nn.modules, module, None) if module.isidentifier() else None
    found = vars(place).get(own) if isinstance(place, ModuleType) else None
    is_own = isinstance(found, type) and issubclass(found, Module) and _name_of(found) == name
    return found if is_own else None
