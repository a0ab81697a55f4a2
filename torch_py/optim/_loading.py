"""Converts the saved state of an optimizer for the parameters that it has now."""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from typing import Any

from torch_py import _C
from torch_py._tensor import Tensor


def adapted(value: Any, parameter: Tensor | None, single_steps: bool, name: object = None) -> Any:
    """A copy of saved state.

    Tensors get the device of `parameter`, and its dtype if that is floating point; a 'step' keeps its own.

    With `single_steps` (fused or capturable) a 'step' becomes float32 on the device of the parameter.
    """
    if isinstance(value, Tensor):
        return _adapted_tensor(value, parameter, single_steps, name)
    if isinstance(value, dict):
        return {key: adapted(item, parameter, single_steps, key) for key, item in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        return type(value)(adapted(item, parameter, single_steps) for item in value)  # type: ignore[call-arg]
    return deepcopy(value)


def _adapted_tensor(value: Tensor, parameter: Tensor | None, single_steps: bool, name: object) -> Tensor:
    if parameter is None:
        return value.detach().clone()

    if name == "step":
        found = value.to(device=parameter.device, dtype=_C.float32) if single_steps else value
    elif parameter.is_floating_point():
        found = value.to(device=parameter.device, dtype=parameter.dtype)
    else:
        found = value.to(device=parameter.device)

    return found.clone() if found is value else found
