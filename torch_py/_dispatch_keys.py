"""`torch._C.DispatchKey` and sets of keys, in the order of their priority."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from torch_py import _C

if TYPE_CHECKING:

    class DispatchKey(IntEnum):
        CPU = 1
        Meta = 4
        Python = 6
        Transform = 13

else:
    _POSITIONS = {name: position for position, name in enumerate(_C._dispatch_key_names())}
    DispatchKey = IntEnum("DispatchKey", _POSITIONS, module=__name__)

_BACKENDS = ("CPU", "CUDA", "PrivateUse1", "Meta")
# Names of PyTorch's that stand for several keys.
_AUTOGRAD = tuple(key.name for key in DispatchKey if key.name.startswith("Autograd"))
_GROUPS = {
    "Autograd": _AUTOGRAD,
    "CompositeExplicitAutograd": _BACKENDS,
    "CompositeImplicitAutograd": (*_BACKENDS, *_AUTOGRAD),
}


def keys_named(name: str) -> tuple[DispatchKey, ...]:
    """The keys that PyTorch's name stands for. Raises RuntimeError for other names."""
    names = _GROUPS.get(name, (name,))
    if name not in _GROUPS and name not in DispatchKey.__members__:
        raise RuntimeError(f"could not parse dispatch key: {name}")
    return tuple(DispatchKey[one] for one in names)


class DispatchKeySet(int):
    """A set of keys; bit k stands for key k. Takes keys, or the bits. Names of keys that torch_py lacks are
    left out."""

    def __new__(cls, *keys: Any) -> DispatchKeySet:
        bits = 0
        for key in keys:
            if isinstance(key, str):
                bits |= 1 << DispatchKey[key] if key in DispatchKey.__members__ else 0
            else:
                bits |= 1 << key if isinstance(key, DispatchKey) else int(key)
        return int.__new__(cls, bits)

    def has(self, key: DispatchKey) -> bool:
        return bool(self >> key & 1)

    def add(self, key: DispatchKey) -> DispatchKeySet:
        return DispatchKeySet(int(self) | 1 << key)

    def remove(self, key: DispatchKey) -> DispatchKeySet:
        return DispatchKeySet(int(self) & ~(1 << key))

    def __or__(self, other: Any) -> DispatchKeySet:
        return DispatchKeySet(int(self) | int(DispatchKeySet(other)))

    def __and__(self, other: Any) -> DispatchKeySet:
        return DispatchKeySet(int(self) & int(DispatchKeySet(other)))

    def __sub__(self, other: Any) -> DispatchKeySet:
        return DispatchKeySet(int(self) & ~int(DispatchKeySet(other)))

    def highestPriorityTypeId(self) -> DispatchKey:
        """The key that a call with these keys goes to; Undefined for the empty set."""
        return DispatchKey(max(self.bit_length() - 1, 0))

    def raw_repr(self) -> int:
        return int(self)

    def __iter__(self) -> Iterator[DispatchKey]:
        return (key for key in DispatchKey if self.has(key))

    def __repr__(self) -> str:
        return f"DispatchKeySet({', '.join(key.name for key in self)})"


class ExcludeKeys:
    """A context in which this thread leaves a set of keys out: `torch._C._ExcludeDispatchKeyGuard`."""

    def __init__(self, keys: int) -> None:
        self._keys = int(keys)

    def __enter__(self) -> None:
        self._before = _C._set_excluded_keys(_C._excluded_keys() | self._keys)

    def __exit__(self, *exception: object) -> None:
        _C._set_excluded_keys(self._before)


class BelowAutograd:
    """A context in which calls of this thread are not recorded and go to what is below autograd:
    `torch._C._AutoDispatchBelowAutograd`."""

    def __enter__(self) -> None:
        self._before = _C._set_below_autograd(1)

    def __exit__(self, *exception: object) -> None:
        _C._set_below_autograd(self._before)


# The keys of calls that autograd has recorded, or need not record.
BELOW_AUTOGRAD = DispatchKeySet((1 << min(DispatchKey[name] for name in _AUTOGRAD)) - 1)
