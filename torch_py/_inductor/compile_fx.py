"""The back end "inductor": graphs become programs of compiled loops and called operators."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch_py._functorch.aot import aot_module_simplified, default_partition
from torch_py._inductor import spec
from torch_py._inductor.arrange import arrange
from torch_py._inductor.assemble import Assembly
from torch_py._inductor.compile_cpp import CompilerError, NoCompilerError, compile_library
from torch_py._inductor.fuse import Entry, fuse, read_of
from torch_py._inductor.headers import includes
from torch_py._inductor.inline import inline
from torch_py._inductor.ir import Buffer, LoopGraph
from torch_py._inductor.lowering import lower
from torch_py._inductor.nests import Nest
from torch_py._inductor.print_cpp import Kernel, print_nest
from torch_py._inductor.program import Program
from torch_py._notices import say_once
from torch_py.fx.graph_module import GraphModule


class CompiledGraph:
    """A program with all stages of its making. A call takes the tensors of the graph."""

    __slots__ = ("graph", "kernels", "loops", "module", "program", "schedule", "source")

    def __init__(self, module: GraphModule) -> None:
        self.module = module
        self.loops = ""
        self.graph: LoopGraph
        self.schedule: list[Entry] = []
        self.kernels: list[Kernel] = []
        self.source = ""
        self.program: Program

    def __call__(self, *tensors: Any) -> Any:
        return self.function(*tensors)

    @property
    def function(self) -> Callable[..., Any]:
        """The program, or a function around it if some results of the graph are None or numbers."""
        others = [(n, output) for n, output in enumerate(self.graph.outputs) if not isinstance(output, Buffer)]
        return _with_others(self.program, others) if others else self.program


def _with_others(program: Program, others: Sequence[tuple[int, Any]]) -> Callable[..., Any]:
    """A function that returns what a program does, and other values at some places."""

    def function(*tensors: Any) -> list[Any]:
        results = list(program(*tensors))
        for number, value in others:
            results.insert(number, value)
        return results

    return function


def compile_fx_inner(module: GraphModule, example_inputs: Sequence[Any] = (), **options: Any) -> Any:
    """A callable that computes what a functional graph of operators computes.

    Every node has a fake tensor in ``meta["val"]``. The callable takes the tensors of the placeholders and
    returns a list.
    """
    return compile_graph(module).function


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

    Raises RuntimeError for an unknown mode.
    """
    if mode not in (None, "default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs"):
        raise RuntimeError(
            f"Unrecognized mode={mode}, should be one of: default, reduce-overhead, "
            "max-autotune, max-autotune-no-cudagraphs"
        )
    inner = inner_compile or compile_fx_inner
    return aot_module_simplified(
        module, list(example_inputs), fw_compiler=inner, bw_compiler=inner, partition_fn=default_partition
    )


def compile_graph(module: GraphModule) -> CompiledGraph:
    """Like compile_fx_inner, with all stages."""
    compiled = CompiledGraph(module)
    try:
        _compile(compiled, loops=True)
    except NoCompilerError as problem:
        say_once(f"torch.compile calls operators one by one: {problem}")
        _compile(compiled, loops=False)
    return compiled


def _compile(compiled: CompiledGraph, loops: bool) -> None:
    named = plan(compiled, loops)
    compiled.source = source_of(compiled.kernels)
    library = compile_library(compiled.source) if compiled.source else None
    compiled.program = Assembly(compiled.graph, compiled.schedule, named).program(library)


def plan(compiled: CompiledGraph, loops: bool) -> dict[int, tuple[Kernel, str]]:
    """All stages up to the texts of the kernels. Returns the kernel of each nest, by its id, and its name."""
    checked = spec.is_wanted()
    compiled.kernels = []
    graph = compiled.graph = lower(compiled.module, loops)
    if checked:
        spec.check_graph(graph)
    inline(graph)
    if checked:
        spec.check_graph(graph)
    compiled.loops = str(graph)
    schedule = compiled.schedule = fuse(graph)
    _arrange(graph, schedule)
    if checked:
        spec.check_schedule(graph, schedule)
    return _kernels(compiled)


def _arrange(graph: LoopGraph, schedule: list[Entry]) -> None:
    outputs = {b.memory for b in graph.outputs if isinstance(b, Buffer)}
    reads: dict[Buffer, list[Entry]] = {}
    for entry in schedule:
        for memory in read_of(entry):
            reads.setdefault(memory, []).append(entry)
    for entry in schedule:
        if isinstance(entry, Nest):
            others = {m for m in entry.makes() if any(e is not entry for e in reads.get(m, ()))}
            arrange(entry, outputs | others)


def _kernels(compiled: CompiledGraph) -> dict[int, tuple[Kernel, str]]:
    """Prints the nests. Equal ones share a function."""
    found: dict[int, tuple[Kernel, str]] = {}
    names: dict[str, str] = {}
    for entry in compiled.schedule:
        if isinstance(entry, Nest):
            kernel = print_nest(entry, f"{entry.name}_{len(compiled.kernels)}")
            if kernel.key not in names:
                names[kernel.key] = kernel.name
                compiled.kernels.append(kernel)
            found[id(entry)] = (kernel, names[kernel.key])
    return found


def source_of(kernels: Sequence[Kernel], texts: Sequence[str] | None = None) -> str:
    """A file of kernels, with other texts than their own if these are given; nothing without any."""
    if not kernels:
        return ""
    text = "\n\n".join(texts or [kernel.text for kernel in kernels])
    words = set().union(*(kernel.words for kernel in kernels))
    return f"#include <cstdint>\n\n{includes(words, text)}\n{text}\n"


__all__ = ["CompiledGraph", "CompilerError", "compile_fx_inner", "compile_graph"]
