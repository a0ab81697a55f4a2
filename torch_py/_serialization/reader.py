"""Reads an archive. By default it accepts only what a file of tensors needs: see restricted."""

from __future__ import annotations

import io
import os
import pickle
import struct
import sys
import zipfile
import zlib
from contextlib import AbstractContextManager, closing, nullcontext, suppress
from typing import Any

from torch_py._serialization.legacy import is_legacy, read_legacy
from torch_py._serialization.names import as_torch, known_names, public_object, with_storage_type
from torch_py._serialization.placing import placed_storage
from torch_py._serialization.rebuild import empty_storage, typed_storage_of
from torch_py._serialization.records import Records
from torch_py._serialization.restricted import load_restricted, safe_globals
from torch_py._serialization.storage_types import StorageType

# The exceptions that zipfile raises for malformed bytes.
_MALFORMED = (
    zipfile.BadZipFile,
    EOFError,
    NotImplementedError,
    OSError,
    OverflowError,
    UnicodeError,
    ValueError,
    struct.error,
    zlib.error,
)


class _Archive:
    """The storages of an open zip file, each of which is read once."""

    def __init__(self, records: Records, map_location: Any) -> None:
        self.map_location = map_location
        self.records = records
        names = records.archive.namelist()
        structures = [name for name in names if name.endswith("/data.pkl") and name.count("/") == 1]
        if len(structures) != 1:
            raise RuntimeError(
                f"torch.load: expected an archive with one data.pkl in a folder, got the records {names[:5]}"
            )

        self.root = structures[0].rpartition("/")[0]
        self._check_byte_order()
        self.structure = records.content(structures[0])
        self._storages: dict[str, Any] = {}

    def _check_byte_order(self) -> None:
        name = f"{self.root}/byteorder"
        order = "little"
        if name in self.records:
            order = self.records.content(name)[:20].decode("ascii", "replace")
        if order != sys.byteorder:
            raise RuntimeError(
                f"torch.load: the file has {order}-endian numbers, this machine {sys.byteorder}-endian ones"
            )

    def storage(self, identity: Any) -> Any:
        """The storage of a persistent id: ('storage', type, key, location, number of elements)."""
        if not (
            isinstance(identity, tuple)
            and len(identity) == 5
            and type(identity[0]) is str
            and identity[0] == "storage"
        ):
            raise pickle.UnpicklingError(
                f"torch.load: expected a reference to a storage, got a {type(identity).__name__}"
            )

        _, kind, key, location, count = identity
        if (
            not isinstance(kind, StorageType)
            or type(key) is not str
            or type(location) is not str
            or type(count) is not int
            or count < 0
        ):
            given = ", ".join(type(part).__name__ for part in identity[1:])
            raise pickle.UnpicklingError(
                f"torch.load: expected a storage type, a key, a location and a count, got {given}"
            )

        if key not in self._storages:
            name = f"{self.root}/data/{key}"
            nbytes = count * kind.dtype.itemsize
            self._storages[key] = placed_storage(
                lambda nbytes, complete=False: self.records.read(name, nbytes, complete),
                nbytes,
                location,
                self.map_location,
            )

        return typed_storage_of(self._storages[key], kind.dtype)


class _Trusting:
    """A part of an unpickler that runs whatever the file says.

    It accepts PyTorch's names for objects of this package.
    """

    archive: _Archive

    def persistent_load(self, identity: Any) -> Any:
        return self.archive.storage(with_storage_type(identity))

    def find_class(self, module: str, name: str) -> Any:
        """The object of a name, with PyTorch's modules replaced by those of this package."""
        place = as_torch(module), name
        if place in known_names() and place[0].partition(".")[0] == "torch":
            return public_object(known_names()[place])
        if module.partition(".")[0] != "torch":
            return super().find_class(module, name)  # type: ignore[misc]

        # A layer may be in another file here, but it is public in the package.
        ours = "torch_py" + module[len("torch") :]
        for place in (ours, ".".join(ours.split(".")[:2])):
            with suppress(ImportError, AttributeError):
                return super().find_class(place, name)  # type: ignore[misc]

        raise pickle.UnpicklingError(
            f"torch.load: the file needs {module}.{name}, which this build does not have"
        )


def _load_trusting(file: Any, archive: _Archive, pickle_module: Any, keywords: dict[str, Any]) -> Any:
    """The value in `file`, read by the Unpickler of `pickle_module`.

    Its `find_class` is used for names outside of torch.
    """
    unpickler = type("Unpickler", (_Trusting, (pickle_module or pickle).Unpickler), {})(file, **keywords)
    unpickler.archive = archive
    return unpickler.load()


def _check_beginning(stream: Any) -> None:
    """Raises EOFError for an empty file, UnpicklingError for a file that
    is not an archive, and what seeking raises."""
    stream.seek(stream.tell())
    start = stream.tell()
    beginning = stream.read(4)
    stream.seek(start)

    if not isinstance(beginning, (bytes, bytearray)):
        raise AssertionError(f"torch.load: expected a file that gives bytes, got {type(beginning).__name__}")
    if not beginning:
        raise EOFError("torch.load: the file is empty")
    if beginning[:2] != b"PK" and not is_legacy(stream):
        raise pickle.UnpicklingError(
            "torch.load: the file is not a zip archive as torch.save writes it, nor in the format before "
            "PyTorch 1.6"
        )


def _opened(stream: Any, mapped: bool, eager: bool) -> Records:
    """Opens the archive. Raises RuntimeError for any error in its directory."""
    try:
        return Records(zipfile.ZipFile(stream), mapped=mapped, eager=eager)
    except _MALFORMED as error:
        raise RuntimeError(f"torch.load: the archive is damaged or truncated: {error}") from error


def read_archive(
    file: Any,
    map_location: Any,
    weights_only: bool,
    mapped: bool,
    keywords: dict[str, Any],
    pickle_module: Any = None,
) -> Any:
    """The value that was written to `file`, a path or a seekable binary file.

    With `mapped` its storages are the pages of the file.
    """
    opened: AbstractContextManager[Any] = (
        open(file, "rb") if isinstance(file, (str, os.PathLike)) else nullcontext(file)
    )
    # The caller's code may look at the numbers while the file is being read.
    eager = not weights_only or bool(safe_globals) or callable(map_location)

    with opened as stream:
        if isinstance(stream, io.RawIOBase):  # its reads may end early
            stream = io.BytesIO(stream.read()) if not stream.seekable() else io.BufferedReader(stream)  # type: ignore[type-var]

        _check_beginning(stream)
        if is_legacy(stream):
            return _read_old_format(stream, map_location, weights_only, mapped, keywords, pickle_module)

        with closing(_opened(stream, mapped, eager)) as records:
            archive = _Archive(records, map_location)
            structure = io.BytesIO(archive.structure)
            if weights_only:
                value = load_restricted(structure, archive, len(archive.structure))
            else:
                value = _load_trusting(structure, archive, pickle_module, keywords)

            records.finish()
            return value


def _read_old_format(
    stream: Any,
    map_location: Any,
    weights_only: bool,
    mapped: bool,
    keywords: dict[str, Any],
    pickle_module: Any,
) -> Any:
    if mapped:
        raise RuntimeError(
            "torch.load: mmap=True needs a file in the zip format; save it again without "
            "_use_new_zipfile_serialization=False"
        )

    def unpickle(file: Any, storages: Any) -> Any:
        if weights_only:
            return load_restricted(file, storages, storages.size)
        return _load_trusting(file, storages, pickle_module, keywords)

    return read_legacy(
        stream, lambda location: placed_storage(empty_storage, 0, location, map_location), unpickle
    )
