"""Classes of programs as nodes of trees: dataclasses, constants, named tuples with a name in files."""

from __future__ import annotations

import dataclasses
from typing import Any

from torch_py.utils import _pytree as trees
from torch_py.utils._pytree_keys import GetAttrKey


@dataclasses.dataclass(frozen=True)
class ConstantNode:
    """The context of a node that is a constant."""

    value: Any


CONSTANT_NODES: set[type] = set()


def register_dataclass(
    cls: type,
    *,
    field_names: list[str] | None = None,
    drop_field_names: list[str] | None = None,
    serialized_type_name: str | None = None,
) -> None:
    """Makes instances of `cls` nodes whose children are the arguments of its constructor.

    Args:
        cls: a dataclass, or another class whose constructor takes all of `field_names` as keywords.
        field_names: the children; all fields of a dataclass that its constructor takes are the default.
        drop_field_names: with `field_names`, the other fields of a dataclass, which get their defaults.
        serialized_type_name: the name that `treespec_dumps` writes.

    Raises ValueError if `cls` is registered already, or the names are not its fields.
    """
    names = _field_names(cls, field_names, drop_field_names or [])

    def flatten(instance: Any) -> tuple[list[Any], Any]:
        given = [name for name in names if getattr(instance, name) is not None]
        missing = [name for name in names if getattr(instance, name) is None]
        return [getattr(instance, name) for name in given], [given, missing]

    def unflatten(children: Any, context: Any) -> Any:
        given, missing = context
        return cls(**dict(zip(given, children)), **dict.fromkeys(missing))

    def flatten_with_keys(instance: Any) -> tuple[list[tuple[Any, Any]], Any]:
        children, context = flatten(instance)
        return [(GetAttrKey(name), child) for name, child in zip(context[0], children)], context

    trees.register_pytree_node(
        cls,
        flatten,
        unflatten,
        serialized_type_name=serialized_type_name,
        flatten_with_keys_fn=flatten_with_keys,
    )


def _field_names(cls: type, names: list[str] | None, dropped: list[str]) -> list[str]:
    if not dataclasses.is_dataclass(cls):
        if names is None:
            raise ValueError(
                f"field_names must be specified with a list of all fields used to initialize {cls}, as it is "
                "not a dataclass."
            )
        return list(names)

    fields = {field.name for field in dataclasses.fields(cls) if field.init}
    if names is None:
        return [field.name for field in dataclasses.fields(cls) if field.init]
    if {*names, *dropped} != fields:
        raise ValueError(
            f"field_names {sorted(names)} and drop_field_names {sorted(dropped)} are not the fields that "
            f"initialize {cls}: {sorted(fields)}"
        )
    return list(names)


def register_constant(cls: type) -> None:
    """Makes instances of `cls` nodes without children: parts of the structure.

    Raises TypeError unless `cls` has an equality and a hash of its own.
    """
    if cls.__eq__ is object.__eq__:
        raise TypeError("register_constant(cls) expects `cls` to have a non-default `__eq__` implementation.")
    if cls.__hash__ is None or cls.__hash__ is object.__hash__:
        raise TypeError(
            "register_constant(cls) expects `cls` to have a non-default `__hash__` implementation."
        )

    trees.register_pytree_node(
        cls,
        lambda instance: ([], ConstantNode(instance)),
        lambda children, context: context.value,
        flatten_with_keys_fn=lambda instance: ([], ConstantNode(instance)),
    )
    CONSTANT_NODES.add(cls)


def is_constant_class(cls: type) -> bool:
    """Whether `register_constant` has been called with `cls`."""
    return isinstance(cls, type) and cls in CONSTANT_NODES


def _register_namedtuple(cls: type, *, serialized_type_name: str) -> None:
    """Gives a class of named tuples the name that `treespec_dumps` writes."""
    trees.WRITTEN_NODES[cls] = trees.Written(serialized_type_name)


def _deregister_pytree_node(cls: type) -> None:
    """Makes instances of `cls` leaves again."""
    del trees.SUPPORTED_NODES[cls]
    trees.KEYED_NODES.pop(cls, None)
    trees.WRITTEN_NODES.pop(cls, None)
    CONSTANT_NODES.discard(cls)
