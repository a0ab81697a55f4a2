"""What the front end logs, by topic: see `torch_py._logging`; and what is said of a break and of a node: the
lines that they come from."""

from __future__ import annotations

import linecache
from typing import Any

from torch_py import _logging
from torch_py._dynamo.exc import Break
from torch_py._dynamo.frame import Frame
from torch_py._dynamo.program_frames import line_at, position_at
from torch_py._logging.artifacts import artifact, write

graph_breaks = _logging.topic("graph_breaks")
dynamo = _logging.topic("dynamo")
recompiles = _logging.topic("recompiles")
_dynamic = _logging.topic("dynamic")


def raised(name: str, error: BaseException) -> None:
    """The call runs eagerly, so that the user sees the exception of the program itself."""
    dynamo.info("%s raises %s: %s, and runs eagerly", name, type(error).__name__, error)


observers: list[Any] = []  # called with the reason of each end of a graph
_told: set[tuple[str, str]] = set()


def not_captured(name: str, why: str) -> None:
    """One line for a function that always runs eagerly."""
    for observe in observers:
        observe(Break(f"call of {name}", why))
    if (name, why) not in _told:
        _told.add((name, why))
        dynamo.info("%s runs eagerly: %s", name, why)


def graph(module: Any, inputs: list[Any]) -> None:
    if _logging.is_on("graph"):
        _logging.topic("graph").debug("%s", module.graph)
    artifact("graph_code", "captured_graph_readable.py", lambda: module.print_readable(print_output=False))
    write("captured_graph.py", lambda: _script(module, inputs))


def _script(module: Any, inputs: list[Any]) -> str:
    # Imported here: few programs write what they compile to files.
    from torch_py.fx._script import script

    return script(module, inputs)


def guards(rows: list[Any]) -> None:
    artifact("guards", "guards.txt", lambda: "\n".join(_described(rows)))


def function(code: Any, text: str) -> None:
    """The Python function around a graph, and the one that it was made of."""
    artifact("output_code", "compiled_function.py", lambda: text)
    write("function.py", lambda: source_of(code))


def source_of(code: Any) -> str:
    """The source of a Python function; its instructions if the source is not available."""
    import dis  # as in `_script`
    import inspect
    import textwrap

    try:
        return textwrap.dedent(inspect.getsource(code))
    except (OSError, TypeError):
        return "\n".join(f"# {line}" for line in dis.Bytecode(code).dis().splitlines())


def _described(rows: Any) -> list[str]:
    lines = []
    for row in rows:
        if row[0] == "watched":
            lines.append(f"watched: {len(row[1])} dictionaries and classes")
            lines += [f"  {line}" for line in _described(row[2])]
        elif row[0] not in ("const", "attr", "item", "key", "cell", "size"):
            payload = ", ".join(f"{part!r:.80}" for part in row[2:-1])
            lines.append(f"{row[0]} {row[-1]} {payload}".rstrip())
    return lines


def dynamic(problem: object) -> None:
    """Why sizes that vary are compiled for one by one."""
    _dynamic.info("sizes are taken for fixed: %s", problem)


def explained(reason: Break) -> str:
    """At most eight lines."""
    place = _place(reason.frames[0]) if reason.frames else []
    hint = [f"  hint: {reason.hint}"] if reason.hint else []
    return "\n".join([f"graph break: {reason.what}", *place, f"  why: {reason.why}", *hint])


def _place(frame: Frame) -> list[str]:
    """The line of the program, with carets below the part that breaks."""
    code = frame.code
    first, last, start, end = position_at(code, frame.instruction.offset)
    where = f'  File "{code.co_filename}", line {first}, in {code.co_name}'
    text = linecache.getline(code.co_filename, first).rstrip("\n")
    if not text.strip():
        return [where]
    indent = len(text) - len(text.lstrip())
    shown = [where, "    " + text.strip()]
    if start >= 0:
        if last != first:
            end = len(text)
        shown.append("    " + " " * (start - indent) + "^" * max(end - start, 1))
    return shown


def stack_trace(frame: Frame | None) -> str:
    """The calls of interpreted frames, outermost first, as Python prints them."""
    if frame is None:
        return ""
    lines = []
    for caller in reversed(frame.caller_frames()):
        code, number = caller.code, line_at(caller.code, caller.instruction.offset)
        lines.append(f'  File "{code.co_filename}", line {number}, in {code.co_name}\n')
        text = linecache.getline(code.co_filename, number).strip()
        if text:
            lines.append(f"    {text}\n")
    return "".join(lines)
