"""`torch.compile`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from torch_py.compiler._functions import check, compile_function
from torch_py.compiler._optimized_module import OptimizedModule
from torch_py.nn.modules.module import Module


def compile(
    model: Callable[..., Any] | None = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: Any = "inductor",
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    disable: bool = False,
) -> Any:
    """`model`, a function or a Module, compiled when it is called; also a decorator.

    The operators that a call runs are captured as graphs, and `backend` compiles these: the name of one (see
    `torch.compiler.list_backends`), or a function of a GraphModule and example inputs that returns a
    function. Later calls run the compiled code if the arguments, and all else that the program has read, are
    such that it does the same; if not, they are compiled anew. What cannot be captured runs as usual.

    Args:
        fullgraph: raise `torch._dynamo.exc.Unsupported` where the program cannot be captured as one graph
        dynamic: whether sizes are variables of the compiled code: never (False), from the start (True), or
            once they have changed (None)
        mode: a set of options of the backend "inductor": "default" or None, "max-autotune", which measures
            kernels against the operators that they replace, "max-autotune-no-cudagraphs", "reduce-overhead",
            "lite"; `torch._inductor.list_mode_options` tells them
        options: options of the backend by name; for "inductor" settings of `torch._inductor.config`, see
            `torch._inductor.list_options`. Excludes `mode`
        disable: return `model` as it is
        A Module comes back wrapped, and the keys of its state dict begin with `_orig_mod.`. Raises
            RuntimeError
        for a bad `mode`, option or `backend`
        @torch.compile
        def scaled(x, factor): return torch.sin(x) * factor

    Example:
        >>> @torch.compile(backend="eager")
        ... def double(x):
        ...     return x * 2
        >>> double(torch.tensor([1.0, 2.0]))
        tensor([2., 4.])
    """
    check(mode, options, backend)
    settings: dict[str, Any] = {
        "fullgraph": fullgraph,
        "dynamic": dynamic,
        "backend": backend,
        "mode": mode,
        "options": options,
    }
    if model is None:
        return functools.partial(compile, disable=disable, **settings)
    if not callable(model):
        raise RuntimeError(
            f"torch.compile: expected a function or a Module as model, got {type(model).__name__}"
        )

    if disable:
        return model
    if isinstance(model, Module):
        return OptimizedModule(model, functools.partial(compile_function, **settings))
    return compile_function(model, **settings)
