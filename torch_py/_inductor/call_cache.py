"""Compiled calls on disk, by the captured graphs that they were compiled from.

A call is what ahead-of-time autograd makes of a captured graph: how arguments and results go in and out, and
one program, or two if there is a backward, which are entries of their own (graph_cache.py). A process that
finds a call records no backward and splits no graph.

The key covers the graph of torch functions, the geometry of the arguments, what they share and whether they
require gradients, the state of the thread, the settings, and the files of the library. Graphs are not kept
that call functions of programs, contain tensors, or have sizes that vary.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

from torch_py import _C, _logging
from torch_py._functorch.aot.runtime.calls import flat_call
from torch_py._functorch.aot.runtime.parts import Parts
from torch_py._inductor import config, graph_cache
from torch_py._inductor.compile_cpp import NoCompilerError
from torch_py._inductor.entries import read_entry, write_entry
from torch_py._inductor.graph_cache import known_program
from torch_py._inductor.keys import key_of_parts, text_of
from torch_py._inductor.program_json import NotWrittenError
from torch_py._ops import OpOverload, has_python_kernels
from torch_py._tensor import Tensor
from torch_py.fx.graph_module import GraphModule
from torch_py.fx.node import Node
from torch_py.nn.parameter import Parameter

log = _logging.topic("cache")

# Topics that show graphs which only ahead-of-time autograd has.
_STAGES = ("aot_graphs", "aot_joint_graph")


class Notes:
    """What is noted about a call while it is compiled: its parts, and the keys of its programs."""

    def __init__(self) -> None:
        self.parts: Parts | None = None
        self.keys: list[str] = []

    def note_parts(self, parts: Parts) -> None:
        self.parts = parts


def call_of(module: GraphModule, inputs: Sequence[Any], compile: Callable[[Notes], Any]) -> Any:
    """The call of a captured graph: from the cache, or what `compile` makes of the graph."""
    key = key_of(module, inputs) if _is_used() else None
    notes = Notes()
    if key is None:
        return compile(notes)

    found = _read(key)
    log.info("%s of the call %s", "miss" if found is None else "hit", key)
    if found is not None:
        return found

    call = compile(notes)
    _write(key, notes)
    return call


def _is_used() -> bool:
    passes = (
        config.joint_custom_pre_pass,
        config.joint_custom_post_pass,
        config.post_grad_custom_pre_pass,
        config.post_grad_custom_post_pass,
    )
    if any(change is not None for change in passes) or has_python_kernels():
        return False
    return graph_cache.is_used() and not any(map(_logging.is_on, _STAGES))


# Keys
# ------------------------------------------------------------


def key_of(module: GraphModule, inputs: Sequence[Any]) -> str | None:
    """What stands for a call; None for one that is not kept."""
    if "sizes" in module.meta:
        return None
    try:
        state = str(_C._compiler.thread_state())
        return key_of_parts("call", state, _graph_text(module), _Arguments().text(inputs))
    except (NotWrittenError, NoCompilerError):
        return None


def _graph_text(module: GraphModule) -> str:
    lines = []
    for node in module.graph.nodes:
        target = _target_text(node)
        lines.append(f"{node.name}: {node.op} {target} {text_of(node.args)} {text_of(node.kwargs)}")
    return "\n".join(lines)


def _target_text(node: Node) -> str:
    target: Any = node.target
    if node.op in ("placeholder", "output"):
        return ""
    if node.op == "call_method":
        return str(target)
    if node.op != "call_function":
        raise NotWrittenError(node.op)  # of attributes of the module

    if isinstance(target, OpOverload) and target.namespace == "aten":
        return f"aten.{target._entry_name}"
    if isinstance(target, FunctionType):
        return _name_of_function(target)
    name = getattr(target, "__name__", "")
    for place in _PLACES:
        if name and getattr(place, name, None) is target:
            return f"{place.__name__}.{name}"
    raise NotWrittenError(str(target))


# Where functions of C are found by their names.
_PLACES: tuple[Any, ...] = (
    _C._torch, _C._nn, _C._linalg, _C._special, _C._fft, Tensor, sys.modules["_operator"],
    sys.modules["builtins"], _C,
)  # fmt: skip


def _name_of_function(function: FunctionType) -> str:
    """Of a function of the library, where it is found; others may change from one process to the next."""
    module = function.__module__
    if module.partition(".")[0] not in ("torch_py", "torch"):  # as_torch has other names for modules
        raise NotWrittenError(f"{module}.{function.__qualname__}")

    found: Any = sys.modules.get(module)
    for name in function.__qualname__.split("."):
        found = getattr(found, name, None)
    if found is not function:
        raise NotWrittenError(f"{module}.{function.__qualname__}")
    return f"{module}.{function.__qualname__}"


class _Arguments:
    """Describes arguments, with numbers for tensors and memory that they share."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}

    def text(self, arguments: Sequence[Any]) -> str:
        return "\n".join(map(self._text, arguments))

    def _text(self, value: Any) -> str:
        if not isinstance(value, Tensor):
            return text_of(value)
        if type(value) not in (Tensor, Parameter) or value.layout is not _C.strided:
            raise NotWrittenError(f"a {type(value).__name__} of layout {value.layout}")
        if not value._is_view():
            return self._facts(value)
        return f"{self._facts(value)} of {self._facts(value._base)}"

    def _facts(self, tensor: Any) -> str:
        storage = tensor.untyped_storage()
        geometry = f"{tensor.dtype} {tuple(tensor.shape)} {tensor.stride()} {tensor.storage_offset()}"
        memory = f"{tensor.device} {storage.nbytes()} {self._number(storage._cdata)}"
        is_changed = not tensor.is_inference() and tensor._version > 0
        autograd = f"{tensor.requires_grad} {tensor.is_leaf} {tensor.is_inference()} {is_changed}"
        bits = f"{tensor.is_conj()} {tensor.is_neg()} {_C._level_of(tensor)}"
        identity = f"{type(tensor).__name__} {self._number(id(tensor))}"
        return f"{identity} {geometry} {memory} {autograd} {bits}"

    def _number(self, identity: int) -> int:
        return self._numbers.setdefault(identity, len(self._numbers))


# Entries
# ------------------------------------------------------------


def _read(key: str) -> Any:
    def call(entry: tuple[list[str], Parts]) -> Any:
        keys, parts = entry
        programs = [known_program(one) for one in keys]
        return None if None in programs else flat_call(parts.call(*programs))

    return read_entry(key, ".call", call)


def _write(key: str, notes: Notes) -> None:
    parts = notes.parts
    if parts is not None and len(notes.keys) == (1 if parts.training is None else 2):
        write_entry(key, ".call", (notes.keys, parts))
