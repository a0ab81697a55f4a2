"""Real numbers that Python computes from integers that vary: floats that remember their formula.

As with `SymInt`, the value as a float is that for the stand-ins, which operators in C++ see. Decisions about
such a number, and what else Python asks it for, fix the integers that it depends on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch_py._shapes.formulas import OPERATIONS, Formula, Term, evaluate


def real(operation: str, *operands: Any) -> SymFloat:
    """The number that an operation makes of numbers, one of which varies at least."""
    sizes = next(operand.sizes for operand in operands if hasattr(operand, "sizes"))
    term = Formula(operation, tuple(map(term_of, operands)))
    evaluate(term, sizes.hints)  # raises what the program would raise
    found = SymFloat(OPERATIONS[operation][0](*map(_plain, operands)))
    found.term = term
    found.sizes = sizes
    return found


def term_of(value: Any) -> Term:
    return getattr(value, "term", value)  # type: ignore[no-any-return]


def _plain(value: Any) -> Any:
    """The number without its formula."""
    return float.__float__(value) if isinstance(value, float) else int.__int__(value)


def real_arithmetic(operation: str, is_reflected: bool = False) -> Any:
    def compute(self: SymFloat, other: Any) -> Any:
        if not isinstance(other, (int, float)):
            return NotImplemented
        return real(operation, other, self) if is_reflected else real(operation, self, other)

    return compute


def add_arithmetic(kind: type, operations: Sequence[str], made: Callable[..., Any]) -> None:
    """Adds operators and reflected ones to a class of numbers that vary; `made` makes their methods."""
    for operation in operations:
        setattr(kind, f"__{operation}__", made(operation))
        setattr(kind, f"__r{operation}__", made(operation, is_reflected=True))


def fix_for(kind: type, names: str) -> None:
    """Adds methods whose result does not vary: the numbers are taken for fixed."""

    def fixing(method: Callable[..., Any]) -> Callable[..., Any]:
        return lambda self, *others: method(self.sizes.fix(self), *map(self.sizes.fix, others))

    for name in names.split():
        setattr(kind, name, fixing(getattr(kind.__base__, name)))


class SymFloat(float):
    """A real number that varies."""

    term: Term
    sizes: Any

    def __neg__(self) -> Any:
        return self * -1.0

    def __pos__(self) -> Any:
        return self


add_arithmetic(SymFloat, ("add", "sub", "mul", "truediv"), real_arithmetic)
fix_for(
    SymFloat,
    "__abs__ __bool__ __ceil__ __divmod__ __eq__ __float__ __floor__ __floordiv__ __format__ __ge__ __gt__ "
    "__hash__ __int__ __le__ __lt__ __mod__ __ne__ __pow__ __rdivmod__ __repr__ __rfloordiv__ __rmod__ "
    "__round__ __rpow__ __str__ __trunc__ as_integer_ratio conjugate hex is_integer",
)
