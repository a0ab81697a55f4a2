"""The records of an archive with the bytes of storages: read by several threads at once, or mapped into memory."""

from __future__ import annotations

import mmap
import os
import struct
import zipfile
import zlib
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from torch_py import _C
from torch_py._serialization.rebuild import empty_storage, storage_bytes

_LOCAL_HEADER = struct.Struct("<4s22xHH")
_SIGNATURE = b"PK\x03\x04"
# Bytes for one call of the system, between which checksums are computed while they are still in the cache.
_CHUNK = 1 << 20
_THREADS = 4


class Records:
    """Storages of an open zip file. `eager`: each is complete when `read` returns; otherwise all are after `finish`."""

    def __init__(self, archive: zipfile.ZipFile, *, mapped: bool, eager: bool) -> None:
        self.archive = archive
        self._mapped = mapped
        self._map: mmap.mmap | None = None
        self._descriptor = _descriptor(archive.fp)
        self._size = os.fstat(self._descriptor).st_size if self._descriptor is not None else 0
        self._pool = None if eager or self._descriptor is None else ThreadPoolExecutor(_THREADS, "torch.load")
        self._jobs: list[Future[None]] = []

    def read(self, name: str, nbytes: int) -> Any:
        """A uint8 tensor with the first `nbytes` of the record. Raises RuntimeError when there are not that many."""
        if name not in self.archive.NameToInfo:
            raise RuntimeError(f"torch.load: the archive has no record {name!r}")
        record = self.archive.getinfo(name)
        if record.compress_type != zipfile.ZIP_STORED or record.file_size < nbytes or record.compress_size != record.file_size:
            raise RuntimeError(f"torch.load: expected record {name!r} to be {nbytes} plain bytes, got {record.file_size}")
        if nbytes == 0:
            return empty_storage(0)
        if self._descriptor is None:
            return self._copied(record, nbytes)
        start = self._start(record)
        if start + nbytes > self._size:
            raise RuntimeError(f"torch.load: record {name!r} ends after {max(0, self._size - start)} of {nbytes} bytes")
        if self._mapped:
            return self._view(start, nbytes)
        data = empty_storage(nbytes)
        target = storage_bytes(data.untyped_storage())
        if self._pool is None or nbytes < _CHUNK:
            self._fill(target, record, start)
        else:
            self._jobs.append(self._pool.submit(self._fill, target, record, start))
        return data

    def finish(self) -> None:
        """Waits for what is still being read, and raises what went wrong there."""
        for job in self._jobs:
            job.result()

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def _start(self, record: zipfile.ZipInfo) -> int:
        """Where the bytes of a record begin: behind its header in the file, whose lengths the directory does not tell."""
        assert self._descriptor is not None
        header = os.pread(self._descriptor, _LOCAL_HEADER.size, record.header_offset)
        if len(header) < _LOCAL_HEADER.size:
            raise RuntimeError(f"torch.load: the archive ends before record {record.filename!r}")
        signature, name_length, extra_length = _LOCAL_HEADER.unpack(header)
        if signature != _SIGNATURE:
            raise RuntimeError(f"torch.load: the archive is damaged at record {record.filename!r}")
        return record.header_offset + _LOCAL_HEADER.size + name_length + extra_length

    def _fill(self, target: memoryview, record: zipfile.ZipInfo, start: int) -> None:
        assert self._descriptor is not None
        checksum = filled = 0
        while filled < len(target):
            part = target[filled : filled + _CHUNK]
            count = os.preadv(self._descriptor, [part], start + filled)
            if count == 0:
                raise RuntimeError(f"torch.load: record {record.filename!r} ends after {filled} of {len(target)} bytes")
            checksum = zlib.crc32(part[:count], checksum)
            filled += count
        if filled == record.file_size and checksum != record.CRC:
            raise RuntimeError(f"torch.load: the bytes of record {record.filename!r} are damaged: their checksum is another one")

    def _copied(self, record: zipfile.ZipInfo, nbytes: int) -> Any:
        """From a file that is no file of the system, such as io.BytesIO."""
        data = empty_storage(nbytes)
        target, filled = storage_bytes(data.untyped_storage()), 0
        with self.archive.open(record) as stream:
            while filled < nbytes:
                count = stream.readinto(target[filled:])  # type: ignore[attr-defined]
                if not count:
                    raise RuntimeError(f"torch.load: record {record.filename!r} ends after {filled} of {nbytes} bytes")
                filled += count
        return data

    def _view(self, start: int, nbytes: int) -> Any:
        """The pages of the file themselves; writing to them changes a copy in memory, never the file."""
        if self._map is None:
            assert self._descriptor is not None
            self._map = mmap.mmap(self._descriptor, 0, access=mmap.ACCESS_COPY)
        return _C.frombuffer(self._map, dtype=_C.uint8, count=nbytes, offset=start)


def _descriptor(stream: Any) -> int | None:
    """Of a file that the system can read at any place, None for anything else."""
    try:
        descriptor: int = stream.fileno()
        os.pread(descriptor, 0, 0)
    except (AttributeError, OSError, ValueError):
        return None
    return descriptor
