"""Programs and calls on disk, by the graphs that they were compiled from.

The key of a program covers the graph of operators with the shapes of all values, and formulas of those that
vary, the settings, the C++ compiler, and the files that make programs. An entry has the description of a
program and the key of its library, which is an entry of its own (cache.py); one that is damaged, or whose
library is gone, is made anew.

A call is what ahead-of-time autograd makes of a captured graph: how arguments and results go in and out, and
one program, or two if there is a backward; with the graph of backward if some of its gradients may arrive
without others. A process that finds a call records no backward and splits no graph. Its key covers the graph
of torch functions, the geometry of the arguments, what they share and whether they require gradients, and the
state of the thread. Calls are not kept whose graphs contain tensors or have sizes that vary. No graph is kept
that calls functions of programs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any

from torch_py import _C, _logging
from torch_py._C._compiler import Program, Slot
from torch_py._functorch.aot.nodes import Form
from torch_py._functorch.aot.recipes import BACKWARD, TANGENTS
from torch_py._functorch.aot.runtime import Parts, flat_call
from torch_py._inductor import config
from torch_py._inductor.cache import Cache
from torch_py._inductor.compile_cpp import NoCompilerError
from torch_py._inductor.entries import NotWrittenError, key_of_parts, read_entry, text_of, write_entry
from torch_py._inductor.options import checks_stages
from torch_py._logging import artifacts
from torch_py._ops import OpOverload, has_python_kernels
from torch_py._records import Fields
from torch_py._shapes.arguments import reach
from torch_py._subclasses.fake_tensor import FakeTensorMode
from torch_py._tensor import Tensor
from torch_py._torch_function import DisableTorchFunctionSubclass
from torch_py.fx._arguments import map_aggregate
from torch_py.fx._attributes import get_attr
from torch_py.fx._lazy_graph_module import _LazyGraphModule
from torch_py.fx.graph import Graph
from torch_py.fx.graph_module import GraphModule
from torch_py.fx.node import Node, map_arg
from torch_py.nn.modules.module import Module
from torch_py.nn.parameter import Parameter

if TYPE_CHECKING:
    from torch_py._functorch.aot.partial_backward import PartialBackward

log = _logging.topic("cache")

Compile = Callable[[GraphModule, list[Any]], Any]

# Topics that show stages, which only a compilation has, and graphs of ahead-of-time autograd.
_STAGES = ("ir_pre_fusion", "ir_post_fusion", "kernel_code", "inductor", "autotuning")
_GRAPHS = ("aot_graphs", "aot_joint_graph")


# Programs
# ------------------------------------------------------------


def program_of(module: GraphModule, note: Callable[[str], None] | None = None) -> Any:
    """The program of a graph: from the cache, or compiled.

    `note` is called with the key of a program without constants.
    """
    key = key_of_graph(module) if _keeps_programs() else None
    if key is not None:
        nodes = module.graph.find_nodes(op="get_attr")
        constants = [get_attr(module, str(node.target)) for node in nodes]
        if note is not None and not constants:
            note(key)
        found = _read_program(key, constants)
        log.info("%s of the graph %s", "miss" if found is None else "hit", key)
        if found is not None:
            return found

    # Imported here: a process that finds its programs in the cache compiles nothing.
    from torch_py._inductor.stages import compile_graph

    compiled = compile_graph(module)
    if key is not None:
        description = list(compiled.description)
        description[4] = []
        description[5] = None if description[5] is None else Path(description[5]).stem
        write_entry(key, ".graph", description)
    return compiled.program


def _keeps_programs() -> bool:
    """Whether programs are read from the cache: not if the user wants to see or check how they are made."""
    if config.force_disable_caches or not config.fx_graph_cache:
        return False
    if config.max_autotune or config.max_autotune_pointwise or checks_stages():
        return False
    return not artifacts.is_written() and not any(map(_logging.is_on, _STAGES))


def key_of_graph(module: GraphModule) -> str | None:
    """What stands for a graph; None for one that is not kept."""
    try:
        return key_of_parts(text_of_graph(module))
    except (NotWrittenError, NoCompilerError):
        return None


def text_of_graph(module: GraphModule) -> str:
    """A graph of operators, with the shapes of all values. Raises NotWrittenError."""

    def facts(node: Node) -> Any:
        value = get_attr(module, str(node.target)) if node.op == "get_attr" else node.meta.get("val")
        geometry = node.meta.get("sizes"), node.meta.get("strides")
        return _facts(value), geometry

    with DisableTorchFunctionSubclass():  # fake tensors are asked for many facts
        return _graph_text(module, facts)


def _facts(value: Any) -> Any:
    """What is to be known of a value: a dictionary for each tensor."""
    if isinstance(value, (list, tuple)):
        return list(map(_facts, value))
    if not isinstance(value, Tensor):
        return value
    place = tuple(value.shape), value.stride(), value.storage_offset()
    return {"place": place, "options": {"dtype": value.dtype, "device": value.device, "layout": value.layout}}


def _read_program(key: str, constants: Sequence[Any] = ()) -> Program | None:
    """The program with a key, of a graph with these constants; None if it is not in the cache."""

    def program(description: list[Any]) -> Program | None:
        description[4] = list(constants)
        if description[5] is not None:
            description[5] = Cache.opened().known(description[5])
            if description[5] is None:
                return None
        return Program(*description)

    return read_entry(key, ".graph", program)


# Calls
# ------------------------------------------------------------


class Notes(Fields):
    """What is noted about a call while it is compiled: its parts, the keys of its programs, and its backward
    for some tangents."""

    parts: Parts | None = None
    keys: list[str] = []
    partial: PartialBackward | None = None

    def note_parts(self, parts: Parts, partial: PartialBackward | None) -> None:
        self.parts = parts
        self.partial = partial


def call_of(
    module: GraphModule, inputs: Sequence[Any], compile: Callable[[Notes], Any], compile_backward: Compile
) -> Any:
    """The call of a captured graph: from the cache, or what `compile` makes of the graph.

    `compile_backward` compiles a backward graph whose call was found.
    """
    key = key_of_call(module, inputs) if _keeps_calls() else None
    notes = Notes()
    if key is None:
        return compile(notes)

    found = _read_call(key, compile_backward)
    log.info("%s of the call %s", "miss" if found is None else "hit", key)
    if found is not None:
        return found

    call = compile(notes)
    _write_call(key, notes)
    return call


def _keeps_calls() -> bool:
    passes = [value for name, value in config.shallow_copy_dict().items() if name.endswith("_pass")]
    if any(passes) or has_python_kernels() or _has_foreign_methods():
        return False
    return _keeps_programs() and not any(map(_logging.is_on, _GRAPHS))


def _has_foreign_methods() -> bool:
    """Whether the program has given Tensor methods: graphs call its methods by name."""

    methods = [value.fget if isinstance(value, property) else value for value in vars(Tensor).values()]
    modules = {method.__module__ for method in methods if isinstance(method, FunctionType)}
    return not all(_is_in_library(module or "") for module in modules)


def _is_in_library(module: str) -> bool:
    return module.partition(".")[0] in ("torch_py", "torch")  # as_torch has other names for modules


def key_of_call(module: GraphModule, inputs: Sequence[Any]) -> str | None:
    """What stands for a call; None for one that is not kept."""
    if "sizes" in module.meta or not all(map(_is_of_torch, module.graph.nodes)):
        return None
    try:
        arguments = text_of(_described(inputs))
        state = str(_C._compiler.thread_state())
        return key_of_parts("call", state, _graph_text(module, lambda node: None), arguments)
    except (NotWrittenError, NoCompilerError):
        return None


def _is_of_torch(node: Node) -> bool:
    """Whether a node calls a function of the tree, not of a package or the module."""
    is_foreign = isinstance(node.target, OpOverload) and node.target.namespace != "aten"
    return node.op not in ("get_attr", "call_module") and not is_foreign


def _described(arguments: Sequence[Any]) -> list[Any]:
    """What is to be known of arguments, with numbers for tensors and memory that they share."""
    numbers: dict[int, int] = {}

    def number(identity: int) -> int:
        return numbers.setdefault(identity, len(numbers))

    def facts(tensor: Any) -> Any:
        if type(tensor) not in (Tensor, Parameter) or tensor.layout is not _C.strided:
            raise NotWrittenError(f"a {type(tensor).__name__} of layout {tensor.layout}")
        storage = tensor.untyped_storage()
        identity = type(tensor).__name__, number(id(tensor))
        geometry = tensor.dtype, tuple(tensor.shape), tensor.stride(), tensor.storage_offset()
        memory = tensor.device, storage.nbytes(), number(storage._cdata)
        is_changed = not tensor.is_inference() and tensor._version > 0
        autograd = tensor.requires_grad, tensor.is_leaf, tensor.is_inference(), is_changed
        bits = tensor.is_conj(), tensor.is_neg(), _C._level_of(tensor)
        base = facts(tensor._base) if tensor._is_view() else None
        return identity, geometry, memory, autograd, bits, base

    return [facts(value) if isinstance(value, Tensor) else value for value in arguments]


def _read_call(key: str, compile_backward: Compile) -> Any:
    def call(entry: tuple[list[str], Parts, Any]) -> Any:
        keys, parts, graph = entry
        programs = [_read_program(one) for one in keys]
        if None in programs:
            return None
        if graph is None:
            return flat_call(parts.call(*programs))
        # Imported here: most calls have one tangent.
        from torch_py._functorch.aot.partial_backward import PartialBackward

        assert parts.training is not None
        count = len(parts.training["tangents"])
        partial = PartialBackward(lambda: module_of(graph), count, compile_backward)
        return flat_call(parts.call(*programs, partial))

    return read_entry(key, ".call", call)


def _write_call(key: str, notes: Notes) -> None:
    parts = notes.parts
    if parts is None or len(notes.keys) != (1 if parts.training is None else 2):
        return
    graph = None if notes.partial is None else graph_parts(notes.partial.module.graph)
    write_entry(key, ".call", (notes.keys, parts, graph))


# Graphs as text
# ------------------------------------------------------------


def _graph_text(module: GraphModule, facts: Callable[[Node], Any]) -> str:
    """A graph, with some facts of each node."""

    def described(node: Node) -> Any:
        return node.name, node.op, _target_text(node.target), node.args, node.kwargs, facts(node)

    return text_of(list(map(described, module.graph.nodes)))


def _target_text(target: Any) -> str:
    if isinstance(target, str):
        return target
    if isinstance(target, OpOverload):
        return f"{target.namespace}.{target._entry_name} {target._schema}"
    if isinstance(target, Form):
        return f"{target!r} {_target_text(target.operator)}"
    if isinstance(target, FunctionType):
        return _name_of_function(target)
    name = getattr(target, "__name__", "")
    for place in _PLACES:
        if name and getattr(place, name, None) is target:
            return f"{place.__name__}.{name}"
    raise NotWrittenError(str(target))


# Where functions of C are found by their names.
_PLACES: tuple[Any, ...] = (
    _C._torch, _C._nn, _C._linalg, _C._special, _C._fft, Tensor, sys.modules["_operator"],
    sys.modules["builtins"], _C,
)  # fmt: skip


def _name_of_function(function: FunctionType) -> str:
    """Of a function of the library, where it is found; others may change from one process to the next."""
    module = function.__module__
    found: Any = sys.modules.get(module) if _is_in_library(module) else None
    for name in function.__qualname__.split("."):
        found = getattr(found, name, None)
    if found is not function:
        raise NotWrittenError(f"{module}.{function.__qualname__}")
    return f"{module}.{function.__qualname__}"


# Backward graphs, for parts of them that are compiled later than the call they belong to
# ------------------------------------------------------------


def graph_parts(graph: Graph) -> list[Any]:
    """A graph of operators without constants as values that an entry of the cache may have."""
    nodes = list(graph.nodes)
    slots = {node: Slot(number) for number, node in enumerate(nodes)}
    with DisableTorchFunctionSubclass():  # fake tensors are asked for many facts
        return [
            (
                node.op,
                node.name,
                node.target,
                *map_arg((node.args, node.kwargs), slots.__getitem__),
                _facts(node.meta.get("val")),
                {key: node.meta[key] for key in (BACKWARD, TANGENTS) if key in node.meta},
            )
            for node in nodes
        ]


def module_of(parts: Sequence[Any]) -> GraphModule:
    """The module of a graph that `graph_parts` has taken apart, with fake values."""
    graph = Graph()
    mode = FakeTensorMode()
    nodes: list[Node] = []

    def node_at(value: Any) -> Any:
        return nodes[value.number] if isinstance(value, Slot) else value

    for op, name, target, args, kwargs, geometry, meta in parts:
        node = graph.create_node(op, target, *map_aggregate((args, kwargs), node_at), name)
        node.meta = {**meta, "val": _value(mode, geometry)}
        nodes.append(node)
    return _LazyGraphModule(Module(), graph, "backward")


def _value(mode: FakeTensorMode, geometry: Any) -> Any:
    if isinstance(geometry, list):
        return tuple(_value(mode, one) for one in geometry)
    if not isinstance(geometry, dict):
        return geometry
    sizes, strides, offset = geometry["place"]
    with mode, DisableTorchFunctionSubclass():
        memory = _C._torch.empty(offset + reach(sizes, strides), **geometry["options"])
        return memory.as_strided(sizes, strides, offset)
