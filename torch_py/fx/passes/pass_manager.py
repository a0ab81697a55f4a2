"""The older `PassManager`: a list of functions from module to module, and constraints on their order."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import wraps
from typing import Any

from torch_py.fx.passes.infra.pass_manager import (
    _validate_pass_schedule_constraint,
    this_before_that_pass_constraint,
)

__all__ = [
    "PassManager",
    "inplace_wrapper",
    "log_hook",
    "loop_pass",
    "these_before_those_pass_constraint",
    "this_before_that_pass_constraint",
]

Pass = Callable[..., Any]
_log = logging.getLogger(__name__)


def inplace_wrapper(fn: Pass) -> Pass:
    """A pass that returns its argument, from one that changes it and returns nothing."""

    @wraps(fn)
    def wrapped(gm: Any, *args: Any, **kwargs: Any) -> Any:
        fn(gm, *args, **kwargs)
        return gm

    return wrapped


def log_hook(fn: Pass, level: int = logging.INFO) -> Pass:
    """A pass that logs the graph it gets and then does what `fn` does."""

    @wraps(fn)
    def wrapped(gm: Any, *args: Any, **kwargs: Any) -> Any:
        value = fn(gm, *args, **kwargs)
        _log.log(level, "Ran pass %s\n Return value: %s", fn, value)
        return value

    return wrapped


def loop_pass(
    base_pass: Pass, n_iter: int | None = None, predicate: Callable[[Any], bool] | None = None
) -> Pass:
    """A pass that repeats another `n_iter` times, or as long as `predicate` of the module is True.

    Raises AssertionError unless exactly one of the two is given.
    """
    if (n_iter is None) == (predicate is None):
        raise AssertionError("Exactly one of `n_iter`or `predicate` must be specified.")

    @wraps(base_pass)
    def repeated(source: Any) -> Any:
        if n_iter is not None:
            if n_iter <= 0:
                raise AssertionError(f"n_iter must be positive, got {n_iter}")
            for _ in range(n_iter):
                source = base_pass(source)
        else:
            while predicate is not None and predicate(source):
                source = base_pass(source)
        return source

    return repeated


def these_before_those_pass_constraint(these: Pass, those: Pass) -> Callable[[Pass, Pass], bool]:
    """The constraint that passes which wrap `these` run before those that wrap `those`: for a pass that is
    made anew for each use, unlike `this_before_that_pass_constraint`."""

    def origin(function: Pass) -> Pass:
        while hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        return function

    return lambda earlier, later: not (origin(earlier) == origin(those) and origin(later) == origin(these))


class PassManager:
    """Runs passes one after another, in an order that the constraints are checked against.

    A pass is a function from a module to a module; a constraint is a function of two passes that says whether
    the first may run before the second.
    """

    def __init__(
        self,
        passes: list[Pass] | None = None,
        constraints: list[Callable[[Pass, Pass], bool]] | None = None,
    ) -> None:
        self.passes = passes or []
        self.constraints = constraints or []
        self._validated = False

    @classmethod
    def build_from_passlist(cls, passes: list[Pass]) -> PassManager:
        """A manager of these passes."""
        return cls(passes)

    def add_pass(self, _pass: Pass) -> None:
        """Adds a pass at the end."""
        self.passes.append(_pass)
        self._validated = False

    def add_constraint(self, constraint: Callable[[Pass, Pass], bool]) -> None:
        """Adds a constraint on the order."""
        self.constraints.append(constraint)
        self._validated = False

    def remove_pass(self, _passes: list[str]) -> None:
        """Removes the passes with the given names."""
        self.passes = [each for each in self.passes if each.__name__ not in _passes]
        self._validated = False

    def replace_pass(self, _target: Pass, _replacement: Pass) -> None:
        """Puts a pass in the place of that with the name of `_target`."""
        self.passes = [_replacement if each.__name__ == _target.__name__ else each for each in self.passes]
        self._validated = False

    def validate(self) -> None:
        """Raises RuntimeError if the order breaks a constraint."""
        if self._validated:
            return
        for constraint in self.constraints:
            _validate_pass_schedule_constraint(constraint, self.passes)
        self._validated = True

    def __call__(self, source: Any) -> Any:
        """Checks the order, runs the passes and returns the last result."""
        self.validate()
        result = source
        for each in self.passes:
            result = each(result)
        return result
