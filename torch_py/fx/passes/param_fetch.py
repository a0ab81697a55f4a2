"""Attributes of layers as metadata of the nodes that call them."""

from __future__ import annotations

from typing import Any

from torch_py.fx.graph_module import GraphModule
from torch_py.nn.modules.module import Module

__all__ = ["default_matching", "extract_attrs_for_lowering", "lift_lowering_attrs_to_nodes"]

_CONVOLUTION = ("in_channels", "out_channels", "kernel_size", "stride", "padding", "dilation", "groups")
_NORM = ("weight", "bias", "running_mean", "running_var", "eps")
# The version of the layer, and the names to collect, by layer.
_ATTRIBUTES: dict[str, tuple[int, tuple[str, ...]]] = {
    "AdaptiveAvgPool2d": (1, ()),
    "BatchNorm2d": (2, _NORM),
    "Conv2d": (1, ("weight", "bias", *_CONVOLUTION, "padding_mode")),
    "Linear": (1, ("weight", "bias")),
    "MaxPool2d": (1, ("kernel_size", "stride", "padding", "dilation", "return_indices", "ceil_mode")),
    "ReLU": (1, ("inplace",)),
}


def default_matching(name: str, target_version: int) -> str:
    """The name of an attribute in another version of the layer: the same."""
    return name


def extract_attrs_for_lowering(mod: Module) -> dict[str, Any]:
    """The name of the layer, and the attributes that describe it.

    Raises RuntimeError for layers that are not known, or in a later version.
    """
    kind = type(mod).__name__
    if kind not in _ATTRIBUTES:
        raise RuntimeError(f"{kind} is not supported for lowering attributes")
    version, names = _ATTRIBUTES[kind]
    if version < mod._version:
        raise RuntimeError(
            f"Fetcher version {version} try to fetch {kind} version {mod._version}, please upgrade"
        )
    module = "torch" + type(mod).__module__.removeprefix("torch_py")
    found: dict[str, Any] = {"name": f"{module}.{kind}"}
    found.update((default_matching(name, mod._version), getattr(mod, name)) for name in names)
    return found


def lift_lowering_attrs_to_nodes(fx_module: GraphModule) -> None:
    """Sets `attrs_for_lowering` of the nodes that call layers, here and in GraphModules below."""
    modules = dict(fx_module.named_modules())
    for node in fx_module.graph.nodes:
        if node.op != "call_module":
            continue
        called = modules[node.target]
        if isinstance(called, GraphModule):
            lift_lowering_attrs_to_nodes(called)
        else:
            node.attrs_for_lowering = extract_attrs_for_lowering(called)
