"""`Node`, one operation of a graph: what it calls, its arguments, its users and its place in the order."""

from __future__ import annotations

import builtins
import functools
import math
import operator
from collections.abc import Callable
from types import BuiltinFunctionType
from typing import TYPE_CHECKING, Any

import torch_py
from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py._tags import Tag
from torch_py.fx._annotations import tensor_summary
from torch_py.fx._arguments import Argument, Target, map_aggregate, map_arg
from torch_py.fx._names import is_lambda, module_of, public_module, qualified_name, type_repr
from torch_py.fx.immutable_collections import immutable_dict

if TYPE_CHECKING:
    from torch_py.fx.graph import Graph

__all__ = ["Argument", "Node", "Target", "has_side_effect", "map_aggregate", "map_arg"]

BaseArgumentTypes = Any
_legal_ops = frozenset(
    ("placeholder", "call_method", "call_module", "call_function", "get_attr", "output", "root")
)
_get_qualified_name = qualified_name
_type_repr = type_repr


# Functions with effects
# ------------------------------------------------------------

# Nodes that call one of these stay in the graph although nothing uses their results.
_side_effectful_functions: set[Callable[..., Any]] = {
    operator.setitem,
    torch_py._assert,
    torch_py._assert_async,
}


def has_side_effect(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Marks a function as one whose calls stay in graphs, used or not; also as a decorator."""
    _side_effectful_functions.add(fn)
    return fn


def _is_random(function: Any) -> bool:
    """Whether a function of torch draws random numbers in each call; without it, later draws are others.

    As in PyTorch, functions that draw in training alone, such as `torch.dropout`, do not count.
    """
    if not isinstance(function, BuiltinFunctionType):
        return False
    name = function.__name__
    return vars(torch_py).get(name) is function and _draws(name)


@functools.cache
def _draws(name: str) -> bool:
    """Whether a form of the function `torch.name` draws random numbers in each call."""
    # Imported on first use: the registry of operators is large.
    from torch_py._ops import _own_overloads, packet

    overloads = [getattr(packet("aten", name), overload) for overload in _own_overloads().get(name, ())]
    return any(
        _is_random_operator(overload)
        and all(argument.name not in ("train", "training") for argument in overload._schema.arguments)
        for overload in overloads
    )


def _is_random_operator(function: Any) -> bool:
    """Whether it is an operator of `torch.ops` that may draw random numbers."""
    return Tag.nondeterministic_seeded in getattr(function, "tags", ())


def _is_in_place_operator(function: Any) -> bool:
    """Whether it is an operator of `torch.ops` that changes an argument."""
    schema = getattr(function, "_schema", None)
    return bool(getattr(schema, "is_mutable", False))


# Formatting
# ------------------------------------------------------------


def _format_arg(arg: object, max_list_len: float = math.inf) -> str:
    """An argument as tables of graphs show it: nodes as %name, other leaves as `str` shows them."""
    if isinstance(arg, Node):
        return f"%{arg}"
    if isinstance(arg, dict):
        return "{" + ", ".join(f"{key}: {_format_arg(value)}" for key, value in arg.items()) + "}"
    if not isinstance(arg, (list, tuple)):
        return str(arg)

    shown = [_format_arg(item) for position, item in enumerate(arg) if position < max_list_len]
    if len(arg) > len(shown):
        shown.append(f"...[total_len={len(arg)}]")
    text = ", ".join(shown)
    if isinstance(arg, list):
        return f"[{text}]"
    return f"({text},)" if len(arg) == 1 else f"({text})"


def _find_module_of_method(orig_method: Callable[..., Any]) -> str:
    return public_module(module_of(orig_method))


def _shown_target(target: Target) -> str:
    """A target as tables show it: `operator.add`, `builtins.getattr`, `torch.relu`, `layers.0`."""
    if isinstance(target, str):
        return target
    module = getattr(target, "__module__", None)
    if getattr(builtins, getattr(target, "__name__", ""), None) is target:
        return f"builtins.{target.__name__}"
    if module == "_operator":
        return f"operator.{target.__name__}"
    return str(target) if is_lambda(target) else qualified_name(target)


# Nodes
# ------------------------------------------------------------

_GAP = 1 << 60  # between the positions of neighbours, so that nodes fit between them


class Node:
    """One operation of a `Graph`.

    `op` says what it does: 'placeholder' is an input of the graph, 'get_attr' reads an attribute of the
    module, 'call_function' calls `target`, 'call_method' calls the method `target` of its first argument,
    'call_module' calls the submodule at the path `target`, 'output' returns its argument. `args` and `kwargs`
    are what it is called with, where other nodes stand for their results. `users` are the nodes that use the
    result, `type` is its type for annotations, or None, and `meta` is for whatever passes find out about it.

    Nodes are made by the methods of Graph. They are ordered as the graph executes them: `a < b` if `a` runs
    first.
    """

    def __init__(
        self,
        graph: Graph,
        name: str,
        op: str,
        target: Target,
        args: tuple[Argument, ...],
        kwargs: dict[str, Argument],
        return_type: Any | None = None,
    ) -> None:
        if op not in _legal_ops:
            raise AssertionError(f"op {op!r} is not in _legal_ops")
        self.graph = graph
        self.name = name
        self._op = op
        self._target = target
        self._check_target(op, target)

        self._prev = self._next = self
        self._position = 0
        self._erased = False
        self._index = None  # the index of the graph, while the node is in it

        self.users: dict[Node, None] = {}
        self._input_nodes: dict[Node, None] = {}
        self._args: tuple[Argument, ...] = ()
        self._kwargs: dict[str, Argument] = immutable_dict()
        self._set_arguments(args, kwargs)

        self.type = return_type
        self.meta: dict[str, Any] = {}
        self._repr_fn: Callable[[Node], str] | None = None

    def _check_target(self, op: str, target: Target) -> None:
        if op == "call_function":
            if not callable(target):
                raise ValueError(
                    f"Node [graph = {self.graph}, name = {self.name!r}] target {target!r} has type "
                    f"{type(target).__name__} but a Callable is expected"
                )
        elif not isinstance(target, str):
            raise ValueError(
                f"Node [graph = {self.graph}, name = {self.name!r}] target {target!r} has type "
                f"{type(target).__name__} but a str is expected"
            )

    # What it calls
    # ------------------------------------------------------------

    @property
    def op(self) -> str:
        return self._op

    @op.setter
    def op(self, op: str) -> None:
        self._move_in_index(op, self._target)

    @property
    def target(self) -> Target:
        return self._target

    @target.setter
    def target(self, target: Target) -> None:
        self._move_in_index(self._op, target)

    def _move_in_index(self, op: str, target: Target) -> None:
        index = self._index
        if index is not None:
            index.remove(self)
        self._op = op
        self._target = target
        if index is not None:
            index.insert(self)

    # Order
    # ------------------------------------------------------------

    @property
    def next(self) -> Node:
        """The node that runs after this one; the root of the graph after the last."""
        return self._next

    @property
    def prev(self) -> Node:
        """The node that runs before this one; the root of the graph before the first."""
        return self._prev

    def __lt__(self, other: Node) -> bool:
        return self._position < other._position

    def __le__(self, other: Node) -> bool:
        return self is other or self._position < other._position

    def __gt__(self, other: Node) -> bool:
        return self._position > other._position

    def __ge__(self, other: Node) -> bool:
        return self is other or self._position > other._position

    def prepend(self, x: Node) -> None:
        """Moves `x`, or puts it if it is new, to directly before this node.

        Raises AssertionError if `x` is of another graph.
        """
        if self.graph is not x.graph:
            raise AssertionError("Attempting to move a Node into a different Graph")
        if self is x:
            return

        x._unlink()
        before = self._prev
        before._next = self._prev = x
        x._prev = before
        x._next = self
        x._take_position()

    def append(self, x: Node) -> None:
        """Moves `x`, or puts it if it is new, to directly after this node. `self.next.prepend(x)`."""
        if self.graph is not x.graph:
            raise AssertionError("Attempting to move a Node into a different Graph")
        if self is not x:
            self._next.prepend(x)

    def _unlink(self) -> None:
        """Takes the node out of the order."""
        self._prev._next = self._next
        self._next._prev = self._prev
        self._prev = self._next = self

    def _take_position(self) -> None:
        """Sets the number that says where the node is: between those of its neighbours."""
        root = self.graph._root
        low = self._prev._position if self._prev is not root else 0
        if self._next is root:
            self._position = low + _GAP
            return

        self._position = (low + self._next._position) // 2
        if self._position == low:  # no room is left: all nodes move apart
            for number, node in enumerate(self.graph.nodes, start=1):
                node._position = number * _GAP

    # Arguments
    # ------------------------------------------------------------

    @property
    def args(self) -> tuple[Argument, ...]:
        """The positional arguments. Assign another tuple to change them."""
        return self._args

    @args.setter
    def args(self, args: tuple[Argument, ...]) -> None:
        self._set_arguments(args, self._kwargs)

    @property
    def kwargs(self) -> dict[str, Argument]:
        """The keyword arguments. Assign another dictionary to change them."""
        return self._kwargs

    @kwargs.setter
    def kwargs(self, kwargs: dict[str, Argument]) -> None:
        self._set_arguments(self._args, kwargs)

    @property
    def all_input_nodes(self) -> list[Node]:
        """The nodes among the arguments, each once, in the order of their first occurrence."""
        return list(self._input_nodes)

    def _set_arguments(self, args: tuple[Argument, ...], kwargs: dict[str, Argument]) -> None:
        """Takes the arguments over, and becomes a user of the nodes in them, and of no others."""
        if not isinstance(args, (tuple, list)):
            raise AssertionError(f"Expected args to be tuple, got {type(args)}")
        if not isinstance(kwargs, dict):
            raise AssertionError(f"Expected kwargs to be dict, got {type(kwargs)}")

        inputs: dict[Node, None] = {}

        def seen(leaf: Argument) -> Argument:
            if isinstance(leaf, Node):
                inputs[leaf] = None
            return leaf

        try:
            new_args = map_aggregate(tuple(args), seen)
            new_kwargs = map_aggregate(kwargs, seen)
        except RecursionError:
            raise ValueError(
                f"the arguments of node {self.name} contain themselves, or are nested too deeply"
            ) from None

        for node in self._input_nodes:
            node.users.pop(self, None)
        for node in inputs:
            node.users[self] = None
        self._args = new_args
        self._kwargs = new_kwargs
        self._input_nodes = inputs

    def update_arg(self, idx: int, arg: Argument) -> None:
        """Replaces one positional argument. Raises IndexError if there are fewer."""
        args = list(self._args)
        args[idx] = arg
        self.args = tuple(args)

    def insert_arg(self, idx: int, arg: Argument) -> None:
        """Inserts a positional argument before the one at `idx`; at the end if that is their number."""
        if not 0 <= idx <= len(self._args):
            raise AssertionError(f"insert_args index must be between 0 and len(self.args), got {idx}")
        self.args = (*self._args[:idx], arg, *self._args[idx:])

    def update_kwarg(self, key: str, arg: Argument) -> None:
        """Sets one keyword argument."""
        self.kwargs = {**self._kwargs, key: arg}

    def replace_input_with(self, old_input: Node, new_input: Node) -> None:
        """Replaces `old_input` by `new_input` everywhere in the arguments."""

        def replaced(node: Node) -> Argument:
            return new_input if node is old_input else node

        self._set_arguments(map_arg(self._args, replaced), map_arg(self._kwargs, replaced))
        for hook in getattr(self.graph.owning_module, "_replace_hooks", ()):
            hook(old=old_input, new=new_input.name, user=self)

    def replace_all_uses_with(
        self,
        replace_with: Node,
        delete_user_cb: Callable[[Node], bool] | None = None,
        *,
        propagate_meta: bool = False,
    ) -> list[Node]:
        """Makes the users of this node use `replace_with`, and returns those users.

        Where `delete_user_cb(user)` is False, the user keeps this node. With `propagate_meta`, `meta` goes
        over to `replace_with`, which must not have any yet.
        """
        if propagate_meta:
            if replace_with.meta:
                raise AssertionError(
                    "Called node.replace_all_uses_with(replace_with, propagate_meta=True), but replace_with "
                    "already has .meta keys"
                )
            replace_with.meta.update(self.meta)

        users = [user for user in self.users if delete_user_cb is None or delete_user_cb(user)]
        for user in users:
            user.replace_input_with(self, replace_with)
        return users

    # Facts
    # ------------------------------------------------------------

    @property
    def stack_trace(self) -> str | None:
        """The Python stack at which the node was recorded, if the tracer kept it."""
        return self.meta.get("stack_trace", None)

    @stack_trace.setter
    def stack_trace(self, trace: str | None) -> None:
        self.meta["stack_trace"] = trace

    def is_impure(self, impure_random: bool = True) -> bool:
        """Whether running the node does more than compute its result, so that it must stay.

        That holds for inputs and outputs, for functions marked with `has_side_effect`, for operators of
        `torch.ops` that change an argument, for functions of torch that draw random numbers, for operators of
        `torch.ops` that may draw some if `impure_random`, and for submodules whose attribute `_is_impure` is
        True.
        """
        if self._op in ("placeholder", "output"):
            return True

        if self._op == "call_function":
            if self._target in _side_effectful_functions or _is_in_place_operator(self._target):
                return True
            return _is_random(self._target) or (impure_random and _is_random_operator(self._target))

        if self._op == "call_module":
            if self.graph.owning_module is None:
                raise AssertionError("self.graph.owning_module not set for purity check")
            module = self.graph.owning_module.get_submodule(self._target)
            return getattr(module, "_is_impure", False)

        return False

    def normalized_arguments(
        self,
        root: Any,
        arg_types: tuple[Any] | None = None,
        kwarg_types: dict[str, Any] | None = None,
        normalize_to_only_use_kwargs: bool = False,
    ) -> Any:
        """The arguments as the signature of what is called names them: `(args, kwargs)` with defaults filled
        in, or None if the signature is not known. `root` is the module of the graph."""
        # That module imports this one.
        from torch_py.fx.operator_schemas import normalize_function, normalize_module

        if self._op == "call_function":
            return normalize_function(
                self._target, self._args, self._kwargs, arg_types, kwarg_types, normalize_to_only_use_kwargs
            )
        if self._op == "call_module":
            return normalize_module(
                root, self._target, self._args, self._kwargs, normalize_to_only_use_kwargs
            )
        return None

    # Printing
    # ------------------------------------------------------------

    def __repr__(self) -> str:
        return self._repr_fn(self) if self._repr_fn else self.name

    def format_node(
        self,
        placeholder_names: list[str] | None = None,
        maybe_return_typename: list[str] | None = None,
        *,
        include_tensor_metadata: bool = False,
    ) -> str | None:
        """The node as one line: `%add : [num_users=1] = call_function[target=operator.add](args = (%x, 1),
        ...`.

        `placeholder_names` and `maybe_return_typename` collect what the header of a graph needs: the inputs,
        and ` -> type`.
        """
        of_type = f"{type_repr(self.type)} " if self.type else ""
        users = f"[num_users={len(self.users)}]"

        if self._op == "placeholder":
            default = f"(default={self._args[0]})" if self._args else ""
            if placeholder_names is not None:
                placeholder_names.append(f"{self._target}: {of_type}".rstrip(": "))
            return f"%{self.name} : {of_type}{users} = {self._op}[target={self._target}]{default}"

        if self._op == "get_attr":
            return f"%{self.name} : {of_type}{users} = {self._op}[target={_shown_target(self._target)}]"

        if self._op == "output":
            if self.type and maybe_return_typename:
                maybe_return_typename[0] = f" -> {type_repr(self.type)}"
            return f"return {self._args[0]}"

        described = ""
        if include_tensor_metadata and self.meta.get("val") is not None:
            summary = tensor_summary(self.meta["val"], stride=True, device=True)
            described = f'Tensor "{summary}"' if summary else ""
        return (
            f"%{self.name} : {of_type}{described}{users} = {self._op}[target={_shown_target(self._target)}]"
            f"(args = {_format_arg(self._args)}, kwargs = {_format_arg(self._kwargs)})"
        )

    def _rename(self, candidate: str) -> None:
        """Gives the node a name like `candidate` that is unique in its graph."""
        if candidate == self.name:
            return
        self.name = self.graph._graph_namespace.create_name(candidate, None)
        self.graph._graph_namespace.rename(self, self.name)


__getattr__ = _lacking(__name__)
