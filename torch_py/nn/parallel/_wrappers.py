"""Wrappers that run a module on the CPU. Their state dict keys begin with `module.`, as programs expect."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from torch_py.nn.modules.module import Module
from torch_py.types import Device


def _check_devices(name: str, device_ids: Sequence[Device] | None) -> None:
    """Raises RuntimeError for accelerators."""
    if device_ids:
        raise RuntimeError(f"{name}: this build has the CPU only, got device_ids={list(device_ids)}")


class DataParallel(Module):
    """Splits batches over accelerators; without any, runs `module` as it is.

    Raises RuntimeError for `device_ids`.
    """

    def __init__(
        self,
        module: Module,
        device_ids: Sequence[Device] | None = None,
        output_device: Device = None,
        dim: int = 0,
    ) -> None:
        super().__init__()
        _check_devices("DataParallel", device_ids)
        self.module = module
        self.dim = dim
        self.device_ids: list[int] = []
        self.output_device = output_device

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self.module(*inputs, **kwargs)


def data_parallel(
    module: Module,
    inputs: Any,
    device_ids: Sequence[Device] | None = None,
    output_device: Device = None,
    dim: int = 0,
    module_kwargs: dict[str, Any] | None = None,
) -> Any:
    """Calls `module` with `inputs`, a tuple of arguments or a single argument."""
    _check_devices("data_parallel", device_ids)
    return module(*(inputs if isinstance(inputs, tuple) else (inputs,)), **(module_kwargs or {}))


class DistributedDataParallel(Module):
    """Averages gradients over processes; with one process they stay as they are.

    Raises ValueError before `torch.distributed.init_process_group`, and RuntimeError if no parameter requires
    a gradient.
    """

    def __init__(
        self,
        module: Module,
        device_ids: Sequence[Device] | None = None,
        output_device: Device = None,
        dim: int = 0,
        **options: Any,
    ) -> None:
        # Imported on first use: most programs run in one process.
        from torch_py.distributed._world import GroupMember

        super().__init__()
        self.process_group = GroupMember.of(options.get("process_group"))
        _check_devices("DistributedDataParallel", device_ids)
        if not any(parameter.requires_grad for parameter in module.parameters()):
            raise RuntimeError(
                "DistributedDataParallel is not needed when a module doesn't have any parameters that "
                "require a gradient."
            )
        self.module = module
        self.require_backward_grad_sync = True

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self.module(*inputs, **kwargs)

    @contextlib.contextmanager
    def no_sync(self) -> Iterator[None]:
        """Turns off the averaging of gradients inside the block. With one process it changes nothing."""
        self.require_backward_grad_sync = False
        try:
            yield
        finally:
            self.require_backward_grad_sync = True
