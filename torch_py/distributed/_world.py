"""The process group of a world of one process, and the types of its arguments and results."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any, ClassVar, NoReturn


class DistError(RuntimeError):
    """An error of distributed work."""


class DistBackendError(DistError):
    """An error of what carries messages."""


class DistNetworkError(DistError):
    """An error of the connection between processes."""


class DistStoreError(DistError):
    """An error of a store, such as a key that nobody sets in time."""


class ReduceOp(IntEnum):
    """How values of processes are combined; of one process, all but PREMUL_SUM give its value."""

    SUM = 0
    AVG = 1
    PRODUCT = 2
    MIN = 3
    MAX = 4
    BAND = 5
    BOR = 6
    BXOR = 7


class Backend(str):
    """The name of what carries messages."""

    UNDEFINED = "undefined"
    GLOO = "gloo"
    NCCL = "nccl"
    MPI = "mpi"
    XCCL = "xccl"
    UCC = "ucc"

    default_device_backend_map: ClassVar[dict[str, str]] = {"cpu": "gloo", "cuda": "nccl", "xpu": "xccl"}


class ProcessGroup:
    """This process alone."""

    def __init__(self, backend: str = "gloo") -> None:
        self._backend = backend
        self.group_name = f"{backend}:0"

    def rank(self) -> int:
        return 0

    def size(self) -> int:
        return 1

    def barrier(self, *options: Any) -> Work:
        """Waits for the other processes; a world of one has only this one."""
        return Work()

    def name(self) -> str:
        return self._backend


class Work:
    """The handle of an operation with ``async_op=True``, which is already done."""

    def wait(self, timeout: Any = None) -> bool:
        return True

    def is_completed(self) -> bool:
        return True

    def is_success(self) -> bool:
        return True

    def exception(self) -> None:
        return None


def absent(name: str) -> Callable[..., NoReturn]:
    """A function that needs more than one process: raises NotImplementedError."""

    def missing(*arguments: Any, **keywords: Any) -> NoReturn:
        raise NotImplementedError(f"torch.distributed.{name}: torch_py has worlds of one process only")

    missing.__name__ = missing.__qualname__ = name
    missing.__refuses__ = True  # type: ignore[attr-defined]  # read by tools.names
    return missing


class P2POp:
    """A message between two processes. Raises NotImplementedError: there is only one."""

    __refuses__ = True

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        absent("P2POp")()


_world: list[ProcessGroup] = []


def current_group() -> ProcessGroup | None:
    return _world[0] if _world else None


def set_world(world: ProcessGroup | None) -> None:
    _world[:] = [] if world is None else [world]


class _GroupMember(type):
    WORLD = property(lambda cls: current_group())


class GroupMember(metaclass=_GroupMember):
    NON_GROUP_MEMBER = -100

    @staticmethod
    def of(group: Any) -> ProcessGroup:
        """`group`, or the world for None. Raises ValueError without a world or outside the group."""
        found = current_group() if group is None else group
        if found is None:
            raise ValueError(
                "Default process group has not been initialized, please make sure to call init_process_group."
            )
        if not isinstance(found, ProcessGroup):
            raise ValueError(f"Invalid process group specified: {group!r}")
        return found


class group(metaclass=_GroupMember):
    """``group.WORLD``: the group of all processes, None before `init_process_group`."""
