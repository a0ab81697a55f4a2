"""Checks derivative formulas."""

from __future__ import annotations

import re
from collections.abc import Sequence

from codegen.expressions import nodes
from codegen.expressions.errors import FormulaProblem, did_you_mean
from codegen.expressions.functions import CONSTRUCTS, FUNCTIONS
from codegen.expressions.gradient_check import gradient_problems
from codegen.expressions.needs import needs
from codegen.expressions.nodes import Call, Node
from codegen.expressions.scope import (
    METADATA_METHODS,
    NONE,
    NUMBERS,
    TENSOR,
    TENSORS,
    UNKNOWN,
    Checker,
    OperatorLike,
    ProgramLike,
    Scope,
    arity_range,
    kind_of_type,
    mismatch,
    resolve,
)


def check_formula(
    node: Node, operator: OperatorLike, program: ProgramLike, inputs: Sequence[str] = ()
) -> list[FormulaProblem]:
    """Every mistake in the gradient formula of ``inputs``.

    Empty ``inputs`` are unknown ones: the formula is then not compared with them.
    """
    checker = _FormulaChecker(Scope(operator, program), _compared_with_none(node))
    checker.visit(node)
    if not checker.problems:
        checker.check_outcome(node, tuple(inputs))
    if not checker.problems:
        checker.problems += gradient_problems(node, checker.scope)
    return sorted(checker.problems, key=lambda problem: problem.offset)


def _compared_with_none(node: Node) -> frozenset[str]:
    own = [part for part in nodes.walk(node) if isinstance(part, nodes.Compare)]
    return frozenset(
        nodes.to_source(operand)
        for part in own
        if any(isinstance(operand, nodes.Nothing) for operand in part.operands)
        for operand in part.operands
    )


class _FormulaChecker(Checker):
    def __init__(self, scope: Scope, asked: frozenset[str] = frozenset()) -> None:
        super().__init__(scope)
        self.asked = asked  # names that the formula compares with none

    def visit(self, node: Node) -> None:

        if isinstance(node, nodes.Name):
            self.check_name(node)
            return

        if isinstance(node, nodes.Method):
            self.check_method(node)
        else:
            for child in nodes.children(node):
                self.visit(child)

        if isinstance(node, Call):
            self.check_call(node)
        elif isinstance(node, nodes.Index):
            self.check_index(node)
        elif isinstance(node, nodes.Conditional):
            self.check_conditional(node)
        elif isinstance(node, (nodes.Unary, nodes.Binary, nodes.Compare, nodes.Logical)):
            self.check_operands(node)

    # Names

    def check_name(self, node: nodes.Name) -> None:
        scope = self.scope
        name = node.name
        argument = scope.argument(name)

        if argument is not None and name in ("grad", "grads"):
            self.report(node, f"argument '{name}' hides the gradient", "rename the argument to 'grad_output'")
        elif argument is not None and name in scope.result_names():
            self.report(node, f"argument '{name}' hides the result", "rename the argument to 'output'")

        if argument is not None or scope.name_kind(name) is not None:
            return

        if name in ("grad", "grads"):
            right = scope.gradient_names()[0]
            hint = (
                "write 'grad'" if right == "grad" else "write 'grads[0]' for the gradient of the first result"
            )
            self.report(node, f"'{name}' is not defined: the operator has {self._result_count()}", hint)
        elif re.fullmatch(r"result\d*", name):
            hint = (
                "write " + " or ".join(f"'{r}'" for r in scope.result_names()) if scope.schema.returns else ""
            )
            self.report(node, f"'{name}' is not defined: the operator has {self._result_count()}", hint)

        elif scope.program is not None and scope.program.by_base_name(name):
            self.report(node, f"'{name}' is an operator", f"call it: '{name}(...)'")
        else:
            known = [*scope.schema.arguments.names(), *scope.gradient_names(), *scope.result_names()]
            hint = did_you_mean(name, known) or "known here: " + ", ".join(known)
            self.report(node, f"unknown name '{name}'", hint)

    def _result_count(self) -> str:
        count = len(self.scope.schema.returns)
        if count == 1 and self.scope.schema.returns[0].type.is_list:
            return "a list of results"
        return "1 result" if count == 1 else f"{count} results"

    # Methods and indexing

    def check_method(self, node: nodes.Method) -> None:
        self.visit(node.target)
        for argument in node.arguments or ():
            self.visit(argument)

        kind = self.scope.kind(node.target)
        if node.name not in METADATA_METHODS:
            self.report(node, f"unknown method '{node.name}'", self._method_hint(node))
        elif kind not in (TENSOR, TENSORS, UNKNOWN):
            self.report(node, f"'{node.name}' is a method of tensors, not of {kind}")
        elif kind == TENSORS and node.name not in ("size",):
            self.report(
                node, f"a list of tensors has no '{node.name}'", "write 'tensors.size(dim)' or index the list"
            )

        else:
            expected = METADATA_METHODS[node.name][1]
            given = node.arguments

            if given is None:
                self.report(
                    node,
                    f"'{node.name}' is a method",
                    f"write '{nodes.to_source(node)}({'i' if expected else ''})'",
                )
            elif len(given) != expected:
                self.report(node, f"'{node.name}' takes {_arguments(expected)}, got {len(given)}")

    def _method_hint(self, node: nodes.Method) -> str:
        program = self.scope.program
        if (
            isinstance(node.target, nodes.Name)
            and node.target.name in ("at", "torch", "self")
            and program is not None
        ):
            if node.target.name != "self" and program.by_base_name(node.name):
                return f"write '{node.name}(...)'"

        if program is not None and program.by_base_name(node.name):
            rest = ", ..." if node.arguments else ""
            return f"operators are called as functions: '{node.name}({nodes.to_source(node.target)}{rest})'"
        return did_you_mean(node.name, METADATA_METHODS) or "known: " + ", ".join(METADATA_METHODS)

    def check_index(self, node: nodes.Index) -> None:
        kind = self.scope.kind(node.target)

        if isinstance(node.target, Call):
            called = resolve(node.target, self.scope)
            if called is not None and len(called.schema.returns) > 1:
                return self._check_bound(
                    node, len(called.schema.returns), f"results of {node.target.function}"
                )

        if (
            isinstance(node.target, nodes.Name)
            and node.target.name == "grads"
            and len(self.scope.schema.returns) > 1
        ):
            self._check_bound(node, len(self.scope.schema.returns), "gradients")
        elif kind == TENSOR:
            self.report(node, "a tensor is not indexed in a formula", "write 'select(x, dim, index)'")
        elif kind != UNKNOWN and not kind.endswith("[]"):
            self.report(node, f"{kind} cannot be indexed")
        elif self.scope.kind(node.index) not in ("int", UNKNOWN):
            self.report(node.index, f"a list is indexed by an int, not {self.scope.kind(node.index)}")

    def _check_bound(self, node: nodes.Index, count: int, what: str) -> None:
        if not isinstance(node.index, nodes.Number) or not isinstance(node.index.value, int):
            self.report(node.index, f"the {what} are indexed by a number", f"write one of 0 to {count - 1}")
        elif node.index.value >= count:
            self.report(
                node.index,
                f"index {node.index.value} is out of range: {count} {what}",
                f"write one of 0 to {count - 1}",
            )

    # Operations

    def check_operands(self, node: nodes.Unary | nodes.Binary | nodes.Compare | nodes.Logical) -> None:

        parts = nodes.children(node)
        kinds = [self.scope.kind(part) for part in parts]
        is_comparison = isinstance(node, nodes.Compare)
        if is_comparison and all(k not in (TENSOR, TENSORS) or NONE in kinds for k in kinds):
            return  # sizes, dtypes, devices, strings compare among themselves

        for part, kind in zip(parts, kinds):
            if kind not in (*NUMBERS, TENSOR, UNKNOWN):
                symbol = node.operators[0] if isinstance(node, nodes.Compare) else node.operator
                self.report(part, f"'{symbol}' takes tensors and numbers, not {kind}")

        if (
            TENSOR in kinds
            and isinstance(node, nodes.Compare)
            and any(o in ("in", "not in") for o in node.operators)
        ):
            self.report(node, "'in' does not take tensors")
        elif TENSOR in kinds:
            self.check_constructs(node)
            self.check_presence(parts)

    def check_presence(self, parts: Sequence[Node]) -> None:
        """An optional number is computed with where the formula asks whether it is given."""
        for part in parts:
            name = nodes.to_source(part)
            if self.scope.is_optional(part) and self.scope.kind(part) in NUMBERS and name not in self.asked:
                hint = f"write '{name} == none ? a : b', with the formulas without it and with it"
                self.report(part, f"'{name}' may be None", hint)

    def check_constructs(self, node: nodes.Unary | nodes.Binary | nodes.Compare | nodes.Logical) -> None:
        """``self > 0`` is a call of ``gt``, which the program has."""
        program = self.scope.program
        for symbol in node.operators if isinstance(node, nodes.Compare) else (node.operator,):
            name = CONSTRUCTS.get(symbol)
            if (
                name is not None
                and program is not None
                and not program.by_base_name(name)
                and name not in program.broken
            ):
                message = f"'{symbol}' of tensors calls the operator '{name}', which does not exist"
                self.report(node, message, f"declare {name}, or write the formula without it")

    def check_conditional(self, node: nodes.Conditional) -> None:
        if self.scope.kind(node.condition) == TENSOR:
            choice = nodes.to_source(Call("where", (node.condition, node.then, node.otherwise)))
            self.report(node.condition, "the condition is a tensor", f"write '{choice}'")
        kinds = {self.scope.kind(node.then), self.scope.kind(node.otherwise)}
        if TENSOR in kinds and kinds & set(NUMBERS):
            self.report(
                node, "one choice is a tensor, the other a number", "write for example 'zeros_like(grad)'"
            )

    # Calls

    def check_call(self, node: Call) -> None:
        scope = self.scope
        program = self.scope.program
        assert program is not None
        if scope.is_scalar_call(node):
            self._check_scalar_call(node)
            return

        overloads = program.by_base_name(node.function)
        if not overloads:
            if node.function not in program.broken:
                hint = did_you_mean(node.function, program.base_names())
                self.report(
                    node, f"unknown operator '{node.function}'", hint or "declare it, or call one that exists"
                )
            return

        if resolve(node, scope) is not None:
            return

        count = len(node.arguments)
        fitting = [o for o in overloads if arity_range(o.schema)[0] <= count <= arity_range(o.schema)[1]]
        if fitting:
            self._report_kind(node, fitting)
        else:
            counts = _counts(
                {n for o in overloads for n in range(arity_range(o.schema)[0], arity_range(o.schema)[1] + 1)}
            )
            plural = "argument" if counts == "1" else "arguments"
            self.report(
                node, f"'{node.function}' takes {counts} {plural}, got {count}", self._signatures(overloads)
            )

    def _report_kind(self, node: Call, overloads: Sequence[OperatorLike]) -> None:
        """Reports the first argument that the best overload does not accept."""
        positions = [(mismatch(node, o, self.scope) or 0, o) for o in overloads]
        position, best = max(positions, key=lambda pair: pair[0])
        parameter = best.schema.arguments.flat_non_out[position]
        kind = self.scope.kind(node.arguments[position])
        message = f"argument '{parameter.name}' of '{node.function}' is {parameter.type}, got {kind}"
        self.report(node.arguments[position], message, self._signatures(overloads))

    def _signatures(self, overloads: Sequence[OperatorLike]) -> str:
        return "declared: " + "; ".join(str(o.schema) for o in overloads[:4])

    def _check_scalar_call(self, node: Call) -> None:
        function = FUNCTIONS.get(node.function)
        expected = function.arity if function is not None else {"len": 1}.get(node.function, 2)
        if len(node.arguments) != expected:
            self.report(node, f"'{node.function}' takes {_arguments(expected)}, got {len(node.arguments)}")
        elif node.function == "len" and not self.scope.kind(node.arguments[0]).endswith("[]"):
            self.report(node, f"'len' takes a list, not {self.scope.kind(node.arguments[0])}")

    # The whole formula

    def check_outcome(self, node: Node, inputs: tuple[str, ...]) -> None:
        for name in needs(node, self.scope.operator).arguments:
            argument = self.scope.argument(name)
            if argument is not None and argument.is_write and argument.type.is_tensor_like:
                used = next(
                    part for part in nodes.walk(node) if isinstance(part, nodes.Name) and part.name == name
                )
                self.report(
                    used,
                    f"'{name}' is overwritten by the operator: its value is gone when the formula runs",
                    "write the formula in terms of the result",
                )

        for name in inputs:
            argument = self.scope.argument(name)
            if argument is not None and not argument.type.is_tensor_like:
                self.report(
                    node,
                    f"'{name}' is {argument.type}: only tensors have a gradient",
                    f"remove the formula of '{name}'",
                )

        if inputs:
            self._check_kinds(node, inputs)

    def _check_kinds(self, node: Node, inputs: tuple[str, ...]) -> None:
        if len(inputs) == 1:
            self._check_kind(node, inputs[0])

        elif isinstance(node, nodes.TupleOf):
            if len(node.items) != len(inputs):
                self.report(node, f"the formula gives {len(node.items)} gradients for {len(inputs)} inputs")
                return
            for item, name in zip(node.items, inputs):
                self._check_kind(item, name)

        elif isinstance(node, Call):
            called = resolve(node, self.scope)
            if called is not None and len(called.schema.returns) != len(inputs):
                count = len(called.schema.returns)
                self.report(node, f"'{node.function}' returns {_results(count)} for {len(inputs)} inputs")
        else:
            self.report(node, f"the formula gives one gradient for {len(inputs)} inputs", "write '(a, b)'")

    def _check_kind(self, node: Node, name: str) -> None:
        argument = self.scope.argument(name)
        if argument is None or not argument.type.is_tensor_like:
            return
        kind = self.scope.kind(node)
        wanted = kind_of_type(argument.type)

        if isinstance(node, nodes.TupleOf):
            self.report(
                node, f"the formula gives {len(node.items)} gradients for '{name}'", "write one expression"
            )
        elif kind in NUMBERS:
            self.report(
                node,
                f"the gradient of '{name}' is a number, not a tensor",
                "write for example 'zeros_like(grad)'",
            )
        elif kind not in (wanted, UNKNOWN, NONE):
            self.report(node, f"the gradient of '{name}' is {kind}, not {wanted}")


def _counts(counts: set[int]) -> str:
    """``1``, ``1 to 3``, ``1 or 3``."""
    few = min(counts, default=0)
    many = max(counts, default=0)
    if few == many:
        return str(few)
    return f"{few} to {many}" if len(counts) == many - few + 1 else " or ".join(map(str, sorted(counts)))


def _arguments(count: int) -> str:
    return "no arguments" if count == 0 else "1 argument" if count == 1 else f"{count} arguments"


def _results(count: int) -> str:
    return "1 result" if count == 1 else f"{count} results"
