"""Positions and counts that vary: `x.narrow(0, n, 2)`, `x.topk(n)`.

An operator takes them only within a range, which calls on tensors without memory find. The program is
captured with stand-ins in this range.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from torch_py._dynamo.nested import map_tensors
from torch_py._dynamo.varying_arguments import positions_in
from torch_py._dynamo.varying_counts import Call
from torch_py._shapes.formulas import Symbol, symbols_in
from torch_py._shapes.integers import SymInt
from torch_py._shapes.sizes import Relation
from torch_py._shapes.stand_ins import furthest

if TYPE_CHECKING:
    from torch_py._dynamo.varying import Varying

Values = Mapping[Symbol, int]


def settled_positions(
    varying: Varying, target: Any, run: Callable[..., Any], args: Any, kwargs: dict[str, Any]
) -> tuple[Any, Any]:
    """The arguments of a call. If it does not work for the stand-ins, it gets the numbers of the example; the
    stand-ins are limited, and the program is captured anew."""
    numbers = positions_in(target, args, kwargs)
    if not numbers:
        return args, kwargs
    attempt = _Attempt(varying, Call(varying, run, args, kwargs), numbers)
    if attempt.works_everywhere():
        attempt.require_sizes()
        return args, kwargs
    varying.limit(attempt.symbols, attempt.works, is_guarded=True)

    def example(value: Any) -> Any:
        is_position = type(value) is SymInt and symbols_in(value.term) & attempt.symbols
        return value.hint if is_position else value

    return map_tensors((args, kwargs), example)  # type: ignore[no-any-return]


class _Attempt:
    """A call that gets some numbers as positions or counts."""

    def __init__(self, varying: Varying, call: Call, numbers: list[SymInt]) -> None:
        self._sizes = varying.sizes
        self._call = call
        self._signs = [self._sizes.decided(">=", number, 0) for number in numbers]
        self.symbols = {symbol for number in numbers for symbol in symbols_in(number.term)}

    def works(self, values: Values) -> bool:
        """Whether the call works for some numbers; all else is as in the example."""
        values = {**self._sizes.hints, **{symbol: values[symbol] for symbol in self.symbols}}
        return all(sign.holds(values) for sign in self._signs) and self._call.works(values)

    def works_everywhere(self) -> bool:
        """Whether it works for the stand-ins, and for all numbers that guards let pass."""
        if any(symbol.max is None for symbol in self.symbols & self._sizes.bounded):
            return False
        return all(self.works({**self._sizes.stand_ins, **end}) for end in ({}, *self._ends()))

    def _ends(self) -> list[dict[Symbol, Any]]:
        bounded = self.symbols & self._sizes.bounded
        return [{symbol: symbol.max for symbol in bounded}, {symbol: symbol.min for symbol in bounded}]

    def require_sizes(self) -> None:
        """Adds guards for sizes for which the call works with all numbers of their ranges."""
        ends = self._ends()
        for symbol in self._call.symbols.keys() - self.symbols:

            def fits(size: int, symbol: Symbol = symbol) -> bool:
                return all(self._call.works({**self._sizes.hints, **end, symbol: size}) for end in ends)

            lowest = furthest(fits, self._sizes.hints[symbol], symbol.min)
            if lowest > symbol.min:
                self._sizes.relations[Relation(">=", symbol, lowest)] = None
