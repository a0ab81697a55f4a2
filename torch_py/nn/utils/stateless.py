"""The older module path of `torch.func.functional_call`."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

from torch_py._functorch.modules import _replaced
from torch_py._functorch.modules import functional_call as _functional_call
from torch_py._tensor import Tensor
from torch_py.nn.modules.module import Module

__all__ = ["functional_call"]


@contextlib.contextmanager
def _reparametrize_module(
    module: Module,
    parameters_and_buffers: Mapping[str, Tensor],
    *,
    tie_weights: bool = False,
    strict: bool = False,
) -> Iterator[None]:
    with _replaced(module, parameters_and_buffers, tie_weights, strict):
        yield


def functional_call(
    module: Module,
    parameters_and_buffers: Mapping[str, Tensor],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Deprecated: use `torch.func.functional_call`."""
    warnings.warn(
        "torch.nn.utils.stateless.functional_call is deprecated, use torch.func.functional_call",
        FutureWarning,
        stacklevel=2,
    )
    return _functional_call(
        module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict
    )
