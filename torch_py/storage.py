"""Storages that know the dtype of their elements, as `Tensor.storage()` returns
them: deprecated in favour of `torch.UntypedStorage`."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

from torch_py import _C
from torch_py._C import UntypedStorage, _torch
from torch_py._serialization.storage_types import CONVERSIONS, StorageFile, element_size, storage_types
from torch_py._tensor import Tensor, whole_storage

__all__ = ["TypedStorage", "UntypedStorage"]

# PyTorch has a class of C below UntypedStorage; here it is one class.
StorageBase = UntypedStorage

_DEPRECATED = (
    "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the only "
    "storage class. This should only "
    "matter to you if you are using storages directly. To access UntypedStorage directly, use "
    "tensor.untyped_storage() instead of "
    "tensor.storage()"
)


def _legacy_name(dtype: Any) -> str:
    return next((name for name, kind in storage_types().items() if kind.dtype == dtype), "")


class TypedStorage:
    """A row of elements of one dtype in the memory of an UntypedStorage.

    Deprecated: `Tensor.untyped_storage` gives the memory of a tensor, and tensors give its elements.

    Args:
        args: nothing, the number of elements, which are uninitialized, or a sequence of elements
        wrap_storage: an UntypedStorage to use instead of new memory; default None
        dtype: the dtype of the elements; default None, the default dtype
        device: the device of new memory; default None, the CPU
        _internal: whether to leave out the warning; default False

    Raises:
        RuntimeError: more than one argument, or `wrap_storage` together with one or without a dtype
        TypeError: `wrap_storage` is not an UntypedStorage

    Example:
        >>> storage = torch.TypedStorage([1.0, 2.0], dtype=torch.float64)
        >>> storage.nbytes(), storage.tolist()
        (16, [1.0, 2.0])
    """

    __module__ = "torch_py.storage"
    dtype: Any = None
    _untyped_storage: UntypedStorage

    def __init__(
        self,
        *args: Any,
        wrap_storage: Any = None,
        dtype: Any = None,
        device: Any = None,
        _internal: bool = False,
    ) -> None:
        if not _internal:
            warnings.warn(_DEPRECATED, UserWarning, stacklevel=2)

        if len(args) > 1 or (wrap_storage is not None and (args or dtype is None)):
            raise RuntimeError(
                f"{type(self)}.__init__ received an invalid combination of arguments. Expected one of: no "
                "arguments; (int size); "
                f"(Sequence data); (*, UntypedStorage wrap_storage), each with dtype="
            )

        self.dtype = dtype if dtype is not None else _C.get_default_dtype()
        if wrap_storage is not None:
            if not isinstance(wrap_storage, UntypedStorage):
                raise TypeError(
                    f"Argument 'wrap_storage' must be UntypedStorage, but got {type(wrap_storage)}"
                )
            self._untyped_storage = wrap_storage
        else:
            self._untyped_storage = _elements_of(args[0] if args else 0, self.dtype, device).untyped_storage()

    @classmethod
    def from_buffer(
        cls, buffer: Any, byte_order: str | None = None, dtype: Any = None, count: int = -1, offset: int = 0
    ) -> TypedStorage:
        """A copy of `count` elements (-1: all) of `buffer` from byte `offset` on; `byte_order` is 'native',
        'little' or 'big'.

        Raises RuntimeError without a byte order, which elements of one byte do not need, ValueError for an
        offset outside, for fewer bytes than elements, and for an incomplete last element.
        """
        wanted = next(kind for kind in (dtype, cls.dtype, _C.get_default_dtype()) if kind is not None)
        if byte_order is None:
            if element_size(wanted) > 1:
                raise RuntimeError("TypedStorage.from_buffer: missing required argument 'byte_order' (pos 2)")
            byte_order = "native"

        if byte_order not in ("native", "little", "big"):
            raise ValueError(
                "TypedStorage.from_buffer: expected byte_order 'native', 'little' or 'big', "
                f"got {byte_order!r}"
            )

        data = memoryview(buffer).cast("B")
        size = element_size(wanted)
        count = _count_in_buffer(len(data), size, count, offset)

        values = (
            _C.frombuffer(bytearray(data[offset:]), dtype=wanted, count=count).clone()
            if count
            else _torch.empty(0, dtype=wanted)
        )

        if byte_order == "big" and size > 1 and count:
            whole_storage(values.untyped_storage()).view(-1, size).copy_(
                whole_storage(values.untyped_storage()).view(-1, size).flip(1)
            )

        return _wrap(values)

    # What it is

    def untyped(self) -> UntypedStorage:
        return self._untyped_storage

    @property
    def device(self) -> Any:
        return self._untyped_storage.device

    @property
    def is_cuda(self) -> bool:
        return bool(self.device.type == "cuda")

    @property
    def is_sparse(self) -> bool:
        return False

    def element_size(self) -> int:
        return element_size(self.dtype)

    def nbytes(self) -> int:
        return self._untyped_storage.nbytes()

    def size(self) -> int:
        return self.nbytes() // self.element_size()

    __len__ = size

    def data_ptr(self) -> int:
        return self._untyped_storage.data_ptr()

    def pickle_storage_type(self) -> str:
        """The name of a storage of this dtype in files."""
        name = _legacy_name(self.dtype)
        if not name:
            raise KeyError(f"dtype {self.dtype} is not recognized")
        return name

    def is_shared(self) -> bool:
        """Whether other processes can map the memory."""
        return bool(self._untyped_storage.is_shared())  # type: ignore[attr-defined]

    def share_memory_(self) -> TypedStorage:
        """Moves the elements to memory that other processes can map."""
        self._untyped_storage.share_memory_()  # type: ignore[attr-defined]
        return self

    def is_pinned(self, device: Any = None) -> bool:
        return False

    def resizable(self) -> bool:
        return bool(self._untyped_storage.resizable())  # type: ignore[attr-defined]

    # Elements

    def _elements(self) -> Any:
        """A tensor over the memory."""
        return _torch.empty(0, dtype=self.dtype, device=self.device).set_(
            self._untyped_storage, 0, (self.size(),), (1,)
        )

    def _position(self, index: Any) -> int:
        if not isinstance(index, int):
            raise RuntimeError(f"can't index a {type(self)} with {type(index)}")
        if not -self.size() <= index < self.size():
            raise IndexError(f"index {index} out of range for storage of size {self.size()}")
        return index % self.size()

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            raise RuntimeError("slices are only supported in UntypedStorage.__getitem__")
        return self._elements()[self._position(index)].item()

    def __setitem__(self, index: Any, value: Any) -> None:
        if not isinstance(index, (int, slice)):
            raise RuntimeError(f"can't index a {type(self)} with {type(index)}")
        if isinstance(value, TypedStorage):
            raise RuntimeError(f"cannot set item with value type {type(value)}")
        self._elements()[index if isinstance(index, slice) else self._position(index)] = value

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def tolist(self) -> list[Any]:
        return list(self._elements().tolist())

    def fill_(self, value: Any) -> TypedStorage:
        self._elements().fill_(value)
        return self

    def copy_(self, source: TypedStorage, non_blocking: bool = False) -> TypedStorage:
        """Takes over the elements of `source`, converted; both have the same number of elements."""
        if not isinstance(source, TypedStorage):
            raise TypeError(f"copy_(): expected a TypedStorage, got {type(source).__name__}")
        if source.size() != self.size():
            raise RuntimeError(
                f"size does not match, self was {self.nbytes()} bytes but src was {source.nbytes()} bytes"
            )
        self._elements().copy_(source._elements())
        return self

    @classmethod
    def from_file(cls, filename: str, shared: bool = False, size: int = 0) -> TypedStorage:
        """A storage of `size` elements over a file that is mapped into
        memory, see UntypedStorage.from_file."""
        dtype = cls.dtype if cls.dtype is not None else _C.get_default_dtype()
        untyped = UntypedStorage.from_file(filename, shared, size * element_size(dtype))  # type: ignore[attr-defined]
        return TypedStorage(wrap_storage=untyped, dtype=dtype, _internal=True)

    @property
    def filename(self) -> str | None:
        return None

    @property
    def is_hpu(self) -> bool:
        return False

    def get_device(self) -> int | None:
        return self.device.index  # type: ignore[no-any-return]  # None on the CPU, unlike that of a tensor

    def cuda(self, device: Any = None, non_blocking: bool = False) -> TypedStorage:
        self._untyped_storage.cuda(device, non_blocking)  # type: ignore[attr-defined]
        return self

    def hpu(self, device: Any = None, non_blocking: bool = False) -> TypedStorage:
        self._untyped_storage.hpu(device, non_blocking)  # type: ignore[attr-defined]
        return self

    def pin_memory(self, device: Any = None) -> TypedStorage:
        self._untyped_storage.pin_memory(device)  # type: ignore[attr-defined]
        return self

    @property
    def _cdata(self) -> int:
        return int(self._untyped_storage._cdata)  # type: ignore[attr-defined]

    def resize_(self, size: int) -> None:
        self._untyped_storage.resize_(size * self.element_size())  # type: ignore[attr-defined]

    # Copies

    def clone(self) -> TypedStorage:
        return _wrap(self._elements().clone())

    def __copy__(self) -> TypedStorage:
        return self.clone()

    def __deepcopy__(self, memo: dict[Any, Any]) -> TypedStorage:
        """Storages of one memory keep one memory, if copied with one `memo`."""
        key = ("storage", self._untyped_storage._address(), self.nbytes())
        if key not in memo:
            memo[key] = whole_storage(self._untyped_storage).clone()
        return TypedStorage(wrap_storage=memo[key].untyped_storage(), dtype=self.dtype, _internal=True)

    def cpu(self) -> TypedStorage:
        return self if self.device.type == "cpu" else _wrap(self._elements().cpu())

    def to(self, *, device: Any, non_blocking: bool = False) -> TypedStorage:
        return _wrap(self._elements().to(device))

    def type(self, dtype: Any = None, non_blocking: bool = False) -> Any:
        """The name of the type without `dtype`; else the elements converted."""
        if dtype is None:
            return f"torch.{self.pickle_storage_type()}"
        name = dtype.rpartition(".")[2] if isinstance(dtype, str) else getattr(dtype, "__name__", "")
        if name not in storage_types() and not isinstance(dtype, _C.dtype):
            raise TypeError(
                f"TypedStorage.type: expected a dtype or the name of a storage type, got {dtype!r}"
            )
        return self._converted(dtype if isinstance(dtype, _C.dtype) else storage_types()[name].dtype)

    def _converted(self, dtype: Any) -> TypedStorage:
        return self if dtype == self.dtype else _wrap(self._elements().to(dtype))

    # Comparison and text

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, TypedStorage)
            and self._untyped_storage._address() == other._untyped_storage._address()
            and self.dtype == other.dtype
        )

    def __hash__(self) -> int:
        return hash((self._untyped_storage._address(), self.nbytes()))

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.nbytes()

    def __str__(self) -> str:
        elements = (
            "".join(f" {value}\n" for value in self.tolist()) if self.device.type != "meta" else "...\n"
        )
        return (
            f"{elements}[torch.storage.TypedStorage(dtype={self.dtype}, device={self.device}) of size "
            f"{self.size()}]"
        )

    __repr__ = __str__

    def __reduce__(self) -> Any:
        return _load_from_bytes, (StorageFile.write(self),)


def _count_in_buffer(available: int, size: int, count: int, offset: int) -> int:
    """How many elements of `size` bytes to take; -1 for `count` means all there are."""
    if not 0 <= offset <= available:
        raise ValueError(
            f"offset must be non-negative and no greater than buffer length ({available}), but got {offset}"
        )

    if count < 0:
        if (available - offset) % size:
            raise ValueError(
                f"buffer size ({available - offset}) must be a multiple of element size ({size})"
            )
        return (available - offset) // size

    if count * size > available - offset:
        raise ValueError(
            f"buffer has only {(available - offset) // size} elements after offset {offset}, but specified "
            f"a size of {count}"
        )

    return count


def _load_from_bytes(b: bytes) -> Any:
    """The storage in the bytes of a file, of which only tensors and storages are read.

    Plain pickles name this function.
    """
    return StorageFile.read(b)


def _wrap(elements: Any) -> TypedStorage:
    return TypedStorage(wrap_storage=elements.untyped_storage(), dtype=elements.dtype, _internal=True)


def _elements_of(data: Any, dtype: Any, device: Any) -> Any:
    """A new tensor of `data` elements, or of the elements of a sequence."""
    if isinstance(data, int):
        return _torch.zeros(data, dtype=dtype, device=device)
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return _C.tensor(list(data), dtype=dtype, device=device)
    raise TypeError(f"Argument type not recognized: {type(data)}")


def storage_of(tensor: Tensor) -> TypedStorage:
    """The storage of `tensor` with its dtype."""
    return TypedStorage(wrap_storage=tensor.untyped_storage(), dtype=tensor.dtype, _internal=True)


def _conversion(name: str, dtype: Any) -> Any:
    def convert(self: TypedStorage) -> TypedStorage:
        return self._converted(dtype)

    convert.__name__ = name
    convert.__doc__ = f"The elements as {dtype}."
    return convert


for _name, _dtype in CONVERSIONS.items():
    setattr(TypedStorage, _name, _conversion(_name, getattr(_C, _dtype)))


class _LegacyMeta(type):
    dtype: Any
    kind: str  # of the device

    def __instancecheck__(cls, instance: object) -> bool:
        return (
            isinstance(instance, TypedStorage)
            and instance.dtype == cls.dtype
            and instance.device.type == cls.kind
        )

    def __call__(cls, *args: Any, wrap_storage: Any = None) -> TypedStorage:
        if len(args) > 1:
            raise RuntimeError(
                f"{cls}.__new__ received an invalid combination of arguments: expected no more than a size "
                "or a sequence"
            )

        warnings.warn(_DEPRECATED, UserWarning, stacklevel=2)
        if (
            wrap_storage is None
            and args
            and not isinstance(args[0], (int, Sequence))
            or (args and isinstance(args[0], str))
        ):
            raise TypeError(f"new(): invalid data type '{type(args[0]).__name__}'")

        if cls.kind == "cpu":
            return TypedStorage(*args, wrap_storage=wrap_storage, dtype=cls.dtype, _internal=True)
        return TypedStorage(
            *args, wrap_storage=wrap_storage, dtype=cls.dtype, device=cls.kind, _internal=True
        )


LEGACY_NAMES = tuple(storage_types())


def __getattr__(name: str) -> Any:
    """`FloatStorage` and its siblings: constructors of storages of one
    dtype, and types to ask `isinstance` about."""
    if name not in LEGACY_NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = made = _legacy_storage(name, "torch_py", "cpu")
    return made


_LEGACY_DOC = """The older constructor of storages of {dtype} elements on the device {kind!r}, and their type
for `isinstance`.

Deprecated: `Tensor.untyped_storage` gives the memory of a tensor, and tensors give its elements.

Args:
    args: nothing, the number of elements, which are uninitialized, or a sequence of elements
    wrap_storage: an UntypedStorage to use instead of new memory; default None

Returns:
    A `torch.TypedStorage`.

Raises:
    RuntimeError: more than one argument
    TypeError: the argument is neither a number nor a sequence

Example:
    >>> storage = {name}([0, 1])
    >>> storage.dtype, len(storage), isinstance(storage, {name})
    ({dtype}, 2, True)
"""


def _legacy_storage(name: str, module: str, kind: str) -> type:
    dtype = storage_types()[name].dtype
    members = {
        "dtype": dtype,
        "__doc__": _LEGACY_DOC.format(
            name=f"{module.replace('torch_py', 'torch')}.{name}", dtype=dtype, kind=kind
        ),
        "kind": kind,
        "__module__": module,
        "from_buffer": _from_buffer,
    }
    return _LegacyMeta(name, (TypedStorage,), members)


def cuda_storage_type(name: str) -> type:
    """`torch.cuda.FloatStorage` and its siblings."""
    return _legacy_storage(name, "torch_py.cuda", "cuda")


@classmethod  # type: ignore[misc]
def _from_buffer(
    cls: Any, buffer: Any, byte_order: str | None = None, count: int = -1, offset: int = 0
) -> TypedStorage:
    return TypedStorage.from_buffer(buffer, byte_order, cls.dtype, count, offset)
