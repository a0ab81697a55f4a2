"""Where a leaf is in a tree: one key for each container on the way."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any, NamedTuple

from torch_py.utils import _pytree as tree_module

KeyPath = tuple[Any, ...]


class SequenceKey(NamedTuple):
    """An element of a list, tuple or deque."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"

    def get(self, sequence: Any) -> Any:
        return sequence[self.idx]


class MappingKey(NamedTuple):
    """A value of a dict."""

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, mapping: Any) -> Any:
        return mapping[self.key]


class GetAttrKey(NamedTuple):
    """A field of a named tuple or of an object."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"

    def get(self, obj: Any) -> Any:
        return getattr(obj, self.name)


def _dict_flatten(d: Any) -> tuple[list[Any], Any]:
    return list(d.values()), list(d.keys())


def _dict_flatten_with_keys(d: Any) -> tuple[list[tuple[Any, Any]], Any]:
    """As `_dict_flatten`, children with their keys."""
    values, context = _dict_flatten(d)
    return [(MappingKey(key), value) for key, value in zip(context, values)], context


def _list_flatten(d: Any) -> tuple[list[Any], Any]:
    return list(d), None


def _list_flatten_with_keys(d: Any) -> tuple[list[tuple[Any, Any]], Any]:
    """As `_list_flatten`, children with their keys."""
    return [(SequenceKey(index), value) for index, value in enumerate(d)], None


def _keys(tree: Any, count: int) -> list[Any]:
    """The keys of a node's `count` children. Raises ValueError for a class registered without
    flatten_with_keys_fn."""
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
    """Leaves in order, each with its path."""
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
    """As `tree_leaves_with_path`, and the structure."""
    return tree_leaves_with_path(tree, is_leaf), tree_module.tree_flatten(tree, is_leaf)[1]


def tree_map_with_path(
    func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: Callable[[Any], bool] | None = None
) -> Any:
    """`func(path, leaf, ...)` of the leaves of trees of one structure."""
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
    """The path as it is written behind the tree in Python."""
    return "".join(map(str, kp))


def key_get(obj: Any, kp: KeyPath) -> Any:
    """What is at the path."""
    for key in kp:
        obj = key.get(obj)
    return obj
