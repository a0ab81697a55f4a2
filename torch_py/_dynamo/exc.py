"""What can go wrong while a program is captured, and where a graph ends."""

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
        problem = f"{type(inner_exception).__name__}: {inner_exception}"
        super().__init__(f"backend={self.backend_name!r} raised:\n{problem}")


class TorchRuntimeError(TorchDynamoException):
    """A call of the program fails with the shapes and dtypes that it gets."""


class InvalidBackend(TorchDynamoException):
    """No backend is registered under a name."""

    def __init__(self, name: str) -> None:
        hint = "see `torch._dynamo.list_backends()` for available backends."
        super().__init__(f"Invalid backend: {name!r}, {hint}")


class ResetRequired(TorchDynamoException):
    """`torch._dynamo.reset()` has to be called first."""


class TensorifyScalarRestartAnalysis(TorchDynamoException):
    """Only caught by programs; never raised."""


class Break(BaseException):
    """Raised by handlers. `what` the program does, `why` that ends a graph, and a `hint` on how to avoid it.

    The interpreter notes the frames that it leaves, innermost first, in `frames`. A BaseException, so that
    `except Exception` of interpreted programs does not catch it.
    """

    def __init__(self, what: str, why: str, hint: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.why = why
        self.hint = hint
        self.frames: list[Any] = []
        self.made_at: tuple[int, int] | None = None  # a place before which the graph can end instead

    @property
    def reason(self) -> str:
        return f"{self.what}: {self.why}"


class RefusedForStandIns(BaseException):
    """Raised from what an operator raises for the numbers that stand for sizes that vary, which tells nothing
    about other sizes: the capture is void. A BaseException, so that the program does not handle it.
    """


def data_dependent(what: str) -> Break:
    why = "the value of a tensor is not known while the graph is captured"
    hint = "keep the computation in tensors (torch.where, masks), or do this outside of the compiled function"
    return Break(what, why, hint)


def unsupported_call(name: str, why: str = "it is not known what the call does", hint: str = "") -> Break:
    return Break(f"call of {name}", why, hint or "move the call out of the compiled function")


__getattr__ = _lacking(__name__)
