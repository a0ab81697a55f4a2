"""All stages from a graph of operators to a program, and what the log and the folder of a graph get."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch_py import _logging
from torch_py._C._compiler import Program
from torch_py._inductor import config
from torch_py._inductor.arrange import arrange, settle
from torch_py._inductor.assemble import Assembly
from torch_py._inductor.compile_call import merge_common
from torch_py._inductor.compile_cpp import NoCompilerError, compile_library, includes
from torch_py._inductor.fuse import fuse
from torch_py._inductor.inline import inline, readers
from torch_py._inductor.loops import Entry, Kernel, LoopGraph, Nest
from torch_py._inductor.lower import lower
from torch_py._inductor.options import checks_stages
from torch_py._inductor.print_cpp import print_nest
from torch_py._inductor.print_expr import identifier
from torch_py._logging import artifacts
from torch_py._notices import say_once
from torch_py._records import Fields
from torch_py._shapes.formulas import Symbol, symbols_in
from torch_py._torch_function import DisableTorchFunctionSubclass
from torch_py.fx.graph_module import GraphModule

_log = _logging.topic("inductor")


class CompiledGraph(Fields):
    """A program with all stages of its making. A call takes the tensors of the graph."""

    module: GraphModule
    called: frozenset[str] = frozenset()  # the names of nodes that are called whatever their rules say
    part: str = ""  # "forward", "backward" or "inference", where that is known
    graph: Any = None  # the loop graph
    loops: str = ""
    schedule: list[Entry] = []
    kernels: list[Kernel] = []
    source: str = ""
    library: str | None = None  # the path of the compiled source
    description: tuple[Any, ...] = ()  # of the program
    program: Any = None

    def __call__(self, *tensors: Any) -> Any:
        return self.program(*tensors)

    def link(self, source: str, describe: Callable[[str | None], tuple[Any, ...]]) -> None:
        """Compiles the text of the kernels, and makes the program: `describe` gives its description from the
        path of the library.
        """
        self.part = artifacts.current_part()
        self.source = source
        self.library = compile_library(source) if source else None
        with artifacts.timed("assemble"):
            self.description = describe(self.library)
            self.program = Program(*self.description)


def plan(compiled: CompiledGraph, loops: bool) -> None:
    """All stages up to the texts of the kernels."""
    with artifacts.timed("lower"):
        graph = compiled.graph = lower(compiled.module, loops, compiled.called)
    _check(graph, graph.statements)
    with artifacts.timed("inline"):
        inline(graph)
    _check(graph, graph.statements)
    compiled.loops = str(graph)

    with artifacts.timed("fuse"):
        schedule = compiled.schedule = fuse(graph)
    with artifacts.timed("arrange"):
        _arrange(graph, schedule)
        settle(schedule, graph.returned)
    _check(graph, schedule)
    with artifacts.timed("print"):
        _print_kernels(compiled)


def _check(graph: LoopGraph, schedule: Sequence[Entry]) -> None:
    """Compares a stage with what the next one expects, if the user asks for it."""
    if checks_stages():
        # Imported here: few programs check the compiler.
        from torch_py._inductor.spec import check

        check(graph, schedule)


def _arrange(graph: LoopGraph, schedule: list[Entry]) -> None:
    reads = readers(schedule)
    for entry in schedule:
        if isinstance(entry, Nest):
            others = {m for m in entry.makes() if any(e is not entry for e in reads.get(m, ()))}
            arrange(entry, graph.returned | others)


def _print_kernels(compiled: CompiledGraph) -> None:
    """Prints the nests. Equal ones share a function."""
    known: dict[str, Kernel] = {}
    for entry in compiled.schedule:
        if isinstance(entry, Nest):
            kernel = entry.kernel = print_nest(entry, f"{identifier(entry.name)}_{len(known)}")
            kernel.name = known.setdefault(kernel.key, kernel).name
    compiled.kernels = list(known.values())


def source_of(kernels: Sequence[Kernel], texts: Sequence[str] | None = None) -> str:
    """A file of kernels, with other texts than their own if these are given; nothing without any."""
    if not kernels:
        return ""
    text = "\n\n".join(texts or [kernel.text for kernel in kernels])
    return f"#include <cstdint>\n\n{includes(text)}\n{text}\n"


def compile_graph(module: GraphModule) -> CompiledGraph:
    """Like `compile_fx_inner`, with all stages, and without the cache of programs."""
    with DisableTorchFunctionSubclass():  # fake tensors are asked for many facts
        with artifacts.timed("common subexpressions"):
            merge_common(module)
        try:
            compiled = variant(module, None if config.fallback_by_default else frozenset())
        except NoCompilerError as problem:
            say_once(f"torch.compile calls operators one by one: {problem}")
            compiled = variant(module, None)
    if config.max_autotune or config.max_autotune_pointwise:
        # Imported here: most compilations do without it.
        from torch_py._inductor.race import fastest

        with artifacts.timed("races"):
            compiled = fastest(compiled)
    _describe(compiled)
    return compiled


def variant(module: GraphModule, called: frozenset[str] | None) -> CompiledGraph:
    """The graph with calls of these nodes, or of all."""
    compiled = CompiledGraph(module, called or frozenset())
    loops = called is not None
    if symbols_of(module):
        # Imported here: most graphs have sizes that do not vary.
        from torch_py._inductor.varying import compile_varying

        compile_varying(compiled, loops)
    else:
        plan(compiled, loops)
        assembly = Assembly(compiled.graph, compiled.schedule)
        compiled.link(source_of(compiled.kernels), assembly.description)
    return compiled


def _describe(compiled: CompiledGraph) -> None:
    """What a graph has become."""
    artifacts.artifact("ir_pre_fusion", "loops.txt", lambda: compiled.loops)
    artifacts.artifact("ir_post_fusion", "nests.txt", lambda: "\n".join(map(str, compiled.schedule)))
    artifacts.artifact("kernel_code", "kernels.cpp", lambda: compiled.source or "// no kernels")
    artifacts.write("program.txt", compiled.program.debug)

    count = len(compiled.kernels)
    calls = sum(not isinstance(entry, Nest) for entry in compiled.schedule)
    nodes = len(compiled.module.graph.nodes)
    _log.info("a graph of %d nodes: %d kernels, %d calls and views", nodes, count, calls)


def symbols_of(module: GraphModule) -> list[Symbol]:
    """The symbols that the sizes of a graph's inputs depend on, in an order in which they may grow."""
    found: set[Symbol] = set()
    for node in module.graph.find_nodes(op="placeholder"):
        for term in (node.meta["val"], *node.meta.get("sizes", ()), *node.meta.get("strides", ())):
            found |= symbols_in(term)
    return sorted(found, key=lambda symbol: (symbol.rank, symbol.name))
