"""Reading an archive. By default only what a file of tensors needs is let through: see restricted."""

from __future__ import annotations

import os
import pickle
import sys
import zipfile
from contextlib import AbstractContextManager, closing, nullcontext
from typing import Any

from torch_py import _C
from torch_py._serialization.legacy import is_legacy, read_legacy
from torch_py._serialization.names import StorageType, known_names
from torch_py._serialization.rebuild import typed_storage
from torch_py._serialization.records import Records
from torch_py._serialization.restricted import as_torch, load_restricted, safe_globals


class _Archive:
    """Storages of an open zip file, each read once."""

    def __init__(self, file: zipfile.ZipFile, map_location: Any, records: Records) -> None:
        self.file, self.map_location, self.records = file, map_location, records
        structures = [name for name in file.namelist() if name.endswith("/data.pkl") and name.count("/") == 1]
        if len(structures) != 1:
            raise RuntimeError(f"torch.load: expected an archive with one data.pkl in a folder, got the records {file.namelist()[:5]}")
        self.root = structures[0].rpartition("/")[0]
        self._check_byte_order()
        self._storages: dict[str, Any] = {}

    def _check_byte_order(self) -> None:
        name = f"{self.root}/byteorder"
        order = self.file.read(name).decode("ascii", "replace") if name in self.file.namelist() else "little"
        if order != sys.byteorder:
            raise RuntimeError(f"torch.load: the file has {order}-endian numbers, this machine {sys.byteorder}-endian ones")

    def storage(self, identity: Any) -> Any:
        """What a persistent id stands for: ('storage', type, key, location, number of elements)."""
        if not (isinstance(identity, tuple) and len(identity) == 5 and identity[0] == "storage"):
            raise pickle.UnpicklingError(f"torch.load: expected a reference to a storage, got {identity!r}")
        _, kind, key, location, count = identity
        if not isinstance(kind, StorageType) or not isinstance(key, str) or not isinstance(count, int) or count < 0:
            raise pickle.UnpicklingError(f"torch.load: expected a storage type, a key and a count, got {identity!r}")
        _check_location(location, self.map_location)
        if key not in self._storages:
            self._storages[key] = self.records.read(f"{self.root}/data/{key}", count * kind.dtype.itemsize)
        return typed_storage(self._storages[key], kind.dtype)


def _check_location(location: Any, map_location: Any) -> None:
    """Raises RuntimeError when a storage is to be put somewhere else than in the memory of the CPU."""
    target = location
    if isinstance(map_location, dict):
        target = map_location.get(location, location)
    elif isinstance(map_location, (str, _C.device)):
        target = str(map_location)
    elif callable(map_location):
        # Returns the storage it is given for "stay on the CPU", None for "as in the file".
        stand_in = _OnCpu()
        target = "cpu" if map_location(stand_in, location) is not None else location
    if not isinstance(target, str) or target.partition(":")[0] not in ("cpu", "meta"):
        raise RuntimeError(
            f"torch.load: a storage is to be loaded on device {target!r}, which this build does not have; load with map_location=torch.device('cpu')"
        )


class _OnCpu:
    """What a map_location function gets in the place of a storage."""

    device = "cpu"

    def cpu(self) -> _OnCpu:
        return self


class _Trusting:
    """Half of an unpickler that runs whatever the file says; our own names are understood in PyTorch's spelling."""

    archive: _Archive

    def persistent_load(self, identity: Any) -> Any:
        return self.archive.storage(identity)

    def find_class(self, module: str, name: str) -> Any:
        value = known_names().get((as_torch(module), name)) if as_torch(module).startswith("torch") else None
        return super().find_class(module, name) if value is None else value  # type: ignore[misc]


def _load_trusting(file: Any, archive: _Archive, pickle_module: Any, keywords: dict[str, Any]) -> Any:
    """The value in `file`, read by the Unpickler of `pickle_module`, whose `find_class` is asked for names that are not ours."""
    unpickler = type("Unpickler", (_Trusting, (pickle_module or pickle).Unpickler), {})(file, **keywords)
    unpickler.archive = archive
    return unpickler.load()


def read_archive(
    file: Any, map_location: Any, weights_only: bool, mapped: bool, keywords: dict[str, Any], pickle_module: Any = None
) -> Any:
    """The value that `file`, a path or a seekable binary file, was written from; `mapped`: over the pages of the file."""
    opened: AbstractContextManager[Any] = open(file, "rb") if isinstance(file, (str, os.PathLike)) else nullcontext(file)
    with opened as stream:
        if is_legacy(stream):
            return _read_old_format(stream, map_location, weights_only, mapped, keywords, pickle_module)
        if not zipfile.is_zipfile(stream):
            raise RuntimeError(
                "torch.load: the file is not a zip archive as torch.save writes it, nor in the format before PyTorch 1.6; a truncated "
                "file cannot be read"
            )
        # Classes of the caller's may look at the numbers while the file is being read.
        with zipfile.ZipFile(stream) as zipped, closing(Records(zipped, mapped=mapped, eager=not weights_only or bool(safe_globals))) as records:
            archive = _Archive(zipped, map_location, records)
            with zipped.open(f"{archive.root}/data.pkl") as structure:
                value = load_restricted(structure, archive) if weights_only else _load_trusting(structure, archive, pickle_module, keywords)
            records.finish()
            return value


def _read_old_format(stream: Any, map_location: Any, weights_only: bool, mapped: bool, keywords: dict[str, Any], pickle_module: Any) -> Any:
    if mapped:
        raise RuntimeError("torch.load: mmap=True needs a file in the zip format; save it again without _use_new_zipfile_serialization=False")

    def unpickle(file: Any, storages: Any) -> Any:
        return load_restricted(file, storages) if weights_only else _load_trusting(file, storages, pickle_module, keywords)

    return read_legacy(stream, lambda location: _check_location(location, map_location), unpickle)
