"""The names that files use for objects in a pickle, and the objects of this package that they mean.

Files contain PyTorch's names, such as `torch.FloatStorage` and `torch._utils._rebuild_tensor_v2`, whichever
library wrote them, so that both libraries read both.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from functools import cache
from typing import Any

from torch_py import _C, storage
from torch_py._serialization import rebuild
from torch_py._serialization.storage_types import UNTYPED, StorageType, storage_types
from torch_py._tensor import Tensor
from torch_py.nn.parameter import Parameter


@cache
def _layouts() -> dict[str, Any]:
    found = (getattr(_C, name) for name in dir(_C))
    return {str(value): value for value in found if isinstance(value, _C.layout)}


def _layout(name: str) -> Any:
    if not isinstance(name, str) or name not in _layouts():
        raise ValueError(f"expected a layout, one of {', '.join(_layouts())}, got {_short(name)}")
    return _layouts()[name]


def _short(value: Any) -> str:
    return repr(value)[:100] if isinstance(value, str) else type(value).__name__


def _encode(text: str, encoding: str) -> bytes:
    """The function with which pickle protocol 2 writes bytes."""
    if not isinstance(encoding, str) or encoding not in ("latin1", "latin-1"):
        raise ValueError(f"expected the encoding of bytes in a pickle to be latin1, got {_short(encoding)}")
    return text.encode("latin1")


def as_torch(module: str) -> str:
    """PyTorch's name for a module of this package; other names stay."""
    if module == "torch_py" or module.startswith("torch_py."):
        return "torch" + module[len("torch_py") :]
    return module


def as_torch_py(module: str) -> str:
    """The name in this package for a module of PyTorch; other names stay."""
    if module == "torch" or module.startswith("torch."):
        return "torch_py" + module[len("torch") :]
    return module


@cache
def known_names() -> dict[tuple[str, str], Any]:
    """The objects that a file of tensors and plain containers may name, by (module, name)."""
    names: dict[tuple[str, str], Any] = {
        ("torch._utils", "_rebuild_tensor_v2"): rebuild.rebuild_tensor,
        ("torch._utils", "_rebuild_tensor_v3"): rebuild.rebuild_tensor_of_bytes,
        ("torch", "UntypedStorage"): UNTYPED,
        ("torch.storage", "UntypedStorage"): UNTYPED,
        ("torch._utils", "_rebuild_parameter"): rebuild.rebuild_parameter,
        ("torch._utils", "_rebuild_parameter_with_state"): rebuild.rebuild_parameter_with_state,
        ("torch._utils", "_rebuild_meta_tensor_no_storage"): rebuild.rebuild_meta_tensor,
        ("torch._utils", "_rebuild_wrapper_subclass"): rebuild.rebuild_wrapper,
        ("torch._tensor", "_rebuild_from_type_v2"): rebuild.rebuild_from_type,
        ("torch.serialization", "_get_layout"): _layout,
        ("torch", "Size"): _C.Size,
        ("torch", "device"): _C.device,
        ("torch", "Tensor"): Tensor,
        ("torch.nn.parameter", "Parameter"): Parameter,
        ("collections", "OrderedDict"): OrderedDict,
        ("collections", "Counter"): Counter,
        ("_codecs", "encode"): _encode,
    }

    for builtin in (set, frozenset, complex, bytearray, slice, range):
        names["builtins", builtin.__name__] = names["__builtin__", builtin.__name__] = builtin

    names.update({("torch", name): kind for name, kind in storage_types().items()})
    for name in dir(_C):
        value = getattr(_C, name)
        if isinstance(value, (_C.dtype, _C.memory_format)):
            names["torch", name] = value

    return names


def public_object(value: Any) -> Any:
    """What a program gets for a known object that is stored as a value: for a storage type, its class."""
    if not isinstance(value, StorageType):
        return value
    return getattr(storage if value is not UNTYPED else _C, value.name)


def with_storage_type(identity: Any) -> Any:
    """A persistent id with the storage type in the place of its class."""
    if not isinstance(identity, tuple) or len(identity) < 2 or not isinstance(identity[1], type):
        return identity
    kind = UNTYPED if identity[1] is _C.UntypedStorage else storage_types().get(identity[1].__name__)
    return (identity[0], kind, *identity[2:])


@cache
def _names_by_identity() -> dict[int, tuple[str, str]]:
    own = {id(value): place for place, value in known_names().items() if place[0].startswith("torch")}
    # Several names may mean the same dtype; files use the one that the dtype prints as.
    for (module, name), value in known_names().items():
        if isinstance(value, _C.dtype) and str(value) == f"torch.{name}":
            own[id(value)] = (module, name)
    return own


def torch_name_of(value: Any) -> tuple[str, str] | None:
    """The name that files use for an object of this package, or None for other objects."""
    return _names_by_identity().get(id(value))
