"""Layers spread over processes. On a mesh of one process every layer stays whole.

Raises TypeError for styles that are not a `ParallelStyle`.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatch
from typing import Any

from torch_py import _pytorch_names
from torch_py.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch_py.nn.modules.module import Module

__all__ = [
    "ColwiseParallel",
    "ParallelStyle",
    "PrepareModuleInput",
    "PrepareModuleInputOutput",
    "PrepareModuleOutput",
    "RowwiseParallel",
    "SequenceParallel",
    "loss_parallel",
    "parallelize_module",
]

_pytorch_names.extend(__path__, __name__)


class ParallelStyle(ABC):
    """How a layer is spread over a mesh."""

    src_data_rank: int | None = 0

    @abstractmethod
    def _apply(self, module: Module, device_mesh: DeviceMesh) -> Module: ...


class _Whole(ParallelStyle):
    """A style whose layer computes the same on one process. Its options are kept as attributes."""

    def __init__(self, **options: Any) -> None:
        vars(self).update(options)

    def _apply(self, module: Module, device_mesh: DeviceMesh) -> Module:
        return module


class ColwiseParallel(_Whole):
    """Divides the outputs of a linear or embedding layer among processes."""


class RowwiseParallel(_Whole):
    """Divides the inputs of a linear or embedding layer among processes."""


class SequenceParallel(_Whole):
    """Divides the sequences that a normalization or dropout layer gets among processes."""


class PrepareModuleInput(_Whole):
    """Converts the inputs of a module between layouts."""


class PrepareModuleOutput(_Whole):
    """Converts the outputs of a module between layouts."""


class PrepareModuleInputOutput(_Whole):
    """Converts the inputs and the outputs of a module between layouts."""


def parallelize_module(
    module: Module,
    device_mesh: DeviceMesh | None = None,
    parallelize_plan: ParallelStyle | dict[str, ParallelStyle] | None = None,
    *,
    src_data_rank: int | None = 0,
) -> Module:
    """Spreads a module, in place.

    Args:
        module: the module, which is returned.
        device_mesh: the processes; default: all.
        parallelize_plan: a style for the module, or styles for submodules by name, in which ``*`` matches
            anything between two dots.
        src_data_rank: the process whose values count.
    """
    mesh = device_mesh or init_device_mesh("cpu", (1,))
    if parallelize_plan is None:
        warnings.warn(
            "No parallelize_plan is provided and auto-parallel is not supported at the moment, so this "
            "parallelize_module call will do nothing.",
            stacklevel=2,
        )
        return module
    if isinstance(parallelize_plan, ParallelStyle):
        return parallelize_plan._apply(module, mesh)
    if not isinstance(parallelize_plan, dict):
        raise TypeError(
            "Expect Union[ParallelStyle, Dict[str, ParallelStyle]] for parallelize_plan, "
            f"{type(parallelize_plan)} found!"
        )

    for pattern, style in parallelize_plan.items():
        for name, submodule in list(module.named_modules()):
            if _matches(name, pattern):
                style._apply(submodule, mesh)
    return module


def _matches(name: str, pattern: str) -> bool:
    parts = name.split(".") if name else []
    wanted = pattern.split(".") if pattern else []
    return len(parts) == len(wanted) and all(map(fnmatch, parts, wanted))


@contextmanager
def loss_parallel() -> Iterator[None]:
    """Lets `cross_entropy` compute with classes divided among processes; one process has all of them."""
    yield
