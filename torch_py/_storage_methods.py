"""The methods of `torch.UntypedStorage` that are written in Python: copies, conversions, other devices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torch_py import _C
from torch_py._serialization.storage_types import CONVERSIONS, element_size
from torch_py._tensor import whole_storage


def _new(self: Any, *sizes: Any) -> Any:
    """A storage of that many bytes."""
    return _C.UntypedStorage(*sizes, device=self.device)


def _copy(self: Any) -> Any:
    return self.clone()


def _deepcopy(self: Any, memo: dict[Any, Any]) -> Any:
    """Storages of one memory, and tensors over it, keep one memory if copied with one `memo`."""
    key = ("storage", self._address(), self.nbytes())
    if key not in memo:
        memo[key] = whole_storage(self).clone()
    return memo[key].untyped_storage()


def _reduce(self: Any) -> Any:
    return _from_typed, (_typed(self, _C.uint8),)


def _from_typed(storage: Any) -> Any:
    return storage.untyped()


def _iterate(self: Any) -> Iterator[int]:
    return (self[place] for place in range(self.nbytes()))


def _typed(self: Any, dtype: Any) -> Any:
    # Imported on first use: programs rarely need typed storages.
    from torch_py.storage import TypedStorage

    return TypedStorage(wrap_storage=self, dtype=dtype, _internal=True)


def _cpu(self: Any) -> Any:
    return self if self.device.type == "cpu" else self.to(device="cpu")


def _to(self: Any, *, device: Any, non_blocking: bool = False) -> Any:
    """The storage on a device: itself, or a copy."""
    target = _C.device(device)
    if target == self.device:
        return self
    return whole_storage(self).to(target, non_blocking=non_blocking).untyped_storage()


def _type(self: Any, dtype: Any = None, non_blocking: bool = False) -> Any:
    """The name of the type without `dtype`, which is the name of a storage
    type: then the bytes, each an element of it."""
    if dtype is None:
        return "torch.storage.UntypedStorage"
    return _typed(self, _C.uint8).type(dtype)


def _byteswap(self: Any, dtype: Any) -> None:
    """Reverses the bytes of each element of `dtype` (of complex ones those of each part), in place."""
    size = element_size(dtype) // (2 if dtype.is_complex else 1)
    if self.nbytes() % size:
        raise RuntimeError(
            f"UntypedStorage.byteswap: expected a multiple of {size} bytes for {dtype}, got {self.nbytes()}"
        )
    if size > 1:
        rows = whole_storage(self).view(-1, size)
        rows.copy_(rows.flip(1))


def _from_buffer(
    buffer: Any, byte_order: str | None = None, count: int = -1, offset: int = 0, dtype: Any = None
) -> Any:
    """A copy of `count` elements of `dtype` (-1: all) of `buffer` from byte `offset` on; `byte_order` is
    'native', 'little' or 'big'.

    Raises RuntimeError for a missing `dtype` or, where bytes have an order, `byte_order`; ValueError for what
    does not fit.
    """
    # Imported on first use: programs rarely need typed storages.
    from torch_py.storage import TypedStorage

    if dtype is None:
        raise RuntimeError("UntypedStorage.from_buffer: argument 'dtype' cannot be None")
    if byte_order is None and dtype not in (_C.bool, _C.uint8, _C.int8):
        raise RuntimeError(
            "UntypedStorage.from_buffer: function missing required argument 'byte_order' (pos 2)"
        )
    return TypedStorage.from_buffer(buffer, byte_order or "native", dtype, count, offset).untyped()


def _no_accelerator(kind: str) -> Any:
    def refuse(self: Any, device: Any = None, non_blocking: bool = False) -> Any:
        raise RuntimeError(f"UntypedStorage.{kind}: torch_py has no {kind} devices")

    refuse.__name__ = refuse.__qualname__ = kind
    return refuse


def _is_pinned(self: Any, device: Any = None) -> bool:
    """Whether the memory is pinned memory of the host."""
    return bool(_C._is_pinned(self))


def _pin_memory(self: Any, device: Any = None) -> Any:
    """The storage, or a copy of it in pinned memory of the host."""
    if self.device.type != "cpu":
        raise TypeError(f"cannot pin '{_type(self)}' only CPU memory can be pinned")
    if _is_pinned(self):
        return self
    return whole_storage(self).pin_memory().untyped_storage()


def _cuda(self: Any, device: Any = None, non_blocking: bool = False) -> Any:
    """The storage on a CUDA device, by default the current one: itself, or a copy."""
    where = _C.device("cuda", device) if isinstance(device, int) else _C.device(device or "cuda")
    return _to(self, device=where, non_blocking=non_blocking)


def _get_device(self: Any) -> int | None:
    return self.device.index  # type: ignore[no-any-return]  # None on the CPU, unlike that of a tensor


def _conversion(name: str, dtype: Any) -> Any:
    def convert(self: Any) -> Any:
        return _typed(self, _C.uint8)._converted(dtype)

    convert.__name__ = name
    convert.__doc__ = f"The bytes, each as an element of {dtype}, in a TypedStorage."
    return convert


def add_storage_methods() -> None:
    """Adds the methods to the native type."""
    members: dict[str, Any] = {
        "__copy__": _copy,
        "__deepcopy__": _deepcopy,
        "__iter__": _iterate,
        "__reduce__": _reduce,
        "byteswap": _byteswap,
        "cpu": _cpu,
        "cuda": _cuda,
        "from_buffer": staticmethod(_from_buffer),
        "filename": property(lambda self: None),
        "get_device": _get_device,
        "hpu": _no_accelerator("hpu"),
        "is_cuda": property(lambda self: self.device.type == "cuda"),
        "is_hpu": property(lambda self: False),
        "is_pinned": _is_pinned,
        "is_sparse": False,
        "is_sparse_csr": False,
        "mps": _no_accelerator("mps"),
        "new": _new,
        "pin_memory": _pin_memory,
        "to": _to,
        "type": _type,
    }
    members.update({name: _conversion(name, getattr(_C, dtype)) for name, dtype in CONVERSIONS.items()})

    for name, value in members.items():
        _C._add_to_type(_C.UntypedStorage, name, value)
