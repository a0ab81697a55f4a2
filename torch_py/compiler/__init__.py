"""`torch.compile` and the functions around it. torch_py has no compiler yet:
functions run as they are, and a warning says so once."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from torch_py._C import from_numpy
from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py._tensor import Tensor
from torch_py.compiler._compile import compile as compile
from torch_py.compiler._optimized_module import OptimizedModule as OptimizedModule
from torch_py.utils._pytree import tree_map

__all__ = [
    "allow_in_graph",
    "assume_constant_result",
    "compile",
    "cudagraph_mark_step_begin",
    "disable",
    "is_compiling",
    "is_dynamo_compiling",
    "is_exporting",
    "keep_portable_guards_unsafe",
    "list_backends",
    "reset",
    "set_stance",
    "skip_guard_on_inbuilt_nn_modules_unsafe",
    "substitute_in_graph",
    "wrap_numpy",
]

Function = TypeVar("Function", bound=Callable[..., Any])
_STANCES = (
    "default",
    "eager_then_compile",
    "aot_eager_then_compile",
    "force_eager",
    "eager_on_recompile",
    "fail_on_recompile",
)


def is_compiling() -> bool:
    """Always False: nothing is compiled."""
    return False


def is_dynamo_compiling() -> bool:
    return False


def is_exporting() -> bool:
    return False


def reset() -> None:
    """Does nothing: no compiled code is kept."""


def cudagraph_mark_step_begin() -> None:
    """Does nothing: this build has no CUDA graphs."""


def list_backends(exclude_tags: Any = ("debug", "experimental")) -> list[str]:
    return ["eager"]


def allow_in_graph(fn: Any) -> Any:
    """Returns `fn`, a function or a list of functions, as every function runs as it is."""
    return fn


def assume_constant_result(fn: Function) -> Function:
    return fn


def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """Keeps a function out of compilation, as a decorator with or without arguments: returns it as it is."""
    return (lambda function: function) if fn is None else fn


def wrap_numpy(fn: Function) -> Callable[..., Any]:
    """`fn` of NumPy arrays as a function of tensors; results have no gradient."""

    def wrapped(*arguments: Any, **keywords: Any) -> Any:
        given = tree_map(
            lambda value: value.numpy() if isinstance(value, Tensor) else value, (arguments, keywords)
        )
        return tree_map(
            lambda value: from_numpy(value) if type(value).__name__ == "ndarray" else value,
            fn(*given[0], **given[1]),
        )

    return wrapped


def substitute_in_graph(original_fn: Any, **options: Any) -> Callable[[Function], Function]:
    """Decorator that replaces `original_fn` in compiled code; returns the replacement unchanged."""
    return lambda function: function


def keep_portable_guards_unsafe(guards: Any) -> list[bool]:
    return [True for _ in guards]


def skip_guard_on_inbuilt_nn_modules_unsafe(guards: Any) -> list[bool]:
    return [True for _ in guards]


class set_stance(contextlib.ContextDecorator):
    """How compiled functions run: a function call, a block or a decorator.

    Every stance runs them as they are.

    Raises RuntimeError for an unknown `stance`.
    """

    def __init__(
        self, stance: str = "default", *, skip_guard_eval_unsafe: bool = False, force_backend: Any = None
    ) -> None:
        if stance not in _STANCES:
            raise RuntimeError(f"set_stance: expected a stance, one of {_STANCES}, got {stance!r}")

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        pass


@contextlib.contextmanager
def _patch_engine_backward() -> Iterator[None]:
    yield


__getattr__ = _lacking(__name__, __path__)
