"""`fully_shard`: a module whose parameters are divided among processes, without a wrapper.

In a world of one process the parameters stay as they are, whole.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch_py.nn.modules.module import Module
from torch_py.types import _dtype

__all__ = [
    "CPUOffloadPolicy",
    "FSDPModule",
    "MixedPrecisionPolicy",
    "OffloadPolicy",
    "UnshardHandle",
    "fully_shard",
    "register_fsdp_forward_method",
]


@dataclass(frozen=True)
class MixedPrecisionPolicy:
    """Dtypes to compute, reduce and return results in."""

    param_dtype: _dtype | None = None
    reduce_dtype: _dtype | None = None
    output_dtype: _dtype | None = None
    cast_forward_inputs: bool = True


@dataclass
class OffloadPolicy:
    """Parameters stay on their device."""


@dataclass
class CPUOffloadPolicy(OffloadPolicy):
    """Parameters stay in the memory of the CPU while they are not used."""

    pin_memory: bool = True


class UnshardHandle:
    """What `FSDPModule.unshard(async_op=True)` returns, which is already done."""

    def wait(self) -> None:
        return None


class FSDPModule:
    """The methods that `fully_shard` adds to a module. With one process there is nothing to collect."""

    def reshard(self) -> None:
        return None

    def unshard(self, async_op: bool = False) -> UnshardHandle | None:
        return UnshardHandle() if async_op else None

    def set_is_last_backward(self, is_last_backward: bool) -> None:
        return None

    def set_requires_gradient_sync(self, requires_gradient_sync: bool, *, recurse: bool = True) -> None:
        return None

    def set_requires_all_reduce(self, requires_all_reduce: bool, *, recurse: bool = True) -> None:
        return None

    def set_reshard_after_forward(self, reshard_after_forward: bool, recurse: bool = True) -> None:
        return None

    def set_reshard_after_backward(self, reshard_after_backward: bool, *, recurse: bool = True) -> None:
        return None

    def set_modules_to_forward_prefetch(self, modules: list[Any]) -> None:
        return None

    def set_modules_to_backward_prefetch(self, modules: list[Any]) -> None:
        return None


def refuse_dtypes(name: str, **dtypes: _dtype | None) -> None:
    """Raises NotImplementedError for dtypes other than the module's own."""
    for argument, dtype in dtypes.items():
        if dtype is not None:
            raise NotImplementedError(
                f"{name}: torch_py keeps the dtypes of the module, got {argument}={dtype}; torch.autocast "
                "computes in another dtype"
            )


def fully_shard(
    module: Any,
    *,
    mesh: DeviceMesh | None = None,
    reshard_after_forward: bool | int | None = None,
    shard_placement_fn: Callable[..., Any] | None = None,
    mp_policy: MixedPrecisionPolicy = MixedPrecisionPolicy(),  # noqa: B008  # immutable
    offload_policy: OffloadPolicy = OffloadPolicy(),  # noqa: B008  # without state
    ignored_params: set[Any] | None = None,
    **options: Any,
) -> Any:
    """Divides the parameters of a module, or of a list of modules, among the processes of `mesh`.

    The module is changed in place and returned; its type becomes a subclass that is also an `FSDPModule`.

    Raises NotImplementedError for a policy with dtypes, ValueError for a container without `forward`.
    """
    refuse_dtypes(
        "fully_shard",
        param_dtype=mp_policy.param_dtype,
        reduce_dtype=mp_policy.reduce_dtype,
        output_dtype=mp_policy.output_dtype,
    )
    mesh = mesh or init_device_mesh("cpu", (1,))

    for each in module if isinstance(module, (list, tuple)) else (module,):
        if not isinstance(each, Module):
            raise ValueError(f"fully_shard: expected a module, got {type(each).__name__}")
        if not isinstance(each, FSDPModule):
            kind = type(each)
            each.__class__ = type(f"FSDP{kind.__name__}", (FSDPModule, kind), {"__module__": kind.__module__})
    return module


def register_fsdp_forward_method(module: Module, method_name: str) -> None:
    """Lets a method other than `forward` run with whole parameters, which they always are in a world of one.

    Raises ValueError if the module does not have the method.
    """
    if isinstance(module, FSDPModule) and not hasattr(module, method_name):
        raise ValueError(f"{type(module)} does not have a method {method_name}")


__getattr__ = _lacking(__name__, __path__)
