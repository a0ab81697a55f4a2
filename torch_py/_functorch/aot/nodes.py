"""Nodes of functional graphs: `Builder` adds them, with fake results, and forms are functions that they call
in the place of operators: without changes in place, for some results only, or with a check before."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from torch_py import _C
from torch_py._guards import detect_fake_mode
from torch_py._ops import ops
from torch_py._records import Fields
from torch_py._subclasses.fake_tensor import FakeTensorMode
from torch_py._subclasses.unseen import unseen
from torch_py._tags import Tag
from torch_py._torch_function import DisableTorchFunctionSubclass
from torch_py.autograd.grad_mode import no_grad
from torch_py.fx.graph import Graph
from torch_py.fx.node import Node, map_arg


def input_values(graph: Graph) -> list[Any]:
    """Fake tensors, and numbers that vary, as examples of the inputs."""
    return [node.meta["val"] for node in graph.find_nodes(op="placeholder")]


def mode_of(values: Any) -> FakeTensorMode:
    """The mode of the fake tensors among some values, or a new one."""
    mode: FakeTensorMode | None = detect_fake_mode(values)
    return mode or FakeTensorMode()


class Builder:
    """Appends nodes to `graph`. `context` is what is added to their `meta`."""

    def __init__(self, graph: Graph, fake_mode: FakeTensorMode) -> None:
        self.graph = graph
        self.fake_mode = fake_mode
        self.context: dict[str, Any] = {}

    def call(self, target: Any, *args: Any, **kwargs: Any) -> Node:
        """A call, whose result is computed with the values of the arguments."""
        node = self.graph.call_function(target, args, kwargs, name=target._opname)
        node.meta.update(self.context)
        fake_args, fake_kwargs = map_arg((args, kwargs), lambda argument: argument.meta["val"])
        with self.fake_mode, DisableTorchFunctionSubclass(), no_grad():
            node.meta["val"] = target(*fake_args, **fake_kwargs)
        return node

    def element(self, node: Node, position: int) -> Node:
        """One of several results."""
        element = self.graph.call_function(operator.getitem, (node, position))
        element.meta.update(self.context)
        element.meta["val"] = node.meta["val"][position]
        return element

    def with_strides_of(self, node: Node, like: Any) -> Node:
        """The same numbers with the order of strides of a tensor of the same shape, without gaps."""
        with unseen():
            wanted = _C._torch.empty_like(like._twin).stride()
        if _significant(node.meta["val"], node.meta["val"].stride()) == _significant(like, wanted):
            return node

        order = sorted(range(len(wanted)), key=lambda dim: -wanted[dim])
        permuted = self.call(ops.aten.permute.default, node, order)
        dense = self.call(ops.aten.clone.default, permuted, memory_format=_C.contiguous_format)
        return self.call(ops.aten.permute.default, dense, sorted(range(len(order)), key=order.__getitem__))


def _significant(tensor: Any, strides: tuple[int, ...]) -> list[int]:
    """The strides of dimensions that have several elements."""
    if tensor.numel() == 0:
        return []
    return [stride for size, stride in zip(tensor.shape, strides) if size != 1]


# Functions for nodes to call
# ------------------------------------------------------------


class InRange(Fields):
    """A function of positions that compiled loops read elements at. It returns them if all are in range, and
    otherwise calls an operator with them, on a tensor of zeros of the given sizes."""

    name: str

    @property
    def __name__(self) -> str:
        return f"{self.name}_in_range"

    def __repr__(self) -> str:
        return self.__name__

    def __call__(self, positions: Any, sizes: Sequence[int], dim: int) -> Any:
        low, high = positions.aminmax()
        least = -sizes[dim] if self.name == "index" else 0
        if high.item() >= sizes[dim] or low.item() < least:
            functions: Any = _C._torch
            _CALLS[self.name](functions.zeros(()).expand(list(sizes)), dim, positions)
            raise IndexError(f"{self.__name__}: positions are out of range")
        return positions


# How the operators that lower/indirect has rules for are called with a source, a dimension and positions: a
# translation into their schemas, which name and order these differently.
_CALLS: dict[str, Callable[..., Any]] = {
    "embedding": lambda source, dim, positions: ops.aten.embedding(source, positions),
    "index_select": lambda source, dim, positions: ops.aten.index_select(source, dim, positions),
    "gather": lambda source, dim, positions: ops.aten.gather(source, dim, positions),
    "index": lambda source, dim, positions: ops.aten.index(source, [None] * dim + [positions]),
}


in_range = cache(InRange)


class Form:
    """A function around an operator, with the facts that passes ask operators for."""

    _made_by = ""  # an expression

    def __init__(self, operator: Any, suffix: str) -> None:
        stem = operator._opname.rstrip("_")
        self.operator = operator
        self.__name__ = self._opname = f"{stem}_{suffix}"
        self._text = f"<{operator} {suffix.replace('_', ' ')}>"
        self.tags = operator.tags
        self.is_view = False
        self._tag_words = operator._tag_words
        self._structure = "composite"

    def __repr__(self) -> str:
        return self._text

    def import_statement(self, name: str) -> str:
        """The statement by which a printed graph gets this function under a name."""
        call = self._made_by.format(operator=f"torch.ops.{self.operator}", form=self)
        return f"from {__name__} import {call.partition('(')[0]}; {name} = {call}"


class Requiring(Form):
    """An operator of backward that computes the gradients of those arguments that require them: those at
    `positions`."""

    _made_by = "requiring({operator}, {form.positions})"

    def __init__(self, operator: Any, positions: tuple[int, ...]) -> None:
        super().__init__(operator, "for_" + "_".join(map(str, positions)))
        self.positions = positions

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        arguments = list(args)
        for position in self.positions:
            arguments[position] = arguments[position].detach().requires_grad_()
        with no_grad():
            return self.operator(*arguments, **kwargs)


requiring = cache(Requiring)


@cache
def functional_form(operator: Any) -> Any:
    """The operator that computes what `operator` writes; None if it has no such form."""
    name = operator._opname
    arguments = operator._schema.arguments
    if is_random(operator) or len([argument for argument in arguments if argument.is_write]) != 1:
        return None
    if name.endswith("_") and arguments[0].is_write:
        return _operator_with(operator, name[:-1], _described(arguments))
    if arguments[-1].is_out:
        return _operator_with(operator, name, _described(arguments[:-1]))
    return None


def _operator_with(operator: Any, name: str, arguments: list[Any]) -> Any:
    """The overload of `name` that has these arguments and writes to none."""
    overload = operator._overloadname
    names = [name if overload == "default" else f"{name}.{overload}", name]
    names += [other for other in _C._operator_schemas() if other.startswith(f"{name}.")]
    found = [operator for operator in map(_C._find_operator, names) if operator is not None]
    alike = (f for f in found if not f._schema.is_mutable and _described(f._schema.arguments) == arguments)
    return next(alike, None)


def _described(arguments: Any) -> list[Any]:
    return [(argument.name, argument.default_text) for argument in arguments]


def is_random(operator: Any) -> bool:
    """Whether an operator draws random numbers."""
    return Tag.nondeterministic_seeded in getattr(operator, "tags", ())


class OnCopies(Form):
    """An operator called on copies of what it writes to.

    Returns a tuple: the results, without those that are written arguments, and the new values of these.
    """

    _made_by = "on_copies({operator})"

    def __init__(self, operator: Any) -> None:
        super().__init__(operator, "on_copies")
        self._written = [a.name for a in operator._schema.arguments if a.is_write]

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        copies = [_copied(tensor) for tensor in self.written(args, kwargs)]
        arguments, keywords = self.with_written(args, kwargs, copies)
        result = self.operator(*arguments, **keywords)
        several = (result,) if len(self.operator._schema.returns) == 1 else result
        return (*(several[position] for position in self.results()), *copies)

    def written(self, args: Any, kwargs: Any) -> list[Any]:
        """The values that a call with these arguments changes, in the order of the results."""
        bound = self.operator._schema.bind(args, kwargs)
        flat: list[Any] = []
        for value in map(bound.__getitem__, self._written):
            flat += value if isinstance(value, (list, tuple)) else [value]
        return [value for value in flat if value is not None]

    def with_written(self, args: Any, kwargs: Any, values: list[Any]) -> tuple[list[Any], dict[str, Any]]:
        """The arguments with others in place of those that are changed."""
        waiting = iter(values)

        def next_for(value: Any) -> Any:
            if isinstance(value, (list, tuple)):
                return [next_for(item) for item in value]
            return None if value is None else next(waiting)

        bound = self.operator._schema.bind(args, kwargs)
        changed = {name: next_for(bound[name]) for name in self._written}
        arguments = [changed.get(name, value) for name, value in zip(bound, args)]
        return arguments, {name: changed.get(name, value) for name, value in kwargs.items()}

    def results(self) -> list[int]:
        """The positions of the results that are not arguments, which precede the new values."""
        returns = self.operator._schema.returns
        return [position for position, value in enumerate(returns) if value.alias_info is None]


on_copies = cache(OnCopies)


def _copied(value: Any) -> Any:
    copy = value.clone()
    if copy.stride() == value.stride() or 0 in value.stride():
        return copy
    # With the gaps of the argument: the order in which random numbers fill a tensor depends on its strides.
    return value.new_empty_strided(value.size(), value.stride()).copy_(value)
