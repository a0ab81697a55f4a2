"""Where a compilation fails, or what it has compiled: the function runs eagerly, or the exception leaves."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from inspect import BoundArguments
from types import FunctionType
from typing import Any

from torch_py._dynamo import config, logs
from torch_py._dynamo.backends.registry import name_of
from torch_py._dynamo.decode import names_in_signature, signature_of
from torch_py._dynamo.exc import BackendCompilerFailed, Break, InternalTorchDynamoError, TorchDynamoException
from torch_py._records import Fields
from torch_py._thread_state import ThreadState, blocks_of_autocast


def is_suppressed(error: Exception) -> bool:
    """Whether a function whose compilation has failed runs eagerly."""
    return can_run_eagerly(error.backend) if isinstance(error, BackendCompilerFailed) else can_run_eagerly()


def can_run_eagerly(backend: Any = None) -> bool:
    """Whether a function runs eagerly where the compiler, or a graph that the backend has compiled, raises.

    Errors in backends of the program are its own.
    """
    if config.suppress_errors is not None:
        return config.suppress_errors
    return backend is None or name_of(backend) is not None


def warn(function: FunctionType, error: Exception, why: str = "as the compiler failed:") -> None:
    if isinstance(error, BackendCompilerFailed):
        why += f" backend {error.backend_name!r} raised"
        error = error.inner_exception
    text = f"torch.compile: {function.__qualname__} runs eagerly, {why} {_headline(error)}"
    warnings.warn(text, stacklevel=4)


def _headline(error: BaseException) -> str:
    first = str(error).partition("\n")[0]
    return f"{type(error).__name__}: {first}" if first else type(error).__name__


def exception_of_capture(error: BaseException) -> Break:
    """Why a call runs eagerly after an exception, perhaps the program's own, has ended its capture."""
    why = "the capture raises it, so the function runs eagerly and can raise it itself"
    return Break(_headline(error), why)


def left_by_graph(before: ThreadState) -> Callable[[], None]:
    """What sets the switches of the thread back where a graph has ended early. It does not count blocks."""
    return lambda: before.restore(blocks_of_autocast())


class Eagerly(Fields):
    """Runs a function whose graph has raised an exception, or has shown that an assertion fails (`again`).

    Nothing has been changed by then. The function raises the exception itself, where its handlers see it; if
    none is seen, a warning says so once.
    """

    function: FunctionType
    before: ThreadState
    has_warned: bool = False

    def __call__(self, error: Exception, *values: Any) -> Any:
        if isinstance(error, TorchDynamoException):
            try:
                raise error
            finally:
                del error  # which its traceback refers to
        logs.raised(self.function.__name__, error)
        error = error.with_traceback(None)  # its frames would keep the arguments alive
        result = self.again(*values)
        if not self.has_warned:
            self.has_warned = True
            warn(self.function, error, "as its graph raised")
        return result

    def again(self, *values: Any) -> Any:
        left_by_graph(self.before)()
        return call_bound(self.function, values)


def call_bound(function: FunctionType, values: tuple[Any, ...]) -> Any:
    """Calls a function with the values of its parameters in the order in which they are bound."""
    code = function.__code__
    bound = BoundArguments(signature_of(code), dict(zip(names_in_signature(code), values)))
    return function(*bound.args, **bound.kwargs)


def has_to_raise(function: FunctionType, error: BaseException) -> Any:
    """For tests: the function itself, which has to raise an exception, as its capture did."""

    def checked(*values: Any) -> Any:
        call_bound(function, values)
        what = f"the capture of {function.__qualname__} raised {type(error).__name__}: {error}"
        raise InternalTorchDynamoError(what) from error

    return checked
