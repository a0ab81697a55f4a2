"""Loads a state dict of the whole world, which is one process here."""

from __future__ import annotations

from typing import Any

from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py._tensor import Tensor
from torch_py.autograd.grad_mode import no_grad
from torch_py.distributed.checkpoint._flat import parts
from torch_py.distributed.checkpoint.filesystem import FileSystemReader
from torch_py.distributed.checkpoint.state_dict_saver import refuse_planner, state_of
from torch_py.distributed.checkpoint.stateful import Stateful
from torch_py.distributed.checkpoint.storage import StorageReader

__all__ = ["load", "load_state_dict"]


def load(
    state_dict: dict[str, Any],
    *,
    checkpoint_id: Any = None,
    storage_reader: StorageReader | None = None,
    planner: Any = None,
    process_group: Any = None,
    no_dist: bool = False,
) -> None:
    """Fills `state_dict` with the values of the same names, in place.

    Tensors are written to, other values replaced; objects with `state_dict` and `load_state_dict` get theirs.

    Raises RuntimeError for a name that the checkpoint does not have, and ValueError for a tensor of another
    shape.
    """
    refuse_planner("load", planner)
    saved = (storage_reader or FileSystemReader(checkpoint_id)).read(checkpoint_id)
    state = state_of(state_dict)

    for name, container, key in list(parts(state)):
        if name not in saved:
            raise RuntimeError(f"Missing key in checkpoint state_dict: {name}.")
        container[key] = _filled(name, container[key], saved[name])

    for key, value in state_dict.items():
        if isinstance(value, Stateful):
            value.load_state_dict(state[key])
        else:
            state_dict[key] = state[key]


def _filled(name: str, target: Any, value: Any) -> Any:
    if not isinstance(target, Tensor) or not isinstance(value, Tensor):
        return value
    if target.shape != value.shape:
        raise ValueError(
            f"Size mismatch between saved {tuple(value.shape)} and current: {tuple(target.shape)} for {name}"
        )
    with no_grad():
        target.copy_(value)
    return target


def load_state_dict(
    state_dict: dict[str, Any],
    storage_reader: StorageReader,
    process_group: Any = None,
    coordinator_rank: int = 0,
    no_dist: bool = False,
    planner: Any = None,
) -> None:
    """The earlier form of `load`."""
    load(state_dict, storage_reader=storage_reader, planner=planner)


__getattr__ = _lacking(__name__)
