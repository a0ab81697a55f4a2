"""`Graph`, a program as a list of nodes: made, changed, checked, copied and printed."""

from __future__ import annotations

import contextlib
import inspect
import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal

from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py.fx._code_generation import (
    CodeGen,
    PythonCode,
    Style,
    _custom_builtins,
)
from torch_py.fx._code_generation import _BoxedCodeGen as _BoxedCodeGen
from torch_py.fx._code_generation import _CustomBuiltin as _CustomBuiltin
from torch_py.fx._code_generation import _PyTreeCodeGen as _PyTreeCodeGen
from torch_py.fx._code_generation import _PyTreeInfo as _PyTreeInfo
from torch_py.fx._code_generation import _register_custom_builtin as _register_custom_builtin
from torch_py.fx._expressions import format_target as _format_target  # noqa: F401  # PyTorch's name
from torch_py.fx._expressions import inplace_methods as inplace_methods
from torch_py.fx._expressions import magic_methods as magic_methods
from torch_py.fx._expressions import reflectable_magic_methods as reflectable_magic_methods
from torch_py.fx._lint import lint
from torch_py.fx._names import Namespace as _Namespace
from torch_py.fx._names import public_name, resolves
from torch_py.fx._names import snake_case as _snake_case
from torch_py.fx._node_index import NodeIndex
from torch_py.fx._pickling import restore, state_of
from torch_py.fx._tables import table
from torch_py.fx.immutable_collections import immutable_dict as immutable_dict
from torch_py.fx.node import Argument, Node, Target, _legal_ops, map_arg

if TYPE_CHECKING:
    from torch_py.fx.graph_module import GraphModule

__all__ = ["CodeGen", "Graph", "PythonCode"]

_origin_type_map = {list: "List", dict: "Dict", set: "Set", frozenset: "FrozenSet", tuple: "Tuple"}
_ABSENT = inspect.Signature.empty  # no default value
_RESERVED = frozenset(("self",))


def _is_from_torch(obj: object) -> bool:
    """Whether a function or class is one of torch, so that printed code reaches it from `torch`."""
    name = public_name(obj)
    return name is not None and resolves(name, obj)


class _Reserved:
    """The names that variables of graphs do not have: those of the globals of printed code, and `self`."""

    def __contains__(self, name: object) -> bool:
        return name in _custom_builtins or name in _RESERVED


class _node_list:  # noqa: N801  # PyTorch's name
    """The nodes of a graph in order. Nodes may be added and erased during an iteration."""

    def __init__(self, graph: Graph, direction: Literal["_prev", "_next"] = "_next") -> None:
        self.graph = graph
        self.direction = direction

    def __len__(self) -> int:
        return self.graph._len

    def __iter__(self) -> Iterator[Node]:
        root = self.graph._root
        forward = self.direction == "_next"
        current = root._next if forward else root._prev
        while current is not root:
            # An erased node keeps its neighbours of that time, so that the walk goes on from them.
            following = current._next if forward else current._prev
            if not current._erased:
                yield current
                following = current._next if forward else current._prev
            current = following

    def __reversed__(self) -> _node_list:
        return _node_list(self.graph, "_prev" if self.direction == "_next" else "_next")


class _InsertPoint:
    """Where new nodes go, from now on, or until the end of a `with` block."""

    def __init__(self, graph: Graph, new_insert: Callable[[Node], None]) -> None:
        self.graph = graph
        self.orig_insert = graph._insert
        graph._insert = new_insert

    def __enter__(self) -> None:
        """Returns None, as in PyTorch."""

    def __exit__(self, *exception: object) -> None:
        self.graph._insert = self.orig_insert


class Graph:
    """A program: nodes in the order in which they run, from the inputs ('placeholder') to the 'output'.

        >>> graph = Graph()
        >>> x = graph.placeholder("x")
        >>> result = graph.output(graph.call_function(torch.relu, (x,)))
        >>> GraphModule({}, graph)(torch.tensor([-1.0, 1.0]))
        tensor([0., 1.])

    `owning_module` is the GraphModule that runs it, `tracer_cls` the tracer that made it.
    """

    def __init__(
        self,
        owning_module: GraphModule | None = None,
        tracer_cls: type | None = None,
        tracer_extras: dict[str, Any] | None = None,
    ) -> None:
        self._root = Node(self, "", "root", "", (), {})
        self._insert: Callable[[Node], None] = self._root.prepend
        self._len = 0
        self._graph_namespace = _Namespace(_Reserved())
        self._find_nodes_lookup_table = NodeIndex()
        self._owning_module = owning_module
        self._tracer_cls = tracer_cls
        self._tracer_extras = tracer_extras
        self._codegen: CodeGen = CodeGen()

    @property
    def owning_module(self) -> GraphModule | None:
        return self._owning_module

    @owning_module.setter
    def owning_module(self, module: GraphModule | None) -> None:
        self._owning_module = module

    @property
    def nodes(self) -> _node_list:
        """The nodes in order: to iterate over in both directions, and to count."""
        return _node_list(self)

    def output_node(self) -> Node:
        """The last node, which is the output. Raises StopIteration for an empty graph, and AssertionError if
        it is not an output."""
        node = next(iter(reversed(self.nodes)))
        if node.op != "output":
            raise AssertionError(f"Expected output node, got op={node.op}")
        return node

    def find_nodes(self, *, op: str, target: Target | None = None, sort: bool = True) -> list[Node]:
        """The nodes that do `op` to `target`, or to anything if that is None; functions need it.

        In the order of the graph, unless `sort` is False.
        """
        found = self._find_nodes_lookup_table.find(op, target)
        return sorted(found) if sort else found

    # Creation
    # ------------------------------------------------------------

    def create_node(
        self,
        op: str,
        target: Target,
        args: tuple[Argument, ...] | None = None,
        kwargs: dict[str, Argument] | None = None,
        name: str | None = None,
        type_expr: Any | None = None,
    ) -> Node:
        """Adds a node where the insert point is: at the end, unless `inserting_before` and the like moved it.

        Without `name` it is named after its target. Raises AssertionError for an unknown `op` and for
        arguments that are not a tuple and a dictionary, and ValueError for a target of the wrong kind.
        """
        if op not in _legal_ops:
            raise AssertionError(f"op {op!r} is not in _legal_ops")
        args = () if args is None else args
        kwargs = {} if kwargs is None else kwargs
        if not isinstance(args, tuple):
            raise AssertionError(f"args must be a tuple, got {type(args)}")
        if not isinstance(kwargs, dict):
            raise AssertionError(f"kwargs must be a dict, got {type(kwargs)}")

        candidate = name if name is not None else self._target_to_str(target)
        unique = self._graph_namespace.create_name(candidate, None)
        node = Node(self, unique, op, target, args, kwargs, type_expr)
        self._graph_namespace.associate_name_with_obj(unique, node)

        self._insert(node)
        self._find_nodes_lookup_table.insert(node)
        self._len += 1
        for hook in getattr(self.owning_module, "_create_node_hooks", ()):
            hook(node)
        return node

    def _target_to_str(self, target: Target) -> str:
        """The name that a node has after its target."""
        if callable(target):
            name = getattr(target, "__name__", type(target).__name__)
        elif isinstance(target, str):
            name = target
            if name.startswith("__") and name.endswith("__"):
                name = name[2:-2]
        else:
            raise AssertionError(f"Expected target to be str, got {type(target)}")
        return _snake_case(name)

    def placeholder(self, name: str, type_expr: Any | None = None, default_value: Any = _ABSENT) -> Node:
        """Adds an input, a parameter of the printed function."""
        args = () if default_value is _ABSENT else (default_value,)
        return self.create_node("placeholder", name, args=args, type_expr=type_expr)

    def get_attr(self, qualified_name: str, type_expr: Any | None = None) -> Node:
        """Adds a node that reads the attribute at a dotted path below the module, such as a parameter.

        Warns if the module that owns the graph has no such attribute.
        """
        owner = self.owning_module
        if owner is not None and not _has_attribute(owner, qualified_name):
            warnings.warn(
                "Attempted to insert a get_attr Node with no underlying reference in the owning GraphModule! "
                "Call GraphModule.add_submodule to add the necessary submodule, GraphModule.add_parameter to "
                "add the necessary Parameter, or nn.Module.register_buffer to add the necessary buffer",
                stacklevel=2,
            )
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def call_module(
        self,
        module_name: str,
        args: tuple[Argument, ...] | None = None,
        kwargs: dict[str, Argument] | None = None,
        type_expr: Any | None = None,
    ) -> Node:
        """Adds a call of the submodule at a dotted path. Warns if the owning module has none there."""
        owner = self.owning_module
        if owner is not None and not _has_attribute(owner, module_name):
            warnings.warn(
                "Attempted to insert a call_module Node with no underlying reference in the owning "
                "GraphModule! Call GraphModule.add_submodule to add the necessary submodule",
                stacklevel=2,
            )
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def call_method(
        self,
        method_name: str,
        args: tuple[Argument, ...] | None = None,
        kwargs: dict[str, Argument] | None = None,
        type_expr: Any | None = None,
    ) -> Node:
        """Adds a call of a method of the first argument."""
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_function(
        self,
        the_function: Callable[..., Any],
        args: tuple[Argument, ...] | None = None,
        kwargs: dict[str, Argument] | None = None,
        type_expr: Any | None = None,
        name: str | None = None,
    ) -> Node:
        """Adds a call of a function."""
        return self.create_node("call_function", the_function, args, kwargs, name=name, type_expr=type_expr)

    def output(self, result: Argument, type_expr: Any | None = None) -> Node:
        """Adds the end of the graph, which returns `result`."""
        return self.create_node("output", "output", args=(result,), type_expr=type_expr)

    # Copies
    # ------------------------------------------------------------

    def node_copy(self, node: Node, arg_transform: Callable[[Node], Argument] = lambda x: x) -> Node:
        """Adds a copy of a node, perhaps of another graph. `arg_transform` turns nodes among its arguments
        into nodes of this graph."""
        args = map_arg(node.args, arg_transform)
        kwargs = map_arg(node.kwargs, arg_transform)
        if not isinstance(args, tuple):
            raise AssertionError(f"Expected args to be tuple, got {type(args)}")
        if not isinstance(kwargs, dict):
            raise AssertionError(f"Expected kwargs to be dict, got {type(kwargs)}")

        copied = self.create_node(node.op, node.target, args, kwargs, node.name, node.type)
        copied.meta = dict(node.meta)
        return copied

    def graph_copy(
        self, g: Graph, val_map: dict[Node, Node], return_output_node: bool = False
    ) -> Argument | tuple[Argument, Node] | None:
        """Adds copies of the nodes of `g` up to its output, and returns what that returns, as nodes of this
        graph; with `return_output_node` a tuple of that and the output of `g`.

        `val_map` may give nodes to use instead of some of `g`; the copies are added to it.
        """
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                result = map_arg(node.args[0], val_map.__getitem__)
                return (result, node) if return_output_node else result
            val_map[node] = self.node_copy(node, val_map.__getitem__)
        return None

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Graph:
        """A copy with nodes of its own, which share what is in their metadata."""
        memo = {} if memo is None else memo
        copied = Graph(tracer_cls=self._tracer_cls, tracer_extras=self._tracer_extras)
        copied._codegen = self._codegen.copy()

        val_map: dict[Node, Node] = {}
        found: Any = copied.graph_copy(self, val_map, return_output_node=True)
        if found is not None:
            result, output = found
            end = copied.create_node("output", "output", (result,), name=output.name, type_expr=output.type)
            end.meta = dict(output.meta)
            val_map[output] = end

        memo.update((id(old), new) for old, new in val_map.items())
        memo[id(self)] = copied
        return copied

    def __getstate__(self) -> dict[str, Any]:
        return state_of(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        Graph.__init__(self)
        restore(self, state)

    # Changes
    # ------------------------------------------------------------

    def erase_node(self, to_erase: Node) -> None:
        """Removes a node. Raises RuntimeError if it is used, or of another graph; a second call warns."""
        if to_erase.users:
            raise RuntimeError(
                f"Tried to erase Node {to_erase} but it still had {len(to_erase.users)} users in the graph: "
                f"{to_erase.users}!"
            )
        if to_erase.graph is not self:
            raise RuntimeError(f"Attempting to remove {to_erase} from wrong graph!")
        if to_erase._erased:
            warnings.warn(f"erase_node({to_erase}) on an already erased node", stacklevel=2)
            return

        for hook in getattr(self.owning_module, "_erase_node_hooks", ()):
            hook(to_erase)

        self._find_nodes_lookup_table.remove(to_erase)
        # An iteration that is at the node goes on from its neighbours.
        following = to_erase._next
        before = to_erase._prev
        to_erase._unlink()
        to_erase._next = following
        to_erase._prev = before

        to_erase._erased = True
        to_erase._set_arguments((), {})
        self._len -= 1

    def inserting_before(self, n: Node | None = None) -> _InsertPoint:
        """New nodes go before `n`, or to the beginning of the graph if it is None, until the end of the
        `with` block; without one, from now on. Raises AssertionError if `n` is of another graph."""
        if n is None:
            return self.inserting_after(self._root)
        if n.graph is not self:
            raise AssertionError("Node to insert before is not in graph.")
        return _InsertPoint(self, n.prepend)

    def inserting_after(self, n: Node | None = None) -> _InsertPoint:
        """New nodes go directly after `n`, the last first, or to the end of the graph if it is None, until
        the end of the `with` block; without one, from now on. Raises AssertionError if `n` is of another
        graph."""
        if n is None:
            return self.inserting_before(self._root)
        if n.graph is not self:
            raise AssertionError("Node to insert after is not in graph.")
        return _InsertPoint(self, n.append)

    def eliminate_dead_code(self, is_impure_node: Callable[[Node], bool] | None = None) -> bool:
        """Erases the nodes that nothing uses and that have no effects, and returns whether there were any.

        `is_impure_node` decides what has effects, in place of `Node.is_impure`. A function that changes its
        argument in place counts as without effect unless it is an operator of `torch.ops`.
        """
        self.lint()

        def is_impure(node: Node) -> bool:
            if is_impure_node is not None:
                return is_impure_node(node)
            if node.op == "call_module" and self.owning_module is None:
                return True
            return node.is_impure()

        changed = False
        for node in reversed(self.nodes):
            if not node.users and not is_impure(node):
                self.erase_node(node)
                changed = True
        return changed

    def lint(self) -> None:
        """Checks that nodes belong to this graph, have names of their own and are defined before their use,
        and that their targets exist in the owning module.

        Raises RuntimeError, or ValueError for a target that does not exist.
        """
        lint(self)

    # Code
    # ------------------------------------------------------------

    def process_inputs(self, *args: Any) -> Any:
        """The inputs of a call of the printed function as a flat tuple, one for each placeholder."""
        return self._codegen.process_inputs(*args)

    def process_outputs(self, out: Any) -> Any:
        """The flat results of the graph as the printed function returns them."""
        return self._codegen.process_outputs(out)

    def python_code(
        self,
        root_module: str,
        *,
        verbose: bool = False,
        include_stride: bool = False,
        include_device: bool = False,
        colored: bool = False,
        expanded_def: bool = False,
        additional_meta: list[str] | None = None,
    ) -> PythonCode:
        """The graph as a Python function `forward`, whose module is called `root_module`.

        `verbose` adds shapes and dtypes that passes found, and the lines of the program that a node comes
        from; `include_stride` and `include_device` add more about tensors, and `additional_meta` entries of
        `Node.meta`. `colored` adds colours for terminals, `expanded_def` puts each parameter on a line.
        """
        style = Style(verbose, include_stride, include_device, colored, expanded_def, additional_meta or [])
        return self._codegen.generate(self, root_module, style)

    def set_codegen(self, codegen: CodeGen) -> None:
        """Sets how the graph is printed: an instance of a subclass of CodeGen."""
        self._codegen = codegen

    @contextlib.contextmanager
    def _transformed(self, transformer: Any, before: Any) -> Iterator[None]:
        try:
            yield
        finally:
            self._codegen._body_transformer = before

    def on_generate_code(
        self, make_transformer: Callable[[Any], Callable[[list[str]], list[str]]]
    ) -> contextlib.AbstractContextManager[None]:
        """Registers a function that changes the lines of the body whenever code is printed; returns a context
        manager that takes it back.

        `make_transformer(current)` gets the function that is registered, or None, and returns the new one.
        """
        before = self._codegen._body_transformer
        self._codegen._body_transformer = make_transformer(before)
        return self._transformed(self._codegen._body_transformer, before)

    def __str__(self) -> str:
        return "\n    ".join(["graph():", *(node.format_node() or "" for node in self.nodes)])

    def print_tabular(self) -> None:
        """Prints the nodes as a table: operation, name, target and arguments."""
        rows = [[node.op, node.name, node.target, node.args, node.kwargs] for node in self.nodes]
        print(table(["opcode", "name", "target", "args", "kwargs"], rows))


def _has_attribute(module: Any, path: str) -> bool:
    found = module
    for name in path.split("."):
        if not hasattr(found, name):
            return False
        found = getattr(found, name)
    return True


__getattr__ = _lacking(__name__)
