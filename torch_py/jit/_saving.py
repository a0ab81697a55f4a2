"""`save` and `load` of scripted and traced modules and functions, as JSON and bytes, without pickle."""

from __future__ import annotations

from typing import Any

from torch_py._tensor import Tensor
from torch_py.export._archive import ArchiveError, read_archive, write_archive
from torch_py.export._saving import _is_keyword, _is_name, _path, program_as_json, program_of_json
from torch_py.export._tensors import TensorReader, TensorWriter
from torch_py.export._values import ValueReader, written
from torch_py.fx._attributes import assign_attr, get_attr, has_attr
from torch_py.fx.graph import Graph
from torch_py.fx.graph_module import GraphModule
from torch_py.fx.node import Node
from torch_py.jit._functions import ATTRIBUTES, functions, methods, name_of_function
from torch_py.jit._layers import is_layer, layer_as_json, layer_of_json
from torch_py.jit._modules import RecursiveScriptModule, ScriptFunction, ScriptModule, TopLevelTracedModule
from torch_py.nn.modules.module import Module
from torch_py.nn.parameter import Parameter

_KIND = "torch_py.jit"


def save(m: Any, f: Any, _extra_files: dict[str, Any] | None = None) -> None:
    """Writes a scripted or traced module or function to `f`, a path or a binary file open for writing.

    A scripted module is saved as the graph that it has in its current mode. `_extra_files` are texts or bytes
    that are kept with it, by name.
    Raises NotImplementedError for scripted code without a graph, which branches on values, with the line; and
    AttributeError for something that was neither scripted nor traced.
    """
    if not isinstance(m, (ScriptModule, ScriptFunction)):
        raise AttributeError(
            f"torch.jit.save: '{type(m).__name__}' object was neither scripted nor traced; call "
            f"torch.jit.script "
            "or torch.jit.trace first, or use torch.save for a state_dict"
        )

    tensors = TensorWriter()
    traced = m._traced if isinstance(m, ScriptFunction) else m
    if isinstance(traced, TopLevelTracedModule):
        programs = {name: program_as_json(p, tensors) for name, p in traced.current_programs().items()}
        content: dict[str, Any] = {"programs": programs, "name": traced.original_name}
    elif isinstance(m, RecursiveScriptModule) and is_layer(m._original):
        content = {"layer": layer_as_json(m._original, m.original_name, tensors), "name": m.original_name}
    else:
        graph = m._graph_module() if isinstance(m, ScriptFunction) else m._forward_graph()
        content = _graph_as_json(graph, tensors)
        content["name"] = m.name if isinstance(m, ScriptFunction) else m.original_name
        content["training"] = isinstance(m, Module) and m.training
    content["tensors"] = tensors.rows
    write_archive(f, _KIND, content, bytes(tensors.data), _extra_files)


def load(
    f: Any,
    map_location: Any = None,
    _extra_files: dict[str, Any] | None = None,
    _restore_shapes: bool = False,
) -> ScriptModule:
    """Reads what `save` wrote to `f`, a path or a binary file that can seek, as a ScriptModule.

    Nothing in the file is executed; the graph can call functions and operators of torch only. The names in
    `_extra_files` get their contents as bytes. Tensors are on the CPU, or on `map_location`.
    Raises ValueError for a path that does not exist, and RuntimeError for a file that is damaged or was
    written by PyTorch.
    """
    try:
        content, data = read_archive(f, _KIND, _extra_files)
    except FileNotFoundError as error:
        raise ValueError(f"The provided filename {f} does not exist") from error

    tensors = TensorReader(content.get("tensors"), data)
    try:
        module = _read_module(content, tensors)
    except RecursionError:
        raise ArchiveError("a damaged file of a saved program: it is nested too deeply") from None
    except (KeyError, TypeError, AttributeError, AssertionError, ValueError, IndexError) as error:
        raise ArchiveError(f"a damaged file of a saved program: {error!r}") from None
    return module if map_location is None else module.to(map_location)


def _read_module(content: dict[str, Any], tensors: TensorReader) -> ScriptModule:
    name = str(content["name"])
    if "programs" in content:
        programs = {str(method): program_of_json(p, tensors) for method, p in content["programs"].items()}
        return TopLevelTracedModule(programs, name)
    if "layer" in content:
        return RecursiveScriptModule(layer_of_json(content["layer"], ValueReader({}, tensors)))
    return RecursiveScriptModule(_graph_of_json(content, tensors, name))


# Graphs of scripted code
# ------------------------------------------------------------


def _graph_as_json(module: GraphModule, tensors: TensorWriter) -> dict[str, Any]:
    state: list[list[Any]] = []
    done: set[str] = set()
    persistent = set(module.state_dict(keep_vars=True))
    for node in module.graph.nodes:
        if node.op == "get_attr" and node.target not in done:
            value = get_attr(module, str(node.target))
            if not isinstance(value, Tensor):
                raise NotImplementedError(f"torch.jit.save: the attribute '{node.target}' is not a tensor")
            done.add(str(node.target))
            kind = "parameter" if isinstance(value, Parameter) else "buffer"
            if kind == "buffer" and node.target not in dict(module.named_buffers(remove_duplicate=False)):
                kind = "constant"
            state.append([node.target, kind, node.target in persistent, tensors.add(value)])

    layers = {str(node.target) for node in module.graph.nodes if node.op == "call_module"}
    return {
        "nodes": [_node_as_json(node, tensors) for node in module.graph.nodes],
        "state": state,
        "layers": [[p, layer_as_json(module.get_submodule(p), p, tensors)] for p in sorted(layers)],
    }


def _node_as_json(node: Node, tensors: TensorWriter) -> list[Any]:
    target = node.target if node.op != "call_function" else _name_of_function(node.target)
    args, kwargs = written(node.args, tensors), written(dict(node.kwargs), tensors)
    return [node.name, node.op, target, args, kwargs]


def _name_of_function(function: Any) -> str:
    name = name_of_function(function)
    if name is None:
        raise NotImplementedError(f"torch.jit.save: scripted code that calls {function!r} cannot be saved")
    return name


def _graph_of_json(content: dict[str, Any], tensors: TensorReader, name: str) -> GraphModule:
    root = Module()
    for path, layer in content["layers"]:
        assign_attr(layer_of_json(layer, ValueReader({}, tensors)), root, _path(path))
    for path, kind, persistent, number in content["state"]:
        _add_state(root, _path(path), kind, bool(persistent), tensors[number])

    graph = Graph()
    nodes: dict[str, Node] = {}
    reader = ValueReader(nodes, tensors)
    for row in content["nodes"]:
        node = _read_node(graph, row, reader)
        nodes[row[0]] = node
    graph.lint()
    module = GraphModule(root, graph, name if name.isidentifier() else "GraphModule")
    module.training = bool(content["training"])
    return module


def _add_state(root: Module, path: str, kind: str, persistent: bool, tensor: Tensor) -> None:
    if has_attr(root, path):  # it belongs to a layer
        return
    assign_attr(tensor if kind == "parameter" else None, root, path)
    if kind == "parameter":
        return
    owner_path, _, name = path.rpartition(".")
    owner = root.get_submodule(owner_path)
    delattr(owner, name)
    if kind == "buffer":
        owner.register_buffer(name, tensor, persistent=persistent)
    else:
        setattr(owner, name, tensor)


def _read_node(graph: Graph, row: Any, reader: ValueReader) -> Node:
    name, op, target, args, kwargs = row
    args, kwargs = reader.read(args), reader.read(kwargs)
    if not (_is_keyword(name) and isinstance(args, tuple) and isinstance(kwargs, dict)):
        raise ArchiveError("a damaged file of a saved program: the arguments of a node are missing")
    if not all(map(_is_keyword, kwargs)) or name in reader.nodes:
        raise ArchiveError("a damaged file of a saved program: bad name of an argument or node")
    node = graph.create_node(op, _read_target(op, target, args), args, kwargs, name=name)
    if op != "output" and node.name != name:
        raise ArchiveError(f"a damaged file of a saved program: {name!r} is not a name of a node")
    return node


def _read_target(op: Any, target: Any, args: tuple[Any, ...]) -> Any:
    """What a node calls. ArchiveError for everything that saved graphs may not call."""
    if op == "placeholder" and _is_name(target.lstrip("*")):
        return target
    if op == "output" and target == "output":
        return target
    if op in ("get_attr", "call_module"):
        return _path(target)
    if op == "call_method" and target in methods():
        return target
    if op == "call_function" and target in functions():
        if target != "getattr" or (len(args) == 2 and args[1] in ATTRIBUTES):
            return functions()[target]
    raise ArchiveError(
        f"the program needs `{op} {target}`, which this build of torch_py does not have or run"
    )
