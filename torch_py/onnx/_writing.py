"""Turns recorded runs into a graph: leaves out unused calls, computes
constants, and passes the other calls to their mappings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torch_py.onnx._calls import Call, Constant, Value, leaves_of, mapped
from torch_py.onnx._expressions import is_defined, write_expression
from torch_py.onnx._graph import Graph, Node, Operand
from torch_py.onnx._registry import RULES, Rule, find
from torch_py.onnx._rules import outside
from torch_py.onnx._sizes import Merged, Run, Varying, VaryingConstant
from torch_py.onnx._types import onnx_dtype
from torch_py.onnx.errors import SymbolicValueError, UnsupportedOperatorError


@dataclass
class Interface:
    """The inputs and outputs of the graph."""

    inputs: dict[int, str]  # values -> names
    outputs: list[Any]  # values or constants
    output_names: list[str]
    dimensions: dict[tuple[int, ...], str]  # names of varying sizes
    output_dimensions: Mapping[str, Mapping[int, str]]


class Writer:
    """Writes the calls of a program into a graph.

    With `folds`, calls that depend only on parameters are computed now; with `stores`, parameters become
    initializers.
    """

    def __init__(self, graph: Graph, run: Run, merged: Merged, folds: bool, stores: bool) -> None:
        self.graph = graph
        self.run = run
        self.merged = merged
        self.folds = folds
        self.stores = stores
        self.operands: dict[int, Operand] = {}
        self.static = {
            index for index, fact in enumerate(run.facts) if fact.name is not None and fact.data is not None
        }
        self.free_parameters: list[Operand] = []  # inputs of the graph instead of initializers
        self._constants: dict[int, Operand] = {}
        self._missing: dict[int, Node] = {}  # results that ONNX does not have

    def write(self, interface: Interface) -> None:
        """Adds inputs and all calls that the outputs need to the graph."""
        for index, name in interface.inputs.items():
            self.graph.unique(name)
            self.operands[index] = self._described(index, name)
            self.graph.declare(self.operands[index], is_input=True)

        for fact in self.run.facts:
            if fact.name is not None and fact.data is not None and fact.name in self.graph.names:
                raise ValueError(
                    f"torch.onnx.export: an input has the name of a parameter, {fact.name!r}; choose "
                    "another in input_names"
                )

        for call in self._needed(interface.outputs):
            if self._is_constant(call):
                self.static.update(value.index for value in call.results if value is not None)
            else:
                self._write_call(call)

    def _needed(self, outputs: Sequence[Any]) -> list[Call]:
        """The calls that the outputs depend on, in order."""
        wanted = {value.index for value in outputs if isinstance(value, Value)}
        kept = []
        for call in reversed(self.merged.calls):
            if any(value is not None and value.index in wanted for value in call.results):
                kept.append(call)
                wanted.update(leaf.index for leaf in leaves_of(call.arguments) if isinstance(leaf, Value))
        return kept[::-1]

    def _is_constant(self, call: Call) -> bool:
        used = leaves_of(call.arguments)
        if not self.folds or call.is_random:
            return False
        if any(isinstance(leaf, (Varying, VaryingConstant)) for leaf in used):
            return False
        return all(leaf.index in self.static for leaf in used if isinstance(leaf, Value))

    def _described(self, index: int, name: str) -> Operand:
        return Operand(name, self.merged.shapes[index], self.run.facts[index].dtype)

    def operand(self, value: Value) -> Operand:
        """The tensor of the graph for `value`, which becomes an initializer if it is not computed."""
        if value.index not in self.operands:
            self.operands[value.index] = self._stored(value.index)
        return self.operands[value.index]

    def _stored(self, index: int) -> Operand:
        """A parameter, or a constant that was computed from parameters."""
        fact = self.run.facts[index]
        if index in self._missing:
            raise self._missing[index].unsupported("can be exported with its first result only")
        assert fact.data is not None, f"value {index} is used before it is computed"

        if fact.name is not None and not self.stores:
            self.free_parameters.append(self._described(index, self.graph.unique(fact.name)))
            self.graph.dtypes[fact.name] = fact.dtype
            return self.free_parameters[-1]
        return self._described(index, self.graph.initializer(fact.data, fact.name or "folded"))

    def argument(self, leaf: Any) -> Any:
        """A recorded argument with tensors of the graph in place of values and constants."""
        if isinstance(leaf, Value):
            return self.operand(leaf)
        if isinstance(leaf, Constant):
            if id(leaf.tensor) not in self._constants:
                name = self.graph.initializer(leaf.tensor, "constant")
                self._constants[id(leaf.tensor)] = Operand(name, tuple(leaf.tensor.shape), leaf.tensor.dtype)
            return self._constants[id(leaf.tensor)]
        return self._outside(leaf) if isinstance(leaf, VaryingConstant) else leaf

    def _outside(self, constant: VaryingConstant) -> Operand:
        name = outside(self.graph, constant)
        first = constant.tensors[0]
        if name is None:
            raise SymbolicValueError(
                f"torch.onnx.export: a tensor of shape {tuple(first.shape)} depends on dynamic dimensions "
                "and was made in a way that could not be seen; make it inside of forward by torch.zeros, "
                "torch.arange or another operator"
            )

        shape = tuple(
            Varying(sizes) if len(set(sizes)) > 1 else sizes[0]
            for sizes in zip(*(t.shape for t in constant.tensors))
        )
        return Operand(name, shape, first.dtype)

    def _write_call(self, call: Call) -> None:
        graph = self.graph
        graph.scope = call.origin.module
        results = [None if value is None else self._described(value.index, "") for value in call.results]
        arguments = {key: mapped(self.argument, value) for key, value in call.arguments.items()}
        node = Node(call.name, call.overload, arguments, results, call.origin)
        graph.current = node

        rule = _rule_of(call)
        _check_dtypes(node)
        names = rule(graph, node)

        names = list(names) if isinstance(names, (tuple, list)) else [names]
        for value, name in zip(call.results, names):
            if value is not None and name is not None:
                found = name.name if isinstance(name, Operand) else name
                self.operands[value.index] = self._described(value.index, found)
                graph.declare(self.operands[value.index])
            elif value is not None:
                self._missing[value.index] = node


def _rule_of(call: Call) -> Rule:
    found: Rule | None = find(RULES, call.name, call.overload)
    if found is not None:
        return found
    if is_defined(call.overload):
        return write_expression
    raise UnsupportedOperatorError(call.name, origin=call.origin)


def _check_dtypes(node: Node) -> None:
    if any(
        isinstance(leaf, Operand) and leaf.dtype.is_complex
        for leaf in (*leaves_of(node.arguments), *node.results)
    ):
        raise node.unsupported("cannot be exported for complex numbers")


def finish(writer: Writer, interface: Interface, opset: int, keeps_inputs: bool) -> Any:
    """The finished onnx.ModelProto."""
    from onnx import helper

    graph = writer.graph
    outputs = _name_outputs(writer, interface)
    inputs = [_info(writer.operands[index], interface, {}) for index in interface.inputs]
    inputs += [_info(operand, interface, {}) for operand in writer.free_parameters]

    used = {name for node in graph.nodes for name in node.input}
    initializers = [proto for name, proto in graph.initializers.items() if name in used]
    if keeps_inputs:
        inputs += [
            helper.make_tensor_value_info(proto.name, proto.data_type, list(proto.dims))
            for proto in initializers
        ]

    proto = helper.make_graph(graph.nodes, "main_graph", inputs, outputs, initializers)
    opsets = [helper.make_opsetid("", opset)]
    return helper.make_model(
        proto,
        opset_imports=opsets,
        ir_version=helper.find_min_ir_version_for(opsets),
        producer_name="torch_py",
    )


def _name_outputs(writer: Writer, interface: Interface) -> list[Any]:
    """Gives the outputs their names: renames the result of a node, or copies it if it cannot be renamed."""
    graph = writer.graph
    graph.scope = ""
    renamed: dict[str, str] = {}
    infos = []
    made = {name for node in graph.nodes for name in node.output}

    for output, name in zip(interface.outputs, interface.output_names):
        operand = writer.argument(output)
        if name in graph.names:
            raise ValueError(
                f"torch.onnx.export: the output name {name!r} is taken; choose another in output_names"
            )

        source = operand.name
        if source not in made or source in renamed:
            source = graph.node("Identity", renamed.get(source, source))
        renamed[source] = graph.unique(name)
        labels = interface.output_dimensions.get(name, {})
        infos.append(_info(Operand(name, operand.shape, operand.dtype), interface, labels))

    # All uses of the renamed results.
    for node in graph.nodes:
        for names in (node.input, node.output):
            for position, name in enumerate(names):
                if name in renamed:
                    names[position] = renamed[name]

    return infos


def _info(operand: Operand, interface: Interface, labels: Mapping[int, str]) -> Any:
    from onnx import helper

    def size(axis: int, value: Any) -> Any:
        if not isinstance(value, Varying):
            return value
        automatic = interface.dimensions.setdefault(value.values, f"size_{len(interface.dimensions)}")
        return labels.get(axis, automatic)

    sizes = [size(axis, value) for axis, value in enumerate(operand.shape)]
    return helper.make_tensor_value_info(operand.name, onnx_dtype(operand.dtype), sizes)
