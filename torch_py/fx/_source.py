"""Turns printed code into functions whose lines tracebacks and debuggers can show."""

from __future__ import annotations

import itertools
import linecache
import weakref
from collections.abc import Callable
from typing import Any

_number = itertools.count()
PREFIX = "<eval_with_key>"


def execute(source: str, globals_: dict[str, Any]) -> None:
    """Runs printed code with `globals_`, under a file name of its own."""
    compile_into(source, globals_)


def compile_into(source: str, globals_: dict[str, Any], prefix: str = PREFIX) -> str:
    name = f"{prefix}.{next(_number)}"
    # Without a modification time, linecache keeps the entry although no such file exists.
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    exec(compile(source, name, "exec", dont_inherit=True), globals_)
    return name


def function_from(name: str, source: str, globals_: dict[str, Any], prefix: str = PREFIX) -> Any:
    """The function `name` that the printed code defines. Its lines are forgotten when it is."""
    namespace = dict(globals_)
    file = compile_into(source, namespace, prefix)
    function = namespace[name]
    weakref.finalize(function, linecache.cache.pop, file, None)
    return function


def forward_from(source: str, globals_: dict[str, Any]) -> Callable[..., Any]:
    return function_from("forward", source, globals_)
