"""What keys of the cache consist of: graphs and their values as text, and what all entries depend on."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from functools import cache as _remembered
from pathlib import Path
from typing import Any

from torch_py import _C
from torch_py._inductor import config
from torch_py._inductor.compile_cpp import find_compiler, identity
from torch_py._inductor.program_json import NotWrittenError
from torch_py._shapes.formulas import Formula, Symbol
from torch_py.fx.immutable_collections import immutable_dict, immutable_list
from torch_py.fx.node import Node
from torch_py.version import __version__


def key_of_parts(*parts: str) -> str:
    """The key for some text, with these settings, this C++ compiler and this build of the library.

    Raises NoCompilerError.
    """
    settings = repr(sorted(config.shallow_copy_dict().items(), key=lambda item: item[0]))
    every = [*parts, *identity(find_compiler()), settings, __version__, _build()]
    return hashlib.sha256("\0".join(every).encode()).hexdigest()


# Values
# ------------------------------------------------------------


def text_of(value: Any) -> str:
    """An argument of a node as text, different for different values.

    Raises NotWrittenError for values whose text would not say all.
    """
    kind = type(value)
    if kind is Node:
        return f"%{value.name}"
    if value is None or kind in _PLAIN:
        return repr(value)
    if kind in _LISTS:
        return f"[{', '.join(map(text_of, value))}]"
    if kind in _TUPLES:
        return f"({', '.join(map(text_of, value))})"
    if kind in _DICTS:
        return f"{{{', '.join(f'{text_of(key)}: {text_of(item)}' for key, item in value.items())}}}"
    if kind is slice:
        return f"slice({text_of(value.start)}, {text_of(value.stop)}, {text_of(value.step)})"

    if kind is Symbol:
        recorded = f" as {value.samples}" if value.samples else ""
        return f"{value.name} from {value.min} to {value.max}{recorded}"
    if kind is Formula:
        return f"{value.operation}{text_of(value.operands)}"
    if kind in _NAMED:
        return str(value)
    raise NotWrittenError(f"a {kind.__name__}")


_PLAIN = frozenset({bool, int, float, str, complex, type(...)})
_LISTS = frozenset({list, immutable_list})
_TUPLES = frozenset({tuple, _C.Size})
_DICTS = frozenset({dict, immutable_dict})
_NAMED = frozenset({_C.dtype, _C.device, _C.layout, _C.memory_format})


# The library itself
# ------------------------------------------------------------


@_remembered
def _build() -> str:
    """The files of the library, by size and time of the last change."""
    return repr(sorted(_files(str(Path(__file__).parent.parent))))


def _files(folder: str) -> Iterator[tuple[str, int, int]]:
    """The modules and shared libraries below a folder."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith((".py", ".so")):
                facts = entry.stat()
                yield entry.path, facts.st_size, facts.st_mtime_ns
            elif "." not in entry.name and entry.name not in _OTHERS and entry.is_dir():
                yield from _files(entry.path)


# Folders without modules that are imported.
_OTHERS = frozenset({"__pycache__", "csrc", "include"})
