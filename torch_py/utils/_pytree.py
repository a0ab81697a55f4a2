"""Nested containers as trees: flattens them to a list of leaves, and rebuilds them.

Nodes are tuples, named tuples, lists, dicts, OrderedDicts, defaultdicts, deques, and instances of classes
that `register_pytree_node` added. Everything else is a leaf, including None.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections import namedtuple as _namedtuple
from collections.abc import Callable, Hashable, Iterable
from typing import Any

from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py._records import Record

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


class _Node:
    """How a class of nodes is taken apart and rebuilt."""

    __slots__ = ("flatten", "unflatten")

    def __init__(self, flatten: FlattenFunc, unflatten: UnflattenFunc) -> None:
        self.flatten = flatten
        self.unflatten = unflatten


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
# The type of the nodes of all named tuples; their class is the context.
_NAMED = _Node(lambda t: (list(t), type(t)), lambda children, kind: kind._make(children))
SUPPORTED_NODES[_namedtuple] = _NAMED  # type: ignore[index]
# Named results of operators: tuples that are built from one sequence.
_STRUCTURE_SEQUENCE = _Node(lambda t: (list(t), type(t)), lambda children, kind: kind(list(children)))


class Written:
    """How `treespec_dumps` writes a class of nodes: its name, and its context as a value of JSON."""

    __slots__ = ("name", "to_json", "from_json")

    def __init__(
        self,
        name: str,
        to_json: Callable[[Any], Any] | None = None,
        from_json: Callable[[Any], Any] | None = None,
    ) -> None:
        self.name = name
        self.to_json = to_json
        self.from_json = from_json


WRITTEN_NODES: dict[Any, Written] = {}
KEYED_NODES: dict[type, Callable[[PyTree], tuple[list[tuple[Any, Any]], Any]]] = {}


def register_pytree_node(
    cls: type,
    flatten_fn: FlattenFunc,
    unflatten_fn: UnflattenFunc,
    *,
    serialized_type_name: str | None = None,
    to_dumpable_context: Callable[[Any], Any] | None = None,
    from_dumpable_context: Callable[[Any], Any] | None = None,
    flatten_with_keys_fn: Any = None,
) -> None:
    """Makes instances of `cls` nodes.

    `flatten_fn(x)` returns (children, context), and `unflatten_fn(children, context)` returns the instance.
    `treespec_dumps` writes the class as `serialized_type_name`, and its context as JSON, which
    `to_dumpable_context` and `from_dumpable_context` convert. `flatten_with_keys_fn(x)` returns pairs of keys
    and children, and the context.

    Raises ValueError if `cls` is already registered, or if only one of the converters is given.
    """
    if cls in SUPPORTED_NODES:
        raise ValueError(f"{cls} is already registered as pytree node.")
    if (to_dumpable_context is None) != (from_dumpable_context is None):
        raise ValueError(
            f"Both to_dumpable_context and from_dumpable_context for {cls} must be None or registered."
        )
    if serialized_type_name is not None:
        WRITTEN_NODES[cls] = Written(serialized_type_name, to_dumpable_context, from_dumpable_context)
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


class TreeSpec(Record):
    """The structure of a tree: the type of each node, with its children."""

    __slots__ = _fields = ("type", "context", "children_specs")

    def __init__(self, type: Any, context: Any, children_specs: tuple[TreeSpec, ...]) -> None:
        self.type = type
        self.context = context
        self.children_specs = children_specs

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
        if node is None or _get_node_type(tree) is not self.type:
            raise ValueError(f"Node type mismatch; expected {self.type}, but got {type(tree)}.")

        children, context = node.flatten(tree)
        if node is _NAMED and context is not self.context:
            raise ValueError(f"Node context mismatch; expected {self.context}, but got {context}.")
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
        node = SUPPORTED_NODES.get(self.type, _STRUCTURE_SEQUENCE)
        return node.unflatten(children, self.context)

    def __repr__(self) -> str:
        return self._text(0)

    def _text(self, indent: int) -> str:
        """Children after the first begin lines of their own, two spaces further in."""
        name = getattr(self.type, "__name__", self.type)
        children = [child._text(indent + 2) for child in self.children_specs]
        between = ",\n" + " " * (indent + 2)
        return f"TreeSpec({name}, {self.context}, [{between.join(children)}])"

    def __hash__(self) -> int:
        context = self.context if isinstance(self.context, Hashable) else str(self.context)
        return hash((self.type, context, self.children_specs))


class LeafSpec(TreeSpec):
    """The structure of a tree that is one leaf."""

    __slots__ = ()

    def __init__(
        self, type: Any = None, context: Any = None, children_specs: tuple[TreeSpec, ...] = ()
    ) -> None:
        super().__init__(type, context, children_specs)

    @property
    def num_leaves(self) -> int:
        return 1

    def is_leaf(self) -> bool:
        return True

    def _text(self, indent: int) -> str:
        return "*"

    def _take(self, leaves: Any) -> PyTree:
        return next(leaves)


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
    return TreeSpec(
        _get_node_type(tree), context, tuple(_flatten(child, leaves, is_leaf) for child in children)
    )


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


def tree_map_only_(
    type_or_types: type | tuple[type, ...] | Callable[[Any], bool],
    func: Callable[[Any], Any],
    tree: PyTree,
    is_leaf: Callable[[PyTree], bool] | None = None,
) -> PyTree:
    """Like `tree_map_only`, but returns `tree` itself."""
    tree_map_only(type_or_types, func, tree, is_leaf=is_leaf)
    return tree


def tree_all_only(
    type_or_types: type | tuple[type, ...],
    pred: Callable[[Any], bool],
    tree: PyTree,
    is_leaf: Callable[[PyTree], bool] | None = None,
) -> bool:
    """Whether `pred` is true for all leaves of `type_or_types`."""
    return all(pred(leaf) for leaf in tree_leaves(tree, is_leaf) if isinstance(leaf, type_or_types))


def tree_any_only(
    type_or_types: type | tuple[type, ...],
    pred: Callable[[Any], bool],
    tree: PyTree,
    is_leaf: Callable[[PyTree], bool] | None = None,
) -> bool:
    """Whether `pred` is true for one of the leaves of `type_or_types`."""
    return any(pred(leaf) for leaf in tree_leaves(tree, is_leaf) if isinstance(leaf, type_or_types))


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


def is_namedtuple_class(cls: type) -> bool:
    """Whether `cls` is a class of named tuples."""
    return isinstance(cls, type) and _is_namedtuple(cls)


def is_structseq_class(cls: type) -> bool:
    """Whether `cls` is a class of structure sequences of C."""
    return isinstance(cls, type) and issubclass(cls, tuple) and hasattr(cls, "n_sequence_fields")


def is_namedtuple(obj: object) -> bool:
    """Whether `obj` is a named tuple, or a class of them."""
    return is_namedtuple_class(obj if isinstance(obj, type) else type(obj))


def is_structseq(obj: object) -> bool:
    """Whether `obj` is a structure sequence of C, or a class of them."""
    return is_structseq_class(obj if isinstance(obj, type) else type(obj))


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


def _broadcast_to_and_flatten(
    tree: PyTree, treespec: TreeSpec, is_leaf: Callable[[PyTree], bool] | None = None
) -> list[Any] | None:
    """The leaves of `tree` repeated for the leaves of `treespec` below them; None if the structures differ.

    >>> _broadcast_to_and_flatten([1, 2], tree_structure([0, (0, 0)]))
    [1, 2, 2]
    """
    if tree_is_leaf(tree, is_leaf):
        return [tree] * treespec.num_leaves
    if treespec.is_leaf() or _get_node_type(tree) is not treespec.type:
        return None

    node = _node_of(tree)
    children, context = node.flatten(tree) if node is not None else ([], None)
    if len(children) != treespec.num_children or context != treespec.context:
        return None

    found: list[Any] = []
    for child, spec in zip(children, treespec.children_specs):
        leaves = _broadcast_to_and_flatten(child, spec, is_leaf)
        if leaves is None:
            return None
        found += leaves
    return found


BUILTIN_TYPES = frozenset(SUPPORTED_NODES)
STANDARD_DICT_TYPES = frozenset((dict, OrderedDict, defaultdict))
_is_leaf = tree_is_leaf
_is_namedtuple_instance = is_namedtuple_instance
_register_pytree_node = register_pytree_node


_absent = _lacking(__name__)


def __getattr__(name: str) -> Any:
    """Finds further functions in the modules that import this one."""
    # Imported on first use: they import this module.
    from torch_py.utils import _pytree_classes, _pytree_keys, _pytree_text

    for module in () if name.startswith("__") else (_pytree_keys, _pytree_classes, _pytree_text):
        if name in vars(module):
            return getattr(module, name)
    return _absent(name)
