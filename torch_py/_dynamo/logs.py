"""The loggers of TORCH_LOGS."""

from __future__ import annotations

import logging
from typing import Any

graph_breaks = logging.getLogger("torch_py._dynamo.graph_breaks")
recompiles = logging.getLogger("torch_py._dynamo.recompiles")
guards = logging.getLogger("torch_py._dynamo.guards")
graphs = logging.getLogger("torch_py._dynamo.graph")
output_code = logging.getLogger("torch_py._dynamo.output_code")


def recompile(function: Any, reasons: list[str]) -> None:
    recompiles.debug("recompiling %s: %s", function.__qualname__, reasons[0])


def recompile_limit(function: Any, reasons: list[str]) -> None:
    last = reasons[0] if reasons else "new arguments"
    recompiles.warning(
        "%s has as many pieces of code as it may have; last reason: %s", function.__qualname__, last
    )


def graph(module: Any) -> None:
    graphs.debug("%s", module.code)
