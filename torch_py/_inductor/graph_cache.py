"""Programs on disk, by the graphs that they were compiled from.

The key covers the graph with the shapes of all values, and formulas of those that vary, the settings, the
C++ compiler, and the files that make programs. An entry has the description of a program and the key of its
library, which is an entry of its own (cache.py); one that is damaged, or whose library is gone, is made anew.
Graphs with functions that are not operators are not kept.
"""

from __future__ import annotations

import hashlib
import json
import operator
import os
from collections.abc import Callable
from functools import cache as _remembered
from pathlib import Path
from typing import Any

from torch_py import _C, _logging
from torch_py._functorch.aot.forms import Form
from torch_py._functorch.aot.recording import BACKWARD
from torch_py._inductor import config, spec
from torch_py._inductor.cache import Cache
from torch_py._inductor.compile_cpp import NoCompilerError, find_compiler, identity
from torch_py._inductor.program import Program
from torch_py._inductor.program_json import NotWrittenError, decoded, encoded
from torch_py._logging import artifacts
from torch_py._ops import OpOverload
from torch_py._shapes.formulas import OPERATIONS, Formula, Symbol
from torch_py._tensor import Tensor
from torch_py._torch_function import DisableTorchFunctionSubclass
from torch_py.fx.graph_module import GraphModule
from torch_py.fx.node import Node
from torch_py.version import __version__

log = _logging.topic("cache")

# Topics that show stages, which only a compilation has.
_STAGES = ("ir_pre_fusion", "ir_post_fusion", "kernel_code", "inductor", "autotuning")


def program_of(module: GraphModule, compile: Callable[[GraphModule], Any]) -> Any:
    """The program of a graph: from the cache, or that of what `compile` makes of the graph."""
    key = key_of(module) if _is_used() else None
    if key is None:
        return compile(module).program

    constants = [_constant(module, node) for node in module.graph.nodes if node.op == "get_attr"]
    path = Cache.opened().place(key, ".graph")
    found = _read(path, key, constants)
    log.info("%s of the graph %s", "miss" if found is None else "hit", key)
    if found is not None:
        return found

    compiled = compile(module)
    _write(path, key, compiled.description)
    return compiled.program


def _is_used() -> bool:
    if config.force_disable_caches or not config.fx_graph_cache:
        return False
    if config.max_autotune or config.max_autotune_pointwise or spec.is_wanted():
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
        parts = [text, *identity(find_compiler())]
    except (NotWrittenError, NoCompilerError):
        return None
    settings = repr(sorted(config.shallow_copy_dict().items(), key=lambda item: item[0]))
    return hashlib.sha256("\0".join([*parts, settings, __version__, _build()]).encode()).hexdigest()


def _text_of(module: GraphModule) -> str:
    lines = []
    for node in module.graph.nodes:
        target = node.target if isinstance(node.target, str) else _operator_text(node.target)
        value = node.meta.get("val")
        if node.op == "get_attr":
            value = _constant(module, node)
        arguments = f"{_text(node.args)} {_text(node.kwargs)}"
        geometry = f"{_text(node.meta.get('sizes'))} {_text(node.meta.get('strides'))}"
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


def _text(value: Any) -> str:
    kind = type(value)
    if kind is Node:
        return f"%{value.name}"
    if value is None or kind in _PLAIN:
        return repr(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_text, value))}]"
    if isinstance(value, dict):
        return ", ".join(f"{name}={_text(part)}" for name, part in value.items())
    if kind is slice:
        return f"slice{_text([value.start, value.stop, value.step])}"

    if kind is Symbol:
        recorded = f" as {value.samples}" if value.samples else ""
        return f"{value.name} from {value.min} to {value.max}{recorded}"
    if kind is Formula:
        return f"{value.operation}{_text(value.operands)}"
    if kind in _NAMED:
        return str(value)
    raise NotWrittenError(f"a {kind.__name__}")


_PLAIN = frozenset({bool, int, float, str, complex})
_NAMED = frozenset({_C.dtype, _C.device, _C.layout, _C.memory_format})


def _facts(value: Any) -> str:
    if isinstance(value, Tensor):
        place = f"{value.stride()} {value.storage_offset()} {value.device} {value.layout}"
        return f"{value.dtype} {tuple(value.shape)} {place}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_facts, value))}]"
    return _text(value)


# The folders that a program follows from, apart from the graph.
_SOURCES = ("_inductor", "_functorch/aot", "_shapes", "_generated")


@_remembered
def _build() -> str:
    """The files that make programs, by size and time of the last change."""
    package = Path(__file__).parent.parent
    files = [path for folder in _SOURCES for path in sorted((package / folder).rglob("*.py"))]
    facts = [
        (str(path), info.st_size, info.st_mtime_ns)
        for path in (Path(_C.__file__), *files)
        for info in [path.stat()]
    ]
    return repr(facts)


# Entries
# ------------------------------------------------------------


def _read(path: Path, key: str, constants: list[Any]) -> Program | None:
    try:
        digest, _, text = path.read_text().partition("\n")
        if digest != _digest(key, text):
            return None

        description = decoded(json.loads(text))
        description[4] = constants
        if description[5] is not None:
            description[5] = Cache.opened().known(description[5])
            if description[5] is None:
                return None

        program = Program(*description)
        os.utime(path)
    except (OSError, ValueError, TypeError, RuntimeError) as problem:
        if not isinstance(problem, FileNotFoundError):
            log.info("an entry cannot be used: %s", problem)
        return None
    return program


def _write(path: Path, key: str, description: tuple[Any, ...] | None) -> None:
    if description is None:
        return
    parts = list(description)
    parts[4] = []
    parts[5] = None if parts[5] is None else Path(parts[5]).stem

    work = path.with_suffix(f".{os.getpid()}")
    try:
        text = json.dumps(encoded(parts))
        work.write_text(f"{_digest(key, text)}\n{text}")
        os.replace(work, path)
    except (OSError, NotWrittenError) as problem:
        log.info("the program of a graph is not kept: %s", problem)


def _digest(key: str, text: str) -> str:
    return hashlib.sha256(f"{key}\n{text}".encode()).hexdigest()
