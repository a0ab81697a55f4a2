"""Structures of trees as text: JSON that PyTorch reads, too, and a short form for people."""

from __future__ import annotations

import importlib
import json
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from torch_py.utils import _pytree as trees
from torch_py.utils._pytree import LeafSpec, TreeSpec

DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL = 1
_BUILT_IN = {
    tuple: "builtins.tuple",
    list: "builtins.list",
    dict: "builtins.dict",
    OrderedDict: "collections.OrderedDict",
    defaultdict: "collections.defaultdict",
    deque: "collections.deque",
    namedtuple: "collections.namedtuple",
}


def treespec_leaf() -> LeafSpec:
    """The structure of one leaf."""
    return LeafSpec()


def treespec_tuple(iterable: Iterable[TreeSpec] = (), /) -> TreeSpec:
    """The structure of a tuple, from those of its elements."""
    return TreeSpec(tuple, None, tuple(iterable))


def treespec_dict(
    mapping: Mapping[Any, TreeSpec] | Iterable[tuple[Any, TreeSpec]] = (), /, **kwargs: TreeSpec
) -> TreeSpec:
    """The structure of a dict, from those of its values."""
    given = dict(mapping, **kwargs)
    return TreeSpec(dict, list(given), tuple(given.values()))


def treespec_dumps(treespec: TreeSpec, protocol: int | None = None) -> str:
    """The structure as JSON.

    Raises ValueError for an unknown protocol, and NotImplementedError for a class that was registered without
    a name for files.

    >>> from torch_py.utils._pytree import tree_structure
    >>> treespec_dumps(tree_structure([0]))
    '[1, {"type": "builtins.list", "context": "null", "children_spec": [{"type": null, ...
    """
    if not isinstance(treespec, TreeSpec):
        raise TypeError(
            f"treespec_dumps(treespec, protocol): Expected `treespec` to be instance of TreeSpec but got "
            f"{type(treespec)}."
        )
    number = DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL if protocol is None else protocol
    _check_protocol(number)
    return json.dumps((number, _written(treespec)))


def treespec_loads(serialized: str) -> TreeSpec:
    """The structure that `treespec_dumps` has written. Raises ValueError for other text."""
    found = json.loads(serialized)
    if not isinstance(found, list) or len(found) != 2:
        raise ValueError("expected a list of a protocol and a structure")
    _check_protocol(found[0])
    return _read(found[1])


def _check_protocol(number: Any) -> None:
    if number != DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL:
        raise ValueError(
            f"Unknown protocol {number}. Available protocols: [{DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL}]"
        )


def _written(spec: TreeSpec) -> dict[str, Any]:
    if spec.is_leaf():
        return {"type": None, "context": None, "children_spec": []}
    name, context = _name_and_context(spec)
    return {"type": name, "context": context, "children_spec": list(map(_written, spec.children_specs))}


def _name_and_context(spec: TreeSpec) -> tuple[str, Any]:
    if spec.type is namedtuple:
        if spec.context not in trees.WRITTEN_NODES:
            raise NotImplementedError(
                f"Can't serialize TreeSpec of namedtuple class {spec.context} because we didn't register a "
                "serializated_type_name. Please register using `_register_namedtuple`."
            )
        return _BUILT_IN[namedtuple], trees.WRITTEN_NODES[spec.context].name
    if spec.type is defaultdict:
        factory, keys = spec.context
        return _BUILT_IN[defaultdict], {
            "default_factory_module": getattr(factory, "__module__", None),
            "default_factory_name": getattr(factory, "__qualname__", None),
            "dict_context": keys,
        }
    if spec.type in _BUILT_IN:
        return _BUILT_IN[spec.type], json.dumps(spec.context)

    written = trees.WRITTEN_NODES.get(spec.type)
    if written is None:
        raise NotImplementedError(
            f"No registered serialization name for {spec.type} found. Please update your "
            "_register_pytree_node call with a `serialized_type_name` kwarg."
        )
    if written.to_json is not None:
        return written.name, written.to_json(spec.context)
    try:
        return written.name, json.dumps(spec.context)
    except TypeError as problem:
        raise TypeError(
            f"Unable to serialize context. Please make the context json dump-able, or register a custom "
            f"serializer using _register_pytree_node: {problem}"
        ) from problem


def _read(row: Any) -> TreeSpec:
    if not isinstance(row, dict) or not {"type", "context", "children_spec"} <= set(row):
        raise ValueError(f"expected a structure with a type, a context and children, got {row!r}")
    if row["type"] is None:
        return LeafSpec()
    kind, context = _type_and_context(row["type"], row["context"])
    return TreeSpec(kind, context, tuple(map(_read, row["children_spec"])))


def _type_and_context(name: str, context: Any) -> tuple[Any, Any]:
    written = {each.name: (cls, each) for cls, each in trees.WRITTEN_NODES.items()}
    if name == _BUILT_IN[namedtuple]:
        if context not in written:
            raise NotImplementedError(f"named tuple {context!r} was not registered with _register_namedtuple")
        return namedtuple, written[context][0]
    if name == _BUILT_IN[defaultdict]:
        return defaultdict, [_factory(context), context["dict_context"]]
    for kind, built_in in _BUILT_IN.items():
        if built_in == name:
            return kind, json.loads(context)

    if name not in written:
        raise NotImplementedError(f"Deserializing {name!r} in pytree is not registered.")
    cls, how = written[name]
    return cls, json.loads(context) if how.from_json is None else how.from_json(context)


def _factory(context: dict[str, Any]) -> Callable[[], Any] | None:
    """The default factory of a defaultdict: a class or function of a module."""
    module, name = context["default_factory_module"], context["default_factory_name"]
    if module is None or name is None:
        return None
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    if not callable(found):
        raise ValueError(f"{module}.{name} is not a factory of default values")
    factory: Callable[[], Any] = found
    return factory


class _Star:
    def __repr__(self) -> str:
        return "*"


def treespec_pprint(treespec: TreeSpec) -> str:
    """The structure as a tree of stars.

    >>> from torch_py.utils._pytree import tree_structure
    >>> treespec_pprint(tree_structure([1, (2, 3)]))
    '[*, (*, *)]'
    """
    return repr(treespec.unflatten([_Star()] * treespec.num_leaves))
