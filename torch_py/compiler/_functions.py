"""`torch.compile` of functions, for modules below the compiler, too."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Mapping
from typing import Any

from torch_py._inductor.options import checked_options, options_of_mode

_WITHOUT_OPTIONS = ("eager", "aot_eager", "aot_eager_decomp_partition")


def check(mode: Any, options: Any, backend: Any, dynamic: Any = None) -> None:
    """Raises RuntimeError or AssertionError for settings that the compiler does not take."""
    if dynamic is not None and not isinstance(dynamic, bool):
        raise AssertionError(f"torch.compile: expected True, False or None as dynamic, got {dynamic!r}")

    if options is not None and not isinstance(options, Mapping):
        raise RuntimeError(f"torch.compile: expected a dict as options, got {options!r}")
    if mode is not None and options is not None:
        raise RuntimeError(
            "Either mode or options can be specified, but both can't be specified at the same time."
        )

    if backend == "inductor":
        options_of_mode(mode)
        checked_options(options or {})
    if not isinstance(backend, str) and not callable(backend):
        raise RuntimeError(
            f"torch.compile: expected the name of a backend or a function as backend, got {backend!r}"
        )


def compile_function(
    function: Callable[..., Any],
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: Any = "inductor",
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    disable: bool = False,
) -> Any:
    """The compiled form of a function or of any other callable but a class."""
    check(mode, options, backend, dynamic)
    if disable or isinstance(function, type):
        return function

    given = {"mode": None if mode == "default" else mode, "options": options}
    given = {name: value for name, value in given.items() if value}
    if given and backend in _WITHOUT_OPTIONS:
        warnings.warn(f"torch.compile: backend {backend!r} takes no {' or '.join(given)}", stacklevel=3)
        given = {}

    # By its name: programs that compile nothing do without the compiler, which is above all that it compiles.
    entry = importlib.import_module("torch_py._dynamo.entry")
    return entry.compile_callable(function, backend, fullgraph, dynamic, given)
