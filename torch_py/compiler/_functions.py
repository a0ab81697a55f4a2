"""`torch.compile` of functions: arguments are checked, and the function runs as it is."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from torch_py._notices import say_once

NOTICE = "torch.compile: torch_py has no compiler yet; the function runs eagerly"
_MODES = (None, "default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs")


def check(mode: Any, options: Any, backend: Any) -> None:
    """Raises RuntimeError for settings that PyTorch's compiler does not take."""
    if mode is not None and options is not None:
        raise RuntimeError(
            f"torch.compile: expected either mode or options, got mode={mode!r} and options={options!r}"
        )
    if mode not in _MODES:
        raise RuntimeError(f"torch.compile: expected a mode, one of {_MODES}, got {mode!r}")
    if not isinstance(backend, str) and not callable(backend):
        raise RuntimeError(
            f"torch.compile: expected the name of a backend or a function as backend, got {backend!r}"
        )


def compile_function(
    function: Callable[..., Any],
    *,
    backend: Any = "inductor",
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    disable: bool = False,
    **ignored: Any,
) -> Callable[..., Any]:
    """A function with the behaviour of `function`; itself if `disable` is true."""
    check(mode, options, backend)
    if disable:
        return function

    if backend != "eager":
        say_once(NOTICE)
    return same(function)


def same(function: Callable[..., Any]) -> Callable[..., Any]:
    """Another function with the same behaviour: programs set attributes on
    what they compiled, and read the original one."""
    if isinstance(function, type):
        return function

    @functools.wraps(function)
    def compiled(*arguments: Any, **keywords: Any) -> Any:
        return function(*arguments, **keywords)

    compiled._torchdynamo_orig_callable = function  # type: ignore[attr-defined]
    return compiled
