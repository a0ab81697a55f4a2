"""Sends tensors and storages through the queues and pipes of `multiprocessing`, by the descriptors of their
memory.

When `multiprocessing` pickles for another process it uses `ForkingPickler`, which calls the functions
registered here. `DupFd` passes a descriptor: directly while a process is started, later through a socket
(SCM_RIGHTS) of a thread of the sender.
"""

from __future__ import annotations

from multiprocessing import reduction
from typing import Any, cast

from torch_py import _C
from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py._serialization.rebuild import rebuild_meta_of_type
from torch_py._tensor import Tensor
from torch_py.nn.parameter import Buffer, Parameter
from torch_py.utils.hooks import warn_if_has_hooks

_NOT_A_LEAF = (
    "Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does not support "
    "crossing process boundaries.  If you just want to transfer the data, call detach() on the tensor before "
    "serializing (e.g., putting it on the queue)."
)
_SENDER_HAS_ENDED = (
    "the process that sent a tensor has ended before the tensor was received; it must run until then"
)


def check_sendable(tensor: Tensor) -> None:
    """Raises RuntimeError for a result of differentiable operators, because its graph cannot be sent."""
    if tensor.requires_grad and not tensor.is_leaf:
        raise RuntimeError(_NOT_A_LEAF)
    warn_if_has_hooks(tensor)


def tensor_on(storage: Any, dtype: _C.dtype, offset: int, size: Any, stride: Any) -> Any:
    """A tensor over a storage, contiguous if `stride` is None."""
    tensor: Any = _C._torch.empty(0, dtype=dtype, device=storage.device)
    if stride is None:
        return tensor.set_(storage, offset, size)
    return tensor.set_(storage, offset, size, stride)


def as_type(kind: type, tensor: Tensor, requires_grad: bool) -> Any:
    """A leaf of type `kind` over the memory of `tensor`."""
    if kind is Tensor:
        return tensor.requires_grad_(True) if requires_grad else tensor
    return cast(Any, _C.TensorBase)._make_subclass(kind, tensor, requires_grad)


def reduce_storage(storage: Any) -> tuple[Any, ...]:
    """Moves the storage to shared memory if necessary, and returns how to rebuild it."""
    if storage.device.type == "cuda":
        # Imported on first use: few programs send memory of devices.
        from torch_py.cuda._sharing import reduce_cuda_storage

        return reduce_cuda_storage(storage)
    if storage.nbytes() == 0:
        return rebuild_storage_empty, ()
    storage.share_memory_()
    return rebuild_storage_fd, (reduction.DupFd(storage._shared_descriptor()), storage.nbytes())


def rebuild_storage_empty() -> Any:
    """An empty storage."""
    return _C.UntypedStorage(0)


def rebuild_storage_fd(handle: Any, size: int) -> Any:
    """A storage over the memory behind `handle`.

    Memory that this process has already mapped is not mapped again.

    Raises ConnectionRefusedError, FileNotFoundError or EOFError if the sender has ended, because it passes
    the descriptor.
    """
    try:
        descriptor = handle.detach()
    except (ConnectionError, FileNotFoundError) as error:
        raise type(error)(error.errno, f"{_SENDER_HAS_ENDED} ({error.strerror})") from error
    except EOFError as error:
        raise EOFError(_SENDER_HAS_ENDED) from error
    return cast(Any, _C.UntypedStorage)._from_descriptor(descriptor, size)


def reduce_tensor(tensor: Tensor) -> tuple[Any, ...]:
    """Returns how to rebuild a tensor.

    Raises RuntimeError for tensors that require grad and are not leaves, and for memory that other processes
    cannot map.
    """
    check_sendable(tensor)
    if tensor.is_meta:
        return rebuild_meta_of_type, (
            type(tensor),
            tensor.dtype,
            tuple(tensor.shape),
            tuple(tensor.stride()),
            tensor.requires_grad,
        )

    layout = (tensor.dtype, tensor.storage_offset(), tuple(tensor.shape), tuple(tensor.stride()))
    return rebuild_tensor, (type(tensor), tensor.untyped_storage(), layout, tensor.requires_grad)


def rebuild_tensor(kind: type, storage: Any, layout: tuple[Any, ...], requires_grad: bool) -> Any:
    """The tensor that `reduce_tensor` described."""
    return as_type(kind, tensor_on(storage, *layout), requires_grad)


def init_reductions() -> None:
    """Registers the functions above; importing `torch_py.multiprocessing` calls it."""
    reduction.ForkingPickler.register(_C.UntypedStorage, reduce_storage)
    for kind in (Tensor, Parameter, Buffer):
        reduction.ForkingPickler.register(kind, reduce_tensor)


__getattr__ = _lacking(__name__)
