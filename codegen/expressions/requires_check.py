"""Checks the constraints of ``requires:``, and the values that their messages show."""

from __future__ import annotations

from collections.abc import Collection

from codegen.dtypes import DTYPE_ALIASES, DTYPES
from codegen.expressions import nodes
from codegen.expressions.errors import FormulaProblem, did_you_mean
from codegen.expressions.functions import CONSTANTS
from codegen.expressions.nodes import Call, Node
from codegen.expressions.scope import (
    DTYPE_TESTS,
    NONE,
    NUMBERS,
    OF_TWO_TENSORS,
    REQUIREMENT_FUNCTIONS,
    TENSOR,
    TENSORS,
    UNKNOWN,
    Checker,
    OperatorLike,
    RequirementScope,
    Scope,
)


def check_requires(
    node: Node, operator: OperatorLike, dtype_sets: Collection[str] | None = None
) -> list[FormulaProblem]:
    """Every mistake in a constraint.

    ``dtype_sets`` are the names of the sets that SET in ``dtype(x) in SET`` may name.
    """
    checker = _RequiresChecker(RequirementScope(operator), dtype_sets)
    checker.visit(node)
    if not checker.problems and checker.kind(node) not in ("bool", UNKNOWN):
        checker.report(node, "a constraint is a condition", "write a comparison such as 'dim(self) == 2'")
    return sorted(checker.problems, key=lambda problem: problem.offset)


def check_message_value(node: Node, operator: OperatorLike) -> list[FormulaProblem]:
    """Every mistake in a value that the message of a requirement shows."""
    checker = _RequiresChecker(RequirementScope(operator), None)
    checker.visit(node)
    return sorted(checker.problems, key=lambda problem: problem.offset)


class _RequiresChecker(Checker):
    def __init__(self, scope: Scope, dtype_sets: Collection[str] | None) -> None:
        super().__init__(scope)
        self.dtype_sets = dtype_sets

    def visit(self, node: Node) -> None:

        if isinstance(node, nodes.Name):
            self.check_name(node)
        elif isinstance(node, nodes.Method):
            source = nodes.to_source(Call(node.name, (node.target, *(node.arguments or ()))))
            self.report(node, f"a constraint has no method '{node.name}'", f"write '{source}'")
            return
        elif isinstance(node, Call):
            self.visit_call(node)
            return
        elif isinstance(node, nodes.Compare):
            self.visit_compare(node)
            return
        elif isinstance(node, nodes.Index):
            self.check_index(node)
        elif isinstance(node, (nodes.Unary, nodes.Binary)) and node.operator != "not":
            self.check_arithmetic(node)

        for child in nodes.children(node):
            self.visit(child)

    def check_index(self, node: nodes.Index) -> None:
        """Checks an index such as ``sizes(self)[-1]``."""
        kind = self.kind(node.target)
        if kind == TENSOR:  # reported as one that has no value
            return
        if not kind.endswith("[]") and kind != UNKNOWN:
            self.report(node, f"{kind} cannot be indexed", "index a list: 'sizes(self)[0]'")
        elif self.kind(node.index) not in ("int", UNKNOWN):
            self.report(node.index, f"a list is indexed by an int, not {self.kind(node.index)}")

    def kind(self, node: Node) -> str:
        return "bool" if isinstance(node, (nodes.Compare, nodes.Logical)) else self.scope.kind(node)

    def check_name(self, node: nodes.Name) -> None:
        argument = self.scope.argument(node.name)

        if argument is None:
            if node.name in CONSTANTS:
                return
            known = self.scope.schema.arguments.names()
            hint = did_you_mean(node.name, known) or "arguments: " + ", ".join(known)
            self.report(node, f"unknown name '{node.name}'", hint)

        elif argument.type.is_tensor_like:
            self.report(
                node,
                f"'{node.name}' is {argument.type}, which has no value to compare",
                f"write for example 'dim({node.name})'",
            )

    def visit_call(self, node: Call) -> None:
        known = [*REQUIREMENT_FUNCTIONS, "promote", "len", "min", "max", "all"]

        if node.function not in known:
            hint = did_you_mean(node.function, known) or "known: " + ", ".join(known)
            self.report(node, f"unknown function '{node.function}'", hint)

        elif node.function in REQUIREMENT_FUNCTIONS:
            self.check_tensor_function(node)
        elif node.function == "promote":
            self.check_promotion(node)
        elif node.function in ("len", "all"):
            self.check_list_function(node)
        else:
            if len(node.arguments) == 1 and not self.kind(node.arguments[0]).endswith("[]"):
                self.report(node, f"'{node.function}' takes a list, or 2 or more numbers")
            for argument in node.arguments:
                self.visit(argument)

    def check_tensor_function(self, node: Call) -> None:
        expected = REQUIREMENT_FUNCTIONS[node.function][0]
        if len(node.arguments) != expected:
            plural = "argument" if expected == 1 else "arguments"
            self.report(node, f"'{node.function}' takes {expected} {plural}, got {len(node.arguments)}")
            return

        tensors = node.arguments if node.function in OF_TWO_TENSORS else node.arguments[:1]
        for target in tensors:
            self.check_tensor(node, target)
        for argument in node.arguments[len(tensors) :]:
            self.visit(argument)

    def check_tensor(self, node: Call, target: Node) -> None:
        if isinstance(target, nodes.Name) and self.scope.argument(target.name) is None:
            self.check_name(target)
        elif node.function in DTYPE_TESTS and self.scope.kind(target) in ("ScalarType", "Scalar"):
            pass
        elif self.scope.kind(target) != TENSOR:
            hint = f"write 'len({nodes.to_source(target)})'" if self.scope.kind(target).endswith("[]") else ""
            self.report(target, f"'{node.function}' takes a tensor, not {self.scope.kind(target)}", hint)

    def check_promotion(self, node: Call) -> None:
        if len(node.arguments) != 2 or any(self.kind(a) != "ScalarType" for a in node.arguments):
            self.report(
                node, "'promote' takes 2 dtypes", "write for example 'promote(dtype(self), dtype(other))'"
            )
        for argument in node.arguments:
            self.visit(argument)

    def check_list_function(self, node: Call) -> None:
        if len(node.arguments) != 1:
            self.report(node, f"'{node.function}' takes 1 argument, got {len(node.arguments)}")
            return

        argument = node.arguments[0]
        if node.function == "all":
            if not isinstance(argument, nodes.Compare) or not any(
                self.kind(o).endswith("[]") for o in argument.operands
            ):
                self.report(
                    argument, "'all' takes a comparison with a list", "write for example 'all(stride > 0)'"
                )
            else:
                for operand in argument.operands:
                    self.visit(operand)

        elif isinstance(argument, nodes.Name) and self.scope.kind(argument) == TENSORS:
            return
        elif not self.kind(argument).endswith("[]") and self.kind(argument) != UNKNOWN:
            self.report(argument, f"'len' takes a list, not {self.kind(argument)}")
        else:
            self.visit(argument)

    def visit_compare(self, node: nodes.Compare) -> None:
        if any(isinstance(operand, nodes.Nothing) for operand in node.operands):
            self.check_none_test(node)
            return

        for operator, left, right in zip(node.operators, node.operands, node.operands[1:]):
            if operator in ("in", "not in") and self.kind(left) == "ScalarType":
                self.check_dtypes(right)
            elif (
                self.kind(left) == "ScalarType"
                and isinstance(right, nodes.Name)
                and self.scope.argument(right.name) is None
            ):
                self.check_dtypes(right)
            else:
                self.visit(right)
                self.check_comparable(node, operator, left, right)

        self.visit(node.operands[0])

    def check_comparable(self, node: nodes.Compare, operator: str, left: Node, right: Node) -> None:
        kinds = self.kind(left), self.kind(right)

        if operator in ("in", "not in"):
            if not isinstance(right, nodes.ListOf):
                self.report(
                    right, f"'{operator}' takes a list or a set of dtypes", "write for example 'x in [1, 2]'"
                )
            return

        if UNKNOWN in kinds or kinds[0] == kinds[1] or all(kind in NUMBERS for kind in kinds):
            return
        if all(kind.endswith("[]") for kind in kinds):
            return

        if any(kind.endswith("[]") for kind in kinds):
            hint = f"write 'all({nodes.to_source(node)})'" if any(kind in NUMBERS for kind in kinds) else ""
            self.report(
                node, f"a list is compared with {kinds[1] if kinds[0].endswith('[]') else kinds[0]}", hint
            )
        elif TENSOR not in kinds and TENSORS not in kinds:
            self.report(node, f"{kinds[0]} is compared with {kinds[1]}")

    def check_none_test(self, node: nodes.Compare) -> None:
        others = [operand for operand in node.operands if not isinstance(operand, nodes.Nothing)]
        if len(others) != 1 or not isinstance(others[0], nodes.Name) or node.operators[0] not in ("==", "!="):
            self.report(node, "only an argument is compared with none", "write 'x == none' or 'x != none'")
        elif self.scope.argument(others[0].name) is None:
            self.check_name(others[0])
        elif not self.scope.is_optional(others[0]):
            argument = self.scope.argument(others[0].name)
            hint = (
                f"remove the test, or write {argument.type}? {argument.name}" if argument is not None else ""
            )
            self.report(others[0], f"'{others[0].name}' is never none: it is {argument}", hint)

    def check_dtypes(self, node: Node) -> None:
        for item in node.items if isinstance(node, nodes.ListOf) else (node,):
            if not isinstance(item, nodes.Name):
                self.report(item, "a dtype or a set of dtypes is needed")
            elif (
                item.name not in (*DTYPES, *DTYPE_ALIASES)
                and self.dtype_sets is not None
                and item.name not in self.dtype_sets
            ):
                hint = did_you_mean(item.name, [*DTYPES, *self.dtype_sets])
                self.report(item, f"unknown dtype or set of dtypes '{item.name}'", hint)

    def check_arithmetic(self, node: nodes.Unary | nodes.Binary) -> None:
        for part in nodes.children(node):
            kind = self.kind(part)
            is_unreported = not (isinstance(part, nodes.Name) and kind in (TENSOR, TENSORS))
            if kind not in (*NUMBERS, UNKNOWN, NONE) and is_unreported:
                self.report(part, f"'{node.operator}' takes numbers, not {kind}")
