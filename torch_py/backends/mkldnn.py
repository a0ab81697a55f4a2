"""The mkldnn layout, and switches of oneDNN, which have no effect: this build does not use the library."""

from __future__ import annotations

import contextlib
import sys
import warnings
from types import TracebackType

from torch_py.backends._switches import switched

enabled = True
deterministic = False
allow_tf32 = True
fp32_precision = "none"

VERBOSE_OFF = 0
VERBOSE_ON = 1
VERBOSE_ON_CREATION = 2


def is_available() -> bool:
    """True: tensors can have the layout ``torch._mkldnn``. Its kernels are those of torch_py."""
    return True


class verbose:
    """A block in which oneDNN would print its calls. As nothing calls it, nothing is printed; a level other
    than ``VERBOSE_OFF`` warns of that."""

    def __init__(self, level: int) -> None:
        self.level = level

    def __enter__(self) -> verbose | None:
        if self.level == VERBOSE_OFF:
            return None
        warnings.warn("torch.backends.mkldnn.verbose: torch_py does not use oneDNN", stacklevel=2)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        return False


def flags(
    enabled: bool | None = False,
    deterministic: bool | None = False,
    allow_tf32: bool | None = True,
    fp32_precision: str | None = "none",
) -> contextlib.AbstractContextManager[None]:
    """Switches inside a block."""
    return switched(sys.modules[__name__], dict(locals()))
