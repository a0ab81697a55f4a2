"""`export`: from a module and an example call to an ExportedProgram."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from torch_py._shapes.formulas import Symbol
from torch_py._tensor import Tensor
from torch_py.export._bounds import find_lower_bounds
from torch_py.export._capture import Capture
from torch_py.export._errors import ExportError
from torch_py.export._examples import Dimensions, read_dimensions
from torch_py.export._functionalize import functionalize
from torch_py.export._lift import lift
from torch_py.export._recording import Recording
from torch_py.export.dynamic_shapes import sizes_of_leaves
from torch_py.export.exported_program import (
    ExportedProgram,
    ModuleCallEntry,
    ModuleCallSignature,
)
from torch_py.nn.modules.module import Module
from torch_py.utils._pytree import tree_flatten
from torch_py.utils._pytree_keys import tree_leaves_with_path

_CONSTANTS = (int, float, bool, str, type(None))


def export(
    mod: Module,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any] | None = None,
    *,
    dynamic_shapes: Any = None,
    strict: bool = False,
    preserve_module_call_signature: tuple[str, ...] = (),
    prefer_deferred_runtime_asserts_over_guards: bool = False,
) -> ExportedProgram:
    """Records what a module does as a graph of operators, which can be saved and run without its Python code.

    The module is called with the example arguments, and again with other sizes where dimensions are declared
    as dynamic: the graph holds for all of them, or ExportError says which line does not. Everything else that
    Python decides is part of the graph: the mode (train or eval), flags, numbers and strings.

    Args:
        mod: the module. It is as before afterwards.
        args, kwargs: an example of the arguments: tensors, numbers, strings, None, and containers of them.
        dynamic_shapes: for each argument, by name or in order, the dimensions that vary: ``{"x": {0:
            Dim("batch")}}``, ``({0: Dim.AUTO},)``; or a ShapesCollection.
        strict: True raises NotImplementedError: torch_py records calls, it does not read bytecode.
        preserve_module_call_signature: not supported, except for an empty tuple.

    Raises ValueError if `mod` is not a Module, and ExportError (a RuntimeError) if the program reads values
    of tensors in Python, changes a parameter, or depends on a dynamic size.

        program = torch.export.export(torch.nn.Linear(3, 4), (torch.ones(2, 3),))
        program.module()(torch.ones(2, 3))
    """
    if not isinstance(mod, Module):
        raise ValueError(f"Expected `mod` to be an instance of `torch.nn.Module`, got {type(mod)}.")
    if not isinstance(args, tuple):
        raise ExportError(f"Expecting `args` to be a tuple of example positional inputs, got {type(args)}")
    if strict:
        raise NotImplementedError(
            "torch.export.export: strict=True; torch_py exports without reading bytecode"
        )
    if preserve_module_call_signature:
        raise NotImplementedError(
            "torch.export.export: preserve_module_call_signature; calls of submodules are not kept"
        )
    return export_call(mod, args, dict(kwargs or {}), dynamic_shapes)


def export_call(
    mod: Module,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    dynamic_shapes: Any,
    *,
    decompositions: Mapping[Any, Callable[..., Any]] | None = None,
    meet: Callable[[str, str], None] | None = None,
) -> ExportedProgram:
    """Like `export`. `decompositions` are recorded instead of operators; `meet` as in ValueGuard."""
    arguments = _by_name(mod, args, kwargs)
    leaves, in_spec = tree_flatten((args, kwargs))
    names = _names_of_leaves(arguments)
    for name, leaf in zip(names, leaves):
        if not isinstance(leaf, (Tensor, *_CONSTANTS)):
            raise ExportError(
                f"Unsupported input type {type(leaf)} of {name}. Export only supports pytree containers of "
                "basic types (Tensor, int, float, ...) as input. To register a custom dataclass, use "
                "torch.export.register_dataclass."
            )

    dimensions = read_dimensions(sizes_of_leaves(dynamic_shapes, arguments, leaves), leaves, names)
    capture = Capture(mod, leaves, in_spec, names, meet, decompositions)
    recording, dimensions = _captured(capture, dimensions)

    program = _program(mod, recording, leaves, in_spec, dimensions)
    find_lower_bounds(program, capture, dimensions)
    program._example_inputs = (args, kwargs)
    program._parameter_names = (_names_of_parameters(arguments, len(args), list(kwargs)), list(kwargs))
    return program


def _by_name(mod: Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments by the names of the parameters, in order; those of ``*args`` as one tuple."""
    signature = inspect.signature(mod.forward)
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        raise ExportError(f"torch.export: the example arguments do not fit forward(): {error}") from None

    found: dict[str, Any] = {}
    for position, parameter in enumerate(signature.parameters.values()):
        if position >= len(args):
            break
        if parameter.kind is parameter.VAR_POSITIONAL:
            found[parameter.name] = args[position:]
            break
        found[parameter.name] = args[position]
    return {**found, **kwargs}


def _names_of_parameters(arguments: dict[str, Any], count: int, keywords: list[str]) -> list[str]:
    """Names of the `count` positional arguments."""
    names = [name for name in arguments if name not in keywords]
    if len(names) < count:
        names[-1:] = [f"{names[-1]}_{number}" for number in range(count - len(names) + 1)]
    return names


def _names_of_leaves(arguments: dict[str, Any]) -> list[str]:
    """`x` for an argument that is a leaf, `x_0`, `x_key` for what is inside of others."""
    names = []
    for name, value in arguments.items():
        for path, _ in tree_leaves_with_path(value):
            parts = [str(getattr(key, "idx", getattr(key, "key", getattr(key, "name", key)))) for key in path]
            names.append("_".join([name, *parts]))
    return names


def _captured(capture: Capture, dimensions: Dimensions) -> tuple[Recording, Dimensions]:
    """The recording, and the dimensions that it holds for.

    Sizes without names are independent of each other if the program allows it; otherwise those that are equal
    in the example are one size, and those of `Dim.AUTO` become static where they have to.
    """
    try:
        return capture.graph_for(dimensions), dimensions
    except ExportError:
        if not dimensions.nameless:
            raise

    joined = dimensions.joined()
    try:
        return capture.graph_for(joined), joined
    except ExportError:
        if not dimensions.automatic:
            raise
    return _as_many_as_possible(capture, dimensions)


def _as_many_as_possible(capture: Capture, dimensions: Dimensions) -> tuple[Recording, Dimensions]:
    """Makes automatic dimensions dynamic as long as the program holds for them: all of one size, or
    all of one size as equals, or one by one."""
    means: dict[Symbol, Symbol] = {s: s for s in dimensions.nameless - dimensions.automatic}
    kept = dimensions.with_means(means)
    best = capture.graph_for(kept)

    for group in dimensions.groups():
        if group[0] not in dimensions.automatic:
            continue
        trials = [{symbol: symbol for symbol in group}]
        if len(group) > 1:
            trials += [dict.fromkeys(group, group[0]), *({symbol: symbol} for symbol in group)]
        for trial in trials:
            if trial.keys() & means.keys():
                continue
            try:
                best = capture.graph_for(dimensions.with_means({**means, **trial}))
            except ExportError:
                continue
            means.update(trial)
            kept = dimensions.with_means(means)
    return best, kept


def _program(
    mod: Module, recording: Recording, leaves: list[Any], in_spec: Any, dimensions: Dimensions
) -> ExportedProgram:
    new_values = functionalize(recording.graph)
    output = recording.graph.output_node()
    count = len(output.args[0]) - len(recording.reassigned)
    new_values.update(zip(recording.reassigned, output.args[0][count:]))
    output.args = (output.args[0][:count],)
    graph, signature = lift(recording, mod, leaves, new_values)

    state = {name: tensor for name, tensor in mod.state_dict(keep_vars=True).items()}
    constants = dict(recording.constants)
    transient = set(signature.non_persistent_buffers)
    constants.update({n: b for n, b in mod.named_buffers(remove_duplicate=False) if n in transient})

    inputs = [s.arg for s in signature.input_specs if s.target is None]
    outputs = [s.arg for s in signature.output_specs if s.target is None]
    call = ModuleCallSignature(inputs, outputs, in_spec, recording.out_spec)
    program = ExportedProgram(
        {}, graph, signature, state, {}, [ModuleCallEntry("", call)], constants=constants
    )
    program._training = mod.training
    program._dimensions = dimensions
    return program


def export_again(
    program: ExportedProgram, decompositions: Mapping[Any, Callable[..., Any]]
) -> ExportedProgram:
    """The program, recorded from its own module with decompositions, for the same dynamic dimensions."""
    if program.example_inputs is None:
        raise ValueError("run_decompositions: the program was loaded without example inputs")
    args, kwargs = program.example_inputs
    module = program.module(check_guards=False)
    leaves, in_spec = tree_flatten((args, kwargs))
    names = [n.name for n in module.graph.find_nodes(op="placeholder")]
    capture = Capture(module, leaves, in_spec, names, None, decompositions)
    again = _program(module, capture.graph_for(program._dimensions), leaves, in_spec, program._dimensions)

    again._state_dict = program._state_dict
    again._example_inputs = program.example_inputs
    again._parameter_names = program._parameter_names
    again._training = program._training
    return again
