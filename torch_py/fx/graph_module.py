"""`GraphModule`, a module whose `forward` is a printed graph."""

from __future__ import annotations

import copy
import os
import sys
import traceback
from collections.abc import Callable
from typing import Any

from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py.fx._attributes import assign_attr, copy_attr, get_attr, has_attr
from torch_py.fx._code_generation import PythonCode, _PyTreeCodeGen
from torch_py.fx._pickling import importable_tracer
from torch_py.fx._source import PREFIX as _PREFIX
from torch_py.fx._source import execute as _exec_with_source  # noqa: F401  # PyTorch's name
from torch_py.fx._source import forward_from as _forward_from_src
from torch_py.fx.graph import Graph
from torch_py.nn.modules.module import Module

__all__ = ["GraphModule"]

_assign_attr = assign_attr
_copy_attr = copy_attr
_get_attr = get_attr
_has_attr = has_attr

# The entry of `meta` that lists attributes to keep in copies, which torchvision asks for.
_USER_PRESERVED_ATTRIBUTES_KEY = "_user_preserved_attributes"

_HOOKS = ("_replace_hooks", "_create_node_hooks", "_erase_node_hooks", "_deepcopy_hooks")


class _WrappedCall:
    """Calls a GraphModule, and adds to errors of its printed code where in the code they happened."""

    def __init__(self, cls: type, cls_call: Callable[..., Any] | None) -> None:
        self.cls = cls
        self.cls_call = cls_call

    def __call__(self, obj: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            if self.cls_call is not None:
                return self.cls_call(obj, *args, **kwargs)
            return super(self.cls, obj).__call__(*args, **kwargs)  # type: ignore[misc]
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            if place.filename.startswith(_PREFIX):
                self._explain(error, place)
            raise

    def _explain(self, error: Exception, place: traceback.FrameSummary) -> None:
        """Attaches the lines around the one that failed; Python before 3.11 prints them instead."""
        import linecache

        number = place.lineno or 1
        lines = [linecache.getline(place.filename, line) for line in range(number - 2, number + 3)]
        arrow = "~" * len(lines[2].rstrip()) + " <--- HERE\n"
        text = (
            f"Call using an FX-traced Module, line {number} of the traced Module's generated forward "
            "function:\n" + "".join([*lines[:3], arrow, *lines[3:]])
        )
        if hasattr(error, "add_note"):
            error.add_note(text)
        else:
            print(text, file=sys.stderr)


class _CodeOnlyModule(Module):
    """A module with the given fields, to copy attributes from."""

    def __init__(self, body: dict[str, Any]) -> None:
        super().__init__()
        vars(self).update(body)


class GraphModule(Module):
    """A module that runs a graph: `code` is the graph as Python, and `forward` that code, compiled.

    `root` is a module whose attributes the graph reads, or a dictionary from dotted paths to attributes; the
    GraphModule shares what the graph names, and has no other attributes. Raises RuntimeError if an attribute
    is missing in the dictionary, or `root` is something else.

    After a change of `graph`, `recompile()` makes `forward` follow; assigning to `graph` does both.
    """

    def __new__(cls, *arguments: Any, **keywords: Any) -> GraphModule:
        # A class for each instance, so that `forward` and `__call__` are found as those of other modules are.
        for base in cls.__mro__:
            if vars(base).get("_is_of_one_graph"):
                return super().__new__(base.__bases__[0]._of_one_graph())  # type: ignore[attr-defined]
        return super().__new__(cls._of_one_graph())

    @classmethod
    def _of_one_graph(cls) -> type:
        class GraphModuleImpl(cls):  # type: ignore[valid-type, misc]
            _is_of_one_graph = True

        return GraphModuleImpl

    def __init__(self, root: Module | dict[str, Any], graph: Graph, class_name: str = "GraphModule") -> None:
        super().__init__()
        type(self).__name__ = class_name

        if isinstance(root, Module):
            self.training = root.training
            self._take_attributes_of_module(root, graph)
        elif isinstance(root, dict):
            self._take_attributes(root, graph)
        else:
            raise RuntimeError(f"Unsupported type {root} passed for root!")

        self.graph = graph
        self._tracer_cls = importable_tracer(graph)
        self._tracer_extras = graph._tracer_extras
        self.meta: dict[str, Any] = dict(getattr(root, "meta", {})) if isinstance(root, Module) else {}
        for hooks in _HOOKS:
            vars(self)[hooks] = []

    def _take_attributes_of_module(self, root: Module, graph: Graph) -> None:
        for node in graph.nodes:
            if node.op in ("get_attr", "call_module"):
                copy_attr(root, self, node.target)

    def _take_attributes(self, root: dict[str, Any], graph: Graph) -> None:
        targets = set()
        for node in graph.nodes:
            if node.op in ("get_attr", "call_module"):
                if node.target not in root:
                    raise RuntimeError(
                        f"Node {node} referenced target {node.target} but that target was not provided in "
                        "``root``!"
                    )
                targets.add(node.target)

        # Modules come before what is inside them.
        for target in sorted(targets, key=lambda path: path.count(".")):
            assign_attr(root[target], self, target)

    # The graph and its code
    # ------------------------------------------------------------

    @property
    def graph(self) -> Graph:
        """The graph. Assign another one to run that; its attributes must be there."""
        return self._graph

    @graph.setter
    def graph(self, graph: Graph) -> None:
        if not isinstance(graph, Graph):
            raise AssertionError(f"Expected a Graph instance, but got {type(graph)}")
        self._graph = graph
        graph.owning_module = self
        self.recompile()

    @property
    def code(self) -> str:
        """The source of `forward`."""
        if not hasattr(self, "_code"):
            raise RuntimeError("Code has not been generated! Please report a bug to PyTorch")
        return self._code

    def recompile(self) -> PythonCode:
        """Prints the graph and compiles the code, which `forward` is from then on. Returns the code."""
        codegen = self._graph._codegen
        if isinstance(codegen, _PyTreeCodeGen):
            self._in_spec = codegen.pytree_info.in_spec
            self._out_spec = codegen.pytree_info.out_spec

        python_code = self._graph.python_code(root_module="self")
        self._code = python_code.src
        self._lineno_map = python_code._lineno_map
        self._prologue_start = python_code._prologue_start

        cls = type(self)
        cls.forward = _forward_from_src(self._code, python_code.globals)  # type: ignore[method-assign]
        if "_wrapped_call" not in vars(cls):
            cls._wrapped_call = _WrappedCall(cls, vars(cls).get("__call__"))  # type: ignore[attr-defined]

            def call_wrapped(self: Any, *args: Any, **kwargs: Any) -> Any:
                return self._wrapped_call(self, *args, **kwargs)

            cls.__call__ = call_wrapped  # type: ignore[method-assign]
        return python_code

    def print_readable(
        self,
        print_output: bool = True,
        include_stride: bool = False,
        include_device: bool = False,
        colored: bool = False,
        *,
        expanded_def: bool = False,
        additional_meta: list[str] | None = None,
    ) -> str:
        """Prints and returns the code as a class, with known shapes and the lines of the traced program.

        The code of GraphModules inside follows, indented.
        """
        text = _readable(
            self,
            self._get_name(),
            include_stride=include_stride,
            include_device=include_device,
            colored=colored,
            expanded_def=expanded_def,
            additional_meta=additional_meta,
        )
        if print_output:
            print(text)
        return text

    def __str__(self) -> str:
        note = "# To see more debug info, please use `graph_module.print_readable()`"
        return f"{super().__repr__()}\n{self._code}\n{note}"

    def to_folder(self, folder: str | os.PathLike[str], module_name: str = "FxModule") -> None:
        """Writes the module as a Python package: `from folder import FxModule` gives a class that runs the
        same code on the same parameters. Layers that cannot be printed as a constructor are pickled."""
        # Imported on first use: few programs write folders.
        from torch_py.fx._folder import write

        write(self, folder, module_name)

    # Submodules
    # ------------------------------------------------------------

    def add_submodule(self, target: str, m: Module) -> bool:
        """Puts a module at a dotted path, and empty modules on the way. False if something that is not a
        module is in the way."""
        owner: Module = self
        *prefix, name = target.split(".")
        for step in prefix:
            child = getattr(owner, step, None)
            if child is None:
                child = Module()
                setattr(owner, step, child)
            if not isinstance(child, Module):
                return False
            owner = child

        owner.add_module(name, m)
        return True

    def delete_submodule(self, target: str) -> bool:
        """Deletes the module at a dotted path. False if it does not exist."""
        path, _, name = target.rpartition(".")
        owner = self
        for step in path.split(".") if path else ():
            owner = getattr(owner, step, None)  # type: ignore[assignment]
            if not isinstance(owner, Module):
                return False
        if not isinstance(getattr(owner, name, None), Module):
            return False
        delattr(owner, name)
        return True

    def delete_all_unused_submodules(self) -> None:
        """Deletes the modules that the graph does not reach, by a call or through an attribute."""
        used: set[str] = set()
        for node in self._graph.nodes:
            if node.op not in ("call_module", "get_attr"):
                continue
            path = node.target.split(".")
            used.update(".".join(path[:depth]) for depth in range(1, len(path) + 1))
            is_there = node.op == "call_module" and has_attr(self, node.target)
            called = get_attr(self, node.target) if is_there else None
            if isinstance(called, Module):
                used.update(f"{node.target}.{inside}" for inside, _ in called.named_modules())

        for name in [name for name, _ in self.named_modules() if name and name not in used]:
            self.delete_submodule(name)

    # Copies
    # ------------------------------------------------------------

    def __reduce__(self) -> Any:
        fields = {name: value for name, value in vars(self).items() if name not in _NOT_PICKLED}
        for base in type(self).__mro__:
            if not vars(base).get("_is_of_one_graph"):
                return _rebuilt, (base, fields, type(self).__name__, self._graph)
        raise AssertionError("unreachable")

    def __deepcopy__(self, memo: dict[int, Any]) -> GraphModule:
        copied = type(self).__new__(type(self))
        memo[id(self)] = copied
        graph = copy.deepcopy(self._graph, memo)
        fields = {name: value for name, value in vars(self).items() if name not in _NOT_PICKLED}
        vars(copied).update(copy.deepcopy(fields, memo))
        _finish(copied, type(self).__name__, graph)
        for hook in getattr(self, "_deepcopy_hooks", ()):
            hook(copied)
        return copied

    def __copy__(self) -> GraphModule:
        copied = type(self).__new__(type(self))
        vars(copied).update(vars(self))
        for registry in ("_parameters", "_buffers", "_modules"):
            vars(copied)[registry] = dict(vars(self)[registry])
        type(copied).__name__ = type(self).__name__
        owner = self._graph.owning_module
        copied.recompile()
        self._graph.owning_module = owner
        return copied


_NOT_PICKLED = frozenset(("_graph", "_code", "_lineno_map", "_prologue_start", *_HOOKS))


def _rebuilt(cls: type, fields: dict[str, Any], name: str, graph: Graph) -> GraphModule:
    """A GraphModule from the parts that pickle stores."""
    module = cls.__new__(cls)
    vars(module).update(fields)
    _finish(module, name, graph)
    return module


def _finish(module: GraphModule, name: str, graph: Graph) -> None:
    for hooks in _HOOKS:
        vars(module)[hooks] = []
    type(module).__name__ = name
    module.graph = graph


def _readable(module: Module, name: str, **options: Any) -> str:
    """The code of a GraphModule as a class, with that of the GraphModules below it."""
    graph = getattr(module, "graph", None)
    if not isinstance(graph, Graph):
        raise AssertionError("print_readable must be used on a module with a graph")
    code = graph.python_code(root_module="self", verbose=True, **options).src

    inside = [
        "\n" + _indented(_readable(child, child_name, **options))
        for child_name, child in module.named_children()
        if isinstance(getattr(child, "graph", None), Graph)
    ]
    return f"class {name}(torch.nn.Module):\n{_indented(code.strip())}\n" + "".join(inside)


def _indented(text: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in text.split("\n"))


__getattr__ = _lacking(__name__)
