"""`trace` and `trace_module`: from an example call to a recorded module or function."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import torch_py
from torch_py._tensor import Tensor
from torch_py.export._errors import ExportError
from torch_py.export._export import export_call
from torch_py.export._user_code import innermost_line
from torch_py.export.dynamic_shapes import Dim, ShapesCollection
from torch_py.export.exported_program import ExportedProgram
from torch_py.jit._modules import ScriptFunction, ScriptModule, TopLevelTracedModule
from torch_py.jit._state import tracing
from torch_py.nn.modules.module import Module
from torch_py.utils._pytree import tree_leaves


class TracerWarning(Warning):
    """A warning that tracing has made a value a constant, or that a trace may be wrong."""


class TracingCheckError(Exception):
    """A trace gives other results than the program."""


def trace(
    func: Any,
    example_inputs: Any = None,
    optimize: Any = None,
    check_trace: bool = True,
    check_inputs: Any = None,
    check_tolerance: float = 1e-5,
    strict: bool = True,
    _force_outplace: bool = False,
    _module_class: Any = None,
    _compilation_unit: Any = None,
    example_kwarg_inputs: dict[str, Any] | None = None,
    _store_inputs: bool = True,
) -> Any:
    """Records the operators of an example call, as a module or function without the Python code.

    Sizes of the inputs may differ from those of the example in all dimensions for which the recorded
    operators are the same; the program is called several times to find out. Everything else that Python
    decides is fixed: branches on values of tensors (a TracerWarning says so), numbers, the mode.

    Args:
        func: a Module or a function of tensors.
        example_inputs: a tensor, or a tuple of the positional arguments; example_kwarg_inputs those by name.
        check_trace: runs the trace and the program on the example and `check_inputs`, a list of such, and
            warns where results differ by more than `check_tolerance`.

    Raises TypeError if `func` cannot be called, and RuntimeError if a result is not made of tensors and
    plain containers.

        traced = torch.jit.trace(model, torch.ones(1, 3))
        traced.save("model.pt")
    """
    if func is None or not callable(func):
        raise TypeError(
            f"torch.jit.trace: expected a function or a Module as func, got {type(func).__name__}"
        )
    if isinstance(func, (ScriptModule, ScriptFunction)):
        return func
    if example_inputs is None and example_kwarg_inputs is None:
        raise RuntimeError("example_kwarg_inputs should be a dict")

    args = _as_arguments(example_inputs)
    kwargs = dict(example_kwarg_inputs or {})
    module = func if isinstance(func, Module) else _Function(func)
    program = _traced(module, args, kwargs)
    name = type(func).__name__ if isinstance(func, Module) else getattr(func, "__name__", "function")
    traced = TopLevelTracedModule({"forward": program}, name)

    if check_trace:
        for inputs in [args, *map(_as_arguments, check_inputs or ())]:
            _check(module, traced, inputs, kwargs, check_tolerance)
    return traced if isinstance(func, Module) else ScriptFunction(func, traced)


def trace_module(
    mod: Module,
    inputs: dict[str, Any],
    optimize: Any = None,
    check_trace: bool = True,
    check_inputs: Any = None,
    check_tolerance: float = 1e-5,
    strict: bool = True,
    _force_outplace: bool = False,
    _module_class: Any = None,
    _compilation_unit: Any = None,
    example_inputs_is_kwarg: bool = False,
    _store_inputs: bool = True,
) -> TopLevelTracedModule:
    """Like `trace` for several methods of a module: `inputs` are the example arguments by method.

    Raises AttributeError for a method that the module does not have, and RuntimeError if `inputs` is not a
    dict.
    """
    if not isinstance(mod, Module):
        raise AttributeError("expected torch.nn.Module as the first argument")
    if not isinstance(inputs, dict):
        raise AttributeError("expected a dictionary of (method_name, input) pairs")

    programs = {}
    for method, example in inputs.items():
        args, kwargs = ((), dict(example)) if example_inputs_is_kwarg else (_as_arguments(example), {})
        called = mod if method == "forward" else _Method(mod, method)
        programs[method] = _traced(called, args, kwargs)
    traced = TopLevelTracedModule(programs, type(mod).__name__)

    if check_trace and "forward" in inputs and not example_inputs_is_kwarg:
        _check(mod, traced, _as_arguments(inputs["forward"]), {}, check_tolerance)
    return traced


class _Function(Module):
    """A function as a module."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        vars(self)["function"] = function
        self.forward = function


class _Method(Module):
    """A module whose `forward` is another one of its methods."""

    def __init__(self, module: Module, method: str) -> None:
        super().__init__()
        for registry in ("_parameters", "_buffers", "_modules", "_non_persistent_buffers_set"):
            vars(self)[registry] = vars(module)[registry]
        vars(self)["training"] = module.training
        self.forward = getattr(module, method)


def _as_arguments(example: Any) -> tuple[Any, ...]:
    """The positional arguments that an example means: a tuple or list of them, or a single one."""
    if example is None:
        return ()
    return tuple(example) if isinstance(example, (tuple, list)) else (example,)


def _traced(module: Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> ExportedProgram:
    shapes = ShapesCollection()
    for leaf in tree_leaves((args, kwargs)):
        if isinstance(leaf, Tensor) and leaf.dim():
            shapes[leaf] = dict.fromkeys(range(leaf.dim()), Dim.AUTO)

    warned: set[str] = set()

    def meet(what: str, stack: str) -> None:
        line = innermost_line(stack)
        if line not in warned:
            warned.add(line)
            warnings.warn(
                f"Asking for {what} might cause the trace to be incorrect. We can't record the data flow of "
                "Python values, so this value will be treated as a constant in the future. This means that "
                f"the trace might not generalize to other inputs!{line}",
                TracerWarning,
                stacklevel=2,
            )

    try:
        with tracing():
            return export_call(module, args, kwargs, shapes, meet=meet)
    except ExportError as error:
        raise RuntimeError(str(error).replace("torch.export", "torch.jit.trace")) from error


def _check(
    module: Module, traced: TopLevelTracedModule, args: Any, kwargs: dict[str, Any], tolerance: float
) -> None:
    """Warns if the trace gives other results than the program."""
    # Imported here: few programs compare states otherwise.
    import copy

    states = [copy.deepcopy(dict(one.named_buffers(remove_duplicate=False))) for one in (module,)]
    results = []
    for run in (module, traced):
        with torch_py.random.fork_rng(devices=[]), torch_py.no_grad():
            results.append(run(*_copies(args), **_copies(kwargs)))
        for name, before in states[0].items():
            dict(module.named_buffers(remove_duplicate=False))[name].data.copy_(before)

    expected, found = map(tree_leaves, results)
    for number, (one, other) in enumerate(zip(expected, found)):
        if isinstance(one, Tensor) and not torch_py.allclose(
            one.double() if not one.is_complex() else one,
            other.double() if not other.is_complex() else other,
            rtol=tolerance,
            atol=tolerance,
            equal_nan=True,
        ):
            warnings.warn(
                f"Output nr {number + 1}. of the traced function does not match the corresponding "
                f"output of the "
                "Python function: the program may be random, or may depend on values that are constants of "
                "the trace.",
                TracerWarning,
                stacklevel=3,
            )


def _copies(tree: Any) -> Any:
    return torch_py.utils._pytree.tree_map(
        lambda leaf: leaf.detach().clone() if isinstance(leaf, Tensor) else leaf, tree
    )
