"""Frames of the program around what compiled code calls, and tracebacks without frames of the compiler.

Whoever looks at callers (tracebacks, `logging`, `inspect.stack()`, `warnings`) sees the functions of the
program that compiled code replaces.
"""

from __future__ import annotations

import ast
import functools
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from itertools import islice
from types import CodeType, FrameType, FunctionType, TracebackType
from typing import Any

_FOLDER = os.path.dirname(__file__)
Place = tuple[CodeType, dict[str, Any], int]  # a code, its globals and the offset of an instruction


def called_from(places: Sequence[Place]) -> Callable[..., Any]:
    """``f(callee, *args, **kwargs)``, which calls `callee` in a frame for each place, the innermost first."""
    call = _in_frame(*places[0])
    for place in places[1:]:
        call = functools.partial(_in_frame(*place), call)
    return call


def _in_frame(code: CodeType, namespace: dict[str, Any], offset: int) -> FunctionType:
    """What calls its first argument, in a frame that seems to be at `offset` of a code."""
    tree = ast.parse("def function(callee, /, *args, **kwargs): return callee(*args, **kwargs)")
    line, end_line, column, end_column = position_at(code, offset)
    place = ast.Pass(lineno=line, end_lineno=end_line, col_offset=column, end_col_offset=end_column)
    for node in ast.walk(tree):
        ast.copy_location(node, place)

    made = next(c for c in compile(tree, code.co_filename, "exec").co_consts if isinstance(c, CodeType))
    names = {"co_name": code.co_name}
    if sys.version_info >= (3, 11):
        names["co_qualname"] = code.co_qualname
    return FunctionType(made.replace(**names), namespace)  # type: ignore[arg-type]


def position_at(code: CodeType, offset: int) -> tuple[int, int, int, int]:
    """The first and the last line of an instruction, and its columns; -1 for columns that are not known."""
    if sys.version_info >= (3, 11):
        position = next(islice(code.co_positions(), offset // 2, None), (None,) * 4)
        if None not in position:
            return position  # type: ignore[return-value]
    line = line_at(code, offset)
    return line, line, -1, -1


def line_at(code: CodeType, offset: int) -> int:
    """The line of an instruction; the first one of the code if it has none."""
    return _lines_of(code).get(offset) or code.co_firstlineno


@functools.lru_cache(maxsize=512)
def _lines_of(code: CodeType) -> dict[int, int | None]:
    return {offset: line for start, end, line in code.co_lines() for offset in range(start, end, 2)}


# Those who look at callers


def warn(message: Any, category: Any = None, stacklevel: int = 1, source: Any = None, **options: Any) -> None:
    """``warnings.warn`` for compiled code: `stacklevel` does not count frames of the compiler."""
    if "skip_file_prefixes" in options:  # since Python 3.12
        options["skip_file_prefixes"] = (*options["skip_file_prefixes"], "<compiled ", _FOLDER)
        return warnings.warn(message, category, stacklevel, source, **options)

    frame: FrameType | None = sys._getframe(1)
    left = max(stacklevel, 1)
    level = 2  # of `frame`, seen from here
    while frame is not None:
        left -= not is_of_compiler(frame)
        if left == 0:
            break
        frame = frame.f_back
        level += 1
    return warnings.warn(message, category, level, source, **options)


def is_of_compiler(frame: FrameType) -> bool:
    module = frame.f_globals.get("__name__") or ""
    return frame.f_code.co_filename.startswith("<compiled ") or module.startswith("torch_py._dynamo.")


def traceback_of_program(traceback: Any, outermost: Sequence[CodeType] = ()) -> TracebackType | None:
    """A traceback without the frames of the compiler, and without the outermost others if these are frames of
    certain codes, in their order."""
    kept = []
    while traceback is not None:
        if not is_of_compiler(traceback.tb_frame):
            kept.append(traceback)
        traceback = traceback.tb_next

    for code in outermost:
        if not kept or _names(kept[0].tb_frame.f_code) != _names(code):
            break
        del kept[0]

    made = None
    for one in reversed(kept):
        made = TracebackType(made, one.tb_frame, one.tb_lasti, one.tb_lineno)
    return made


def _names(code: CodeType) -> tuple[str, str]:
    return code.co_name, code.co_filename
