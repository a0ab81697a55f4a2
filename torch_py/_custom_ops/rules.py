"""What an operator that is declared in Python says of itself: shapes, gradient, batches, automatic dtypes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch_py import _C
from torch_py._custom_ops.autograd import autograd_kernel
from torch_py._custom_ops.registry import kernels_of
from torch_py._dispatch_keys import DispatchKey, ExcludeKeys
from torch_py._ops import OpOverload
from torch_py._tensor import Tensor

_AUTOCAST = {"cpu": DispatchKey["AutocastCPU"], "cuda": DispatchKey["AutocastCUDA"]}


def set_fake(operator: OpOverload, rule: Callable[..., Any]) -> None:
    operator._fake_rule = rule
    kernels_of(operator).set("Meta", rule)


def set_autograd(
    operator: OpOverload, backward: Callable[..., Any], setup_context: Callable[..., Any] | None
) -> None:
    if operator._schema.is_mutable or operator._schema.returns == ():
        raise RuntimeError(
            f"Cannot register autograd formula for non-functional operator {operator} with schema "
            f"{operator._schema}. Please create a functional operator and register an autograd formula for "
            "that."
        )
    kernels_of(operator).set("Autograd", autograd_kernel(operator, backward, setup_context), takes_keys=True)


def set_vmap(operator: OpOverload, rule: Callable[..., Any]) -> None:
    # Imported on first use: transforms are above operators, and most programs declare no such rule.
    from torch_py._functorch.custom_functions import call_batch_rule

    def handle(op: OpOverload, args: Any, kwargs: Any) -> Any:
        return call_batch_rule(op._schema.name, rule, args, kwargs)

    _C._set_batch_rule(operator, handle)


def set_autocast(operator: OpOverload, device_type: str, cast_inputs: Any) -> Callable[..., Any]:
    if device_type not in _AUTOCAST:
        raise ValueError(f"Unknown device type: {device_type}")
    if not isinstance(cast_inputs, _C.dtype) or not cast_inputs.is_floating_point:
        raise ValueError(
            f"register_autocast: expected cast_inputs to be a floating-point dtype, got {cast_inputs}"
        )
    key = _AUTOCAST[device_type]

    def cast(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return type(value)(map(cast, value))
        is_eligible = (
            isinstance(value, Tensor)
            and value.is_floating_point()
            and value.device.type == device_type
            and value.dtype is not _C.float64
        )
        return value.to(cast_inputs) if is_eligible else value

    def kernel(keys: int, *args: Any, **kwargs: Any) -> Any:
        with ExcludeKeys(1 << key):
            values = {name: cast(value) for name, value in kwargs.items()}
            return operator.redispatch(keys & ~(1 << key), *map(cast, args), **values)

    kernels_of(operator).set(key.name, kernel, takes_keys=True)
    return kernel
