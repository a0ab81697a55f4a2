"""What can go wrong while a program is captured."""

from __future__ import annotations

from typing import Any

from torch_py._pytorch_names.packages import lacking as _lacking


class TorchDynamoException(RuntimeError):
    """The base of the errors of the compiler."""


class InternalTorchDynamoError(TorchDynamoException):
    """A mistake of the compiler itself."""


class Unsupported(TorchDynamoException):
    """``fullgraph=True``, and the program does something that cannot be in a graph."""

    def __init__(self, msg: str, *, case_name: str | None = None, real_stack: Any = None) -> None:
        super().__init__(msg)
        self.msg = msg
        self.case_name = case_name
        self.real_stack = real_stack


class UserError(Unsupported):
    """The program asks the compiler for something that does not exist."""


class RecompileError(TorchDynamoException):
    """A call needs new code, and the settings forbid it."""


class FailOnRecompileLimitHit(RecompileError):
    """``config.fail_on_recompile_limit_hit``, and a function has reached its limit of pieces of code."""


class RecompileLimitExceeded(FailOnRecompileLimitHit):
    """As FailOnRecompileLimitHit, with ``fullgraph=True``."""


class BackendCompilerFailed(TorchDynamoException):
    """A backend raised an exception, which is the cause of this one."""

    def __init__(self, backend_fn: Any, inner_exception: Exception, *unused: Any) -> None:
        self.backend_name = getattr(backend_fn, "__name__", "?")
        self.backend = backend_fn
        self.inner_exception = inner_exception
        super().__init__(
            f"backend={self.backend_name!r} raised:\n{type(inner_exception).__name__}: {inner_exception}"
        )


class TorchRuntimeError(TorchDynamoException):
    """A call of the program fails with the shapes and dtypes that it gets."""


class InvalidBackend(TorchDynamoException):
    """No backend is registered under a name."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"Invalid backend: {name!r}, see `torch._dynamo.list_backends()` for available backends."
        )


class ResetRequired(TorchDynamoException):
    """`torch._dynamo.reset()` has to be called first."""


class TensorifyScalarRestartAnalysis(TorchDynamoException):
    """Only caught by programs; never raised."""


__getattr__ = _lacking(__name__)
