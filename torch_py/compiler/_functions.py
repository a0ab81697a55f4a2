"""`torch.compile` of functions, for modules below the compiler, too."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

from torch_py._inductor.options import checked_options, options_of_mode


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


def compile_function(function: Callable[..., Any], *, disable: bool = False, **settings: Any) -> Any:
    """The compiled form of a function or of any other callable but a class."""
    backend = settings.get("backend", "inductor")
    check(settings.get("mode"), settings.get("options"), backend, settings.get("dynamic"))
    if disable or isinstance(function, type):
        return function

    # By its name: programs that compile nothing do without the compiler, which is above all that it compiles.
    entry = importlib.import_module("torch_py._dynamo.entry")
    return entry.compile_callable(function, **settings)
