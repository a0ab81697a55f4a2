"""The records of an archive, whose bytes several threads read at once or which are mapped into memory."""

from __future__ import annotations

import mmap
import os
import struct
import threading
import zipfile
import zlib
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from torch_py import _C
from torch_py._serialization.rebuild import empty_storage, storage_bytes

_LOCAL_HEADER = struct.Struct("<4s22xHH")
_SIGNATURE = b"PK\x03\x04"
# Bytes per system call. Checksums are computed between the calls, while the bytes are in the cache.
_CHUNK = 1 << 20
_THREADS = 4
_MAPPED_ALIGNMENT = 16  # that of the largest element, on which kernels may rely


class Records:
    """The records of an open zip file.

    With `eager` a storage is complete when `read` returns, otherwise after `finish`.

    Raises RuntimeError for a directory with records that overlap or end beyond the end of the file, because a
    small file could otherwise require much memory.
    """

    def __init__(self, archive: zipfile.ZipFile, *, mapped: bool, eager: bool) -> None:
        self.archive = archive
        self._mapped = mapped
        self._map: mmap.mmap | None = None
        self._source = _source(archive.fp)
        self._ends = _ends_of_records(archive, self._source.size)
        is_parallel = not eager and self._source.descriptor is not None
        self._pool = ThreadPoolExecutor(_THREADS, "torch.load") if is_parallel else None
        self._jobs: list[Future[None]] = []

    def __contains__(self, name: str) -> bool:
        return name in self.archive.NameToInfo

    def content(self, name: str) -> bytes:
        """All bytes of a record."""
        record = self._record(name)
        data = bytearray(record.file_size)
        self._fill(memoryview(data), record, self._start(record))
        return bytes(data)

    def read(self, name: str, nbytes: int, complete: bool = False) -> Any:
        """A uint8 tensor with the first `nbytes` of a record, which is there at once if `complete` is set.

        Raises RuntimeError if the record is shorter.
        """
        record = self._record(name)
        if record.file_size < nbytes:
            raise RuntimeError(
                f"torch.load: expected record {name!r} to have {nbytes} bytes, got {record.file_size}"
            )
        if nbytes == 0:
            return empty_storage(0)

        start = self._start(record)
        if self._mapped and start % _MAPPED_ALIGNMENT == 0:
            return self._view(start, nbytes)

        data = empty_storage(nbytes)
        target = storage_bytes(data.untyped_storage())
        if self._pool is None or complete or nbytes < _CHUNK:
            self._fill(target, record, start)
        else:
            self._jobs.append(self._pool.submit(self._fill, target, record, start))

        return data

    def finish(self) -> None:
        """Waits for pending reads and raises their errors."""
        for job in self._jobs:
            job.result()

    def close(self) -> None:
        """Cancels pending reads."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def _record(self, name: str) -> zipfile.ZipInfo:
        """The entry of a record. Raises RuntimeError if it is missing, compressed or encrypted."""
        if name not in self:
            raise RuntimeError(f"torch.load: the archive has no record {name!r}")

        record = self.archive.getinfo(name)
        is_compressed = record.compress_type != zipfile.ZIP_STORED or record.compress_size != record.file_size
        if is_compressed or record.flag_bits & 1:
            raise RuntimeError(
                f"torch.load: record {name!r} is compressed or encrypted; torch.save writes plain bytes"
            )

        return record

    def _start(self, record: zipfile.ZipInfo) -> int:
        """The position of a record's bytes.

        They follow a header in the file, whose lengths are not in the directory.
        """
        header = bytearray(_LOCAL_HEADER.size)
        if self._source.read_into(memoryview(header), record.header_offset) < _LOCAL_HEADER.size:
            raise RuntimeError(f"torch.load: the archive ends before record {record.filename!r}")

        signature, name_length, extra_length = _LOCAL_HEADER.unpack(header)
        if signature != _SIGNATURE:
            raise RuntimeError(f"torch.load: the archive is damaged at record {record.filename!r}")

        start = int(record.header_offset + _LOCAL_HEADER.size + name_length + extra_length)
        available = self._ends[record.header_offset] - start
        if record.file_size > available:
            raise RuntimeError(
                f"torch.load: record {record.filename!r} ends after {max(0, available)} of "
                f"{record.file_size} bytes"
            )

        return start

    def _fill(self, target: memoryview, record: zipfile.ZipInfo, start: int) -> None:
        """Reads the bytes of a record and checks them against its checksum."""
        checksum = filled = 0
        while filled < len(target):
            part = target[filled : filled + _CHUNK]
            count = self._source.read_into(part, start + filled)
            if count == 0:
                raise RuntimeError(
                    f"torch.load: record {record.filename!r} ends after {filled} of {len(target)} bytes"
                )
            checksum = zlib.crc32(part[:count], checksum)
            filled += count

        # A checksum of zero: PyTorch wrote the file under set_crc32_options(False).
        if filled == record.file_size and checksum != record.CRC and record.CRC != 0:
            raise RuntimeError(
                f"torch.load: the bytes of record {record.filename!r} are damaged: their checksum is wrong"
            )

    def _view(self, start: int, nbytes: int) -> Any:
        """A tensor over the pages of the file. Writing to it changes a copy in memory, never the file."""
        if self._map is None:
            assert self._source.descriptor is not None
            self._map = mmap.mmap(self._source.descriptor, 0, access=mmap.ACCESS_COPY)
        return _C.frombuffer(self._map, dtype=_C.uint8, count=nbytes, offset=start)


def _ends_of_records(archive: zipfile.ZipFile, size: int) -> dict[int, int]:
    """The position at which the next record or the directory begins,
    for each record by its header's offset."""
    ordered = sorted(archive.infolist(), key=lambda record: record.header_offset)
    ends = [*(record.header_offset for record in ordered[1:]), min(archive.start_dir, size)]

    for record, end in zip(ordered, ends):
        if record.header_offset < 0 or record.header_offset + _LOCAL_HEADER.size + record.compress_size > end:
            raise RuntimeError(
                f"torch.load: the archive is damaged: record {record.filename[:100]!r} overlaps another one"
            )

    return {record.header_offset: end for record, end in zip(ordered, ends)}


class _Source:
    """The bytes of a file by position, for several threads.

    `descriptor` is None for objects that are not files of the system (io.BytesIO).
    """

    def __init__(self, stream: Any, descriptor: int | None, size: int) -> None:
        self.stream = stream
        self.descriptor = descriptor
        self.size = size
        self._lock = threading.Lock()

    def read_into(self, target: memoryview, offset: int) -> int:
        """Reads into `target` and returns the number of bytes, 0 at the end of the file."""
        if self.descriptor is not None:
            return os.preadv(self.descriptor, [target], offset)
        with self._lock:
            self.stream.seek(offset)
            if hasattr(self.stream, "readinto"):
                return int(self.stream.readinto(target) or 0)
            data = self.stream.read(len(target))
            target[: len(data)] = data
            return len(data)


def _source(stream: Any) -> _Source:
    try:
        descriptor: int = stream.fileno()
        os.pread(descriptor, 0, 0)
        return _Source(stream, descriptor, os.fstat(descriptor).st_size)
    except (AttributeError, OSError, ValueError):
        return _Source(stream, None, stream.seek(0, os.SEEK_END) if stream is not None else 0)
