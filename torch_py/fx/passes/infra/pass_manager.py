"""`PassManager`, which runs passes in an order that their constraints allow."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

from torch_py.fx.graph_module import GraphModule
from torch_py.fx.passes.infra.pass_base import PassResult
from torch_py.nn.modules.module import Module

__all__ = ["PassManager", "pass_result_wrapper", "this_before_that_pass_constraint"]

Pass = Callable[..., Any]
Constraint = Callable[[Pass, Pass], bool]


def pass_result_wrapper(fn: Pass) -> Pass:
    """A pass that returns PassResult, from one that changes its argument and returns None."""
    if inspect.signature(fn).return_annotation in (PassResult, "PassResult"):
        return fn

    @wraps(fn)
    def wrapped(gm: GraphModule) -> PassResult:
        result = fn(gm)
        if result is None:
            return PassResult(gm, True)
        return result if isinstance(result, PassResult) else PassResult(result, True)

    if not inspect.isfunction(fn):
        wrapped.__name__ = type(fn).__name__
    return wrapped


def this_before_that_pass_constraint(this: Pass, that: Pass) -> Constraint:
    """The constraint that `this` runs before `that`."""
    return lambda earlier, later: not (earlier == that and later == this)


def _validate_pass_schedule_constraint(constraint: Constraint, passes: list[Pass]) -> None:
    for number, earlier in enumerate(passes):
        for place, later in enumerate(passes[number + 1 :], start=number + 1):
            if not constraint(earlier, later):
                raise RuntimeError(
                    f"pass schedule constraint violated. Expected {later} before {earlier} but found "
                    f"{earlier} at index {number} and {later} at index {place} in pass list."
                )


def _topological_sort_passes(passes: list[Pass], constraints: list[Constraint]) -> list[Pass]:
    """An order in which every pair is allowed. Raises RuntimeError if there is not one."""
    waiting = list(passes)
    found: list[Pass] = []
    while waiting:
        free = next(
            (
                each
                for each in waiting
                if all(
                    allows(each, other) for other in waiting if other is not each for allows in constraints
                )
            ),
            None,
        )

        if free is None:
            names = ", ".join(getattr(each, "__name__", repr(each)) for each in waiting)
            raise RuntimeError(f"Circular dependency detected within the following passes: {names}")
        waiting.remove(free)
        found.append(free)
    return found


class PassManager:
    """Runs passes over a module.

    Args:
        passes: functions or instances of PassBase that return PassResult or None.
        constraints: functions of two passes: whether the first may run before the second.
        steps: how often the passes are run at most; they stop when none changes anything.
        run_checks_after_each_pass: whether the checks run after each pass.
        suppress_check_failures: whether errors of checks are left out.
    """

    def __init__(
        self,
        passes: list[Pass] | None = None,
        constraints: list[Constraint] | None = None,
        steps: int | None = None,
        run_checks_after_each_pass: bool = False,
        suppress_check_failures: bool = False,
    ) -> None:
        self.passes = passes or []
        self.constraints = constraints or []
        self.steps = steps or 1
        self.run_checks_after_each_pass = run_checks_after_each_pass
        self.suppress_check_failures = suppress_check_failures
        self._validated = False
        self._checks: list[Callable[[Module], None]] = []

    def add_pass(self, _pass: Pass) -> None:
        """Adds a pass at the end."""
        self.passes.append(_pass)
        self._validated = False

    def add_constraint(self, constraint: Constraint) -> None:
        """Adds a constraint on the order."""
        self.constraints.append(constraint)
        self._validated = False

    def validate_constraints(self) -> None:
        """Raises RuntimeError if the order breaks a constraint."""
        if self._validated:
            return
        for constraint in self.constraints:
            _validate_pass_schedule_constraint(constraint, self.passes)
        self._validated = True

    def solve_constraints(self) -> None:
        """Sorts the passes as the constraints ask. Raises RuntimeError if no order is allowed."""
        self.passes = _topological_sort_passes(self.passes, self.constraints)
        self._validated = True

    def add_checks(self, check: Callable[[Module], None]) -> None:
        """Adds a check of the module, a function of one argument that raises if the module is wrong."""
        parameters = list(inspect.signature(check).parameters.values())
        if len(parameters) != 1:
            raise TypeError("check function should only take in one variable, a module")
        self._checks.append(check)

    def check(self, module: Module) -> None:
        """Runs the checks."""
        for check in self._checks:
            check(module)

    def __call__(self, module: Module) -> PassResult:
        """Runs the passes.

        Raises Exception, caused by what a pass raised, or by TypeError if its result is not a PassResult.
        """
        if not self._validated:
            self.solve_constraints()
        self._check_unless_suppressed(module)

        overall = False
        for _ in range(self.steps):
            modified = False
            for each in self.passes:
                module, changed = self._run(each, module)
                modified = modified or changed
                if self.run_checks_after_each_pass:
                    self._check_unless_suppressed(module)
            overall = overall or modified
            if not modified:
                break
        return PassResult(module, overall)  # type: ignore[arg-type]

    def _run(self, each: Pass, module: Module) -> tuple[Module, bool]:
        name = getattr(each, "__name__", type(each).__name__)
        try:
            result = each(module)
            if not (hasattr(result, "graph_module") and hasattr(result, "modified")):
                raise TypeError(
                    f"The result of the pass {name} should be type PassResult. Please wrap it with "
                    "pass_result_wrapper()"
                )
        except Exception as error:
            raise Exception(f"An error occurred when running the '{name}' pass") from error  # noqa: TRY002

        if isinstance(result.graph_module, GraphModule):
            result.graph_module.recompile()
        return result.graph_module, result.modified

    def _check_unless_suppressed(self, module: Module) -> None:
        if not self.suppress_check_failures:
            self.check(module)
