"""Storages over files that are mapped into memory."""

from __future__ import annotations

import mmap
import os
from typing import Any

from torch_py import _C


def storage_from_file(filename: str, shared: bool = False, nbytes: int = 0) -> Any:
    """A storage of the first `nbytes` bytes of a file, read when they are touched; 0 bytes: the whole file.

    With `shared` writes reach the file, which is made or lengthened when it is too short; else they stay in
    this process. Raises RuntimeError for a file that cannot be opened, or is too short.
    """
    name = os.fspath(filename)
    if nbytes < 0:
        raise RuntimeError(f"UntypedStorage.from_file: expected nbytes >= 0, got {nbytes}")

    flags = os.O_RDWR | os.O_CREAT if shared else os.O_RDONLY
    try:
        descriptor = os.open(name, flags, 0o600)
    except OSError as error:
        raise RuntimeError(
            f"UntypedStorage.from_file: unable to open file {name!r}: {error.strerror} ({error.errno})"
        ) from error

    try:
        there = os.fstat(descriptor).st_size
        size = nbytes or there
        if size > there and shared:
            os.ftruncate(descriptor, size)
        elif size > there:
            raise RuntimeError(f"UntypedStorage.from_file: {name!r} has {there} bytes, expected {size}")

        if size == 0:
            return _C.UntypedStorage(0)
        mapped = mmap.mmap(descriptor, size, access=mmap.ACCESS_WRITE if shared else mmap.ACCESS_COPY)
    finally:
        os.close(descriptor)
    return _C.frombuffer(mapped, dtype=_C.uint8).untyped_storage()
