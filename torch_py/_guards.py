"""What compilers know about the program that they are compiling."""

from __future__ import annotations

from typing import Any

from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch_py.utils._python_dispatch import _get_current_dispatch_mode_stack
from torch_py.utils._pytree import tree_leaves


def detect_fake_mode(inputs: Any = None) -> Any:
    """The FakeTensorMode of this thread and of the fake tensors among `inputs`; None without one.

    Raises AssertionError if there are several.
    """
    found = [
        (mode, "active fake mode")
        for mode in reversed(_get_current_dispatch_mode_stack())
        if isinstance(mode, FakeTensorMode)
    ]
    found += [
        (leaf.fake_mode, f"fake tensor input {position}")
        for position, leaf in enumerate(tree_leaves(inputs))
        if isinstance(leaf, FakeTensor)
    ]
    if not found:
        return None

    mode, source = found[0]
    for other, place in found[1:]:
        if other is not mode:
            raise AssertionError(
                f"fake mode ({mode}) from {source} doesn't match mode ({other}) from {place}"
            )
    return mode


def active_fake_mode() -> Any:
    """The innermost FakeTensorMode of this thread; None outside of all."""
    modes = reversed(_get_current_dispatch_mode_stack())
    return next((mode for mode in modes if isinstance(mode, FakeTensorMode)), None)


__getattr__ = _lacking(__name__)
