"""What the front end logs, by topic: see `torch_py._logging`."""

from __future__ import annotations

from typing import Any

from torch_py import _logging

graph_breaks = _logging.topic("graph_breaks")
output_code = _logging.topic("output_code")
dynamo = _logging.topic("dynamo")
_recompiles = _logging.topic("recompiles")
_guards = _logging.topic("guards")
_graphs = _logging.topic("graph")
_graph_code = _logging.topic("graph_code")
_dynamic = _logging.topic("dynamic")


def recompile(function: Any, reasons: list[str]) -> None:
    """One line: what was, and is."""
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


def recompile_limit(function: Any, reasons: list[str]) -> None:
    last = reasons[0] if reasons else "new arguments"
    dynamo.warning(
        "%s has as many pieces of code as torch._dynamo.config.recompile_limit allows, and runs eagerly for "
        "other arguments; the last reason: %s",
        function.__qualname__,
        last,
    )


def graph(module: Any) -> None:
    if _graphs.isEnabledFor(10):
        _graphs.debug("%s", module.graph)
    if _graph_code.isEnabledFor(10):
        _graph_code.debug("%s", module.print_readable(print_output=False))


def guards(rows: list[Any]) -> None:
    if _guards.isEnabledFor(10):
        _guards.debug("%s", "\n".join(_described(rows)))


def _described(rows: Any) -> list[str]:
    lines = []
    for row in rows:
        if row[0] == "watched":
            lines.append(f"watched: {len(row[1])} dictionaries and classes")
            lines += [f"  {line}" for line in _described(row[2])]
        elif row[0] not in ("const", "attr", "item", "key", "cell", "type", "global", "size"):
            payload = ", ".join(_short(part) for part in row[2:-1])
            lines.append(f"{row[0]} {row[-1]} {payload}".rstrip())
    return lines


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 80 else text[:77] + "..."


def dynamic(problem: object) -> None:
    """Why sizes that vary are compiled for one by one."""
    _dynamic.debug("sizes are taken for fixed: %s", problem)
