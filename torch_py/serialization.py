"""`torch.save` and `torch.load`, in PyTorch's file format: files of either library are read by the other."""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Callable, Iterable
from typing import IO, Any, Optional, TypeAlias, Union

from torch_py import _C
from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py._serialization.storage_types import StorageFile

__all__ = ["add_safe_globals", "clear_safe_globals", "get_safe_globals", "load", "safe_globals", "save"]

DEFAULT_PROTOCOL = 2
_OPTIONS_OF_PICKLE = {"fix_imports", "encoding", "errors", "buffers"}  # of pickle.load
# For annotations.
FILE_LIKE: TypeAlias = str | os.PathLike[str] | IO[bytes]
MAP_LOCATION: TypeAlias = Optional[Union[Callable[[Any, str], Any], _C.device, str, dict[str, str]]]  # noqa: UP007, UP045


def save(
    obj: Any,
    f: Any,
    pickle_module: Any = None,
    pickle_protocol: int = DEFAULT_PROTOCOL,
    _use_new_zipfile_serialization: bool = True,
    _disable_byteorder_record: bool = False,
) -> None:
    """Writes an object to a file, which `torch.load` and PyTorch can read.

    Tensors are stored as raw bytes, and memory that several tensors share is stored once. Everything else is
    pickled. An existing file is replaced only when the new one is complete, so an error leaves the old one.

    Args:
        obj: the object, such as the `state_dict` of a module
        f: a path, or a binary file open for writing
        pickle_module: the module whose `Pickler` writes everything but tensors; cloudpickle also writes
            lambdas; default None, pickle
        pickle_protocol: the protocol of pickle; default 2
        _use_new_zipfile_serialization: False writes the format before PyTorch 1.6; default True
        _disable_byteorder_record: whether to leave out the byte order; default False

    Raises:
        RuntimeError: if the path cannot be written, or if tensors view the same memory as different dtypes
        NotImplementedError: for a tensor on a device that has no files, or of the mkldnn layout

    Example:
        >>> import io
        >>> buffer = io.BytesIO()
        >>> torch.save({"weight": torch.ones(2)}, buffer)
        >>> _ = buffer.seek(0)
        >>> torch.load(buffer)
        {'weight': tensor([1., 1.])}
    """
    # Imported on first use: most programs write no files.
    from torch_py._serialization.writer import write_path, write_stream

    is_path = isinstance(f, (str, os.PathLike))
    if not is_path and not hasattr(f, "write"):
        raise AttributeError(
            "expected 'f' to be string, path, or a file-like object with a 'write' attribute, "
            f"got {type(f).__name__}"
        )
    write = _writer(
        obj, pickle_module, pickle_protocol, _use_new_zipfile_serialization, not _disable_byteorder_record
    )
    if is_path:
        write_path(write, os.fspath(f))
    else:
        write_stream(write, f)


def _writer(
    obj: Any, pickle_module: Any, protocol: int, zipped: bool, byte_order: bool
) -> Callable[[Any, str], None]:
    # Imported on first use, as in `save`.
    from torch_py._serialization.legacy import write_legacy
    from torch_py._serialization.writer import Pickled, pickler_of

    pickler = pickler_of(pickle_module)
    if zipped:
        return Pickled(obj, protocol, pickler, byte_order=byte_order).write
    return lambda file, name: write_legacy(obj, file, pickler, protocol)


def load(
    f: Any,
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **pickle_load_args: Any,
) -> Any:
    """What `save` wrote to `f`, a path or a seekable binary file.

    Only tensors, numbers, text, plain containers and what `add_safe_globals` allows are read; another object
    raises pickle.UnpicklingError, unless `weights_only=False`, which can run any code that the file contains:
    for trusted files only.
    `pickle_module`: whose `Unpickler` reads the structure; it means `weights_only=False`.
    The environment variable TORCH_FORCE_WEIGHTS_ONLY_LOAD=1 means `weights_only=True` in every call, and
    TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD=1 means `weights_only=False` in calls that do not give the argument.
    `map_location` as in PyTorch; in this build everything must end up on the CPU or on the meta device, else
    RuntimeError. With `mmap` the tensors lie over the pages of the file at the path `f`: nothing is read
    before it is needed, checksums are not verified, and what is written to the tensors stays in memory; a
    file that others shorten meanwhile ends the process (SIGBUS).

    Raises EOFError for an empty file, RuntimeError or pickle.UnpicklingError for a truncated, damaged or
    hostile one.

    Example:
        >>> import io
        >>> buffer = io.BytesIO()
        >>> torch.save(torch.tensor([1, 2]), buffer)
        >>> _ = buffer.seek(0)
        >>> torch.load(buffer, map_location="cpu")
        tensor([1, 2])
    """
    # Imported on first use: many programs read no files.
    from torch_py._serialization.reader import read_archive

    restricted = _is_restricted(weights_only, pickle_module)
    if restricted and pickle_module is not None:
        raise RuntimeError("torch.load: expected no pickle_module together with weights_only=True")
    if restricted and set(pickle_load_args) - _OPTIONS_OF_PICKLE:
        raise TypeError(
            f"load() got an unexpected keyword argument {min(set(pickle_load_args) - _OPTIONS_OF_PICKLE)!r}"
        )
    if not isinstance(f, (str, os.PathLike)) and not (hasattr(f, "read") and hasattr(f, "seek")):
        raise AttributeError(
            "torch.load: expected a path or a file that can read and seek; read() it into an io.BytesIO first"
        )
    if mmap and not isinstance(f, (str, os.PathLike)):
        raise ValueError("f must be a file path in order to use the mmap argument")
    return read_archive(f, map_location, restricted, bool(mmap), pickle_load_args, pickle_module)


def _is_restricted(weights_only: bool | None, pickle_module: Any) -> bool:
    """Whether to read plain values only: what the environment says, then the argument, then the default."""
    forced = _is_set("TORCH_FORCE_WEIGHTS_ONLY_LOAD")
    trusting = _is_set("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD")
    if forced and trusting:
        raise RuntimeError(
            "Only one of `TORCH_FORCE_WEIGHTS_ONLY_LOAD` or `TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD` should be "
            "set, but both were set."
        )

    if forced:
        return True
    if weights_only is not None:
        return bool(weights_only)
    if trusting:
        warnings.warn(
            "Environment variable TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD detected, since the `weights_only` "
            "argument was not explicitly passed to `torch.load`, forcing weights_only=False.",
            UserWarning,
            stacklevel=3,
        )
        return False
    return pickle_module is None


def _is_set(variable: str) -> bool:
    return os.environ.get(variable, "0").lower() in ("1", "y", "yes", "true")


def _named(allowed: Any) -> tuple[tuple[str, str], Any]:
    """A class or function, or a pair of one and the dotted name that files have for it."""
    # Imported on first use, as in `load`.
    from torch_py._serialization.names import as_torch

    if isinstance(allowed, tuple):
        value, path = allowed
        module, _, name = path.rpartition(".")
        return (as_torch(module), name), value
    return (as_torch(allowed.__module__), allowed.__qualname__), allowed


def _allowed() -> dict[tuple[str, str], Any]:
    """What `load` may read in addition to its defaults, by module and name."""
    # Imported on first use, as in `load`.
    from torch_py._serialization.restricted import safe_globals as allowed

    return allowed


def add_safe_globals(safe_globals: Iterable[Any]) -> None:
    """Lets `load` read objects made by these classes and functions."""
    _allowed().update(_named(allowed) for allowed in safe_globals)


def get_safe_globals() -> list[Any]:
    """What was allowed in addition to the defaults."""
    return list(_allowed().values())


def clear_safe_globals() -> None:
    _allowed().clear()


class safe_globals:
    """Allows classes and functions inside a `with` block only."""

    def __init__(self, safe_globals: Iterable[Any]) -> None:
        self._added = dict(_named(allowed) for allowed in safe_globals)

    def __enter__(self) -> None:
        self._before = dict(_allowed())
        _allowed().update(self._added)

    def __exit__(self, *exception: object) -> None:
        _allowed().clear()
        _allowed().update(self._before)


def location_tag(storage: Any) -> str:
    """Where a storage, typed or not, is: "cpu", "cuda:0" or "meta", as files name it."""
    return str(storage.device)


def default_restore_location(storage: Any, location: str) -> Any:
    """The storage on the device that `location` names. Raises RuntimeError for an unknown device."""
    place = _C.device(location)
    return storage if storage.device == place else storage.to(device=place)


def _is_zipfile(f: Any) -> bool:
    """Whether the file, open for reading, contains an archive at its present position."""
    start = f.tell()
    magic = f.read(4)
    f.seek(start)
    return bool(magic == b"PK\x03\x04")


def _get_layout(name: str) -> Any:
    """The layout that prints as `name`. PyTorch's pickles name this function. Raises ValueError."""
    # Imported on first use, as in `load`.
    from torch_py._serialization.names import _layout

    return _layout(name)


def _storage_as_file(storage: Any) -> bytes:
    # Imported on first use, as in `save`.
    from torch_py._serialization.legacy import storage_as_file

    return storage_as_file(storage)


def _storage_of_file(data: bytes) -> Any:
    """Reads tensors and storages only, whatever the bytes contain."""
    return load(io.BytesIO(data), weights_only=True)


StorageFile.write = staticmethod(_storage_as_file)
StorageFile.read = staticmethod(_storage_of_file)

__getattr__ = _lacking(__name__)
