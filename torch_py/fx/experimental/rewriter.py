"""`RewritingTracer`, which rewrites the source of functions so that more of it can be recorded."""

from __future__ import annotations

import ast
import copy
import inspect
import textwrap
from collections.abc import Callable
from types import FunctionType
from typing import Any, cast

import torch_py
from torch_py.fx._symbolic_trace import Tracer
from torch_py.fx.annotate import annotate
from torch_py.fx.graph import Graph
from torch_py.nn.modules.container import Sequential
from torch_py.nn.modules.module import Module

__all__ = ["AST_Rewriter", "RewritingTracer"]


class AST_Rewriter(ast.NodeTransformer):  # noqa: N801  # PyTorch's name
    """Rewrites `assert condition, text` to `torch._assert(condition, text)`, which can be recorded, and
    `x: Type = value` to `x = annotate(value, Type)`, which gives the node its type."""

    def rewrite(self, fn: FunctionType) -> FunctionType:
        """The function with its statements rewritten. It shares globals and closure with `fn`."""
        tree = ast.parse(textwrap.dedent(inspect.getsource(fn)))
        definition = cast(ast.FunctionDef, tree.body[0])
        definition.decorator_list = []
        rewritten = ast.fix_missing_locations(self.visit(tree))

        names = copy.copy(fn.__globals__)
        names.update(_fx_torch=torch_py, _fx_annotate=annotate)
        # Names of enclosing functions become parameters of one around it, which gives it the same cells.
        code = compile(_inside_of(rewritten, fn.__code__.co_freevars), inspect.getfile(fn), "exec")
        defined: dict[str, Any] = {}
        exec(code, names, defined)
        made = defined["_fx_outer"](*[None] * len(fn.__code__.co_freevars))

        result = FunctionType(made.__code__, names, fn.__name__, fn.__defaults__, fn.__closure__)
        result.__kwdefaults__ = fn.__kwdefaults__
        result.__annotations__ = fn.__annotations__
        return result

    def visit_Assert(self, node: ast.Assert) -> ast.Expr:  # noqa: N802
        message = node.msg or ast.Constant("")
        function = ast.parse("_fx_torch._assert", mode="eval").body
        return ast.copy_location(ast.Expr(ast.Call(function, [node.test, message], [])), node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:  # noqa: N802
        if node.value is None:
            return node
        function = ast.parse("_fx_annotate", mode="eval").body
        call = ast.Call(function, [node.value, node.annotation], [])
        return ast.copy_location(ast.Assign([node.target], call), node)


def _inside_of(tree: ast.Module, names: tuple[str, ...]) -> ast.Module:
    """The definition inside of a function with the given parameters, which returns it."""
    definition = cast(ast.FunctionDef, tree.body[0])
    outer = ast.parse(f"def _fx_outer({', '.join(names)}):\n    return {definition.name}")
    cast(ast.FunctionDef, outer.body[0]).body.insert(0, definition)
    return ast.fix_missing_locations(outer)


class RewritingTracer(Tracer):
    """A Tracer that rewrites the functions and the `forward` of modules that it traces."""

    def trace(self, root: Module | Callable[..., Any], concrete_args: dict[str, Any] | None = None) -> Graph:
        return super().trace(_rewrite(root), concrete_args)


def _rewrite(fn: Module | Callable[..., Any]) -> Any:
    """A rewritten function, or a copy of a module with `forward` rewritten here and in modules below."""
    if not isinstance(fn, Module):
        return AST_Rewriter().rewrite(cast(FunctionType, fn))

    rewritten = copy.copy(fn)
    vars(rewritten)["_modules"] = {
        name: child if child is None else _rewrite(child) for name, child in fn._modules.items()
    }
    if type(fn).__module__.startswith(("torch_py.nn", "torch.nn")) or isinstance(fn, Sequential):
        return rewritten
    forward = AST_Rewriter().rewrite(cast(FunctionType, type(fn).forward))
    rewritten.__class__ = type(type(fn).__name__, (type(fn),), {"forward": forward})
    return rewritten
