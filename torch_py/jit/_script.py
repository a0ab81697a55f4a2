"""`script`: modules and functions that run as Python, and have a graph where they can have one."""

from __future__ import annotations

import copy
import inspect
from typing import Any

from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py.jit._modules import RecursiveScriptModule, ScriptFunction, ScriptModule, TopLevelTracedModule
from torch_py.jit._modules import plain_tensors as _plain_tensors
from torch_py.nn.modules.module import Module


def script(
    obj: Any, optimize: Any = None, _frames_up: int = 0, _rcb: Any = None, example_inputs: Any = None
) -> Any:
    """Returns a ScriptModule or ScriptFunction that does what `obj`, a module or function, does.

    Nothing is compiled: the Python code runs, control flow on values included. `graph`, `code` and `save`
    record the code symbolically, in the mode that the module then has; code that branches on values has no
    graph and cannot be saved, and the error names the line. Classes are returned as they are.

    Raises RuntimeError for objects that are neither.
    """
    if isinstance(obj, (ScriptModule, ScriptFunction)) or inspect.isclass(obj):
        return obj
    if isinstance(obj, Module):
        return RecursiveScriptModule(obj)
    if inspect.isfunction(obj) or inspect.ismethod(obj) or inspect.isbuiltin(obj):
        return obj if getattr(obj, "_torchscript_ignored", False) else ScriptFunction(obj)
    if isinstance(obj, (dict, list)):
        return obj
    raise RuntimeError(
        f"torch.jit.script: expected a Module, a function or a class, got {type(obj).__name__}"
    )


def freeze(
    mod: ScriptModule, preserved_attrs: list[str] | None = None, optimize_numerics: bool = True
) -> ScriptModule:
    """A copy of a scripted or traced module without parameters and buffers: they are constants of it.

    Raises RuntimeError if the module is in training mode, or is not a ScriptModule.
    """
    if not isinstance(mod, ScriptModule):
        raise RuntimeError(
            "Freezing expects a ScriptModule as input. Please use torch.jit.script or "
            "torch.jit.trace to script "
            "your 'nn.Module'."
        )
    if mod.training:
        raise RuntimeError(
            "Freezing is currently only implemented for modules in eval mode. Please call .eval() on "
            "your module "
            "before freezing."
        )

    if isinstance(mod, TopLevelTracedModule):
        return TopLevelTracedModule(_frozen_programs(mod), mod.original_name)
    original = copy.deepcopy(mod._original)
    _plain_tensors(original)
    return RecursiveScriptModule(original)


def _frozen_programs(mod: TopLevelTracedModule) -> dict[str, Any]:
    # Imported here: the kinds are needed for this alone.
    from torch_py.export.graph_signature import InputKind

    programs = copy.deepcopy(mod.current_programs())
    for program in programs.values():
        program._constants.update({name: tensor.detach() for name, tensor in program._state_dict.items()})
        program._state_dict.clear()
        for spec in program.graph_signature.input_specs:
            if spec.kind in (InputKind.PARAMETER, InputKind.BUFFER):
                spec.kind = InputKind.CONSTANT_TENSOR
                spec.persistent = None
    return programs


def optimize_for_inference(mod: ScriptModule, other_methods: list[str] | None = None) -> ScriptModule:
    """A frozen copy for evaluation, in which batch normalization is part of the layer before it where the
    module can be recorded symbolically."""
    if isinstance(mod, RecursiveScriptModule) and not mod.training:
        # Imported on first use, as few programs need it.
        from torch_py.fx.experimental.optimization import fuse

        try:
            mod = RecursiveScriptModule(fuse(copy.deepcopy(mod._original)))
        except Exception:  # it cannot be recorded: whatever the code does with a value that is not there
            pass
    return freeze(mod.eval()) if isinstance(mod, ScriptModule) else mod


def run_frozen_optimizations(
    mod: Any, optimize_numerics: bool = True, preserved_methods: list[str] | None = None
) -> None:
    """Has no effect: `optimize_for_inference` returns what is optimized."""


__getattr__ = _lacking(__name__)
