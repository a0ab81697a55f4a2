"""Shows what the compiler has made of a program."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from torch_py._inductor.compile_call import readable
from torch_py._inductor.compile_fx import compile_fx
from torch_py._inductor.loops import Nest
from torch_py._inductor.stages import CompiledGraph, compile_graph
from torch_py.compiler._functions import compile_function


def stages(compiled: CompiledGraph) -> str:
    """All stages of a compiled graph as text: operators, loops, nests, kernels, and the program's steps."""
    parts = {
        "operator graph": readable(compiled.module),
        "loop graph": compiled.loops,
        "nests": "\n".join(str(entry) for entry in compiled.schedule if isinstance(entry, Nest)),
        "kernels": compiled.source or "none; every operator is called",
        "program": compiled.program.debug(),
    }
    return "\n\n".join(f"=== {title} ===\n{text.strip()}" for title, text in parts.items())


def compiled_graphs(function: Callable[..., Any], *args: Any, **kwargs: Any) -> list[CompiledGraph]:
    """Calls a function under `torch.compile`, and returns what its graphs were compiled to, in order."""
    found: list[CompiledGraph] = []

    def compiler(module: Any, example_inputs: Any) -> Any:
        found.append(compile_graph(module))
        return found[-1].program

    compile_function(function, backend=partial(compile_fx, inner_compile=compiler))(*args, **kwargs)
    return found


def show(function: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """Prints how `torch.compile` turns a function into kernels: for each graph the operators, the loop
    graph, nests of loops, C++, and the steps of the program.

    Args:
        function: what `torch.compile` takes; it is called once.
        args, kwargs: arguments to call it with. If a tensor requires a gradient, backward is shown, too.

    Raises whatever the function raises for the arguments.

        torch._inductor.debug.show(lambda x, y: torch.relu(x + y), torch.ones(4), torch.ones(4))
    """
    graphs = compiled_graphs(function, *args, **kwargs)
    for number, compiled in enumerate(graphs):
        title = "" if len(graphs) == 1 else f"graph {number}: {compiled.part}\n\n"
        print(f"{title}{stages(compiled)}\n")


__all__ = ["compiled_graphs", "show", "stages"]
