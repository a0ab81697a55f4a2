"""In-place operators of lists inside of transforms: the results of the function are copied into the tensors
one after another.

A transform knows how to write to one tensor, which ``copy_`` is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch_py import _C


def writes_lists(func: Callable[..., Any]) -> bool:
    name = getattr(func, "__name__", "")
    return name.startswith("_foreach_") and name.endswith("_")


def written_lists(func: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """What ``func`` does and returns, for arguments that are wrapped."""
    own = args[0] if args else kwargs["self"]
    for target, result in zip(own, _results(func.__name__, args, kwargs, own)):
        target.copy_(result)
    return own


def _results(name: str, args: Sequence[Any], kwargs: dict[str, Any], own: Sequence[Any]) -> Sequence[Any]:
    if name == "_foreach_zero_":
        return [_C._torch.zeros_like(tensor) for tensor in own]
    if name == "_foreach_copy_":
        source: Sequence[Any] = args[1] if len(args) > 1 else kwargs["src"]
        if len(source) != len(own):
            raise RuntimeError(f"{name}: self has {len(own)} elements, but src has {len(source)}")
        return source
    found: Sequence[Any] = getattr(_C._torch, name.removesuffix("_"))(*args, **kwargs)
    return found
