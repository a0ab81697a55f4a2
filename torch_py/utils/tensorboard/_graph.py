"""Converts a model to TensorBoard's graph: the functions that computed
its output, inside the modules that called them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tensorboard.compat.proto.attr_value_pb2 import AttrValue
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.node_def_pb2 import NodeDef
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto
from tensorboard.compat.proto.versions_pb2 import VersionDef

from torch_py._tensor import Tensor
from torch_py.autograd.grad_mode import enable_grad
from torch_py.utils._pytree import tree_leaves, tree_map

if TYPE_CHECKING:
    from torch_py.nn.modules.module import Module


def _tensors(value: Any) -> list[Tensor]:
    return [leaf for leaf in tree_leaves(value) if isinstance(leaf, Tensor)]


def _before(node: Any) -> Iterator[Any]:
    return (previous for previous, _ in node.next_functions if previous is not None)


class _Recorder:
    """Records, while the model runs, which module computed each function and the known shapes."""

    def __init__(self, model: Any) -> None:
        self.names = {module: name for name, module in model.named_modules()}
        self.scopes: dict[Any, str] = {}
        self.shapes: dict[Any, tuple[int, ...]] = {}

    def after_forward(self, module: Any, inputs: Any, output: Any) -> None:
        """Assigns the functions between the inputs and the output of a module to
        it, unless they belong to a module inside it."""
        known = {tensor.grad_fn for tensor in _tensors(inputs)}
        waiting = []
        for tensor in _tensors(output):
            if tensor.grad_fn is not None:
                self.shapes.setdefault(tensor.grad_fn, tuple(tensor.shape))
                waiting.append(tensor.grad_fn)

        while waiting:
            node = waiting.pop()
            if node in known or node in self.scopes and self.names[module] not in ("", self.scopes[node]):
                known.add(node)
            if node in known:
                continue
            known.add(node)
            if not hasattr(node, "variable"):
                self.scopes.setdefault(node, self.names[module])
            waiting.extend(_before(node))


def _run(model: Any, inputs: Any) -> tuple[_Recorder, list[Tensor], list[Tensor]]:
    """The recorder of one run, and the tensors among its arguments and results."""
    recorder = _Recorder(model)
    arguments = inputs if isinstance(inputs, tuple) else (inputs,)
    arguments = tree_map(
        lambda x: x.detach().requires_grad_() if isinstance(x, Tensor) and x.is_floating_point() else x,
        arguments,
    )

    handles = [module.register_forward_hook(recorder.after_forward) for module in recorder.names]
    try:
        with enable_grad():
            output = model(*arguments)
    finally:
        for handle in handles:
            handle.remove()

    return recorder, _tensors(arguments), _tensors(output)


def _node(name: str, kind: str, inputs: list[str], shape: tuple[int, ...] | None) -> NodeDef:
    attributes = {}
    if shape is not None:
        sizes = TensorShapeProto(dim=[TensorShapeProto.Dim(size=size) for size in shape])
        attributes["_output_shapes"] = AttrValue(list=AttrValue.ListValue(shape=[sizes]))
    return NodeDef(name=name, op=kind, input=inputs, attr=attributes)


def _ordered(outputs: list[Tensor]) -> list[Any]:
    """All functions that computed the outputs, each after those that it uses."""
    # A list instead of recursion, because models are deep.
    order: dict[Any, None] = {}
    waiting = [(tensor.grad_fn, False) for tensor in outputs if tensor.grad_fn is not None]

    while waiting:
        node, is_ready = waiting.pop()
        if node in order:
            continue
        if is_ready:
            order[node] = None
        else:
            waiting.append((node, True))
            waiting.extend((previous, False) for previous in _before(node))
    return list(order)


def graph_of(model: Module, inputs: Any) -> GraphDef:
    """Runs `model` on `inputs`, a tensor or a tuple of arguments, and returns its graph.

    Raises ValueError if the result is not differentiable.
    """
    recorder, arguments, outputs = _run(model, inputs)
    order = _ordered(outputs)
    if not order:
        raise ValueError(
            "add_graph: the output does not depend on any floating-point input or parameter, so it does not "
            "have a graph"
        )

    # Names of parameters and inputs.
    root = type(model).__name__
    leaves = {
        id(parameter): f"{root}/{name.replace('.', '/')}" for name, parameter in model.named_parameters()
    }
    leaves.update({id(tensor): f"input/input.{number}" for number, tensor in enumerate(arguments)})

    names: dict[Any, str] = {}
    nodes = []
    for number, node in enumerate(order):
        variable = getattr(node, "variable", None)
        scope = recorder.scopes.get(node, "")
        inside = "/".join([root, *scope.split(".")]) if scope else root
        names[node] = leaves.get(id(variable), f"{inside}/{node.name().rsplit('::', 1)[-1]}_{number}")

        shape = recorder.shapes.get(node) if variable is None else tuple(variable.shape)
        if variable is None:
            kind = node.name()
        else:
            kind = "IO Node" if names[node].startswith("input/") else "Parameter"
        nodes.append(_node(names[node], kind, [names[previous] for previous in _before(node)], shape))

    for number, tensor in enumerate(outputs):
        if tensor.grad_fn is not None:
            name = f"output/output.{number}"
            nodes.append(_node(name, "IO Node", [names[tensor.grad_fn]], tuple(tensor.shape)))

    return GraphDef(node=nodes, versions=VersionDef(producer=22))
