"""What the front end logs, by topic: see `torch_py._logging`."""

from __future__ import annotations

from typing import Any

from torch_py import _logging
from torch_py._logging.artifacts import artifact, write

graph_breaks = _logging.topic("graph_breaks")
dynamo = _logging.topic("dynamo")
_recompiles = _logging.topic("recompiles")
_dynamic = _logging.topic("dynamic")


def recompile(function: Any, reasons: list[str]) -> None:
    """One line that says what was expected, and what is."""
    _recompiles.debug("recompiling %s: %s", function.__qualname__, reasons[0])


def raised(name: str, error: BaseException) -> None:
    """The call runs eagerly, so that the user sees the exception of the program itself."""
    dynamo.info("%s raises %s: %s, and runs eagerly", name, type(error).__name__, error)


_told: set[str] = set()


def not_captured(name: str, why: str) -> None:
    """One line for a function that always runs eagerly."""
    if name not in _told:
        _told.add(name)
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
            payload = ", ".join(_short(part) for part in row[2:-1])
            lines.append(f"{row[0]} {row[-1]} {payload}".rstrip())
    return lines


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 80 else text[:77] + "..."


def dynamic(problem: object) -> None:
    """Why sizes that vary are compiled for one by one."""
    _dynamic.info("sizes are taken for fixed: %s", problem)
