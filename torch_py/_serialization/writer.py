"""Writes an archive: a zip file with one pickle of the structure, and one
uncompressed record of raw bytes for each storage."""

from __future__ import annotations

import io
import pickle
import struct
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any

from torch_py import _C, storage
from torch_py._serialization.names import as_torch, torch_name_of
from torch_py._serialization.rebuild import archive_parts, public_rebuild, storage_bytes
from torch_py._serialization.replacing import replacing
from torch_py._serialization.storage_types import UNTYPED, has_storage_type, storage_type_of
from torch_py._tensor import Tensor
from torch_py._wrappers import is_wrapper

# Readers that map the file into memory expect the bytes of a storage to be aligned.
_ALIGNMENT = 64
_FORMAT_VERSION = "3\n"
_ZIP64_FROM = 1 << 31
_EPOCH = (1980, 1, 1, 0, 0, 0)


class _StorageReference:
    """Replaces a storage in the pickle."""

    def __init__(self, kind: Any, key: str, device: Any, count: int, closing: tuple[Any, ...]) -> None:
        self.identity = ("storage", kind, key, str(device), count, *closing)


class _References:
    """A part of a pickler that writes tensors as references to storages.

    It collects these in `storages`, and their dtypes in `dtypes`.
    """

    closing: tuple[Any, ...] = ()  # further entries at the end of a reference

    def __init__(self, file: Any, protocol: int) -> None:
        super().__init__(file, protocol)  # type: ignore[call-arg]
        self.storages: dict[str, Any] = {}
        self.dtypes: dict[str, Any] = {}
        self._keys: dict[tuple[int, int], str] = {}

    def persistent_id(self, value: Any) -> Any:
        """The reference to a storage, or None for other values."""
        if type(value) is _StorageReference:
            return value.identity
        if type(value) is _C.UntypedStorage:
            key = self._key_of(value, _C.uint8)
            kind = self._kind_of(None)
            return _StorageReference(kind, key, value.device, value.nbytes(), self.closing).identity

        # Typed storages exist only if their module has been imported.
        storages = sys.modules.get("torch_py.storage")
        if storages and type(value) is storages.TypedStorage:
            return self._reference(value.untyped(), value.dtype).identity
        return None

    def _tensor_parts(self, tensor: Any) -> tuple[Any, ...]:
        if tensor.is_meta or is_wrapper(tensor):
            return archive_parts(tensor, None)
        if tensor.device.type not in ("cpu", "cuda", _C._get_privateuse1_backend_name()):
            raise NotImplementedError(f"torch.save: tensors on device '{tensor.device}' are not supported")
        return archive_parts(tensor, self._reference(tensor.untyped_storage(), tensor.dtype))

    def _reference(self, storage: Any, dtype: Any) -> _StorageReference:
        count = storage.nbytes() // dtype.itemsize if has_storage_type(dtype) else storage.nbytes()
        key = self._key_of(storage, dtype)
        return _StorageReference(self._kind_of(dtype), key, storage.device, count, self.closing)

    def _kind_of(self, dtype: Any) -> Any:
        """The class of a storage in the file; None means bytes without a dtype."""
        return UNTYPED if dtype is None else storage_type_of(dtype)

    def _key_of(self, storage: Any, dtype: Any) -> str:
        # `self.storages` keeps the memory allocated, so an address identifies a storage. Empty storages do
        # not have an address.
        identity = (storage._address(), storage.nbytes())
        if storage.nbytes() == 0 or identity not in self._keys:
            key = str(len(self.storages))
            self.storages[key] = storage
            self.dtypes[key] = dtype
            self._keys[identity] = key

        key = self._keys[identity]
        if self.dtypes[key] != dtype and storage.nbytes():
            raise RuntimeError(
                "torch.save: cannot save several tensors that view the same memory as different dtypes, "
                f"got {self.dtypes[key]} and {dtype}; clone() one of them"
            )

        return key


class _ArchivePickler(_References, pickle._Pickler):
    """Writes functions and types of this package under PyTorch's names."""

    write: Any
    memoize: Any

    def reducer_override(self, value: Any) -> Any:
        """How to write tensors and objects with names in PyTorch; NotImplemented for other values."""
        if isinstance(value, Tensor):
            return self._tensor_parts(value)
        if type(value) is _C.Size:
            return _C.Size, (tuple(value),)
        if type(value) is _C.device:
            return _C.device, (value.type,) if value.index is None else (value.type, value.index)
        place = _place_of(value)
        return NotImplemented if place is None else place[1]

    def save_global(self, value: Any, name: str | None = None) -> None:
        """Writes the name of a function or a type."""
        place = _place_of(value)
        if place is None:
            super().save_global(value, name)  # type: ignore[misc]
            return
        self.write(pickle.GLOBAL + f"{place[0]}\n{place[1]}\n".encode("ascii"))
        self.memoize(value)


class _OtherPickler(_References):
    """Extends the pickler of another module, which may write more kinds of objects.

    Functions and types of this package keep their own names.
    """

    def reducer_override(self, value: Any) -> Any:
        """How to write tensors; other values are left to the other pickler."""
        if isinstance(value, Tensor):
            function, arguments, *rest = self._tensor_parts(value)
            return (public_rebuild(function), arguments, *rest)
        theirs = getattr(super(), "reducer_override", None)
        return NotImplemented if theirs is None else theirs(value)

    def _kind_of(self, dtype: Any) -> Any:
        return _C.UntypedStorage if dtype is None else getattr(storage, storage_type_of(dtype).name)


def pickler_of(pickle_module: Any) -> Any:
    """The pickler class to write with: that of `pickle_module`, or the
    one for files that both libraries read."""
    if pickle_module is None or pickle_module is pickle:
        return _ArchivePickler
    return type("Pickler", (_OtherPickler, pickle_module.Pickler), {})


def _place_of(value: Any) -> tuple[str, str] | None:
    """The module and name that PyTorch has for an object of this package, or None for other values.

    Layers and optimizers are in modules of the same name there, except that what is in a private file here
    is in the package that exports it.
    """
    place = torch_name_of(value)
    if place is not None or not isinstance(value, (type, FunctionType)):
        return place

    module = value.__module__
    name = value.__qualname__
    if not isinstance(module, str) or not module.startswith(("torch_py.nn.", "torch_py.optim.")):
        return None

    parts = module.split(".")
    private = next((i for i, part in enumerate(parts) if part.startswith("_")), len(parts))
    public = ".".join(parts[:private])
    return as_torch(public if getattr(sys.modules[public], name, None) is value else module), name


def write_path(write: Callable[[Any, str], None], name: str) -> None:
    """Calls `write` with a new file and a name for its contents.

    Raises RuntimeError if the file cannot be written.
    """
    path = Path(name)
    if not path.parent.is_dir():
        raise RuntimeError(f"Parent directory {path.parent} does not exist.")
    if not name or path.is_dir():
        raise RuntimeError(f"torch.save: expected the path of a file, got {name!r}")

    try:
        with replacing(path) as file:
            write(file, path.stem if path.stem.isascii() and path.stem else "archive")
    except OSError as error:
        raise RuntimeError(f"torch.save: cannot write {name!r}: {error}") from error


def write_stream(write: Callable[[Any, str], None], file: Any) -> None:
    """Calls `write` with an open binary file and a name for its contents."""
    if not isinstance(file, io.RawIOBase):
        write(file, "archive")
        return

    buffered = io.BufferedWriter(file)  # a raw file may write less than it was given
    try:
        write(buffered, "archive")
        buffered.flush()
    finally:
        buffered.detach()


class Pickled:
    """The pickled structure of a value, and the storages to which it refers."""

    def __init__(
        self, value: Any, protocol: int, pickler_type: Any = _ArchivePickler, *, byte_order: bool = True
    ) -> None:
        """Without `byte_order` the file does not record the byte order."""
        structure = io.BytesIO()
        pickler = pickler_type(structure, protocol)
        pickler.dump(value)
        self.structure = structure.getbuffer()
        self.storages = pickler.storages
        self.byte_order = byte_order

    def write(self, file: Any, name: str) -> None:
        """Writes an archive to a binary file, with its records in the folder `name`."""
        with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
            _write_record(archive, f"{name}/data.pkl", self.structure)
            _write_record(archive, f"{name}/.format_version", b"1")
            _write_record(archive, f"{name}/.storage_alignment", str(_ALIGNMENT).encode())
            if self.byte_order:
                _write_record(archive, f"{name}/byteorder", sys.byteorder.encode())
            for key, storage in self.storages.items():
                _write_record(archive, f"{name}/data/{key}", storage_bytes(storage))
            _write_record(archive, f"{name}/version", _FORMAT_VERSION.encode())


def _write_record(archive: zipfile.ZipFile, name: str, data: Any) -> None:
    """Writes a record, with padding so that its bytes are aligned."""
    information = zipfile.ZipInfo(name, _EPOCH)
    information.external_attr = 0o600 << 16
    information.file_size = len(data)

    large = len(data) >= _ZIP64_FROM
    padding_header = 4  # identifier and length of the padding field
    header = 30 + len(name.encode()) + padding_header + (20 if large else 0)
    padding = -((archive.start_dir if archive.fp is not None else 0) + header) % _ALIGNMENT
    information.extra = b"FB" + struct.pack("<H", padding) + b"Z" * padding

    with archive.open(information, "w", force_zip64=large) as record:
        record.write(data)
