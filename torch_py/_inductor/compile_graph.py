"""One graph of operators as a program: all stages, and what the log and the folder of a graph get."""

from __future__ import annotations

from torch_py import _logging
from torch_py._inductor import config
from torch_py._inductor.assemble import Assembly
from torch_py._inductor.common import merge_common
from torch_py._inductor.compile_cpp import CompilerError, NoCompilerError
from torch_py._inductor.nests import Nest
from torch_py._inductor.stages import CompiledGraph, plan, source_of
from torch_py._inductor.symbols import symbols_of
from torch_py._logging import artifacts
from torch_py._notices import say_once
from torch_py._torch_function import DisableTorchFunctionSubclass
from torch_py.fx.graph_module import GraphModule

_log = _logging.topic("inductor")


def compile_graph(module: GraphModule) -> CompiledGraph:
    """Like `compile_fx_inner`, with all stages, and without the cache of programs."""
    compiled = CompiledGraph(module)
    with DisableTorchFunctionSubclass():  # fake tensors are asked for many facts
        with artifacts.timed("common subexpressions"):
            merge_common(module)
        try:
            _compile(compiled, loops=not config.fallback_by_default)
        except NoCompilerError as problem:
            say_once(f"torch.compile calls operators one by one: {problem}")
            _compile(compiled, loops=False)
    if config.max_autotune or config.max_autotune_pointwise:
        with artifacts.timed("races"):
            compiled = _raced(compiled)
    _describe(compiled)
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
        # Imported here: most graphs have sizes that do not vary.
        from torch_py._inductor.varying import compile_varying

        compile_varying(compiled, loops)
        return

    plan(compiled, loops)
    assembly = Assembly(compiled.graph, compiled.schedule, compiled.named)
    compiled.link(source_of(compiled.kernels), assembly.description)


def _describe(compiled: CompiledGraph) -> None:
    """What a graph has become."""
    artifacts.artifact("ir_pre_fusion", "loops.txt", lambda: compiled.loops)
    artifacts.artifact("ir_post_fusion", "nests.txt", lambda: _nests(compiled))
    artifacts.artifact("kernel_code", "kernels.cpp", lambda: compiled.source or "// no kernels")
    artifacts.write("program.txt", compiled.program.debug)

    count = len(compiled.kernels)
    calls = sum(not isinstance(entry, Nest) for entry in compiled.schedule)
    nodes = len(compiled.module.graph.nodes)
    _log.info("a graph of %d nodes: %d kernels, %d calls and views", nodes, count, calls)


def _nests(compiled: CompiledGraph) -> str:
    """Loops that are shared, with calls and views between them."""
    return "\n".join(str(entry) for entry in compiled.schedule)


__all__ = ["CompiledGraph", "CompilerError", "compile_graph"]
