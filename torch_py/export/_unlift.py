"""An exported graph as a module that is called like the original one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch_py
from torch_py._shapes.formulas import Symbol, evaluate, symbols_in
from torch_py._tensor import Tensor
from torch_py.export.graph_signature import InputKind, OutputKind
from torch_py.fx._attributes import assign_attr
from torch_py.fx.graph import Graph, _PyTreeCodeGen, _PyTreeInfo
from torch_py.fx.graph_module import GraphModule
from torch_py.fx.node import Node, map_arg
from torch_py.nn.modules.module import Module
from torch_py.utils._pytree import TreeSpec, tree_flatten

if TYPE_CHECKING:
    from torch_py.export.exported_program import ExportedProgram

_COPY = torch_py.ops.aten.copy_.default


def flatten_inputs(arguments: Any, spec: TreeSpec) -> list[Any]:
    """The leaves of `(args, kwargs)`. Raises ValueError if the structure is not the exported one."""
    leaves, given = tree_flatten(arguments)
    if str(given) != str(spec):
        raise ValueError(
            f"Trying to flatten user inputs with exported input tree spec: \n{spec}\nbut actually got inputs "
            f"with tree spec of: \n{given}.\nPlease check that the inputs have the same number and type of "
            "args and kwargs as the ones you used when tracing."
        )
    return leaves


class ExportedCodeGen(_PyTreeCodeGen):
    """Code of a function with the parameters of the exported module, which flattens what it gets."""

    def __init__(
        self, positional: list[str], keywords: list[str], in_spec: TreeSpec, out_spec: TreeSpec
    ) -> None:
        super().__init__(_PyTreeInfo([*positional, *keywords], in_spec, out_spec))
        self.positional = positional
        self.keywords = keywords

    def additional_globals(self) -> list[tuple[str, Any]]:
        return [("flatten_inputs", flatten_inputs)]

    def process_inputs(self, *inputs: Any) -> Any:
        """The leaves, from positional arguments for all parameters."""
        count = len(self.positional)
        keywords = dict(zip(self.keywords, inputs[count:]))
        return flatten_inputs((tuple(inputs[:count]), keywords), self.pytree_info.in_spec)

    def gen_fn_def(
        self, free_vars: list[str], maybe_return_annotation: str, *, expanded_def: bool = False
    ) -> str:
        """The head, and the statement that gives the leaves their names."""
        parameters = ", ".join(["self", *self.positional, *self.keywords])
        head = f"def {self._func_name}({parameters}){maybe_return_annotation}:"
        given = "".join(f"{name}, " for name in self.positional)
        named = ", ".join(f"{name!r}: {name}" for name in self.keywords)
        leaves = "".join(f"{name.split(':')[0].split('=')[0].strip()}, " for name in free_vars)
        assigned = f"{leaves.rstrip(' ')} = " if leaves else ""
        return f"{head}\n    {assigned}flatten_inputs((({given.strip()}), {{{named}}}), self._in_spec)"


class InputGuards(Module):
    """Checks the inputs of an exported program: shapes, dtypes, and values that are part of the program."""

    def __init__(self, rows: list[tuple[str, Any]]) -> None:
        super().__init__()
        self.rows = rows

    def forward(self, *inputs: Any) -> None:
        """Raises AssertionError for inputs that the program does not hold for."""
        sizes: dict[Symbol, int] = {}
        for (name, expected), value in zip(self.rows, inputs):
            if hasattr(expected, "dtype"):
                _check_tensor(name, expected, value, sizes)
            elif type(value) is not type(expected) or value != expected:
                raise AssertionError(
                    f"Guard failed: {name} == {expected!r}; the program was exported for this value, "
                    f"got {value!r}"
                )


def _check_tensor(name: str, expected: Any, value: Any, sizes: dict[Symbol, int]) -> None:
    if not isinstance(value, Tensor):
        raise AssertionError(f"Guard failed: {name} is a tensor, got {type(value).__name__}")
    if value.dtype != expected.dtype:
        raise AssertionError(f"Guard failed: {name}.dtype == {expected.dtype}, got {value.dtype}")
    if value.dim() != len(expected.shape):
        raise AssertionError(f"Guard failed: {name}.dim() == {len(expected.shape)}, got {value.dim()}")
    for dim, (term, size) in enumerate(zip(expected.shape, value.shape)):
        _check_size(f"{name}.size()[{dim}]", term, size, sizes)


def _check_size(what: str, term: Any, size: int, sizes: dict[Symbol, int]) -> None:
    """Checks a size against a number, or against a symbol, which it may be the first to give a value."""
    for symbol in symbols_in(term) - set(sizes):
        sizes[symbol] = _solved(term, symbol, size)
        found = sizes[symbol]
        if found < symbol.min or (symbol.max is not None and found > symbol.max):
            upper = "" if symbol.max is None else f" <= {symbol.max}"
            raise AssertionError(f"Guard failed: {symbol.min} <= {symbol}{upper}, where {what} is {size}")
    if evaluate(term, sizes) != size:
        raise AssertionError(f"Guard failed: {what} == {term}, got {size}")


def _solved(term: Any, symbol: Symbol, size: int) -> int:
    """The value of the symbol for which a declared size, factor * symbol + offset, is `size`."""
    offset = evaluate(term, {symbol: 0})
    factor = evaluate(term, {symbol: 1}) - offset
    return int((size - offset) // factor)


def unlift(program: ExportedProgram, check_guards: bool = True) -> GraphModule:
    """The module: parameters and buffers at their names, changes of buffers written back."""
    root = _root_of(program)
    graph = Graph()
    nodes: dict[Node, Node] = {}
    specs = dict(
        zip((n for n in program.graph.nodes if n.op == "placeholder"), program.graph_signature.input_specs)
    )

    users = [node for node, spec in specs.items() if spec.kind is InputKind.USER_INPUT]
    for node in users:
        nodes[node] = graph.create_node("placeholder", node.name, (), {}, name=node.name)
    _add_guards(root, graph, users, specs, nodes, check_guards)
    for node, spec in specs.items():
        if spec.kind is not InputKind.USER_INPUT:
            nodes[node] = graph.create_node(
                "get_attr", spec.target, (), {}, name=spec.target.replace(".", "_")
            )

    for node in program.graph.nodes:
        if node.op not in ("placeholder", "output"):
            args, kwargs = map_arg((node.args, node.kwargs), nodes.__getitem__)
            nodes[node] = graph.create_node(node.op, node.target, args, kwargs, name=node.name)
        if node in nodes:
            nodes[node].meta.update(node.meta)
    _add_outputs(program, graph, nodes, specs)

    positional, keywords = program._parameter_names
    graph.set_codegen(
        ExportedCodeGen(positional, keywords, program.call_spec.in_spec, program.call_spec.out_spec)
    )
    module = GraphModule(root, graph)
    graph.lint()
    module.training = program._training
    for name in ("train", "eval"):
        setattr(module, name, _refuses_mode(name))
    return module


def _refuses_mode(name: str) -> Any:
    def refuse(mode: bool = True) -> None:
        raise NotImplementedError(
            f"Calling {name}() is not supported: an exported program does what the module did in the mode in "
            "which it was exported. Export it again in the other mode."
        )

    return refuse


def _root_of(program: ExportedProgram) -> Module:
    """A module with the state and constants of a program at their names."""
    root = Module()
    for spec in program.graph_signature.input_specs:
        if spec.kind is InputKind.USER_INPUT:
            continue
        tensor = program.state_dict.get(spec.target)
        if tensor is None:
            tensor = program.constants[spec.target]
        if spec.kind is InputKind.BUFFER:
            _add_buffer(root, spec.target, tensor, bool(spec.persistent))
        else:
            assign_attr(tensor, root, spec.target)
    return root


def _add_buffer(root: Module, path: str, tensor: Tensor, persistent: bool) -> None:
    *owners, name = path.split(".")
    owner = root
    for step in owners:
        if step not in owner._modules:
            owner.add_module(step, Module())
        owner = owner._modules[step]
    owner.register_buffer(name, tensor, persistent=persistent)


def _add_guards(
    root: Module,
    graph: Graph,
    users: list[Node],
    specs: dict[Node, Any],
    nodes: dict[Node, Node],
    check: bool,
) -> None:
    if not check or not users:
        return
    rows = []
    for node in users:
        argument = specs[node].arg
        rows.append((node.name, argument.value if hasattr(argument, "value") else node.meta["val"]))
    root.add_module("_guards_fn", InputGuards(rows))
    graph.call_module("_guards_fn", tuple(nodes[node] for node in users))


def _add_outputs(
    program: ExportedProgram, graph: Graph, nodes: dict[Node, Node], specs: dict[Node, Any]
) -> None:
    """Writes new values to their buffers and inputs, and returns the others."""
    by_target = {spec.target: nodes[node] for node, spec in specs.items() if spec.target is not None}
    by_target.update({node.name: nodes[node] for node in specs})
    results = []
    values = map_arg(program.graph.output_node().args[0], nodes.__getitem__)
    for spec, value in zip(program.graph_signature.output_specs, values):
        if spec.kind in (OutputKind.BUFFER_MUTATION, OutputKind.USER_INPUT_MUTATION):
            graph.call_function(_COPY, (by_target[spec.target], value))
        else:
            results.append(value)
    graph.output(results)
