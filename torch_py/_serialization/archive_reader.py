"""`PyTorchFileReader`, which reads single records of a file of `torch.save` by their names."""

from __future__ import annotations

import os
import zipfile
from typing import IO, Any

from torch_py import _C

_torch: Any = _C._torch


class PyTorchFileReader:
    """Reads the records of a file that `torch.save` wrote: a zip file with one folder.

    Args:
        name: a path, or an open binary file

    Raises:
        RuntimeError: it is not a zip file

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> torch.save(torch.ones(2), file)
        >>> reader = torch.PyTorchFileReader(file)
        >>> reader.has_record("data.pkl"), len(reader.get_record("data/0"))
        (True, 8)
    """

    def __init__(self, name: str | os.PathLike[str] | IO[bytes]) -> None:
        try:
            self._archive = zipfile.ZipFile(name)
        except (OSError, zipfile.BadZipFile) as error:
            raise RuntimeError(f"PyTorchFileReader: cannot read {name!r}: {error}") from error
        names = self._archive.namelist()
        self._folder = names[0].partition("/")[0] + "/" if names else ""

    def get_all_records(self) -> list[str]:
        """The names of all records."""
        return [name.removeprefix(self._folder) for name in self._archive.namelist()]

    def has_record(self, name: str) -> bool:
        """Whether the file has a record."""
        return self._folder + name in self._archive.NameToInfo

    def get_record(self, name: str) -> bytes:
        """All bytes of a record."""
        if not self.has_record(name):
            raise RuntimeError(f"PyTorchFileReader: the file does not have a record {name!r}")
        return self._archive.read(self._folder + name)

    def get_storage_from_record(self, name: str, numel: int, dtype: Any) -> Any:
        """A tensor of the first `numel` elements of `dtype` in a record,
        or of bytes if `dtype` is a storage class."""
        dtype = dtype if isinstance(dtype, _C.dtype) else _C.uint8
        data = bytearray(self.get_record(name))
        return _C.frombuffer(data, dtype=dtype, count=numel) if numel else _torch.empty(0, dtype=dtype)
