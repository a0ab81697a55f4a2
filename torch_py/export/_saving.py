"""`save` and `load` of exported programs."""

from __future__ import annotations

import dataclasses
import keyword
import operator
import re
from collections.abc import Callable
from typing import Any

from torch_py._ops import OpOverload, find_operator
from torch_py._shapes.formulas import OPERATIONS
from torch_py.export import _values
from torch_py.export._archive import ArchiveError, read_archive, write_archive
from torch_py.export._contract import check_contract, contract_of
from torch_py.export._description import Described
from torch_py.export._examples import Dimension, Dimensions
from torch_py.export._tensors import TensorReader, TensorWriter
from torch_py.export._values import ValueReader, read_spec, written, written_spec
from torch_py.export.exported_program import (
    ExportedProgram,
    ModuleCallEntry,
    ModuleCallSignature,
)
from torch_py.export.graph_signature import (
    ConstantArgument,
    ExportGraphSignature,
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
    SymFloatArgument,
    SymIntArgument,
    TensorArgument,
)
from torch_py.fx.graph import Graph, _custom_builtins
from torch_py.fx.node import Node
from torch_py.utils._pytree import register_pytree_node, tree_flatten, tree_unflatten
from torch_py.utils._pytree_keys import GetAttrKey

_KIND = "torch_py.export"
_ARGUMENTS = {c.__name__: c for c in (TensorArgument, SymIntArgument, SymFloatArgument)}
# Functions other than operators that graphs may call.
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "getitem": operator.getitem,
    **{name: function for name, (function, *_) in OPERATIONS.items()},
}


def save(
    ep: ExportedProgram,
    f: Any,
    *,
    extra_files: dict[str, Any] | None = None,
    opset_version: dict[str, int] | None = None,
    pickle_protocol: int = 2,
) -> None:
    """Writes a program to `f`, a path (by convention ``.pt2``) or a binary file open for writing.

    The file has the graph as JSON and the tensors as bytes; nothing is pickled. `extra_files` are texts or
    bytes that are kept with it, by name; `opset_version` and `pickle_protocol` have no effect.
    Raises TypeError for something else than an ExportedProgram, RuntimeError if the path cannot be written,
    and NotImplementedError for a program with values that files cannot hold.

        torch.export.save(program, "model.pt2")
        program = torch.export.load("model.pt2")
    """
    if not isinstance(ep, ExportedProgram):
        raise TypeError(
            f"The 'ep' parameter must be an instance of 'ExportedProgram', got '{type(ep).__name__}'."
        )
    tensors = TensorWriter()
    program = program_as_json(ep, tensors)
    program["tensors"] = tensors.rows
    write_archive(f, _KIND, program, bytes(tensors.data), extra_files)


def load(
    f: Any,
    *,
    extra_files: dict[str, Any] | None = None,
    expected_opset_version: dict[str, int] | None = None,
) -> ExportedProgram:
    """Reads a program that `save` wrote to `f`, a path or a binary file that can seek.

    Nothing in the file is executed: the graph can call operators of torch_py only, and does so when it is
    run. The names in `extra_files` get their contents as bytes.
    Raises RuntimeError for a file that is damaged or something else, or if an operator has changed since so
    that a call of the program would mean something else, and OSError for a path that cannot be read.
    """
    program, data = read_archive(f, _KIND, extra_files)
    try:
        return program_of_json(program, TensorReader(program.get("tensors"), data))
    except RecursionError:
        raise ArchiveError("a damaged file of a saved program: it is nested too deeply") from None
    except (KeyError, TypeError, AttributeError, AssertionError, ValueError, IndexError) as error:
        raise ArchiveError(f"a damaged file of a saved program: {error!r}") from None


def register_dataclass(cls: type, *, serialized_type_name: str | None = None) -> None:
    """Lets arguments and results of exported modules be instances of a dataclass, whose fields are then
    inputs and outputs. `serialized_type_name` is its name in files, by default that of the class.

    Raises TypeError if `cls` is not a dataclass, and ValueError if it is registered already.
    """
    if not dataclasses.is_dataclass(cls) or not isinstance(cls, type):
        raise TypeError(f"Only dataclasses can be registered with this function: {cls}")
    names = [field.name for field in dataclasses.fields(cls)]

    def flatten(value: Any) -> tuple[list[Any], Any]:
        return [getattr(value, name) for name in names], None

    def flatten_with_keys(value: Any) -> tuple[list[tuple[Any, Any]], Any]:
        return [(GetAttrKey(name), getattr(value, name)) for name in names], None

    def unflatten(values: Any, context: Any) -> Any:
        return cls(**dict(zip(names, values)))

    register_pytree_node(cls, flatten, unflatten, flatten_with_keys_fn=flatten_with_keys)
    _values.REGISTERED[serialized_type_name or f"{cls.__module__}.{cls.__qualname__}"] = cls


# Programs as JSON
# ------------------------------------------------------------


def program_as_json(ep: ExportedProgram, tensors: TensorWriter) -> dict[str, Any]:
    """Everything of a program but the tensors, which `tensors` collects."""
    signature = ep.graph_signature
    return {
        "contract": contract_of(ep.graph.nodes),
        "nodes": [_node_as_json(node, tensors) for node in ep.graph.nodes],
        "inputs": [
            [spec.kind.name, _argument_as_json(spec.arg, tensors), spec.target, spec.persistent]
            for spec in signature.input_specs
        ],
        "outputs": [
            [spec.kind.name, _argument_as_json(spec.arg, tensors), spec.target]
            for spec in signature.output_specs
        ],
        "state": {name: tensors.add(tensor) for name, tensor in ep.state_dict.items()},
        "constants": {name: tensors.add(tensor) for name, tensor in ep.constants.items()},
        "in_spec": written_spec(ep.call_spec.in_spec),
        "out_spec": written_spec(ep.call_spec.out_spec),
        "parameters": [list(names) for names in ep._parameter_names],
        "training": ep._training,
        "dimensions": [
            [row.leaf, row.dim, written(row.symbol, tensors), row.factor, row.offset]
            for row in ep._dimensions.rows
        ],
        "sizes": [[written(s, tensors), size] for s, size in ep._dimensions.example.items()],
        "example": _example_as_json(ep, tensors),
    }


def _node_as_json(node: Node, tensors: TensorWriter) -> dict[str, Any]:
    row = {
        "name": node.name,
        "op": node.op,
        "target": _target_name(node),
        "args": written(node.args, tensors),
        "kwargs": written(dict(node.kwargs), tensors),
    }

    known = node.meta.get("val")
    if isinstance(known, Described):
        shape = [written(size, tensors) for size in known.shape]
        row["value"] = [shape, written(known.dtype, tensors), written(known.device, tensors)]
    elif known is not None:
        row["value"] = written(known, tensors)
    if node.meta.get("stack_trace"):
        row["stack_trace"] = node.meta["stack_trace"]
    return row


def _target_name(node: Node) -> str:
    target: Any = node.target
    if node.op != "call_function":
        return str(target)
    if isinstance(target, OpOverload):
        return target.name()
    name = next((name for name, function in _FUNCTIONS.items() if function is target), None)
    if name is None:
        raise NotImplementedError(f"torch.export.save: a program that calls {target!r} cannot be saved")
    return name


def _argument_as_json(argument: Any, tensors: TensorWriter) -> list[Any]:
    if isinstance(argument, ConstantArgument):
        return ["ConstantArgument", argument.name, written(argument.value, tensors)]
    return [type(argument).__name__, argument.name]


def _example_as_json(ep: ExportedProgram, tensors: TensorWriter) -> Any:
    if ep.example_inputs is None:
        return None
    return [written(leaf, tensors) for leaf in tree_flatten(ep.example_inputs)[0]]


# And back
# ------------------------------------------------------------


def program_of_json(content: dict[str, Any], tensors: TensorReader) -> ExportedProgram:
    """The program. Raises ArchiveError, or an error of Python, for what `program_as_json` does not make."""
    graph = Graph()
    nodes: dict[str, Node] = {}
    reader = ValueReader(nodes, tensors)
    for row in content["nodes"]:
        nodes[row["name"]] = _read_node(graph, row, reader)
    graph.lint()
    calls = [(row["target"], nodes[row["name"]]) for row in content["nodes"]]
    check_contract(content.get("contract"), calls)

    signature = ExportGraphSignature(
        [
            InputSpec(InputKind[kind], _read_argument(argument, reader), target, persistent)
            for kind, argument, target, persistent in content["inputs"]
        ],
        [
            OutputSpec(OutputKind[kind], _read_argument(argument, reader), target)
            for kind, argument, target in content["outputs"]
        ],
    )
    dimensions = _read_dimensions(content, reader)
    in_spec, out_spec = read_spec(content["in_spec"]), read_spec(content["out_spec"])
    call = ModuleCallSignature([], [], in_spec, out_spec)
    program = ExportedProgram(
        {},
        graph,
        signature,
        {_path(name): tensors[number] for name, number in content["state"].items()},
        {},
        [ModuleCallEntry("", call)],
        constants={_path(name): tensors[number] for name, number in content["constants"].items()},
    )
    program._dimensions = dimensions
    program._training = bool(content["training"])
    program._parameter_names = _read_parameter_names(content["parameters"])
    if content.get("example") is not None:
        leaves = [reader.read(leaf) for leaf in content["example"]]
        program._example_inputs = tree_unflatten(leaves, in_spec)
    _check(program)
    return program


def _read_node(graph: Graph, row: Any, reader: ValueReader) -> Node:
    args, kwargs = reader.read(row["args"]), reader.read(row["kwargs"])
    name, op = row["name"], row["op"]
    if not _is_name(name) or name in reader.nodes:
        raise ArchiveError(f"a damaged file of a saved program: {name!r} is not a name of a node")
    if not isinstance(args, tuple) or not isinstance(kwargs, dict) or not all(map(_is_keyword, kwargs)):
        raise ArchiveError("a damaged file of a saved program: the arguments of a node are missing")

    node = graph.create_node(op, _read_target(op, name, row["target"]), args, kwargs, name=name)
    if op != "output" and node.name != name:
        raise ArchiveError(f"a damaged file of a saved program: {name!r} is not a name of a node")
    _read_meta(node, row, reader)
    return node


def _is_keyword(text: Any) -> bool:
    """Whether a text can be the keyword of an argument."""
    return isinstance(text, str) and text.isidentifier() and not keyword.iskeyword(text)


def _is_name(text: Any) -> bool:
    """Whether a text can be a variable of printed code that hides nothing the code needs."""
    return _is_keyword(text) and text not in _custom_builtins and text not in ("self", "flatten_inputs")


def _read_target(op: str, name: str, target: Any) -> Any:
    """What a node calls: an operator, or one of few functions. ArchiveError for everything else."""
    if op == "placeholder":
        return name
    if op == "output" and target == "output":
        return target
    if op == "call_method" and target == "size":
        return target

    if op == "call_function" and isinstance(target, str):
        if target in _FUNCTIONS:
            return _FUNCTIONS[target]
        found = find_operator(target.removeprefix("aten::")) if "::" in target else None
        if found is not None and not any(map(_is_path, found._schema.arguments)):
            return found
    raise ArchiveError(
        f"the program needs `{op} {target}`, which this build of torch_py does not have or run"
    )


def _is_path(argument: Any) -> bool:
    """Whether an operator opens a file that this argument names."""
    return bool(argument.name == "filename")


def _read_meta(node: Node, row: dict[str, Any], reader: ValueReader) -> None:
    value = row.get("value")
    if isinstance(value, list):
        shape, dtype, device = value
        node.meta["val"] = Described(tuple(map(reader.read, shape)), reader.read(dtype), reader.read(device))
    elif value is not None:
        node.meta["val"] = reader.read(value)
    trace = row.get("stack_trace")
    if isinstance(trace, str):
        node.meta["stack_trace"] = trace


def _read_argument(content: Any, reader: ValueReader) -> Any:
    kind, name, *value = content
    if not isinstance(name, str):
        raise ArchiveError("a damaged file of a saved program: the name of an input or output is missing")
    if kind == "ConstantArgument":
        return ConstantArgument(name, reader.read(value[0]))
    return _ARGUMENTS[kind](name)


def _read_dimensions(content: dict[str, Any], reader: ValueReader) -> Dimensions:
    rows = [
        Dimension(int(leaf), int(dim), reader.read(symbol), int(factor), int(offset))
        for leaf, dim, symbol, factor, offset in content["dimensions"]
    ]
    return Dimensions(rows, {reader.read(symbol): int(size) for symbol, size in content["sizes"]})


def _read_parameter_names(content: Any) -> tuple[list[str], list[str]]:
    positional, keywords = content
    if not all(map(_is_name, (*positional, *keywords))):
        raise ArchiveError("a damaged file of a saved program: the name of a parameter is missing")
    return list(positional), list(keywords)


def _path(name: str) -> str:
    """A full name of state. ArchiveError for one that would reach into objects of Python."""
    # Printed code has these names between quotes.
    if not all(re.fullmatch(r"(?!__)[\w\- ]+", part) for part in name.split(".")):
        raise ArchiveError(
            f"a damaged file of a saved program: {name!r} is not a name of a parameter or buffer"
        )
    return name


def _check(program: ExportedProgram) -> None:
    """The parts of a program that was read fit together."""
    program.validate()
    tensors = {*program.state_dict, *program.constants}
    for spec in program.graph_signature.input_specs:
        if spec.kind is not InputKind.USER_INPUT and spec.target not in tensors:
            raise ArchiveError(f"a damaged file of a saved program: the tensor {spec.target!r} is missing")
    output = program.graph.output_node().args[0]
    if not isinstance(output, tuple) or len(output) != len(program.graph_signature.output_specs):
        raise ArchiveError("a damaged file of a saved program: the outputs do not fit the signature")
