"""What Jinja2 compiles templates to: less general than its own code, and twice as fast.

Attributes are looked up and functions are called directly, a run of text and values is formatted at once, and
what a template includes arrives as one text. tests/codegen/test_templates.py compares the output with that of
Jinja2.
"""

from __future__ import annotations

import hashlib
import inspect
import keyword
import sys
from collections.abc import Callable, Mapping
from typing import Any

import jinja2
from jinja2 import nodes
from jinja2.compiler import CodeGenerator, Frame


class TemplateCode(CodeGenerator):
    """The code generator of templates, which are neither escaped nor asynchronous."""

    def visit_Getattr(self, node: nodes.Getattr, frame: Frame) -> None:
        """``x.name``, never an item of ``x`` as in Jinja2."""
        if keyword.iskeyword(node.attr):
            super().visit_Getattr(node, frame)
            return
        self.write("(")
        self.visit(node.node, frame)
        self.write(f").{node.attr}")

    def visit_Call(self, node: nodes.Call, frame: Frame, forward_caller: bool = False) -> None:
        """``f(x)``, as no function takes the context."""
        if forward_caller:
            super().visit_Call(node, frame, forward_caller)
            return
        self.write("(")
        self.visit(node.node, frame)
        self.write(")(")
        self._arguments(node, frame)
        self.write(")")

    def _arguments(self, node: nodes.Call, frame: Frame) -> None:
        for argument in node.args:
            self.visit(argument, frame)
            self.write(", ")
        for named in node.kwargs:
            self.visit(named, frame)
            self.write(", ")
        assert node.dyn_args is None and node.dyn_kwargs is None, "templates pass no * and **"

    def pop_assign_tracking(self, frame: Frame) -> None:
        """Names that a template sets are local to it; includes are given them with the other locals."""
        self._assign_stack.pop()

    def visit_Output(self, node: nodes.Output, frame: Frame) -> None:
        """Yields texts and values together, formatted by ``%``."""
        if frame.buffer is not None or frame.require_output_check:
            super().visit_Output(node, frame)
            return

        texts: list[str] = []
        values: list[nodes.Expr] = []
        for child in node.nodes:
            text = _constant(child, frame)
            texts.append("%s" if text is None else text.replace("%", "%%"))
            if text is None:
                values.append(child)

        joined = "".join(texts)
        if not values:
            self.writeline(f"yield {joined.replace('%%', '%')!r}", node)
            return
        # Each value has a line of its own, so that an error in it names its line in the template.
        self.writeline(f"yield {joined!r} % (", node)
        self.indent()
        for value in values:
            self.newline(value)
            self.visit(value, frame)
            self.write(",")
        self.outdent()
        self.writeline(")")

    def visit_Include(self, node: nodes.Include, frame: Frame) -> None:
        """Includes see the names at the place where they are."""
        if frame.buffer is not None or node.ignore_missing or not node.with_context:
            super().visit_Include(node, frame)
            return
        self.writeline("yield environment.included(", node)
        self.visit(node.template, frame)
        self.write(f", context, {self.dump_local_context(frame)})")


def _constant(node: nodes.Expr, frame: Frame) -> str | None:
    """The text of a node that is known when the template is compiled."""
    if isinstance(node, nodes.TemplateData):
        return node.data
    try:
        return str(node.as_const(frame.eval_ctx))
    except nodes.Impossible:
        return None


def plain_filters(filters: Mapping[str, Callable[..., Any]]) -> dict[str, Callable[..., Any]]:
    """The filters of Jinja2, without the question at each call whether the template is asynchronous."""
    return {
        name: getattr(function, "__wrapped__", function)
        if getattr(function, "jinja_async_variant", False)
        else function
        for name, function in filters.items()
    }


def version() -> str:
    """Names the code that templates are compiled to, for those that are kept."""
    text = inspect.getsource(sys.modules[__name__]) + jinja2.__version__
    return hashlib.sha256(text.encode()).hexdigest()[:8]
