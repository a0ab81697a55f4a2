"""Backends by name; among them "eager", which runs a graph as it is, and "inductor", which hands it to the
compiler of kernels."""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable, Sequence
from typing import Any

from torch_py._dynamo.exc import InvalidBackend

_Backend = Callable[..., Any]
_registered: dict[str, _Backend] = {}
_tags: dict[str, tuple[str, ...]] = {}
# The modules of those that come with the library, imported when they are asked for.
_OWN = {
    "eager": __name__,
    "aot_eager": "torch_py._dynamo.backends.debugging",
    "aot_eager_decomp_partition": "torch_py._dynamo.backends.debugging",
    "inductor": __name__,
}


def register_backend(
    compiler_fn: _Backend | None = None, name: str | None = None, tags: Sequence[str] = ()
) -> Any:
    """Lets ``torch.compile(backend=name)`` use a function; also a decorator.

    `compiler_fn` gets a GraphModule and example inputs, and returns a function of the inputs. Without `name`
    it is known by its own. `list_backends` can leave out backends with a tag.

        @register_backend
        def my_backend(graph_module, example_inputs):
            return graph_module.forward
    """
    if compiler_fn is None:
        return lambda function: register_backend(function, name, tags)
    if not callable(compiler_fn):
        raise AssertionError(f"register_backend: expected a function, got {type(compiler_fn).__name__}")
    name = name or compiler_fn.__name__
    if name in _registered or name in _OWN:
        raise AssertionError(f"register_backend: duplicate name: {name}")
    _registered[name] = compiler_fn
    _tags[name] = tuple(tags)
    return compiler_fn


register_debug_backend = functools.partial(register_backend, tags=("debug",))
register_experimental_backend = functools.partial(register_backend, tags=("experimental",))


def lookup_backend(compiler_fn: Any) -> _Backend:
    """The function of a backend's name; functions as they are. Raises InvalidBackend for an unknown name.

    Installed packages offer backends as entry points under `torch_dynamo_backends`.
    """
    if not isinstance(compiler_fn, str):
        return compiler_fn  # type: ignore[no-any-return]
    if compiler_fn in _registered:
        return _registered[compiler_fn]
    if compiler_fn in _OWN:
        return getattr(importlib.import_module(_OWN[compiler_fn]), compiler_fn)  # type: ignore[no-any-return]

    from importlib.metadata import entry_points  # which few programs need

    for point in entry_points(group="torch_dynamo_backends", name=compiler_fn):
        return register_backend(point.load(), compiler_fn)  # type: ignore[no-any-return]
    raise InvalidBackend(compiler_fn)


def name_of(backend: Any) -> str | None:
    """The name of a backend that comes with the library; None for others."""
    found = (name for name, place in _OWN.items() if getattr(sys.modules.get(place), name, None) is backend)
    return next(found, None)


def list_backends(exclude_tags: Sequence[str] | None = ("debug", "experimental")) -> list[str]:
    """The names of the backends without one of these tags."""
    excluded = set(exclude_tags or ())
    tags = {**dict.fromkeys(_OWN, ("debug",)), "inductor": (), **_tags}
    return sorted(name for name, own in tags.items() if not excluded & set(own))


def eager(gm: Any, fake_tensor_inputs: Any, **options: Any) -> Any:
    """Runs the operators of the graph one by one."""
    return gm.forward


def inductor(gm: Any, example_inputs: Any, **options: Any) -> Any:
    """Compiles the graph and its backward to programs of fused loops and called operators."""
    # Imported here: the other backends do without it.
    from torch_py._inductor.compile_fx import compile_fx

    return compile_fx(gm, example_inputs, **options)
