"""Lists and dictionaries that cannot be changed: what the arguments of nodes consist of.

The users of a node are kept up to date by assigning to `node.args` or `node.kwargs`; a list that changed in
place would pass by unseen.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

from torch_py.utils import _pytree as pytree

__all__ = ["immutable_dict", "immutable_list"]

_ADVICE = (
    "{kind!r} object does not support mutation. If you are attempting to modify the kwargs or args of a "
    "torch.fx.Node object,\ninstead create a new copy of it and assign the copy to the node:\n\n"
    "    new_args = ...  # copy and mutate args\n    node.args = new_args\n"
)


def _refuse(self: Any, *arguments: Any, **keywords: Any) -> NoReturn:
    raise TypeError(_ADVICE.format(kind=type(self).__name__))


def _frozen(*methods: str) -> Any:
    """A class decorator: the methods, which would change an instance, raise TypeError."""

    def decorate(cls: type) -> type:
        for method in methods:
            setattr(cls, method, _refuse)
        return cls

    return decorate


@_frozen(
    "__delitem__", "__iadd__", "__imul__", "__setitem__", "append", "clear", "extend", "insert", "pop",
    "remove", "reverse", "sort",
)  # fmt: skip
class immutable_list(list):  # noqa: N801  # PyTorch's name
    """A list that cannot be changed, and can be hashed if its items can."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self))

    def __reduce__(self) -> Any:
        return type(self), (tuple(self),)


@_frozen("__delitem__", "__ior__", "__setitem__", "clear", "pop", "popitem", "setdefault", "update")
class immutable_dict(dict):  # noqa: N801  # PyTorch's name
    """A dictionary that cannot be changed, and can be hashed if its values can."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> Any:
        return type(self), (tuple(self.items()),)


def _flatten_dict(mapping: immutable_dict) -> tuple[list[Any], list[Any]]:
    return list(mapping.values()), list(mapping)


def _unflatten_dict(values: Iterable[Any], keys: list[Any]) -> immutable_dict:
    return immutable_dict(zip(keys, values))


pytree.register_pytree_node(
    immutable_list, lambda values: (list(values), None), lambda values, _: immutable_list(values)
)
pytree.register_pytree_node(immutable_dict, _flatten_dict, _unflatten_dict)
