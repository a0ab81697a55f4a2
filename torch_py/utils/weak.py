"""Weak references and dictionaries that compare keys by identity, since ``==`` of tensors is elementwise."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from typing import Any
from weakref import ref

__all__ = ["TensorWeakRef", "WeakIdKeyDictionary", "WeakIdRef", "WeakTensorKeyDictionary"]

WeakRef = ref


class WeakIdRef(ref):  # type: ignore[type-arg]
    """A weak reference that equals others to the same object, and has the hash of its identity.

    It stays equal to itself alone after the object has gone.
    """

    __slots__ = ("_id",)

    def __init__(self, key: Any, callback: Callable[[Any], Any] | None = None) -> None:
        super().__init__(key, callback)
        self._id = id(key)

    def __hash__(self) -> int:
        return self._id

    def __eq__(self, other: object) -> bool:
        own = self()
        theirs = other() if isinstance(other, ref) else None
        return self is other if own is None or theirs is None else own is theirs

    def __ne__(self, other: object) -> bool:
        return not self == other


class _WeakHashRef(ref):  # type: ignore[type-arg]
    """A weak reference that compares objects by ``==``."""

    __slots__ = ("_hash",)

    def __init__(self, key: Any, callback: Callable[[Any], Any] | None = None) -> None:
        super().__init__(key, callback)
        self._hash = hash(key)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        own = self()
        theirs = other() if isinstance(other, ref) else None
        return self is other if own is None or theirs is None else bool(own == theirs)

    def __ne__(self, other: object) -> bool:
        return not self == other


class WeakIdKeyDictionary(MutableMapping[Any, Any]):
    """A dictionary whose keys are compared by identity, and which forgets keys that nobody else refers to.

    >>> notes = WeakIdKeyDictionary()
    >>> x = torch.ones(2)
    >>> notes[x] = "ones"
    >>> del x
    >>> len(notes)
    0
    """

    def __init__(self, dict: Mapping[Any, Any] | None = None, ref_type: type[Any] = WeakIdRef) -> None:
        self.data: Any = {}
        self.ref_type = ref_type
        # The dictionary must not live because of its keys.
        itself = weakref.ref(self)

        def forget(gone: Any) -> None:
            owner = itself()
            if owner is not None:
                owner.data.pop(gone, None)

        self._forget = forget
        if dict is not None:
            self.update(dict)

    def __getitem__(self, key: Any) -> Any:
        return self.data[self.ref_type(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.data[self.ref_type(key, self._forget)] = value

    def __delitem__(self, key: Any) -> None:
        del self.data[self.ref_type(key)]

    def __contains__(self, key: object) -> bool:
        try:
            return self.ref_type(key) in self.data
        except TypeError:  # an object without weak references
            return False

    def __len__(self) -> int:
        return len(self.data)

    def __iter__(self) -> Iterator[Any]:
        for reference in list(self.data):
            key = reference()
            if key is not None:
                yield key

    def __repr__(self) -> str:
        return f"<{type(self).__name__} at {id(self):#x}>"

    def copy(self) -> WeakIdKeyDictionary:
        """A dictionary with the same keys and values."""
        made = type(self)(ref_type=self.ref_type)
        made.update(self.items())
        return made

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> WeakIdKeyDictionary:
        from copy import deepcopy

        made = type(self)(ref_type=self.ref_type)
        made.update((key, deepcopy(value, memo)) for key, value in self.items())
        return made

    def keyrefs(self) -> list[Any]:
        """The weak references to the keys."""
        return list(self.data)

    def __or__(self, other: Any) -> WeakIdKeyDictionary:
        if not isinstance(other, Mapping):
            return NotImplemented
        made = self.copy()
        made.update(other)
        return made

    def __ror__(self, other: Any) -> WeakIdKeyDictionary:
        if not isinstance(other, Mapping):
            return NotImplemented
        made = type(self)(ref_type=self.ref_type)
        made.update(other)
        made.update(self)
        return made

    def __ior__(self, other: Any) -> WeakIdKeyDictionary:
        self.update(other)
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mapping):
            return NotImplemented
        return _values_by_identity(self.items()) == _values_by_identity(other.items())

    __hash__ = None  # type: ignore[assignment]


def _values_by_identity(items: Iterable[tuple[Any, Any]]) -> dict[int, Any]:
    return {id(key): value for key, value in items}


# Tensors are like other keys.
WeakTensorKeyDictionary = WeakIdKeyDictionary


class TensorWeakRef:
    """A weak reference to a tensor, which equals others to the same tensor."""

    def __init__(self, tensor: Any) -> None:
        self.ref = WeakIdRef(tensor)

    def __call__(self) -> Any:
        return self.ref()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorWeakRef) and self.ref == other.ref

    def __hash__(self) -> int:
        return hash(self.ref)
