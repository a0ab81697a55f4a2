"""The base of activations that may overwrite their input."""

from __future__ import annotations

from torch_py.nn.modules.module import Module


class _InPlace(Module):
    """An activation whose only setting is whether it overwrites its input."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""
