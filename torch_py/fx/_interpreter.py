"""`Interpreter`, which runs a graph node by node."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torch_py.fx import traceback as fx_traceback
from torch_py.fx.graph import Graph
from torch_py.fx.node import Argument, Node, Target, map_arg
from torch_py.nn.modules.module import Module


class Interpreter:
    """Runs a graph node by node. Subclasses override what happens at a node: `run_node` for all of them, or
    the method that is named like the operation.

        class Counter(Interpreter):
            def call_function(self, target, args, kwargs):
                print("calls", target)
                return super().call_function(target, args, kwargs)

        Counter(symbolic_trace(f)).run(x)

    Args:
        module: the module of the graph, whose parameters and submodules are used.
        garbage_collect_values: whether values are dropped after their last use; if not, `env` has all of them
            after a run.
        graph: the graph to run, if it is not that of `module`.
    """

    def __init__(
        self, module: Module, garbage_collect_values: bool = True, graph: Graph | None = None
    ) -> None:
        self.module = module
        self.submodules = dict(module.named_modules())
        self.graph: Graph = module.graph if graph is None else graph
        self.env: dict[Node, Any] = {}
        self.name = "Interpreter"
        self.garbage_collect_values = garbage_collect_values
        self.extra_traceback = True
        self.user_to_last_uses: dict[Node, list[Node]] = {}
        if garbage_collect_values:
            self._find_last_uses()

    def _find_last_uses(self) -> None:
        seen: set[Node] = set()
        for user in reversed(self.graph.nodes):
            for value in user.all_input_nodes:
                if value not in seen:
                    seen.add(value)
                    self.user_to_last_uses.setdefault(user, []).append(value)

    # Runs
    # ------------------------------------------------------------

    def run(
        self, *args: Any, initial_env: dict[Node, Any] | None = None, enable_io_processing: bool = True
    ) -> Any:
        """Runs the graph with the given inputs and returns its result.

        `initial_env` gives values of nodes, which are then not run. Without `enable_io_processing`, inputs
        and results are the flat ones of the graph.
        """
        self.env = {} if initial_env is None else initial_env
        if enable_io_processing:
            args = self.graph.process_inputs(*args)
        self.args_iter: Iterator[Any] = iter(args)

        for node in self.graph.nodes:
            if node in self.env:
                continue
            self.env[node] = self._run_explained(node)
            for value in self.user_to_last_uses.get(node, ()):
                self.env.pop(value, None)
            if node.op == "output":
                result = self.env[node]
                return self.graph.process_outputs(result) if enable_io_processing else result
        return None

    def _run_explained(self, node: Node) -> Any:
        """Runs a node, and adds to its errors which one it was."""
        try:
            return self.run_node(node)
        except Exception as error:
            if self.extra_traceback:
                text = f"While executing {node.format_node()}"
                if node.stack_trace:
                    text += f"\nOriginal traceback:\n{node.stack_trace}"
                _explain(error, text)
            raise

    def boxed_run(self, args_list: list[Any]) -> Any:
        """As `run` with the flat inputs in a list, which is emptied, so that inputs can be dropped early."""
        args = list(args_list)
        args_list.clear()
        inputs = [node for node in self.graph.nodes if node.op == "placeholder"]
        return self.run(initial_env=dict(zip(inputs, args)), enable_io_processing=False)

    def run_node(self, n: Node) -> Any:
        """Runs one node with the values of its arguments, and returns its value."""
        with fx_traceback.set_current_meta(n):
            args, kwargs = self.fetch_args_kwargs_from_env(n)
            return getattr(self, n.op)(n.target, args, kwargs)

    # Operations
    # ------------------------------------------------------------

    def placeholder(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Any:
        """The next input, or the default. `*args` takes all that are left. Raises RuntimeError if there is
        neither."""
        if target.startswith("*"):
            return list(self.args_iter)
        missing = object()
        value = next(self.args_iter, missing)
        if value is not missing:
            return value
        if args:
            return args[0]
        raise RuntimeError(f"Expected positional argument for parameter {target}, but one was not passed in!")

    def get_attr(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Any:
        """The attribute of the module at the path `target`."""
        return self.fetch_attr(target)

    def call_function(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Any:
        """Calls a function."""
        return target(*args, **kwargs)

    def call_method(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Any:
        """Calls a method of the first argument."""
        return getattr(args[0], target)(*args[1:], **kwargs)

    def call_module(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Any:
        """Calls the submodule at the path `target`."""
        return self.fetch_attr(target)(*args, **kwargs)

    def output(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Any:
        """The result of the graph."""
        return args[0]

    # Values
    # ------------------------------------------------------------

    def fetch_attr(self, target: str) -> Any:
        """The attribute of the module at a dotted path. Raises RuntimeError if it does not exist."""
        found: Any = self.module
        path = target.split(".")
        for depth, name in enumerate(path):
            if not hasattr(found, name):
                raise RuntimeError(f"Node referenced nonexistent target {'.'.join(path[: depth + 1])}")
            found = getattr(found, name)
        return found

    def fetch_args_kwargs_from_env(self, n: Node) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments of a node as values."""
        args = self.map_nodes_to_values(n.args, n)
        kwargs = self.map_nodes_to_values(n.kwargs, n)
        if not isinstance(args, tuple):
            raise AssertionError(f"Expected args to be tuple, got {type(args)}")
        if not isinstance(kwargs, dict):
            raise AssertionError(f"Expected kwargs to be dict, got {type(kwargs)}")
        return args, kwargs

    def map_nodes_to_values(self, args: Argument, n: Node) -> Argument:
        """A nest with the values of the nodes in it. Raises RuntimeError for one that has not run."""

        def value_of(node: Node) -> Any:
            if node not in self.env:
                raise RuntimeError(
                    f"Node {n} referenced nonexistent value {node}! Run Graph.lint() to diagnose such issues"
                )
            return self.env[node]

        return map_arg(args, value_of)


def _explain(error: Exception, text: str) -> None:
    """Adds a note to an error; before Python 3.11 to its first argument."""
    if hasattr(error, "add_note"):
        error.add_note(text)
    elif error.args and isinstance(error.args[0], str):
        error.args = (f"{error.args[0]}\n\n{text}", *error.args[1:])
