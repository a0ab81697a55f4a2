"""Does in one step what `Module.__getattr__` and `Module.__call__` do, which every layer of a model calls.

They read the same places as the methods, so the guards are the same. A module for which there is more to do,
such as one with hooks, is left to the interpreter.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from torch_py._dynamo import attributes
from torch_py._dynamo.journal import ABSENT
from torch_py.nn.modules._calls import ModuleCalls
from torch_py.nn.modules.module import _REGISTRIES, Module

if TYPE_CHECKING:
    from torch_py._dynamo.capture import Capture

GETATTR: Any = Module.__getattr__
CALL: Any = ModuleCalls.__call__

_HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


def registered(capture: Capture, module: Any, name: str) -> Any:
    """``Module.__getattr__(module, name)``: a parameter, buffer or submodule.

    ABSENT if the module has no such name, or if it takes an interpreter to find out.
    """
    fields = attributes.load(capture, module, "__dict__")
    for registry in _REGISTRIES:
        entries = capture.read_key(fields, registry)
        if entries is ABSENT:
            continue
        if type(entries) not in (dict, OrderedDict):
            return ABSENT
        value = capture.read_key(entries, name)
        if value is not ABSENT:
            return value
    return ABSENT


def calls_forward(capture: Capture, module: Any) -> bool:
    """Whether a call of a module calls its `forward` and nothing else."""
    namespace = CALL.__globals__
    capture.fixed(namespace, "G")
    if capture.truth(capture.read_key(namespace, "_everywhere")):
        return False

    fields = attributes.load(capture, module, "__dict__")
    for hooks in _HOOKS:
        found = capture.read_key(fields, hooks)
        if found is ABSENT or capture.truth(found):
            return False
    return capture.read_key(fields, "_compiled_call_impl") is ABSENT
