"""How compiled functions run: `torch.compiler.set_stance`."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from typing import Any

from torch_py._C import _compiler
from torch_py.compiler._marks import check_callable

STANCES = (
    "default",
    "eager_then_compile",
    "aot_eager_then_compile",
    "force_eager",
    "eager_on_recompile",
    "fail_on_recompile",
)


class _Current:
    stance = "default"
    backend: Any = None


current = _Current()


def _apply(stance: str, backend: Any) -> None:
    current.stance = stance
    current.backend = backend
    _compiler.set_eager_calls(stance == "force_eager")


class set_stance(contextlib.ContextDecorator):  # noqa: N801  # PyTorch's name
    """How compiled functions run from now on; as a context manager or decorator, only inside.

    Args:
        stance: "default"; "force_eager" runs the functions themselves; "eager_on_recompile" does where no
            compiled code fits, and "fail_on_recompile" raises RuntimeError there; "eager_then_compile" runs
            the first call of each function itself.
        force_backend: a backend to be used in place of those of the functions, for new code.

    Raises RuntimeError for an unknown stance, or for `force_backend` with a stance that compiles nothing.
    """

    def __init__(
        self, stance: str = "default", *, skip_guard_eval_unsafe: bool = False, force_backend: Any = None
    ) -> None:
        if stance not in STANCES:
            raise RuntimeError(f"set_stance: expected a stance, one of {STANCES}, got {stance!r}")
        if force_backend is not None and stance != "default":
            raise RuntimeError("set_stance: force_backend goes with the stance 'default' only")
        self._before = (current.stance, current.backend)
        self._asked = (stance, force_backend)
        _apply(*self._asked)

    def __call__(self, func: Callable[..., Any]) -> Callable[..., Any]:
        _apply(*self._before)
        check_callable(func, "set_stance")
        stance, backend = self._asked

        @functools.wraps(func)
        def inside(*args: Any, **kwargs: Any) -> Any:
            with set_stance(stance, force_backend=backend):
                return func(*args, **kwargs)

        return inside

    def __enter__(self) -> None:
        _apply(*self._asked)

    def __exit__(self, *exception: object) -> None:
        _apply(*self._before)
