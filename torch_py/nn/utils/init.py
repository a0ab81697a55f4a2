"""Construction of modules without initializing their parameters."""

from __future__ import annotations

import inspect
from typing import Any, TypeVar

from torch_py.nn.modules.module import Module

__all__ = ["skip_init"]

M = TypeVar("M", bound=Module)


def skip_init(module_cls: type[M], *args: Any, **kwargs: Any) -> M:
    """Returns `module_cls(*args, **kwargs)` with undefined values in parameters and buffers, which saves the
    time to initialize them.

    The constructor must take `device` and compute only with parameters and buffers. Raises RuntimeError
    otherwise.

    Args:
        module_cls: the class
        args, kwargs: the arguments of its constructor

    Example:
        >>> nn.utils.skip_init(nn.Linear, 3, 4).weight.shape
        torch.Size([4, 3])
    """
    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    final_device = kwargs.pop("device", "cpu")
    return module_cls(*args, **{**kwargs, "device": "meta"}).to_empty(device=final_device)
