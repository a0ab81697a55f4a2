"""The path to a leaf in a tree, with one key for each container on the way."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from torch_py.utils import _pytree as tree_module

KeyPath = tuple[Any, ...]


class KeyEntry(Protocol):
    """One key of a path."""

    def __hash__(self) -> int: ...
    def __eq__(self, other: object) -> bool: ...
    def __str__(self) -> str: ...

    def get(self, parent: Any) -> Any:
        """The part of `parent` that the key names."""


class SequenceKey(NamedTuple):
    """The key of an element of a list, tuple or deque."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"

    def get(self, sequence: Sequence[Any]) -> Any:
        """The element of `sequence`."""
        return sequence[self.idx]


class MappingKey(NamedTuple):
    """The key of a value in a dict."""

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, mapping: Mapping[Any, Any]) -> Any:
        """The value in `mapping`."""
        return mapping[self.key]


class GetAttrKey(NamedTuple):
    """The key of a field of a named tuple or of an object."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"

    def get(self, obj: Any) -> Any:
        """The field of `obj`."""
        return getattr(obj, self.name)


def _dict_flatten(d: Any) -> tuple[list[Any], Any]:
    return list(d.values()), list(d.keys())


def _dict_flatten_with_keys(d: Any) -> tuple[list[tuple[Any, Any]], Any]:
    """Like `_dict_flatten`, with the keys of the children."""
    values, context = _dict_flatten(d)
    return [(MappingKey(key), value) for key, value in zip(context, values)], context


def _list_flatten(d: Any) -> tuple[list[Any], Any]:
    return list(d), None


def _list_flatten_with_keys(d: Any) -> tuple[list[tuple[Any, Any]], Any]:
    """Like `_list_flatten`, with the keys of the children."""
    return [(SequenceKey(index), value) for index, value in enumerate(d)], None


def _keys(tree: Any, count: int) -> list[Any]:
    """The keys of the `count` children of a node.

    Raises ValueError for a class that was registered without flatten_with_keys_fn.
    """
    kind = type(tree)
    if kind in tree_module.KEYED_NODES:
        return [key for key, _ in tree_module.KEYED_NODES[kind](tree)[0]]
    if kind in (dict, OrderedDict, defaultdict):
        return [MappingKey(key) for key in tree]
    if hasattr(tree, "_fields"):
        return [GetAttrKey(name) for name in tree._fields]
    if kind in (list, tuple, deque) or isinstance(tree, tuple):
        return [SequenceKey(index) for index in range(count)]

    raise ValueError(
        f"Did not find a flatten_with_keys_fn for type: {kind}. Please pass a flatten_with_keys_fn argument "
        "to register_pytree_node."
    )


def tree_leaves_with_path(
    tree: Any, is_leaf: Callable[[Any], bool] | None = None
) -> list[tuple[KeyPath, Any]]:
    """The leaves in order, each with its path."""
    node = None if is_leaf is not None and is_leaf(tree) else tree_module._node_of(tree)
    if node is None:
        return [((), tree)]
    children = list(node.flatten(tree)[0])
    found = []
    for key, child in zip(_keys(tree, len(children)), children):
        found += [((key, *path), leaf) for path, leaf in tree_leaves_with_path(child, is_leaf)]
    return found


def tree_flatten_with_path(
    tree: Any, is_leaf: Callable[[Any], bool] | None = None
) -> tuple[list[tuple[KeyPath, Any]], Any]:
    """The leaves with their paths, and the structure."""
    return tree_leaves_with_path(tree, is_leaf), tree_module.tree_flatten(tree, is_leaf)[1]


def tree_map_with_path(
    func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: Callable[[Any], bool] | None = None
) -> Any:
    """A tree of `func(path, leaf, ...)`, from the leaves of trees of the same structure."""
    keyed, structure = tree_flatten_with_path(tree, is_leaf)
    others = [
        structure.flatten_up_to(rest)
        if hasattr(structure, "flatten_up_to")
        else tree_module.tree_leaves(rest, is_leaf)
        for rest in rests
    ]
    return tree_module.tree_unflatten(
        [func(path, leaf, *more) for (path, leaf), *more in zip(keyed, *others)], structure
    )


def keystr(kp: KeyPath) -> str:
    """The path in the notation of Python, as it follows the name of the tree."""
    return "".join(map(str, kp))


def key_get(obj: Any, kp: KeyPath) -> Any:
    """The part of `obj` at a path."""
    for key in kp:
        obj = key.get(obj)
    return obj
