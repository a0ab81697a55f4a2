"""Keeps metadata of nodes while their graph runs, so that the nodes of a new recording inherit it."""

from __future__ import annotations

import contextlib
import contextvars
import functools
import traceback
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from torch_py._pytorch_names.packages import lacking as _lacking

if TYPE_CHECKING:
    from torch_py.fx.node import Node

__all__ = [
    "annotate",
    "annotate_fn",
    "format_stack",
    "get_current_meta",
    "has_preserved_node_meta",
    "preserve_node_meta",
    "set_current_meta",
    "set_stack_trace",
]

# The metadata for nodes that are recorded now, and whether they take it. Each thread has its own.
_current: contextvars.ContextVar[dict[str, Any]] = contextvars.ContextVar("fx_current_meta")
_preserves: contextvars.ContextVar[bool] = contextvars.ContextVar("fx_preserves_meta", default=False)

_INHERITED = (
    "nn_module_stack",
    "torch_fn",
    "source_fn_stack",
    "original_aten",
    "recompute",
    "custom",
    "stack_trace",
)


@contextlib.contextmanager
def preserve_node_meta(enable: bool = True) -> Iterator[None]:
    """Inside the block, an Interpreter makes the metadata of the node that it runs current, and nodes that
    are recorded meanwhile take it over."""
    token = _preserves.set(enable)
    meta = _current.set({})
    try:
        yield
    finally:
        _current.reset(meta)
        _preserves.reset(token)


def has_preserved_node_meta() -> bool:
    """Whether nodes that are recorded now take over the current metadata."""
    return _preserves.get()


def get_current_meta() -> dict[str, Any]:
    """The metadata of the node that runs now; empty outside of one."""
    return _current.get({})


def preserved_meta() -> dict[str, Any]:
    """The part of the current metadata that new nodes take over."""
    meta = get_current_meta()
    return {name: meta[name] for name in _INHERITED if name in meta}


@contextlib.contextmanager
def set_current_meta(node: Node, pass_name: str = "") -> Iterator[None]:
    """Makes the metadata of `node` current inside the block, where it is preserved."""
    if not (_preserves.get() and node.meta):
        yield
        return
    token = _current.set(node.meta.copy())
    try:
        yield
    finally:
        _current.reset(token)


@contextlib.contextmanager
def annotate(annotation_dict: dict[str, Any]) -> Iterator[None]:
    """Puts entries into `meta["custom"]` of the nodes that are recorded inside the block and take over
    metadata. Blocks inside add to the entries of those around them."""
    meta = dict(_current.get({}))
    meta["custom"] = {**meta.get("custom", {}), **annotation_dict}
    token = _current.set(meta)
    try:
        yield
    finally:
        _current.reset(token)


def annotate_fn(annotation_dict: dict[str, Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator: the function runs inside of `annotate`."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with annotate(annotation_dict):
                return function(*args, **kwargs)

        return wrapped

    return decorate


def set_stack_trace(stack: list[str]) -> None:
    """Sets the stack of nodes that are recorded from here on, where metadata is preserved."""
    if _preserves.get() and stack:
        get_current_meta()["stack_trace"] = "".join(stack)


def format_stack() -> list[str]:
    """The stack of the node that runs now, or of the caller if metadata is not preserved."""
    if _preserves.get():
        return [get_current_meta().get("stack_trace", "")]
    return traceback.format_list(traceback.extract_stack()[:-1])


@contextlib.contextmanager
def set_current_replay_node(node: Node | None) -> Iterator[None]:
    """Makes `node` what `get_current_replay_node` returns inside the block."""
    token = _replayed.set(node)
    try:
        yield
    finally:
        _replayed.reset(token)


def get_current_replay_node() -> Node | None:
    """The node that an Interpreter runs now, if it says so."""
    return _replayed.get()


_replayed: contextvars.ContextVar[Any] = contextvars.ContextVar("fx_replayed_node", default=None)

__getattr__ = _lacking(__name__)
