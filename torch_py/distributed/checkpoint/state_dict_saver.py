"""Saves a state dict of the whole world, which is one process here."""

from __future__ import annotations

from typing import Any

from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py.distributed.checkpoint._flat import flatten
from torch_py.distributed.checkpoint.filesystem import FileSystemWriter
from torch_py.distributed.checkpoint.stateful import Stateful
from torch_py.distributed.checkpoint.storage import StorageWriter
from torch_py.futures import Future

__all__ = ["async_save", "save", "save_state_dict"]


def state_of(state_dict: dict[str, Any]) -> dict[str, Any]:
    """`state_dict` with the state of objects in the place of the objects."""
    return {
        key: value.state_dict() if isinstance(value, Stateful) else value for key, value in state_dict.items()
    }


def refuse_planner(name: str, planner: Any) -> None:
    """Raises NotImplementedError for a planner."""
    if planner is not None:
        raise NotImplementedError(
            f"torch.distributed.checkpoint.{name}: torch_py has worlds of one process only and no planners, "
            f"got planner={planner!r}"
        )


def save(
    state_dict: dict[str, Any],
    *,
    checkpoint_id: Any = None,
    storage_writer: StorageWriter | None = None,
    planner: Any = None,
    process_group: Any = None,
    no_dist: bool = False,
    use_collectives: bool = True,
) -> None:
    """Writes tensors, plain values and the state of objects.

    Args:
        state_dict: nested dicts and lists; an object with `state_dict` and `load_state_dict` at the top level
            is written as what it returns.
        checkpoint_id: the folder.
        storage_writer: what writes; default: a `FileSystemWriter`.
        planner: raises NotImplementedError if given.
    """
    refuse_planner("save", planner)
    writer = storage_writer or FileSystemWriter(checkpoint_id)
    writer.write(flatten(state_of(state_dict)), checkpoint_id)


def save_state_dict(
    state_dict: dict[str, Any],
    storage_writer: StorageWriter,
    process_group: Any = None,
    coordinator_rank: int = 0,
    no_dist: bool = False,
    planner: Any = None,
) -> None:
    """The earlier form of `save`."""
    save(state_dict, storage_writer=storage_writer, planner=planner)


def async_save(state_dict: dict[str, Any], **options: Any) -> Any:
    """`save`, with the same arguments. Returns a future, which is already done."""
    save(state_dict, **{name: value for name, value in options.items() if not name.startswith("async_")})
    done: Future[None] = Future()
    done.set_result(None)
    return done


__getattr__ = _lacking(__name__)
