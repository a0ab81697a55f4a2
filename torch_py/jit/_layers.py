"""Layers of `torch.nn` in saved graphs: their class, settings and state as JSON and tensors."""

from __future__ import annotations

from typing import Any

import torch_py
from torch_py.export._archive import ArchiveError
from torch_py.export._tensors import TensorWriter
from torch_py.export._values import ValueReader, written
from torch_py.nn.modules.module import Module
from torch_py.nn.parameter import Parameter

_OF_EVERY_MODULE = frozenset(vars(Module()))


def layer_as_json(layer: Module, path: str, tensors: TensorWriter) -> dict[str, Any]:
    """A layer with all layers inside. Raises NotImplementedError for other classes, and for settings that are
    not plain values."""
    name = type(layer).__name__
    if _class_named(name) is not type(layer):
        raise NotImplementedError(f"torch.jit.save: '{path}' is a {name}, which is not a layer of torch.nn")
    settings = {}
    for attribute, value in vars(layer).items():
        if attribute in _OF_EVERY_MODULE or attribute in _DERIVED:
            continue
        try:
            settings[attribute] = written(value, tensors)
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
        vars(layer)[attribute] = reader.read(value)
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


def _class_named(name: Any) -> Any:
    """The layer of torch.nn with this name; None for everything else."""
    found = getattr(torch_py.nn, name, None) if isinstance(name, str) and name.isidentifier() else None
    is_layer = isinstance(found, type) and issubclass(found, Module)
    return found if is_layer and found.__module__.startswith("torch_py.nn.modules") else None
