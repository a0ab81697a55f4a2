"""What fake tensors cannot do."""

from __future__ import annotations

from typing import Any


class FakeTensorError(RuntimeError):
    """Raised for fake tensors only: a call with tensors of their kind would do something else."""


class UnsupportedFakeTensorException(FakeTensorError):
    """A fake tensor cannot stand for the given tensor."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class UnsupportedOperatorException(FakeTensorError):
    """An operator that has no rule for the shapes of its results."""

    def __init__(self, func: Any) -> None:
        super().__init__(func)
        self.func = func


class DynamicOutputShapeException(FakeTensorError):
    """The shape of a result follows from elements, which a fake tensor does not have."""

    def __init__(self, func: Any) -> None:
        super().__init__(func)
        self.func = func


class DataDependentOutputException(FakeTensorError):
    """A result that is not a tensor follows from elements, which a fake tensor does not have."""

    def __init__(self, func: Any) -> None:
        super().__init__(func)
        self.func = func


class FakeTensorDeviceMismatchError(FakeTensorError):
    """The tensors of a call are on several devices."""

    def __init__(self, func: Any, first: Any, second: Any) -> None:
        super().__init__(
            f"Unhandled FakeTensor Device Propagation for {func}, "
            f"found two different devices {first}, {second}"
        )
        self.func = func
