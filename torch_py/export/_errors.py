"""What `torch.export` raises for programs that it cannot export."""

from __future__ import annotations

from torch_py._dynamo.exc import UserError


class ExportError(UserError):  # type: ignore[misc]
    """A program, or what was said about its inputs, does not allow an export. The message says where."""

    def __init__(self, message: str) -> None:
        RuntimeError.__init__(self, message)
