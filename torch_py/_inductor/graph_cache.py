"""Programs on disk, by the graphs that they were compiled from.

The key covers the graph with the shapes of all values, and formulas of those that vary, the settings, the
C++ compiler, and the files that make programs. An entry has the description of a program and the key of its
library, which is an entry of its own (cache.py); one that is damaged, or whose library is gone, is made anew.
Graphs with functions that are not operators are not kept.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from pathlib import Path
from typing import Any

from torch_py import _logging
from torch_py._C._compiler import Program
from torch_py._functorch.aot.forms import Form
from torch_py._functorch.aot.traced import BACKWARD
from torch_py._inductor import config
from torch_py._inductor.cache import Cache
from torch_py._inductor.compile_cpp import NoCompilerError
from torch_py._inductor.entries import read_entry, write_entry
from torch_py._inductor.keys import key_of_parts, text_of
from torch_py._inductor.options import checks_stages
from torch_py._inductor.program_json import NotWrittenError
from torch_py._logging import artifacts
from torch_py._ops import OpOverload
from torch_py._shapes.formulas import OPERATIONS
from torch_py._tensor import Tensor
from torch_py._torch_function import DisableTorchFunctionSubclass
from torch_py.fx.graph_module import GraphModule
from torch_py.fx.node import Node

log = _logging.topic("cache")

# Topics that show stages, which only a compilation has.
_STAGES = ("ir_pre_fusion", "ir_post_fusion", "kernel_code", "inductor", "autotuning")


def program_of(
    module: GraphModule, compile: Callable[[GraphModule], Any], note: Callable[[str], None] | None = None
) -> Any:
    """The program of a graph: from the cache, or that of what `compile` makes of the graph.

    `note` is called with the key of a program that `known_program` finds.
    """
    key = key_of(module) if is_used() else None
    if key is None:
        return compile(module).program

    constants = [_constant(module, node) for node in module.graph.nodes if node.op == "get_attr"]
    if note is not None and not constants:
        note(key)
    found = _read(key, constants)
    log.info("%s of the graph %s", "miss" if found is None else "hit", key)
    if found is not None:
        return found

    compiled = compile(module)
    _write(key, compiled.description)
    return compiled.program


def known_program(key: str) -> Program | None:
    """The program with a key, of a graph without constants; None if it is not in the cache."""
    return _read(key, [])


def is_used() -> bool:
    """Whether programs are read from the cache: not if the user wants to see or check how they are made."""
    if config.force_disable_caches or not config.fx_graph_cache:
        return False
    if config.max_autotune or config.max_autotune_pointwise or checks_stages():
        return False
    return not artifacts.is_written() and not any(map(_logging.is_on, _STAGES))


def _constant(module: GraphModule, node: Node) -> Any:
    return operator.attrgetter(str(node.target))(module)


# Keys
# ------------------------------------------------------------


def key_of(module: GraphModule) -> str | None:
    """What stands for a graph; None for one that is not kept."""
    try:
        with DisableTorchFunctionSubclass():  # fake tensors are asked for many facts
            text = _text_of(module)
        return key_of_parts(text)
    except (NotWrittenError, NoCompilerError):
        return None


def _text_of(module: GraphModule) -> str:
    lines = []
    for node in module.graph.nodes:
        target = node.target if isinstance(node.target, str) else _operator_text(node.target)
        value = node.meta.get("val")
        if node.op == "get_attr":
            value = _constant(module, node)
        arguments = f"{text_of(node.args)} {text_of(node.kwargs)}"
        geometry = f"{text_of(node.meta.get('sizes'))} {text_of(node.meta.get('strides'))}"
        facts = f"{_facts(value)} {geometry} {BACKWARD in node.meta}"
        lines.append(f"{node.name}: {node.op} {target} {arguments} {facts}")
    return "\n".join(lines)


def _operator_text(target: Any) -> str:
    if isinstance(target, OpOverload):
        return f"{target.namespace}.{target._entry_name} {target._schema}"
    if isinstance(target, Form):
        return f"{target!r} {_operator_text(target.operator)}"
    if target is operator.getitem:
        return "getitem"
    if target in _NUMERIC:
        return _NUMERIC[target]
    raise NotWrittenError(str(target))


# The functions of nodes that compute numbers.
_NUMERIC = {function: f"number.{name}" for name, (function, _) in OPERATIONS.items()}


def _facts(value: Any) -> str:
    if isinstance(value, Tensor):
        place = f"{value.stride()} {value.storage_offset()} {value.device} {value.layout}"
        return f"{value.dtype} {tuple(value.shape)} {place}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_facts, value))}]"
    return text_of(value)


# Entries
# ------------------------------------------------------------


def _read(key: str, constants: list[Any]) -> Program | None:
    def program(description: list[Any]) -> Program | None:
        description[4] = constants
        if description[5] is not None:
            description[5] = Cache.opened().known(description[5])
            if description[5] is None:
                return None
        return Program(*description)

    return read_entry(key, ".graph", program)


def _write(key: str, description: tuple[Any, ...]) -> None:
    parts = list(description)
    parts[4] = []
    parts[5] = None if parts[5] is None else Path(parts[5]).stem
    write_entry(key, ".graph", parts)
