"""Nested containers as trees: flattens them to a list of leaves, and rebuilds them.

Nodes are tuples, named tuples, lists, dicts, OrderedDicts, defaultdicts, deques, and instances of classes
that `register_pytree_node` added. Everything else is a leaf, including None.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections import namedtuple as _namedtuple
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Any

from torch_py._pytorch_names.packages import lacking as _lacking

PyTree = Any
FlattenFunc = Callable[[PyTree], tuple[list[Any], Any]]
UnflattenFunc = Callable[[Iterable[Any], Any], PyTree]

__all__ = [
    "LeafSpec",
    "PyTree",
    "TreeSpec",
    "register_pytree_node",
    "tree_all",
    "tree_any",
    "tree_flatten",
    "tree_iter",
    "tree_leaves",
    "tree_map",
    "tree_map_",
    "tree_map_only",
    "tree_structure",
    "tree_unflatten",
]


@dataclass(frozen=True)
class _Node:
    """How a class of nodes is taken apart and rebuilt."""

    flatten: FlattenFunc
    unflatten: UnflattenFunc


def _is_namedtuple(kind: type) -> bool:
    return issubclass(kind, tuple) and hasattr(kind, "_fields") and hasattr(kind, "_make")


SUPPORTED_NODES: dict[type, _Node] = {
    tuple: _Node(lambda t: (list(t), None), lambda children, _: tuple(children)),
    list: _Node(lambda x: (list(x), None), lambda children, _: list(children)),
    dict: _Node(lambda d: (list(d.values()), list(d)), lambda children, keys: dict(zip(keys, children))),
    OrderedDict: _Node(
        lambda d: (list(d.values()), list(d)), lambda children, keys: OrderedDict(zip(keys, children))
    ),
    defaultdict: _Node(
        lambda d: (list(d.values()), [d.default_factory, list(d)]),
        lambda children, context: defaultdict(context[0], zip(context[1], children)),
    ),
    deque: _Node(lambda d: (list(d), d.maxlen), lambda children, maxlen: deque(children, maxlen=maxlen)),
}
_NAMED = _Node(lambda t: (list(t), type(t)), lambda children, kind: kind._make(children))
# Named results of operators: tuples that are built from one sequence.
_STRUCTURE_SEQUENCE = _Node(lambda t: (list(t), type(t)), lambda children, kind: kind(list(children)))


KEYED_NODES: dict[type, Callable[[PyTree], tuple[list[tuple[Any, Any]], Any]]] = {}


def register_pytree_node(
    cls: type,
    flatten_fn: FlattenFunc,
    unflatten_fn: UnflattenFunc,
    *,
    flatten_with_keys_fn: Any = None,
    **_: Any,
) -> None:
    """Makes instances of `cls` nodes.

    `flatten_fn(x)` returns (children, context), and `unflatten_fn(children, context)` returns the instance.

    Raises ValueError if `cls` is already registered.
    """
    if cls in SUPPORTED_NODES:
        raise ValueError(f"{cls} is already registered as pytree node.")
    SUPPORTED_NODES[cls] = _Node(flatten_fn, unflatten_fn)
    if flatten_with_keys_fn is not None:
        KEYED_NODES[cls] = flatten_with_keys_fn


def _node_of(tree: PyTree) -> _Node | None:
    kind = type(tree)
    node = SUPPORTED_NODES.get(kind)
    if node is not None or not issubclass(kind, tuple):
        return node
    if _is_namedtuple(kind):
        return _NAMED
    return _STRUCTURE_SEQUENCE if hasattr(kind, "n_sequence_fields") else None


@dataclass(frozen=True)
class TreeSpec:
    """The structure of a tree: the type of each node, with its children."""

    type: Any
    context: Any
    children_specs: tuple[TreeSpec, ...]

    @property
    def num_leaves(self) -> int:
        """The number of leaves of the whole tree."""
        return sum(child.num_leaves for child in self.children_specs)

    @property
    def num_nodes(self) -> int:
        """The number of nodes of the whole tree, its leaves included."""
        return 1 + sum(child.num_nodes for child in self.children_specs)

    @property
    def num_children(self) -> int:
        """The number of children of the top node."""
        return len(self.children_specs)

    def children(self) -> list[TreeSpec]:
        """The structures of the children of the top node."""
        return list(self.children_specs)

    def child(self, index: int) -> TreeSpec:
        """The structure of one child of the top node. Raises IndexError if there is no such child."""
        return self.children()[index]

    def is_leaf(self) -> bool:
        """Whether the whole tree is one leaf."""
        return False

    def flatten_up_to(self, tree: PyTree) -> list[PyTree]:
        """The subtrees of `tree` in the positions of the leaves of this structure.

        Raises ValueError if the nodes above them differ from those of this structure.

            >>> tree_structure([0, (0, 0)]).flatten_up_to([{"a": 1}, (2, [3])])
            [{'a': 1}, 2, [3]]
        """
        if self.is_leaf():
            return [tree]

        node = _node_of(tree)
        if node is None or type(tree) is not self.type:
            raise ValueError(f"Node type mismatch; expected {self.type}, but got {type(tree)}.")

        children, context = node.flatten(tree)
        if len(children) != self.num_children:
            raise ValueError(f"Node arity mismatch; expected {self.num_children}, but got {len(children)}.")

        if self.type in (dict, OrderedDict) and list(context) != list(self.context):
            if set(context) != set(self.context):
                raise ValueError(f"Node keys mismatch; expected {self.context}, but got {context}.")
            children = [tree[key] for key in self.context]

        return [
            subtree
            for spec, child in zip(self.children_specs, children)
            for subtree in spec.flatten_up_to(child)
        ]

    def unflatten(self, leaves: Iterable[Any]) -> PyTree:
        """The tree with this structure and the given leaves. Raises ValueError if their number differs."""
        leaves = list(leaves)
        if len(leaves) != self.num_leaves:
            raise ValueError(
                f"treespec.unflatten(leaves): `leaves` has length {len(leaves)} but the spec refers to a "
                f"pytree that holds {self.num_leaves} items ({self})."
            )
        return self._take(iter(leaves))

    def _take(self, leaves: Any) -> PyTree:
        children = [child._take(leaves) for child in self.children_specs]
        node = SUPPORTED_NODES.get(self.type)
        if node is None:
            node = _NAMED if _is_namedtuple(self.type) else _STRUCTURE_SEQUENCE
        return node.unflatten(children, self.context)

    def __hash__(self) -> int:
        context = self.context if isinstance(self.context, Hashable) else str(self.context)
        return hash((self.type, context, self.children_specs))


@dataclass(frozen=True)
class LeafSpec(TreeSpec):
    """The structure of a tree that is one leaf."""

    type: Any = None
    context: Any = None
    children_specs: tuple[TreeSpec, ...] = ()

    @property
    def num_leaves(self) -> int:
        return 1

    def is_leaf(self) -> bool:
        return True

    def _take(self, leaves: Any) -> PyTree:
        return next(leaves)

    __hash__ = TreeSpec.__hash__


_LEAF = LeafSpec()


def tree_flatten(tree: PyTree, is_leaf: Callable[[PyTree], bool] | None = None) -> tuple[list[Any], TreeSpec]:
    """The leaves of `tree`, depth first, and its structure. Nodes for which `is_leaf` is true are leaves."""
    leaves: list[Any] = []
    return leaves, _flatten(tree, leaves, is_leaf)


def _flatten(tree: PyTree, leaves: list[Any], is_leaf: Callable[[PyTree], bool] | None) -> TreeSpec:
    node = None if is_leaf is not None and is_leaf(tree) else _node_of(tree)
    if node is None:
        leaves.append(tree)
        return _LEAF

    children, context = node.flatten(tree)
    return TreeSpec(type(tree), context, tuple(_flatten(child, leaves, is_leaf) for child in children))


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> PyTree:
    """Rebuilds a tree from its leaves and structure, the inverse of `tree_flatten`."""
    if not isinstance(treespec, TreeSpec):
        raise TypeError(
            "tree_unflatten(leaves, treespec): Expected `treespec` to be instance of TreeSpec but got "
            f"{type(treespec)}."
        )
    return treespec.unflatten(leaves)


def tree_iter(tree: PyTree, is_leaf: Callable[[PyTree], bool] | None = None) -> Iterable[Any]:
    """Iterates over the leaves of `tree`, depth first."""
    yield from tree_leaves(tree, is_leaf)


def tree_leaves(tree: PyTree, is_leaf: Callable[[PyTree], bool] | None = None) -> list[Any]:
    """The leaves of `tree`, depth first."""
    return tree_flatten(tree, is_leaf)[0]


def tree_structure(tree: PyTree, is_leaf: Callable[[PyTree], bool] | None = None) -> TreeSpec:
    """The structure of `tree`."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(
    func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: Callable[[PyTree], bool] | None = None
) -> PyTree:
    """A tree of `func(leaf, ...)`. `rests` are further trees that have at least the structure of `tree`."""
    leaves, spec = tree_flatten(tree, is_leaf)
    others = [spec.flatten_up_to(rest) for rest in rests]
    return spec.unflatten(func(*row) for row in zip(leaves, *others))


def tree_map_(
    func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: Callable[[PyTree], bool] | None = None
) -> PyTree:
    """Calls `func` for every leaf and returns `tree`."""
    tree_map(func, tree, *rests, is_leaf=is_leaf)
    return tree


def tree_map_only(
    type_or_types: type | tuple[type, ...] | Callable[[Any], bool],
    func: Callable[[Any], Any],
    tree: PyTree,
    is_leaf: Callable[[PyTree], bool] | None = None,
) -> PyTree:
    """Like `tree_map`, but applies `func` only to leaves of `type_or_types` (types, or a predicate)."""
    if callable(type_or_types) and not isinstance(type_or_types, type):
        applies: Callable[[Any], bool] = type_or_types
    else:

        def applies(leaf: Any) -> bool:
            return isinstance(leaf, type_or_types)

    return tree_map(lambda leaf: func(leaf) if applies(leaf) else leaf, tree, is_leaf=is_leaf)


def tree_all(
    predicate: Callable[[Any], bool], tree: PyTree, is_leaf: Callable[[PyTree], bool] | None = None
) -> bool:
    """Whether `predicate` is true for all leaves."""
    return all(map(predicate, tree_leaves(tree, is_leaf)))


def tree_any(
    predicate: Callable[[Any], bool], tree: PyTree, is_leaf: Callable[[PyTree], bool] | None = None
) -> bool:
    """Whether `predicate` is true for some leaf."""
    return any(map(predicate, tree_leaves(tree, is_leaf)))


Context = Any


def is_namedtuple_instance(obj: object) -> bool:
    """Whether `obj` is an instance of a named tuple."""
    return _is_namedtuple(type(obj))


def is_structseq_instance(obj: object) -> bool:
    """Whether `obj` is a named result of an operator or another structure sequence of C."""
    return isinstance(obj, tuple) and hasattr(type(obj), "n_sequence_fields")


def tree_is_leaf(tree: PyTree, is_leaf: Callable[[PyTree], bool] | None = None) -> bool:
    """Whether the whole `tree` is one leaf."""
    return (is_leaf is not None and is_leaf(tree)) or _node_of(tree) is None


def arg_tree_leaves(*args: PyTree, **kwargs: PyTree) -> list[Any]:
    """The leaves of all arguments, in the order of the call."""
    return [leaf for tree in (*args, *kwargs.values()) for leaf in tree_leaves(tree)]


def _get_node_type(tree: PyTree) -> Any:
    return _namedtuple if is_namedtuple_instance(tree) and type(tree) not in SUPPORTED_NODES else type(tree)


def _dict_unflatten(values: Iterable[Any], context: Any) -> dict[Any, Any]:
    return dict(zip(context, values))


def _list_unflatten(values: Iterable[Any], context: Any) -> list[Any]:
    return list(values)


_is_leaf = tree_is_leaf
_register_pytree_node = register_pytree_node


_absent = _lacking(__name__)


def __getattr__(name: str) -> Any:
    """Imports functions for paths to leaves from `_pytree_keys`, which imports this module."""
    # Imported on first use: it imports this module.
    import torch_py.utils._pytree_keys as keys

    if not name.startswith("__") and name in vars(keys):
        return getattr(keys, name)
    return _absent(name)
