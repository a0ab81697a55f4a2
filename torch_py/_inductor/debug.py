"""Shows what the compiler has made of a program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch_py._functorch.aot import aot_function
from torch_py._inductor.compile_fx import compile_graph
from torch_py._inductor.nests import Nest
from torch_py._inductor.stages import CompiledGraph


def stages(compiled: CompiledGraph) -> str:
    """All stages of a compiled graph as text: operators, loops, nests, kernels, and the program's steps."""
    parts = {
        "operator graph": _code(compiled.module),
        "loop graph": compiled.loops,
        "nests": "\n".join(str(entry) for entry in compiled.schedule if isinstance(entry, Nest)),
        "kernels": compiled.source or "none; every operator is called",
        "program": compiled.program.debug(),
    }
    return "\n\n".join(f"=== {title} ===\n{text.strip()}" for title, text in parts.items())


def _code(module: Any) -> str:
    return str(module.print_readable(print_output=False))


def compiled_graphs(function: Callable[..., Any], *args: Any) -> list[CompiledGraph]:
    """Compiles a function for arguments, and its backward if they require gradients; calls it once."""
    found: list[CompiledGraph] = []

    def compiler(module: Any, example_inputs: Any) -> Any:
        found.append(compile_graph(module))
        return found[-1].program

    aot_function(function, fw_compiler=compiler, bw_compiler=compiler)(*args)
    return found


def show(function: Callable[..., Any], *args: Any) -> None:
    """Prints how the compiler turns a function of tensors into kernels: the graph of operators, the loop
    graph, nests of loops, C++, and the steps of the program.

    Args:
        function: a function of tensors.
        args: tensors to call it with. If one requires a gradient, backward is shown, too.

    Raises whatever the function raises for the arguments.

        torch._inductor.debug.show(lambda x, y: torch.relu(x + y), torch.ones(4), torch.ones(4))
    """
    graphs = compiled_graphs(getattr(function, "_torchdynamo_orig_callable", function), *args)
    for number, compiled in enumerate(graphs):
        title = "" if len(graphs) == 1 else f"{('forward', 'backward')[number]}\n\n"
        print(f"{title}{stages(compiled)}\n")


__all__ = ["compiled_graphs", "show", "stages"]
