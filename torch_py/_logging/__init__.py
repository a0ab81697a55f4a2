"""Logs of the compiler: `TORCH_LOGS`, and `set_logs` for programs.

``TORCH_LOGS="graph_breaks,recompiles,+dynamo"`` prints these topics to stderr; "+" asks for details and "-"
for errors only. The topics:

    dynamo            what the front end does     guards           what compiled code depends on
    graph             captured graphs, as lists   recompiles       why code is compiled anew
    graph_code        captured graphs, as code    output_code      functions printed around graphs
    graph_breaks      why graphs end              dynamic          why sizes are taken for fixed
    aot_joint_graph   forward and backward        aot_graphs       what each of them computes
    ir_pre_fusion     loops, one a tensor         ir_post_fusion   nests of loops
    kernel_code       kernels in C++              inductor         what was compiled, in one line
    cache             where kernels come from     autotuning       races between kernels

Other topics of PyTorch are accepted, and print nothing.
"""

from __future__ import annotations

import logging
import os
import sys
import warnings
from typing import Any

from torch_py._pytorch_names.log_topics import OTHER_TOPICS
from torch_py._pytorch_names.packages import lacking as _lacking

__all__ = ["TOPICS", "getArtifactLogger", "is_on", "set_logs", "topic", "trace_structured"]

TOPICS = (
    "aot_graphs", "aot_joint_graph", "autotuning", "cache", "dynamic", "dynamo", "graph", "graph_breaks",
    "graph_code", "guards", "inductor", "ir_post_fusion", "ir_pre_fusion", "kernel_code", "output_code",
    "recompiles",
)  # fmt: skip

_ROOT = "torch_py.compile"
_LEVELS = {"+": logging.DEBUG, "-": logging.ERROR}
_VALUES = (False, True, *range(logging.DEBUG, logging.CRITICAL + 1, 10))
# Topics that are logs of a part, with levels; the others print or do not.
_PARTS = ("dynamo", "inductor", "dynamic", "cache", "autotuning")


def topic(name: str) -> logging.Logger:
    """The logger of a topic. Reads TORCH_LOGS when it is called first."""
    if not _State.has_read:
        _State.has_read = True
        _read_environment()
    return logging.getLogger(f"{_ROOT}.{name}")


class _State:
    has_read = False
    handler: logging.Handler | None = None


class _Stderr(logging.StreamHandler):  # type: ignore[type-arg]
    """Writes to what `sys.stderr` is at the time."""

    def emit(self, record: logging.LogRecord) -> None:
        self.stream = sys.stderr
        super().emit(record)


def _handler() -> logging.Handler:
    if _State.handler is None:
        _State.handler = _Stderr()
        _State.handler.setFormatter(logging.Formatter("[%(topic)s] %(message)s"))
        _State.handler.addFilter(_name_topic)
    return _State.handler


def _name_topic(record: logging.LogRecord) -> bool:
    record.topic = record.name.rpartition(".")[2]
    return True


def _enable(name: str, level: int) -> None:
    logger = logging.getLogger(f"{_ROOT}.{name}")
    logger.setLevel(level)
    logger.propagate = False
    if _handler() not in logger.handlers:
        logger.addHandler(_handler())


def _disable(name: str) -> None:
    logger = logging.getLogger(f"{_ROOT}.{name}")
    logger.setLevel(logging.WARNING)
    logger.removeHandler(_handler())
    logger.propagate = True


def _read_environment() -> None:
    for name in _ROOT, *(f"{_ROOT}.{part}" for part in _PARTS):
        logging.getLogger(name).setLevel(logging.WARNING)
    for word in os.environ.get("TORCH_LOGS", "").replace(" ", "").split(","):
        if not word or word == "help":
            continue
        name = word.lstrip("+-")
        if not _is_known(name) and "." not in name:  # a dot is in the names of PyTorch's modules
            warnings.warn(f"TORCH_LOGS: {_unknown(name)}", stacklevel=2)
        level = _LEVELS.get(word[0], logging.INFO if name in _PARTS else logging.DEBUG)
        _enable(name, level)


def _is_known(name: str) -> bool:
    return name in TOPICS or name in OTHER_TOPICS


def _unknown(name: str) -> str:
    return f"there is no topic {name!r}; those that print something are {', '.join(TOPICS)}"


def is_on(name: str) -> bool:
    """Whether a topic is printed."""
    return topic(name).isEnabledFor(logging.INFO if name in _PARTS else logging.DEBUG)


def set_logs(**levels: Any) -> None:
    """Prints these topics and no others: ``set_logs(graph_code=True, dynamo=logging.DEBUG)``.

    Without arguments nothing is printed. Raises TypeError for a topic that does not exist, and ValueError for
    what is neither a bool nor a level of `logging`.
    """
    topic("dynamo")
    levels.pop("modules", None)
    for name, level in levels.items():
        if not _is_known(name):
            raise TypeError(f"set_logs: {_unknown(name)}")
        if not isinstance(level, int) or level not in _VALUES:
            raise ValueError(f"set_logs: expected a bool or a level of logging for {name}, got {level!r}")
    manager = logging.Logger.manager
    for full in [full for full in manager.loggerDict if full.startswith(f"{_ROOT}.")]:
        _disable(full.rpartition(".")[2])
    for name, level in levels.items():
        if level:
            _enable(name, logging.DEBUG if level is True else int(level))


def getArtifactLogger(module_qname: str, artifact_name: str) -> logging.Logger:  # noqa: N802  # PyTorch's name
    """The logger of a topic."""
    return topic(artifact_name)


def trace_structured(name: str, *arguments: Any, **keywords: Any) -> None:
    """Does nothing: no trace is written."""


__getattr__ = _lacking(__name__, __path__)
