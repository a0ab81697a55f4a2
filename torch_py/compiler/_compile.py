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
    """Returns a function or Module that is compiled when it is called; also a decorator.

    A call captures the operators that it runs as graphs, which `backend` compiles. Later calls run the
    compiled code if it is valid for their arguments and for everything else that the program reads; otherwise
    the function is compiled again. What cannot be captured runs as usual. A Module is returned wrapped, and
    the keys of its state dict begin with `_orig_mod.`.

    Args:
        model: a function or a Module; default None, which returns a decorator
        fullgraph: raise `torch._dynamo.exc.Unsupported` where the program cannot be captured as one graph
        dynamic: whether sizes are variables of the compiled code: never (False), from the start (True), or
            once they have changed (None)
        backend: the name of a backend (`torch.compiler.list_backends` returns them), or a function of a
            GraphModule and example inputs that returns a function; default "inductor"
        mode: a set of options of the backend "inductor": "default" or None, "max-autotune", which measures
            kernels against the operators that they replace, "max-autotune-no-cudagraphs", "reduce-overhead"
            or "lite"; `torch._inductor.list_mode_options` shows the options of each
        options: options of the backend by name, without a `mode`; for "inductor", settings of
            `torch._inductor.config`, which `torch._inductor.list_options` lists
        disable: whether to return `model` unchanged; default False

    Raises:
        RuntimeError: for an unknown `mode`, option or `backend`
        AssertionError: unless `dynamic` is a bool or None, and `model` callable

    Example:
        >>> @torch.compile(backend="eager")
        ... def double(x):
        ...     return x * 2
        >>> double(torch.tensor([1.0, 2.0]))
        tensor([2., 4.])
    """
    check(mode, options, backend, dynamic)
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
        raise AssertionError(
            f"torch.compile: expected a function or a Module as model, got {type(model).__name__}"
        )

    if disable:
        return model
    if isinstance(model, Module):
        return OptimizedModule(model, functools.partial(compile_function, **settings))
    return compile_function(model, **settings)


def optimize(
    backend: Any = "inductor", *, nopython: bool = False, disable: bool = False, dynamic: bool | None = None
) -> Callable[[Any], Any]:
    """The older form of `torch.compile`: returns a decorator. `nopython` is `fullgraph`."""
    decorator = compile(backend=backend, fullgraph=nopython, disable=disable, dynamic=dynamic)
    return decorator  # type: ignore[no-any-return]
