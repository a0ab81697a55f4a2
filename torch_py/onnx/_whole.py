"""Composite operators that are recorded whole, since there is a rule for the whole."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from torch_py._dispatch_keys import DispatchKey, DispatchKeySet
from torch_py._generated.lowerings import READS
from torch_py._ops import OpOverload, ops
from torch_py.onnx._recording import Recorder
from torch_py.onnx._registry import DECOMPOSITIONS, RULES
from torch_py.utils._python_dispatch import _get_current_dispatch_mode, _pop_mode, _push_mode


@functools.cache
def keep_whole() -> None:
    """Gives each operator with a rule that is made of others a kernel at the key Python.

    The kernel hands the call to a recorder. Everybody else sees what the operator is made of, as before.
    """
    for key in (*RULES, *DECOMPOSITIONS, *READS):
        name, _, only = key.partition(".")
        for operator in (*overloads(name), *overloads(f"{name}_")):
            is_meant = not only or operator._overloadname == only
            if is_meant and operator.has_kernel_for_dispatch_key(DispatchKey.Python):
                operator._set_python_kernel(DispatchKey.Python, _kernel(operator), True)


@functools.cache
def overloads(name: str) -> tuple[OpOverload, ...]:
    """The overloads of an operator; none for a name that no operator has."""
    packet = None if name.startswith("__") else getattr(ops.aten, name, None)
    return () if packet is None else tuple(getattr(packet, overload) for overload in packet.overloads())


def _kernel(operator: OpOverload) -> Callable[..., Any]:
    def kernel(keys: int, *args: Any, **kwargs: Any) -> Any:
        mode = _get_current_dispatch_mode()
        if not isinstance(mode, Recorder) or mode.reads(operator, args, kwargs):
            below = DispatchKeySet(keys).remove(DispatchKey.Python)
            return operator.redispatch(below, *args, **kwargs)

        _pop_mode()
        try:
            return mode.__torch_dispatch__(operator, (), args, kwargs)
        finally:
            _push_mode(mode)

    return kernel
