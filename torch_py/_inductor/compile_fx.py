"""The backend "inductor": graphs become programs of compiled loops and called operators."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch_py._inductor import config
from torch_py._inductor.graph_cache import Notes, call_of, program_of
from torch_py._inductor.options import checked_options, options_of_mode
from torch_py._logging import artifacts
from torch_py.fx.graph_module import GraphModule
from torch_py.utils._python_dispatch import is_in_torch_dispatch_mode


def compile_fx_inner(
    module: GraphModule,
    example_inputs: Sequence[Any] = (),
    note: Callable[[str], None] | None = None,
    **options: Any,
) -> Any:
    """A callable that computes what a functional graph of operators computes.

    Every node has a fake tensor in ``meta["val"]``. The callable takes the tensors of the placeholders and
    returns a list. `note` is called with the key under which the cache has the program.
    """

    return program_of(module, note)


def compile_fx(
    module: Any,
    example_inputs: Sequence[Any],
    inner_compile: Callable[..., Any] | None = None,
    mode: str | None = None,
    options: Mapping[str, Any] | None = None,
    **others: Any,
) -> Callable[..., Any]:
    """The back end "inductor" of torch.compile: forward and backward of a graph of torch functions as
    compiled programs.

    Args:
        inner_compile: compiles each of the two graphs, as `compile_fx_inner` does.
        mode: a set of options, see `torch._inductor.list_mode_options`.
        options: settings of `torch._inductor.config` for this graph.

    Raises RuntimeError for an unknown mode or option.
    """

    def compile(notes: Notes) -> Callable[..., Any]:
        # Imported here: a process that finds its calls in the cache compiles nothing.
        from torch_py._inductor.compile_call import compile_call

        inner = inner_compile or functools.partial(compile_fx_inner, note=notes.keys.append)
        return compile_call(module, example_inputs, inner, notes.note_parts)

    def compile_backward(graph: GraphModule, inputs: Sequence[Any]) -> Any:
        """Compiles a backward graph later, with the settings of the call."""
        # Imported here, as in `compile`.
        from torch_py._inductor.compile_call import part_compiler

        return part_compiler("backward", compile_fx_inner, all_settings)(graph, inputs)

    settings = {**options_of_mode(mode), **checked_options(options or {})}
    if is_in_torch_dispatch_mode(include_infra_modes=False):
        return module  # type: ignore[no-any-return]  # whose operators the mode sees

    with config.patch(settings), artifacts.compilation("graph"):
        if config.trace.enabled:
            artifacts.switch_on(config.trace.debug_dir)
        all_settings = config.shallow_copy_dict()
        run_pass(config.pre_grad_custom_pass, module)
        with artifacts.timed("ahead-of-time autograd"):
            if inner_compile is not None:
                return compile(Notes())
            return call_of(module, example_inputs, compile, compile_backward)


def run_pass(change: Callable[[Any], Any] | None, module: Any) -> None:
    """Calls a function of the user's on the graph of a module."""
    if change is not None and isinstance(module, GraphModule):
        change(module.graph)
        module.recompile()


__all__ = ["compile_fx", "compile_fx_inner"]
