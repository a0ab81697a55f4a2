"""The end of a graph: the program does something that cannot be captured."""

from __future__ import annotations

from typing import Any


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
    """An operator raises `error` for the numbers that stand for sizes that vary, which tells nothing about
    other sizes: the capture is void. A BaseException, so that the program does not handle it.
    """

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


def data_dependent(what: str) -> Break:
    return Break(
        what,
        "the value of a tensor is not known while the graph is captured",
        "keep the computation in tensors (torch.where, masks), or do this outside of the compiled function",
    )


def unsupported_call(name: str, why: str = "it is not known what the call does", hint: str = "") -> Break:
    return Break(f"call of {name}", why, hint or "move the call out of the compiled function")
