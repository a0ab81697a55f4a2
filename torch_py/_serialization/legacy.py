"""The format of `torch.save` before PyTorch 1.6, which plain pickles of storages still contain.

The file has five pickles one after another: a magic number, a version, the sizes of C's types, the value with
references to storages, and the keys of the storages. Then follow, for each key in order, the number of
elements (8 bytes) and the elements.
"""

from __future__ import annotations

import io
import pickle
import struct
import sys
from typing import Any

from torch_py._serialization.rebuild import empty_storage, storage_bytes, typed_storage
from torch_py._serialization.storage_types import StorageType, storage_type_of

_MAGIC = 0x1950A86A20F9469CFC6C
_VERSION = 1001
_COUNT = struct.Struct("<q")
_HEADER = b"".join(
    pickle.dumps(part, 2)
    for part in (
        _MAGIC,
        _VERSION,
        {
            "protocol_version": _VERSION,
            "little_endian": True,
            "type_sizes": {"short": 2, "int": 4, "long": 4},
        },
    )
)


def _text(value: str) -> bytes:
    return pickle.BINUNICODE + struct.pack("<I", len(value)) + value.encode("ascii")


def storage_as_file(storage: Any) -> bytes:
    """The bytes of a file with one storage, as a plain pickle contains them.

    Raises NotImplementedError for a dtype without a storage class.
    """
    count = storage.nbytes() // storage.dtype.itemsize
    number = pickle.dumps(count, 2)[2:-1]  # without the header and the final STOP
    kind = pickle.GLOBAL + f"torch\n{storage_type_of(storage.dtype).name}\n".encode("ascii")

    parts = (
        pickle.MARK,
        _text("storage"),
        kind,
        _text("0"),
        _text(str(storage.device)),
        number,
        pickle.NONE,
        pickle.TUPLE,
        pickle.BINPERSID,
        pickle.STOP,
    )

    return b"".join(
        (
            _HEADER,
            b"\x80\x02",
            *parts,
            pickle.dumps(["0"], 2),
            _COUNT.pack(count),
            storage_bytes(storage.untyped()),
        )
    )


def write_legacy(value: Any, file: Any, pickler_type: Any, protocol: int) -> None:
    """Writes `value` to the binary file `file`."""
    file.write(_HEADER)
    structure = io.BytesIO()
    pickler = pickler_type(structure, protocol)
    pickler.closing = (None,)  # PyTorch 0.x wrote views of a storage here
    pickler.dump(value)

    file.write(structure.getbuffer())
    file.write(pickle.dumps(list(pickler.storages), protocol))
    for key, storage in pickler.storages.items():
        file.write(_COUNT.pack(storage.nbytes() // pickler.dtypes[key].itemsize))
        file.write(storage_bytes(storage))


class LegacyFile:
    """The storages of a file in the old format, which are created when the
    pickle refers to them and filled afterwards."""

    def __init__(self, stream: Any, check_location: Any) -> None:
        self._stream = stream
        self._check_location = check_location
        start = stream.tell()
        self.size = self._left = stream.seek(0, 2) - start  # an upper limit for the storages
        stream.seek(start)
        self._storages: dict[str, tuple[Any, Any]] = {}

    def storage(self, identity: Any) -> Any:
        """The storage of a persistent id: ('storage', type, key, location, number of elements, None)."""
        if not (
            isinstance(identity, tuple)
            and len(identity) == 6
            and type(identity[0]) is str
            and identity[0] == "storage"
        ):
            raise pickle.UnpicklingError(
                f"torch.load: expected a reference to a storage, got a {type(identity).__name__}"
            )

        _, kind, key, location, count, view = identity
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

        if view is not None:
            raise NotImplementedError(
                "torch.load: files of PyTorch 0.x with views of storages have to be saved again by PyTorch"
            )

        device = self._check_location(location).device
        if key not in self._storages:
            size = count * kind.dtype.itemsize
            if size > self._left:
                raise RuntimeError(f"torch.load: the file ends before the {size} bytes of storage {key!r}")
            self._left -= size
            data = empty_storage(size)
            self._storages[key] = (
                data.to(device) if device.type not in ("cpu", "meta") else data,
                kind.dtype,
            )

        return typed_storage(self._storages[key][0], kind.dtype)

    def fill(self, keys: Any) -> None:
        """Reads the elements. Raises RuntimeError if the file does not have what its pickles describe."""
        if (
            type(keys) is not list
            or not all(type(key) is str for key in keys)
            or set(keys) != set(self._storages)
        ):
            raise RuntimeError(
                "torch.load: the file's list of storages is not that of the storages it refers to"
            )

        for key in keys:
            data, dtype = self._storages[key]
            host = empty_storage(data.numel()) if data.is_cuda else data
            target = storage_bytes(host.untyped_storage())

            count = self._stream.read(_COUNT.size)
            if len(count) < _COUNT.size or _COUNT.unpack(count)[0] * dtype.itemsize != len(target):
                raise RuntimeError(
                    f"torch.load: expected storage {key!r} to have {len(target)} bytes, the file says "
                    "otherwise or ends"
                )

            _read_into(self._stream, target, key)
            if host is not data:
                data.copy_(host)


def _read_into(stream: Any, target: memoryview, key: str) -> None:
    done = 0
    while done < len(target):
        part = stream.read(min(len(target) - done, 1 << 24))
        if not part:
            raise RuntimeError(
                f"torch.load: the file ends after {done} of the {len(target)} bytes of storage {key!r}"
            )
        target[done : done + len(part)] = part
        done += len(part)


def is_legacy(stream: Any) -> bool:
    """Whether a seekable file begins like this format. The position in the file stays."""
    start = stream.tell()
    beginning = stream.read(len(_HEADER))
    stream.seek(start)
    # The magic number is the same in every protocol from 2 on.
    return b"\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19." in beginning[:32]


def read_legacy(stream: Any, check_location: Any, unpickle: Any) -> Any:
    """The value in `stream`.

    `unpickle(stream, storages)` reads one pickle and looks up references in `storages`.
    """
    storages = LegacyFile(stream, check_location)
    magic, version, system = (unpickle(stream, storages) for _ in range(3))

    if magic != _MAGIC or type(version) is not int or version != _VERSION:
        raise RuntimeError(f"torch.load: expected version {_VERSION} of the old format")
    if not isinstance(system, dict) or system.get("little_endian") is not (sys.byteorder == "little"):
        raise RuntimeError(
            "torch.load: the numbers in the file have another byte order than this machine, which is "
            f"{sys.byteorder}-endian"
        )

    value = unpickle(stream, storages)
    storages.fill(unpickle(stream, storages))
    return value
