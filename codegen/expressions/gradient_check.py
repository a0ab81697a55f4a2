"""Checks what a gradient must be like: linear in ``grad``, made of values, and as large as its argument."""

from __future__ import annotations

from codegen.expressions import nodes
from codegen.expressions.errors import FormulaProblem
from codegen.expressions.functions import ZEROS_LIKE
from codegen.expressions.linear import NotLinear, degree
from codegen.expressions.nodes import Call, Node
from codegen.expressions.scope import TENSOR, Checker, OperatorLike, Scope, resolve
from codegen.expressions.zero_terms import is_zero, zero_terms


def gradient_problems(node: Node, scope: Scope) -> list[FormulaProblem]:
    """The mistakes of a gradient formula whose names and calls are right."""
    checker = _GradientChecker(scope)
    checker.check_linear(node)
    checker.check_sizes(node)
    checker.check_values(node)
    checker.check_zeros(node)
    return checker.problems


def _has_gradient(node: Node) -> bool:
    """Whether the value depends on ``grad``; its sizes and dtype do not count."""
    if isinstance(node, nodes.Method):
        return False
    if isinstance(node, nodes.Name):
        return node.name in ("grad", "grads")
    return any(map(_has_gradient, nodes.children(node)))


def _asks_for_sizes(condition: Node) -> bool:
    return any(isinstance(part, nodes.Method) for part in nodes.walk(condition))


def _asks_for_dim(condition: Node) -> bool:
    """Whether a condition tells which dimensions ``grad`` has."""
    return not {"dim", "keepdim"}.isdisjoint(nodes.names(condition))


_WITHOUT_VALUE = {"uninitialised": "holds no values", "nondeterministic_seeded": "is random"}


def _combines_elements(called: OperatorLike) -> bool:
    """Whether an element of the result depends on elements in other places."""
    structure = getattr(called, "structure", None)
    if structure == "view":  # along a dimension, or with other sizes
        return any(not argument.type.is_tensor_like for argument in called.schema.arguments.flat_non_out)
    return structure == "reduction" or "along_dim" in getattr(called, "tags", ())


class _GradientChecker(Checker):
    def check_linear(self, node: Node) -> None:
        """A derivative is linear in ``grad``, as far as arithmetic tells; one of zero has no ``grad``."""
        name = self.scope.gradient_names()[0]
        if not _has_gradient(node) and not (isinstance(node, Call) and node.function == ZEROS_LIKE):
            hint = f"multiply by it: {name} * ..., or write zeros_like(...) where the gradient is zero"
            self.report(node, f"the formula does not use '{name}'", hint)
            return

        try:
            degree(node, {"grad": 1, "grads": 1}, lambda call: resolve(call, self.scope))
        except NotLinear as error:
            hint = f"a derivative is '{name}' times what does not contain it"
            self.report(error.node, f"the formula is not linear in '{name}': {error.why}", hint)

    def check_zeros(self, node: Node) -> None:
        """A gradient of zero is `grad * 0` only where the program lacks a better way to write it."""
        if is_zero(node) and not self.scope.has_operator(ZEROS_LIKE):
            return
        self.problems += zero_terms(node, f"write {ZEROS_LIKE}({self.scope.gradient_names()[0]})")

    def check_values(self, node: Node) -> None:
        """A gradient is neither random, nor made of memory that nobody has written to."""
        for part in nodes.walk(node):
            called = resolve(part, self.scope) if isinstance(part, Call) else None
            for tag, what in _WITHOUT_VALUE.items():
                if tag in getattr(called, "tags", ()):
                    assert isinstance(part, Call)
                    self.report(part, f"the result of '{part.function}' {what}", "write what it should be")

    def check_sizes(self, node: Node) -> None:
        """What the structure of the operator says of its gradient's elements, and of their number."""
        structure = getattr(self.scope.operator, "structure", None)
        if structure == "pointwise":
            self._check_elementwise(node)
        elif structure == "reduction" and self.scope.argument("dim") is not None:
            self._check_expanded(node)

    def _check_elementwise(self, node: Node) -> None:
        """An element of the gradient depends on elements in the same place. What tensors were broadcast to is
        added up for their gradients by generated code."""
        for part in nodes.walk(node):
            if not isinstance(part, Call):
                continue
            called = resolve(part, self.scope)
            if called is not None and _combines_elements(called):
                message = f"'{part.function}' combines elements; "
                message += "a pointwise gradient is computed element by element"
                hint = "leave it out: gradients of tensors that were broadcast are added up anyway"
                self.report(part, message, hint)

    def _check_expanded(self, node: Node) -> None:
        """``grad`` has the sizes of the result, the gradient those of the argument."""
        small = self._unexpanded(node)
        if small is not None:
            source = nodes.to_source(small)
            message = f"'{source}' has the sizes of the result, but the gradient those of the argument"
            self.report(small, message, f"expand it: _expand_reduced({source}, self.sizes(), dim, keepdim)")
        elif self.scope.argument("keepdim") is not None and self._views_without_keepdim(node):
            message = "the formula does not use 'keepdim', which decides on the sizes of 'grad'"
            self.report(node, message, "expand grad: _expand_reduced(grad, self.sizes(), dim, keepdim)")

    def _views_without_keepdim(self, node: Node) -> bool:
        """Whether ``expand(grad, self.sizes())`` and the like get a gradient with or without dimensions."""
        parts = list(nodes.walk(node))
        asks_for_dim = any(isinstance(part, nodes.Method) and part.name == "dim" for part in parts)
        if asks_for_dim or "keepdim" in nodes.names(node):
            return False
        views = (p for p in parts if isinstance(p, Call) and _has_gradient(p))
        return any(getattr(resolve(view, self.scope), "structure", None) == "view" for view in views)

    def _unexpanded(self, node: Node, is_broadcast: bool = False) -> Node | None:
        """The gradient, where only operations of elements are between it and the value of the formula.

        ``is_broadcast``: an operand around ``node`` has the sizes of the argument.
        """
        if isinstance(node, nodes.Method):
            return None
        if isinstance(node, nodes.Name):
            return node if _has_gradient(node) else None
        if isinstance(node, Call) and not self._is_of_elements(node):
            return None

        parts = nodes.children(node)
        is_large = any(map(self._has_all_elements, parts))
        if isinstance(node, nodes.Conditional):
            if _asks_for_sizes(node.condition):
                return None
            if (is_broadcast or is_large) and _asks_for_dim(node.condition):
                return None
        else:
            is_broadcast = is_broadcast or is_large
        found = (self._unexpanded(part, is_broadcast) for part in parts)
        return next((part for part in found if part is not None), None)

    def _has_all_elements(self, node: Node) -> bool:
        """Whether operations of elements alone give ``node`` the sizes of the argument."""
        if isinstance(node, nodes.Method):
            return False
        if isinstance(node, nodes.Name):
            return self.scope.argument(node.name) is not None and self.scope.kind(node) == TENSOR
        if isinstance(node, Call) and not self._is_of_elements(node):
            return False
        return any(map(self._has_all_elements, nodes.children(node)))

    def _is_of_elements(self, call: Call) -> bool:
        called = resolve(call, self.scope)
        is_pointwise = getattr(called, "structure", "pointwise") == "pointwise"
        return is_pointwise or call.function in (ZEROS_LIKE, "where")
