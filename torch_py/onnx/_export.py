"""`torch.onnx.export`: records a program, writes it as an ONNX graph, checks the graph and saves it."""

from __future__ import annotations

import enum
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch_py
from torch_py._functorch.modules import functional_call
from torch_py._tensor import Tensor
from torch_py.nn.modules.module import Module
from torch_py.onnx._graph import Graph
from torch_py.onnx._inputs import Inputs, declare_dynamic, plans, take_apart
from torch_py.onnx._program import ONNXProgram
from torch_py.onnx._recording import Recorder, current_recorder
from torch_py.onnx._sizes import Merged, merge
from torch_py.onnx._watching import Watch
from torch_py.onnx._whole import keep_whole
from torch_py.onnx._writing import Interface, Writer, finish
from torch_py.onnx.errors import OnnxExporterError, OnnxExporterWarning
from torch_py.utils._pytree import tree_leaves

LOWEST_OPSET = 13
DEFAULT_OPSET = 18


class TrainingMode(enum.IntEnum):
    """The mode in which the model is exported."""

    EVAL = 0
    PRESERVE = 1
    TRAINING = 2


class OperatorExportTypes(enum.IntEnum):
    """What to do with operators that ONNX does not have. Only ONNX, which raises an error, is implemented."""

    ONNX = 0
    ONNX_ATEN = 1
    ONNX_ATEN_FALLBACK = 2
    ONNX_FALLTHROUGH = 3


def is_in_onnx_export() -> bool:
    """Whether the caller runs inside of `torch.onnx.export`."""
    return current_recorder() is not None


def export(
    model: Module | Callable[..., Any],
    args: Any = (),
    f: Any = None,
    *,
    kwargs: dict[str, Any] | None = None,
    verbose: bool | None = None,
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    opset_version: int | None = None,
    dynamo: bool = True,
    external_data: bool = True,
    dynamic_shapes: Any = None,
    custom_translation_table: dict[Any, Any] | None = None,
    report: bool = False,
    optimize: bool = True,
    verify: bool = False,
    profile: bool = False,
    dump_exported_program: bool = False,
    artifacts_dir: Any = ".",
    export_params: bool = True,
    keep_initializers_as_inputs: bool = False,
    dynamic_axes: Mapping[str, Any] | None = None,
    training: TrainingMode = TrainingMode.EVAL,
    operator_export_type: OperatorExportTypes = OperatorExportTypes.ONNX,
    do_constant_folding: bool = True,
    custom_opsets: Mapping[str, int] | None = None,
    export_modules_as_functions: Any = False,
    autograd_inlining: bool = True,
) -> ONNXProgram | None:
    """Writes a model as an ONNX file, using the package `onnx`.

    The model runs on the example inputs, and the operators that it calls become the graph. Decisions that
    Python makes during the run are fixed in the graph: `if`, loops, and numbers that `item()` reads from
    tensors (with a warning). Sizes are fixed too, except for the dimensions that `dynamic_axes` or
    `dynamic_shapes` names. For these the model runs five times with different sizes, which shows how the
    program's numbers depend on them. Parameters and buffers become initializers under their names in the
    state_dict.

    Args:
        model: a module, or a function of tensors.
        args: the positional arguments; a single one need not be a tuple. A dict at the end holds keyword
            arguments if `kwargs` is None.
        f: a path or a binary file object; None only returns the program.
        input_names, output_names: names of the tensors among the arguments and results, in order. By default
            inputs have the names of the parameters of `forward`, and outputs are called `output`, or
            `output_0`, `output_1` and so on.
        opset_version: the version of ONNX's operators, 13 or later; default 18.
        dynamic_axes: {name of an input or output: {dimension: its name}, or a list of dimensions}. Dimensions
            with the same name have the same size.
        dynamic_shapes: the same in the structure of the arguments: for each tensor None, {dimension: name or
            torch.export.Dim}, or one entry for each dimension.
        export_params: False makes parameters inputs of the graph instead of initializers.
        keep_initializers_as_inputs: lists initializers among the inputs, so that the caller can replace them.
        do_constant_folding: computes what depends only on parameters during the export.
        training: EVAL exports the model as after `model.eval()`, TRAINING as after `model.train()`, PRESERVE
            as it is.
        external_data: stores weights in a separate file next to `f` if the model is larger than 2 GB.
        verify: runs the model with onnxruntime and compares the results.
        dynamo: True returns the program; False returns None and is otherwise the same.
        verbose, optimize, profile, autograd_inlining: accepted and without effect.

    Raises:
        OnnxExporterError: the package onnx is missing, or the program cannot be exported. This includes
            UnsupportedOperatorError for an operator that ONNX does not have, and SymbolicValueError for a
            number whose dependence on a dynamic dimension was not found.
        ValueError: names or dimensions do not fit the arguments.
    """
    onnx = _package()
    _refuse(
        custom_translation_table=custom_translation_table,
        report=report,
        dump_exported_program=dump_exported_program,
        custom_opsets=custom_opsets,
        export_modules_as_functions=export_modules_as_functions,
        operator_export_type=operator_export_type,
    )
    if not callable(model):
        raise TypeError(
            f"torch.onnx.export: expected model to be a module or a function, got {type(model).__name__}"
        )

    opset = _opset(opset_version, onnx)
    inputs = take_apart(model, args, kwargs, input_names)
    declare_dynamic(inputs, dynamic_axes, dynamic_shapes, output_names, model)

    with _mode(model, TrainingMode(training)):
        runs, outputs = _record(model, inputs)
        graph = Graph(opset)
        writer = Writer(graph, runs[0], merge(runs), do_constant_folding, export_params)
        interface = _interface(inputs, runs, outputs, output_names, dynamic_axes, writer.merged)
        writer.write(interface)
        proto = finish(writer, interface, opset, keep_initializers_as_inputs)
        onnx.checker.check_model(proto, full_check=False)
        program = ONNXProgram(proto, model)
        if verify:
            program.verify(_plain_results(model, *inputs.call(inputs.leaves)), *inputs.call(inputs.leaves))

    if f is not None:
        program.save(f, external_data=None if external_data else False)
    return program if dynamo else None


def _package() -> Any:
    try:
        import onnx
        import onnx.checker
        import onnx.helper
    except ImportError as error:
        raise OnnxExporterError("torch.onnx.export needs the package onnx: pip install onnx") from error
    return onnx


def _refuse(**arguments: Any) -> None:
    for name, value in arguments.items():
        if value:
            raise NotImplementedError(f"torch.onnx.export: {name}={value!r} is not implemented")


def _opset(version: int | None, onnx: Any) -> int:
    newest = onnx.defs.onnx_opset_version()

    if version is None:
        return DEFAULT_OPSET
    if not isinstance(version, int) or version < 1 or version > newest:
        raise ValueError(
            f"torch.onnx.export: expected opset_version from {LOWEST_OPSET} to {newest}, got {version!r}"
        )

    if version < LOWEST_OPSET:
        warnings.warn(
            f"torch.onnx.export: opset_version {version} is exported as {LOWEST_OPSET}, the lowest there "
            "are mappings for",
            OnnxExporterWarning,
            stacklevel=3,
        )

    return max(version, LOWEST_OPSET)


@contextmanager
def _mode(model: Any, training: TrainingMode) -> Iterator[None]:
    """Puts the model into the mode of the export, and every module back into its own afterwards."""
    modules = list(model.modules()) if isinstance(model, Module) else []
    before = [module.training for module in modules]
    try:
        if training is not TrainingMode.PRESERVE and modules:
            model.train(training is TrainingMode.TRAINING)
        yield
    finally:
        for module, mode in zip(modules, before):
            module.training = mode


def _plain_results(model: Any, args: Any, kwargs: Any) -> Any:
    """The results of the model, computed without changing its buffers."""
    with torch_py.no_grad():
        if not isinstance(model, Module):
            return model(*args, **kwargs)
        return functional_call(
            model, {name: tensor.clone() for name, tensor in model.named_buffers()}, args, kwargs
        )


def _record(model: Any, inputs: Inputs) -> tuple[list[Recorder], list[Any]]:
    """Records one run, or five if there are dynamic dimensions.

    Returns the runs and the outputs of the first.
    """
    keep_whole()
    if not inputs.dynamic:
        run, outputs = _one_run(model, inputs, inputs.leaves)
        return [run], outputs
    # Some models accept only certain sizes: try the plans in turn.
    problem: Exception | None = None
    for plan in plans(inputs.sizes()):
        try:
            recorded = [_one_run(model, inputs, inputs.resized(sizes)) for sizes in plan]
        except OnnxExporterError:
            raise
        except (RuntimeError, ValueError, IndexError, AssertionError) as error:
            problem = problem or error
        else:
            return [run for run, _ in recorded], recorded[0][1]
    raise OnnxExporterError(
        "torch.onnx.export: the model does not run with other sizes of the dynamic dimensions "
        f"{inputs.sizes()}: {problem}"
    ) from problem


def _one_run(model: Any, inputs: Inputs, leaves: Sequence[Any]) -> tuple[Recorder, list[Any]]:
    run = Recorder()
    traced = [
        run.wrap(leaf, True, inputs.names[i]) if i in inputs.names else leaf for i, leaf in enumerate(leaves)
    ]
    # Parameters and buffers are traced under their names.
    state: dict[str, Any] = {}
    if isinstance(model, Module):
        state = {
            name: run.wrap(tensor, False, name)
            for name, tensor in (*model.named_parameters(), *model.named_buffers())
        }

    args, kwargs = inputs.call(traced)
    with torch_py.no_grad(), _watched_modules(model, run), Watch(run), run:
        results = functional_call(model, state, args, kwargs) if state else model(*args, **kwargs)
    outputs = [_output(run, leaf) for leaf in tree_leaves(results) if leaf is not None]
    run.forget()

    if not outputs:
        raise OnnxExporterError("torch.onnx.export: expected the model to return tensors, got none")
    return run, outputs


def _output(run: Recorder, leaf: Any) -> Any:
    if not isinstance(leaf, Tensor):
        raise OnnxExporterError(
            f"torch.onnx.export: expected the model to return tensors, got {type(leaf).__name__} among the "
            "results"
        )
    return run.value(leaf)


@contextmanager
def _watched_modules(model: Any, run: Recorder) -> Iterator[None]:
    """Keeps the path of the running module in `run.modules` within the block."""
    handles = []

    def entering(name: str) -> Any:
        return lambda module, given: run.modules.append(name)

    def leaving(module: Any, given: Any, result: Any) -> None:
        run.modules.pop()

    if isinstance(model, Module):
        for name, module in model.named_modules():
            handles += [
                module.register_forward_pre_hook(entering(name)),
                module.register_forward_hook(leaving),
            ]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _interface(
    inputs: Inputs,
    runs: Sequence[Recorder],
    outputs: list[Any],
    output_names: Sequence[str] | None,
    dynamic_axes: Any,
    merged: Merged,
) -> Interface:
    given = list(output_names or [])
    if len(given) > len(outputs):
        raise ValueError(
            f"torch.onnx.export: output_names has {len(given)} names {given} for {len(outputs)} outputs"
        )

    automatic = ["output"] if len(outputs) == 1 else [f"output_{i}" for i in range(len(outputs))]

    values = dict(enumerate(inputs.names.values()))  # inputs are the first values of a run
    dimensions: dict[tuple[int, ...], str] = {}
    for value, index in enumerate(inputs.names):
        for axis, name in inputs.dynamic.get(index, {}).items():
            dimensions[tuple(run.facts[value].shape[axis] for run in runs)] = name

    labels = {
        name: axes
        for name, axes in (dynamic_axes or {}).items()
        if isinstance(axes, Mapping) and name in given
    }

    return Interface(values, outputs, given + automatic[len(given) :], dimensions, labels)
