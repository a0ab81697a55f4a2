"""The backend "inductor": graphs become programs of compiled loops and called operators."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch_py._functorch.aot import aot_module_simplified, min_cut_rematerialization_partition
from torch_py._functorch.aot.in_place import write_in_place
from torch_py._inductor import config, describe
from torch_py._inductor.assemble import Assembly
from torch_py._inductor.common import merge_common
from torch_py._inductor.compile_cpp import CompilerError, NoCompilerError, compile_library
from torch_py._inductor.graph_cache import program_of
from torch_py._inductor.options import checked_options, options_of_mode
from torch_py._inductor.program import Program
from torch_py._inductor.stages import CompiledGraph, plan, source_of
from torch_py._inductor.varying import compile_varying, symbols_of
from torch_py._logging import artifacts
from torch_py._notices import say_once
from torch_py.fx.graph_module import GraphModule


def compile_fx_inner(module: GraphModule, example_inputs: Sequence[Any] = (), **options: Any) -> Any:
    """A callable that computes what a functional graph of operators computes.

    Every node has a fake tensor in ``meta["val"]``. The callable takes the tensors of the placeholders and
    returns a list.
    """
    return program_of(module, compile_graph)


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
    inner = inner_compile or compile_fx_inner
    settings = {**options_of_mode(mode), **checked_options(options or {})}

    with config.patch(settings), artifacts.compilation("graph"):
        if config.trace.enabled:
            artifacts.switch_on(config.trace.debug_dir)
        run_pass(config.pre_grad_custom_pass, module)
        with artifacts.timed("ahead-of-time autograd"):
            return aot_module_simplified(
                module,
                list(example_inputs),
                fw_compiler=_part("forward", inner),
                bw_compiler=_part("backward", inner),
                inference_compiler=_part("inference", inner),
                partition_fn=_partition,
                keep_inference_input_mutations=True,
            )


def _part(name: str, inner: Callable[..., Any]) -> Callable[..., Any]:
    """A compiler of one of the graphs, which are named where stages are shown."""

    def compile(module: GraphModule, example_inputs: Sequence[Any]) -> Any:
        with artifacts.part(name), artifacts.timed("other"):
            run_pass(config.post_grad_custom_pre_pass, module)
            run_pass(config.post_grad_custom_post_pass, module)
            write_in_place(module)
            describe.operators(module, example_inputs)
            return inner(module, example_inputs)

    return compile


def _partition(joint_module: GraphModule, joint_inputs: Any, **options: Any) -> Any:
    run_pass(config.joint_custom_pre_pass, joint_module)
    merge_common(joint_module)
    run_pass(config.joint_custom_post_pass, joint_module)
    describe.joint(joint_module, joint_inputs)
    with artifacts.timed("partition"):
        return min_cut_rematerialization_partition(joint_module, joint_inputs, **options)


def run_pass(change: Callable[[Any], Any] | None, module: Any) -> None:
    """Calls a function of the user's on the graph of a module."""
    if change is not None and isinstance(module, GraphModule):
        change(module.graph)
        module.recompile()


def compile_graph(module: GraphModule) -> CompiledGraph:
    """Like compile_fx_inner, with all stages."""
    with artifacts.timed("common subexpressions"):
        merge_common(module)

    compiled = CompiledGraph(module)
    try:
        _compile(compiled, loops=not config.fallback_by_default)
    except NoCompilerError as problem:
        say_once(f"torch.compile calls operators one by one: {problem}")
        _compile(compiled, loops=False)
    if config.max_autotune or config.max_autotune_pointwise:
        with artifacts.timed("races"):
            compiled = _raced(compiled)
    describe.stages(compiled)
    return compiled


def _raced(compiled: CompiledGraph) -> CompiledGraph:
    # Imported here: most compilations do without it.
    from torch_py._inductor.race import fastest

    return fastest(compiled, lambda names: _variant(compiled.module, names))


def _variant(module: GraphModule, called: frozenset[str] | None) -> CompiledGraph:
    """The graph with calls of these nodes, or of all."""
    compiled = CompiledGraph(module, called or frozenset())
    _compile(compiled, loops=called is not None)
    return compiled


def _compile(compiled: CompiledGraph, loops: bool) -> None:
    if symbols_of(compiled.module):
        compile_varying(compiled, loops)
        return
    named = plan(compiled, loops)
    compiled.source = source_of(compiled.kernels)
    compiled.library = compile_library(compiled.source) if compiled.source else None
    with artifacts.timed("assemble"):
        assembly = Assembly(compiled.graph, compiled.schedule, named)
        compiled.description = assembly.description(compiled.library)
        compiled.program = Program(*compiled.description)


__all__ = ["CompiledGraph", "CompilerError", "compile_fx", "compile_fx_inner", "compile_graph"]
