"""The parts of `DataParallel` for machines with accelerators.

Without one, each raises what PyTorch raises there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from torch_py._utils import _get_device_index
from torch_py.nn.modules.module import Module
from torch_py.types import Device


def _accelerators(devices: Sequence[Device]) -> NoReturn:
    """Raises ValueError for the CPU and RuntimeError for an accelerator that is not available."""
    for device in devices:
        _get_device_index(device, True)
    raise RuntimeError(f"Cannot access accelerator device when none is available: got {list(devices)}")


def replicate(network: Module, devices: Sequence[Device], detach: bool = False) -> NoReturn:
    """Copies a module to several accelerators."""
    _accelerators(devices)


def scatter(inputs: Any, target_gpus: Sequence[Device], dim: int = 0) -> NoReturn:
    """Splits tensors along `dim` over several accelerators."""
    _accelerators(target_gpus)


def scatter_kwargs(
    inputs: tuple[Any, ...], kwargs: dict[str, Any] | None, target_gpus: Sequence[Device], dim: int = 0
) -> NoReturn:
    """Splits positional and keyword arguments along `dim` over several accelerators."""
    _accelerators(target_gpus)


def gather(outputs: Any, target_device: Device, dim: int = 0) -> NoReturn:
    """Joins tensors of several accelerators along `dim`. Raises AssertionError for tensors on the CPU."""
    raise AssertionError("Gather function not implemented for CPU tensors")


def parallel_apply(
    modules: Sequence[Module],
    inputs: Sequence[Any],
    kwargs_tup: Sequence[dict[str, Any]] | None = None,
    devices: Sequence[Device] | None = None,
) -> NoReturn:
    """Calls several modules at once, each on its accelerator.

    Raises AssertionError if the lists differ in length.
    """
    if len(modules) != len(inputs):
        raise AssertionError(
            f"The number of modules {len(modules)} is not equal to the number of inputs {len(inputs)}"
        )
    _accelerators(devices or [])
