"""Functions and modules compiled ahead of time: `aot_function`, `aot_module`, `aot_module_simplified`."""

from __future__ import annotations

import copy
import functools
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from torch_py import _C
from torch_py._functorch.aot.in_place import put_changes_inside
from torch_py._functorch.aot.joint import trace
from torch_py._functorch.aot.nodes import input_values
from torch_py._functorch.aot.partial_backward import PartialBackward
from torch_py._functorch.aot.partition import Kept, default_partition
from torch_py._functorch.aot.recipes import Traced
from torch_py._functorch.aot.recording import Decompositions, Program, Recorder
from torch_py._functorch.aot.runtime import Call, Parts, flat_call, raising, training_facts
from torch_py._functorch.modules import functional_call
from torch_py._records import Fields
from torch_py._shapes.arguments import Arguments
from torch_py._shapes.sizes import Sizes
from torch_py._subclasses.calls import takes_place
from torch_py._tensor import Tensor
from torch_py.fx._collecting import without_garbage_collection
from torch_py.fx._interpreter import Interpreter
from torch_py.fx._lazy_graph_module import _LazyGraphModule
from torch_py.fx.graph import Graph
from torch_py.fx.graph_module import GraphModule
from torch_py.fx.node import Node
from torch_py.nn.modules.module import Module
from torch_py.utils._pytree import TreeSpec, tree_flatten, tree_unflatten

Varying = tuple[Arguments, Sizes]
Partition = Callable[..., tuple[GraphModule, GraphModule]]
Compiler = Callable[[GraphModule, list[Any]], Callable[..., Sequence[Any]]]
# Called with what a call consists of apart from the programs of its graphs.
Note = Callable[[Parts, PartialBackward | None], None]


class Backend(Fields):
    """What graphs are compiled with."""

    forward: Compiler
    backward: Compiler | None  # None: as `forward`
    partition: Partition
    decompositions: Decompositions
    inference: Compiler | None  # of calls without backward; None: as `forward`
    keeps_changes: bool  # whether graphs without backward change their inputs themselves
    note: Note | None = None  # for a cache

    def compile(
        self, program: Program, arguments: Sequence[Any], names: Sequence[str], varying: Varying | None
    ) -> Call:
        """Compiles a program for arguments of these kinds; for all sizes of those that vary."""
        with without_garbage_collection():
            if varying is None:
                traced = trace(program, arguments, names, self.decompositions)
            else:
                # Imported here: most programs have sizes that do not vary.
                from torch_py._functorch.aot.varying import trace_varying

                traced = trace_varying(program, *varying, names, self.decompositions)
        if not traced.tangents:
            if self.keeps_changes and _may_change(arguments):
                put_changes_inside(traced)
            inference = (self.inference or self.forward)(traced.module, input_values(traced.module.graph))
            return self._noted(Parts.of(traced, arguments)).call(inference)
        if traced.backward_error is not None:
            forward = self.forward(traced.module, input_values(traced.module.graph))
            parts = Parts.of(traced, arguments, training_facts(traced))
            return parts.call(forward, raising(traced.backward_error))

        return self._with_backward(traced, arguments)

    def _with_backward(self, traced: Traced, arguments: Sequence[Any]) -> Call:
        with without_garbage_collection():
            kept = Kept(traced)
            forward_graph, backward_graph = self.partition(
                traced.module,
                input_values(traced.module.graph),
                num_fwd_outputs=traced.num_outputs,
                static_lifetime_input_indices=_static(traced, arguments),
            )
        facts = training_facts(traced, backward_graph.graph, kept.watches(backward_graph))
        compile_backward = self.backward or self.forward
        partial = None
        if len(traced.tangents) > 1:
            # Compilers change graphs.
            graph = copy.deepcopy(backward_graph.graph)
            kept_graph = _LazyGraphModule(backward_graph, graph, "backward")
            partial = PartialBackward(lambda: kept_graph, len(traced.tangents), compile_backward)

        forward = self.forward(forward_graph, input_values(forward_graph.graph))
        backward = compile_backward(backward_graph, input_values(backward_graph.graph))
        parts = self._noted(Parts.of(traced, arguments, facts), partial)
        return parts.call(forward, backward, partial)

    def _noted(self, parts: Parts, partial: PartialBackward | None = None) -> Parts:
        if self.note is not None:
            self.note(parts, partial)
        return parts


def _may_change(arguments: Sequence[Any]) -> bool:
    """Whether a graph can change its inputs: tensors of inference mode change in that mode only."""
    if _C.is_inference_mode_enabled():
        return True
    return not any(isinstance(a, Tensor) and a.is_inference() for a in arguments)


def _static(traced: Traced, arguments: Sequence[Any]) -> list[int]:
    """The inputs that live on after a call whatever it does, as parameters do."""
    sources = [source.of(arguments) for source in traced.inputs]
    return [i for i, x in enumerate(sources) if isinstance(x, Tensor) and x.requires_grad and x.is_leaf]


# Functions
# ------------------------------------------------------------


def aot_function(
    fn: Callable[..., Any],
    fw_compiler: Compiler,
    bw_compiler: Compiler | None = None,
    partition_fn: Partition = default_partition,
    decompositions: Decompositions = None,
    num_params_buffers: int = 0,
    keep_inference_input_mutations: bool = False,
    inference_compiler: Compiler | None = None,
    *,
    dynamic: bool = False,
    enable_log: bool = True,
) -> Callable[..., Any]:
    """Compiles a function of tensors, together with its backward, ahead of time.

    The first call records the operators of `fn` as a graph without changes in place, and those of its
    backward as another if a result requires a gradient. A compiler gets a graph and example inputs,
    `compiler(graph_module, example_inputs)`, and returns a function of the inputs that returns a list of the
    outputs. The compiled function has the results, gradients, changes of arguments and aliases of `fn`. It is
    compiled again for arguments of other shapes, dtypes or constants, and for other places in memory if
    arguments share it or `fn` counts from its start, as `as_strided` does.

    Args:
        fn: a function whose arguments and results may be nested containers of tensors; arguments that are not
            tensors become constants of the graph
        fw_compiler: compiles the graph of the call
        bw_compiler: compiles the graph of backward; default None, for `fw_compiler`
        partition_fn: splits the joint graph of both: `default_partition`, the default, keeps what eager
            autograd keeps, and `min_cut_rematerialization_partition` the least memory
        decompositions: functions by the operators that they replace in the graphs, see `torch_py._decomp`
        num_params_buffers: accepted, without effect
        keep_inference_input_mutations: whether graphs of calls without backward end with a `copy_` of the new
            value into each argument that `fn` changes, instead of returning the new values; default False
        inference_compiler: compiles the graph of a call without backward; default None, for `fw_compiler`
        dynamic: accepted, without effect
        enable_log: accepted, without effect

    Example:
        >>> def show(graph, inputs):
        ...     print(graph.code.strip())
        ...     return graph
        >>> f = aot_function(lambda x: x.sin(), fw_compiler=show)
        >>> f(torch.zeros(2))
        def forward(self, primals_1):
            sin = torch.ops.aten.sin.default(primals_1);  primals_1 = None
            return [sin]
        tensor([0., 0.])
    """
    functions = fw_compiler, bw_compiler, partition_fn, decompositions, inference_compiler
    backend = Backend(*functions, keep_inference_input_mutations)
    compiled: dict[Any, _Compiled] = {}

    @functools.wraps(fn)
    def returned(*args: Any, **kwargs: Any) -> Any:
        leaves, spec = tree_flatten((args, kwargs))
        key = (spec, *facts_of(leaves))
        found = compiled.get(key)
        if found is None or found.takes_places:
            placed = (*key, *map(_place_of, leaves))
            found = compiled.get(placed)
        if found is None:
            found = compiled[key] = compiled[placed] = _Compiled(fn, backend, leaves, spec)
        return tree_unflatten(found.call(leaves), found.out_spec)

    return returned


class _Compiled:
    """A compiled function. `takes_places`: it is for arguments at the same places in their memory."""

    __slots__ = ("call", "out_spec", "takes_places")

    def __init__(self, fn: Any, backend: Backend, leaves: list[Any], spec: TreeSpec) -> None:
        graphs: list[Graph] = []

        def program(recorder: Recorder, arguments: list[Any]) -> list[Any]:
            graphs.append(recorder.graph)
            args, kwargs = tree_unflatten(arguments, spec)
            results, self.out_spec = tree_flatten(fn(*args, **kwargs))
            return results

        names = [f"primals_{number}" for number in range(1, len(leaves) + 1)]
        self.call = backend.compile(program, leaves, names, None)
        self.takes_places = any(takes_place(node.target) for node in graphs[0].nodes)


# Modules
# ------------------------------------------------------------


def aot_module(mod: Module, *args: Any, **kwargs: Any) -> Module:
    """A module that computes what `mod` does, compiled ahead of time; it has the parameters of `mod`.

    The further arguments are those of `aot_function`.

        model = aot_module(torch.nn.Linear(3, 4), fw_compiler=lambda graph, inputs: graph)
        model(torch.ones(2, 3)).sum().backward()
    """
    compiled = aot_function(functools.partial(functional_call, mod), *args, **kwargs)

    class AOTModule(Module):
        def __init__(self) -> None:
            super().__init__()
            self.orig_module = mod

        def forward(self, *args: Any, **kwargs: Any) -> Any:
            return compiled(_state_of(mod), args, kwargs)

    return AOTModule()


def aot_module_simplified(
    mod: Module,
    args: Sequence[Any],
    fw_compiler: Compiler,
    bw_compiler: Compiler | None = None,
    partition_fn: Partition = default_partition,
    decompositions: Decompositions = None,
    keep_inference_input_mutations: bool = False,
    inference_compiler: Compiler | None = None,
    note: Note | None = None,
) -> Callable[..., list[Any]]:
    """Compiles a module for arguments of the kinds of `args`: what compilers of captured graphs call.

    Returns a function of such arguments. Unlike with `aot_module`, arguments are not checked, and `mod` must
    return a tuple or list; the function returns a list. `note` is for caches, see `Note`; the other arguments
    are those of `aot_function`.
    """
    functions = fw_compiler, bw_compiler, partition_fn, decompositions, inference_compiler
    backend = Backend(*functions, keep_inference_input_mutations, note)
    state = _state_of(mod)
    if not state and isinstance(mod, GraphModule):
        names = [node.name for node in mod.graph.find_nodes(op="placeholder")]
        call = backend.compile(GraphProgram(mod), list(args), names, _varying_arguments(mod, args))
        return flat_call(call)

    def program(recorder: Recorder, values: list[Any]) -> list[Any]:
        results = functional_call(mod, dict(zip(state, values)), tuple(values[len(state) :]))
        if not isinstance(results, (tuple, list)):
            rule = "must return a tuple or list; aot_module takes modules that return anything"
            raise AssertionError(f"aot_module_simplified: {type(mod).__name__} {rule}")
        return list(results)

    names = [*(name.replace(".", "_") for name in state), *(f"primals_{i}" for i in range(1, len(args) + 1))]
    values = list(state.values())
    call = backend.compile(program, [*values, *args], names, None)
    return lambda *args: call([*values, *args])


_LINES = ("stack_trace", "nn_module_stack", "source_fn_stack")  # what `meta` says of a node's place


class GraphProgram(Interpreter):
    """Runs a graph of calls of torch's functions. What a node records gets its line of the user's program,
    and its result the name of the node.
    """

    recorder: Recorder  # of the call

    def __init__(self, module: GraphModule) -> None:
        super().__init__(module)
        self.extra_traceback = False

    def __call__(self, recorder: Recorder, arguments: list[Any]) -> list[Any]:
        self.recorder = recorder
        return list(self.run(*arguments, enable_io_processing=False))

    def run_node(self, n: Node) -> Any:
        if not n.op.startswith("call"):
            return super().run_node(n)

        self.recorder.context = {name: n.meta[name] for name in _LINES if name in n.meta}
        result = super().run_node(n)
        if isinstance(result, Tensor):
            self.recorder.name(result, n.name)
        return result


def _varying_arguments(module: GraphModule, arguments: Sequence[Any]) -> Varying | None:
    """The arguments of a captured graph, and its sizes, if some of them vary."""
    if "sizes" not in module.meta:
        return None
    placeholders = module.graph.find_nodes(op="placeholder")
    geometries, numbers = (
        {position: node.meta[fact] for position, node in enumerate(placeholders) if fact in node.meta}
        for fact in ("geometry", "symbol")
    )
    return Arguments(arguments, geometries, numbers), module.meta["sizes"]


def _state_of(mod: Module) -> dict[str, Any]:
    parameters = mod.named_parameters(remove_duplicate=False)
    return dict([*parameters, *mod.named_buffers(remove_duplicate=False)])


# Kinds of arguments
# ------------------------------------------------------------


def facts_of(leaves: Sequence[Any]) -> list[Any]:
    """What a compiled call depends on, as something to compare: shapes, types and aliases of tensors, other
    arguments by value, and the modes of the thread."""
    tensors = {id(leaf): leaf for leaf in leaves if isinstance(leaf, Tensor)}
    users = Counter(_memory_of(tensor) for tensor in tensors.values())
    first: dict[int, int] = {}
    memory: dict[int, int] = {}
    facts: list[Any] = [_C.is_grad_enabled(), _C.is_inference_mode_enabled()]

    for position, leaf in enumerate(leaves):
        if not isinstance(leaf, Tensor):
            facts.append((type(leaf), leaf if _is_hashable(leaf) else id(leaf)))
            continue
        address = _memory_of(leaf)
        kind = type(leaf), leaf.dtype, leaf.device, leaf.shape, leaf.stride()
        history = leaf.requires_grad, leaf.is_leaf
        aliases = first.setdefault(id(leaf), position), memory.setdefault(address, position)
        facts.append((kind, history, aliases, _place_of(leaf) if users[address] > 1 else None))
    return facts


def _memory_of(tensor: Tensor) -> int:
    return int(tensor.untyped_storage()._cdata)


def _place_of(leaf: Any) -> Any:
    """Where a tensor is in its memory, and what else is known of that."""
    if not isinstance(leaf, Tensor):
        return None
    base = leaf._base if leaf._is_view() else leaf
    of_base = base.dtype, base.shape, base.stride(), base.storage_offset()
    return leaf.storage_offset(), leaf.untyped_storage().nbytes(), of_base


def _is_hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True
