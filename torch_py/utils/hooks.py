"""Callbacks that are registered in a dictionary and can be removed again."""

from __future__ import annotations

import itertools
import warnings
import weakref
from collections import OrderedDict
from collections.abc import MutableMapping
from typing import Any

from torch_py._pytorch_names.packages import lacking as _lacking

_ids = itertools.count()


class RemovableHandle:
    """Removes its hook from the dictionary in which it is registered,
    by `remove()` or at the end of a block."""

    def __init__(
        self,
        hooks_dict: MutableMapping[int, Any],
        *,
        extra_dict: MutableMapping[int, Any] | list[Any] | None = None,
    ) -> None:
        self.id = next(_ids)
        others = extra_dict if isinstance(extra_dict, list) else [extra_dict]
        # Weak references: a handle must not keep a module and its parameters alive.
        self._dictionaries = [
            weakref.ref(dictionary) for dictionary in [hooks_dict, *others] if dictionary is not None
        ]

    def remove(self) -> None:
        """Removes the hook, if it is still registered."""
        for reference in self._dictionaries:
            dictionary = reference()
            if dictionary is not None:
                dictionary.pop(self.id, None)

    def __getstate__(self) -> tuple[int, list[Any]]:
        return self.id, [reference() for reference in self._dictionaries]

    def __setstate__(self, state: tuple[int, list[Any]]) -> None:
        """After unpickling, `remove()` affects the dictionaries that were pickled with the handle.

        New handles get other numbers.
        """
        global _ids
        self.id, dictionaries = state
        self._dictionaries = [
            weakref.ref(dictionary) for dictionary in dictionaries if dictionary is not None
        ]
        _ids = itertools.count(max(next(_ids), self.id + 1))

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exception: object) -> None:
        self.remove()


def register(
    hooks: OrderedDict[int, Any], hook: object, *, first: bool = False, extra: list[Any] | None = None
) -> RemovableHandle:
    """Adds `hook` at the end of `hooks`, or at the front with `first`.

    The handle removes it from `extra` too.
    """
    handle = RemovableHandle(hooks, extra_dict=extra or [])
    hooks[handle.id] = hook
    if first:
        hooks.move_to_end(handle.id, last=False)
    return handle


def warn_if_has_hooks(tensor: object) -> None:
    """Warns that the backward hooks of a tensor are lost when it is pickled."""
    hooks = getattr(tensor, "_backward_hooks", None)
    if hooks:
        names = ", ".join(repr(hook) for hook in hooks.values())
        warnings.warn(f"backward hooks of a tensor are not serialized: {names}", stacklevel=2)


__getattr__ = _lacking(__name__)
