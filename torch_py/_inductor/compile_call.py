"""A captured graph as a compiled call: ahead-of-time autograd, with the passes over its graphs."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch_py._functorch.aot.compile import Note, aot_module_simplified
from torch_py._functorch.aot.in_place import write_in_place
from torch_py._functorch.aot.nodes import Form, is_random
from torch_py._functorch.aot.partition import is_view, min_cut_rematerialization_partition
from torch_py._functorch.aot.recipes import BACKWARD, TANGENTS
from torch_py._inductor import config
from torch_py._inductor.compile_fx import run_pass
from torch_py._inductor.entries import NotWrittenError, text_of
from torch_py._logging.artifacts import artifact, compilation, part, timed, write
from torch_py._ops import OpOverload
from torch_py._torch_function import DisableTorchFunctionSubclass
from torch_py.fx._order import reached
from torch_py.fx.graph_module import GraphModule
from torch_py.fx.node import Node


def compile_call(
    module: Any, example_inputs: Sequence[Any], inner: Callable[..., Any], note: Note | None = None
) -> Callable[..., Any]:
    """A function of the arguments of a captured graph; `inner` compiles each of its two graphs."""
    names = {"fw": "forward", "bw": "backward", "inference": "inference"}
    compilers = {f"{short}_compiler": part_compiler(name, inner) for short, name in names.items()}
    settings = {"partition_fn": _partition, "keep_inference_input_mutations": True, "note": note}
    return aot_module_simplified(module, list(example_inputs), **compilers, **settings)


def part_compiler(name: str, inner: Callable[..., Any], settings: Mapping[str, Any] | None = None) -> Any:
    """A compiler of one of the graphs, which are named where stages are shown.

    It has the settings of now, if no others are given: what only some passes of backward need is compiled in
    such a pass.
    """
    settings = config.shallow_copy_dict() if settings is None else settings

    def compile(module: GraphModule, example_inputs: Sequence[Any]) -> Any:
        with config.patch(settings), compilation("graph"), part(name), timed("other"):
            run_pass(config.post_grad_custom_pre_pass, module)
            run_pass(config.post_grad_custom_post_pass, module)
            write_in_place(module)
            _describe("aot_graphs", "graph", module, example_inputs)
            return inner(module, example_inputs)

    return compile


def _partition(joint_module: GraphModule, joint_inputs: Any, **options: Any) -> Any:
    run_pass(config.joint_custom_pre_pass, joint_module)
    merge_common(joint_module)
    run_pass(config.joint_custom_post_pass, joint_module)
    _describe("aot_joint_graph", "joint_graph", joint_module, joint_inputs)
    # Fake tensors are asked for many facts.
    with timed("partition"), DisableTorchFunctionSubclass():
        return min_cut_rematerialization_partition(joint_module, joint_inputs, **options)


def _describe(topic: str, file: str, module: GraphModule, example_inputs: Sequence[Any]) -> None:
    """What the log and the folder of a graph get of a graph of operators."""
    artifact(topic, f"{file}_readable.py", lambda: readable(module))
    write(f"{file}.py", lambda: _script(module, example_inputs))


def _script(module: GraphModule, example_inputs: Sequence[Any]) -> str:
    # Imported here: few programs write what they compile to files.
    from torch_py.fx._script import script

    return script(module, example_inputs)


def readable(module: Any) -> str:
    return str(module.print_readable(print_output=False))


# Common subexpressions of the operator graph
# ------------------------------------------------------------
#
#     a = sin(x); b = sin(x)  ->  b is a
#
# Operators that draw random numbers or change an argument are left alone, and so are values that the graph
# returns, directly or through a view: tensors that were apart must not become one. What backward computes is
# not taken from the call: that would keep what a checkpoint gives up. Nor is it taken from a step of backward
# that other gradients lead to, as either may run alone.


def merge_common(module: GraphModule) -> int:
    """Merges nodes that compute equal values, and returns how many have gone."""
    returned = _returned(module)
    changes = 0
    known: dict[Any, Node] = {}
    gone = 0

    for node in list(module.graph.nodes):
        if isinstance(node.target, OpOverload) and node.target._schema.is_mutable:
            changes += 1  # views of what it changes are others from here on
            continue
        if not _is_pure(node) or node in returned:
            continue
        try:
            arguments = text_of((node.args, node.kwargs))
        except NotWrittenError:
            continue
        step = BACKWARD in node.meta, node.meta.get(TANGENTS)
        first = known.setdefault((changes, step, node.target, arguments), node)
        if first is not node:
            node.replace_all_uses_with(first)
            module.graph.erase_node(node)
            gone += 1

    if gone:
        module.recompile()
    return gone


def _returned(module: GraphModule) -> set[Node]:
    """The nodes whose memory is in the results of a graph."""

    def memory(node: Node) -> list[Node]:
        return node.all_input_nodes if node.target is operator.getitem or is_view(node) else []

    return set(reached(module.graph.output_node().all_input_nodes, memory))


def _is_pure(node: Node) -> bool:
    """Whether a node always computes the same of the same, in memory of its own or as a view."""
    target: Any = node.target
    is_known = target is operator.getitem or isinstance(target, (OpOverload, Form))
    return is_known and not is_random(target)
