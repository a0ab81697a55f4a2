"""Writing an archive: a zip file with one pickle of the structure and one stored record of raw bytes for each storage."""

from __future__ import annotations

import io
import pickle
import struct
import sys
import zipfile
from typing import Any

from torch_py import _C
from torch_py._serialization.names import has_storage_type, storage_type_of, torch_name_of
from torch_py._serialization.rebuild import archive_parts, storage_bytes
from torch_py._tensor import Tensor

# Readers that map the file into memory want the bytes of a storage aligned.
_ALIGNMENT = 64
_FORMAT_VERSION = "3\n"
_ZIP64_FROM = 1 << 31
_EPOCH = (1980, 1, 1, 0, 0, 0)


class _StorageReference:
    """Takes the place of a storage in the pickle."""

    def __init__(self, dtype: Any, key: str, count: int) -> None:
        self.identity = ("storage", storage_type_of(dtype), key, "cpu", count)


class _ArchivePickler(pickle._Pickler):
    """Writes tensors as references to storages and our own functions and types under PyTorch's names."""

    write: Any
    memoize: Any

    def __init__(self, file: Any, protocol: int) -> None:
        super().__init__(file, protocol)
        self.storages: dict[str, Any] = {}
        self._keys: dict[tuple[int, int], tuple[str, Any]] = {}

    def persistent_id(self, value: Any) -> Any:
        if type(value) is _StorageReference:
            return value.identity
        # Only who has loaded the module has storages of its type.
        storages = sys.modules.get("torch_py.storage")
        return self._reference(value.untyped(), value.dtype).identity if storages and type(value) is storages.TypedStorage else None

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, Tensor):
            return self._tensor_parts(value)
        if type(value) is _C.Size:
            return _C.Size, (tuple(value),)
        if type(value) is _C.device:
            return _C.device, (value.type,) if value.index is None else (value.type, value.index)
        name = torch_name_of(value)
        return NotImplemented if name is None else name[1]

    def save_global(self, value: Any, name: str | None = None) -> None:
        place = torch_name_of(value)
        if place is None:
            super().save_global(value, name)  # type: ignore[misc]
            return
        self.write(pickle.GLOBAL + f"{place[0]}\n{place[1]}\n".encode("ascii"))
        self.memoize(value)

    def _tensor_parts(self, tensor: Any) -> tuple[Any, ...]:
        if tensor.is_meta:
            return archive_parts(tensor, None)
        if tensor.device.type != "cpu":
            raise NotImplementedError(f"torch.save: tensors on device '{tensor.device}' are not supported")
        return archive_parts(tensor, self._reference(tensor.untyped_storage(), tensor.dtype))

    def _reference(self, storage: Any, dtype: Any) -> _StorageReference:
        elements = storage.nbytes() // dtype.itemsize if has_storage_type(dtype) else storage.nbytes()
        return _StorageReference(dtype, self._key_of(storage, dtype), elements)

    def _key_of(self, storage: Any, dtype: Any) -> str:
        # Memory stays allocated while `self.storages` holds it, so an address means one storage; empty ones have none.
        identity = (storage.data_ptr(), storage.nbytes())
        if storage.nbytes() == 0 or identity not in self._keys:
            key = str(len(self.storages))
            self.storages[key] = storage
            self._keys[identity] = (key, dtype)
        key, known = self._keys[identity]
        if known != dtype and storage.nbytes():
            raise RuntimeError(
                f"torch.save: cannot save several tensors that view the same memory as different dtypes, got {known} and {dtype}; clone() one of them"
            )
        return key


def write_archive(value: Any, file: Any, name: str, protocol: int) -> None:
    """Writes `value` to the binary file `file`; records are in the folder `name` of the archive."""
    structure = io.BytesIO()
    pickler = _ArchivePickler(structure, protocol)
    pickler.dump(value)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        _write_record(archive, f"{name}/data.pkl", structure.getbuffer())
        _write_record(archive, f"{name}/.format_version", b"1")
        _write_record(archive, f"{name}/.storage_alignment", str(_ALIGNMENT).encode())
        _write_record(archive, f"{name}/byteorder", sys.byteorder.encode())
        for key, storage in pickler.storages.items():
            _write_record(archive, f"{name}/data/{key}", storage_bytes(storage))
        _write_record(archive, f"{name}/version", _FORMAT_VERSION.encode())


def _write_record(archive: zipfile.ZipFile, name: str, data: Any) -> None:
    information = zipfile.ZipInfo(name, _EPOCH)
    information.external_attr = 0o600 << 16
    information.file_size = len(data)
    large = len(data) >= _ZIP64_FROM
    header = 30 + len(name.encode()) + 4 + (20 if large else 0)  # 4: identifier and length of the padding field
    padding = -((archive.start_dir if archive.fp is not None else 0) + header) % _ALIGNMENT
    information.extra = b"FB" + struct.pack("<H", padding) + b"Z" * padding
    with archive.open(information, "w", force_zip64=large) as record:
        record.write(data)
