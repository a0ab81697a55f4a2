"""Calls whose number of results, or of steps, depends on sizes that vary: `x.split(2)`, `x.unbind()`, a GRU.

A graph has one node for each of them, so that code is for one number of them: what the number depends on is
taken for fixed. The stand-ins of sizes cannot show it, as they are large: `unbind` would make twenty thousand
results, and a recurrent layer take as many steps. The call is tried on tensors without memory, of the sizes
of the example and of others.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import cache
from typing import Any, NoReturn

from torch_py import _C
from torch_py._dynamo.capture_mode import MOST_CALLS, Draws, TooManyCalls
from torch_py._dynamo.exc import Break
from torch_py._dynamo.varying import Values, Varying
from torch_py._dynamo.varying_arguments import map_tensors, packet_of, positions_in, schemas_of
from torch_py._ops import OpOverloadPacket
from torch_py._shapes.formulas import Relation, Symbol, evaluate, symbols_in
from torch_py._shapes.numbers import SymInt, term_of
from torch_py._shapes.stand_ins import furthest
from torch_py._subclasses.calls import generator_in
from torch_py._subclasses.fake_tensor import FakeTensorMode
from torch_py._tensor import Tensor
from torch_py.utils._python_dispatch import TorchDispatchMode

Run = Callable[..., Any]
Count = Callable[[Any], int]


def settled_numbers(varying: Varying, target: Any, run: Run, args: Any, kwargs: Any) -> tuple[Any, Any]:
    """The arguments of a call of `target`, ``run(*args, **kwargs)``.

    If it does not work for the stand-ins, it gets the positions and counts of the example; the stand-ins are
    limited, and the program is captured anew. Raises Break, after which it is, too, if sizes had to be fixed.
    """
    numbers = positions_in(target, args, kwargs)
    if numbers:
        args, kwargs = _CallWithPositions(varying, run, args, kwargs, numbers).settled()

    if _returns_list(packet_of(target)) and Call(varying, run, args, kwargs, _results).fix_decisive():
        raise Break("a call", "the number of its results depends on sizes")
    return args, kwargs


def _results(result: Any) -> int:
    return 1 if isinstance(result, Tensor) else len(result)  # `where` has forms with one and with several


def settle_steps(varying: Varying, run: Run, args: Any, kwargs: dict[str, Any]) -> NoReturn:
    """Fixes sizes for a call that has raised TooManyCalls: those on which its number of operators depends, or
    all if it cannot be told. Raises Break, after which the capture begins anew."""

    def operators(*args: Any, **kwargs: Any) -> int:
        mode = _Counting()
        with contextlib.suppress(TooManyCalls), mode:
            run(*args, **kwargs)
        return mode.calls

    call = Call(varying, operators, args, kwargs, int)
    if not call.fix_decisive():
        varying.sizes.fix_symbols(*call.symbols)
    raise Break("a call", "the number of its steps depends on sizes")


class _Counting(TorchDispatchMode):
    """Counts operators, up to MOST_CALLS."""

    calls = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.calls += 1
        if self.calls > MOST_CALLS:
            raise TooManyCalls
        return func(*args, **(kwargs or {}))


@cache
def _returns_list(packet: OpOverloadPacket | None) -> bool:
    return any("List[Tensor]" in str(value.type) for schema in schemas_of(packet) for value in schema.returns)


class Call:
    """A call with arguments that vary, and what is counted of its result."""

    def __init__(self, varying: Varying, run: Run, args: Any, kwargs: Any, count: Count) -> None:
        self._varying = varying
        self._sizes = varying.sizes
        self._run = run
        self._counted = count
        self._args = args
        self._kwargs = kwargs
        self._shapes: dict[int, tuple[int, ...]] = {}  # by the id of the tensor
        self.symbols: dict[Symbol, None] = {}
        with varying.recorder.suspended():
            map_tensors((args, kwargs), self._note)

    def _note(self, value: Any) -> Any:
        """Notes what an argument depends on."""
        numbers = [value]
        if isinstance(value, Tensor):
            numbers = self._varying.shape_of(value)
            self._shapes[id(value)] = tuple(numbers)
        for number in numbers:
            self.symbols |= dict.fromkeys(sorted(symbols_in(term_of(number)), key=str))
        return value

    def fix_decisive(self) -> bool:
        """Fixes the sizes with which the count changes; whether there are some."""
        decisive = [symbol for symbol in self.symbols if self._depends_on(symbol)]
        self._sizes.fix_symbols(*decisive)
        return bool(decisive)

    def _depends_on(self, symbol: Symbol) -> bool:
        sizes = self._sizes
        hint = sizes.hints[symbol]
        expected = self._count(sizes.hints)
        samples = (2, 2 * hint + 1, sizes.stand_ins[symbol])
        others = filter(sizes.allow, ({**sizes.hints, symbol: value} for value in samples))
        return any(self._count(values) not in (expected, None) for values in others)

    def _count(self, values: Values) -> int | None:
        """The count for some sizes; None if the call fails."""

        def made(value: Any) -> Any:
            if not isinstance(value, Tensor):
                return evaluate(value.term, values)
            shape = [evaluate(term_of(size), values) for size in self._shapes[id(value)]]
            return _C._torch.empty(shape, dtype=value.dtype, device=value.device)

        draws = Draws([generator_in(self._args, self._kwargs) or _C.default_generator])
        states = draws.states()
        with self._varying.recorder.outside(), FakeTensorMode():
            try:
                args, kwargs = map_tensors((self._args, self._kwargs), made)
                return self._counted(self._run(*args, **kwargs))
            except (RuntimeError, TypeError, ValueError, IndexError):
                return None
            finally:
                draws.take_back(states)


class _CallWithPositions(Call):
    """A call that gets some numbers as positions or counts."""

    def __init__(self, varying: Varying, run: Run, args: Any, kwargs: Any, numbers: list[SymInt]) -> None:
        super().__init__(varying, run, args, kwargs, count=lambda _: 1)
        self._signs = [self._sizes.decided(">=", number, 0) for number in numbers]
        self._positions = {symbol for number in numbers for symbol in symbols_in(number.term)}

    def settled(self) -> tuple[Any, Any]:
        """The arguments, with the numbers of the example if the call does not work for the stand-ins."""
        if self._works_everywhere():
            self._require_sizes()
            return self._args, self._kwargs
        self._varying.limit(self._positions, self._works_at, is_guarded=True)

        def example(value: Any) -> Any:
            is_position = type(value) is SymInt and symbols_in(value.term) & self._positions
            return value.hint if is_position else value

        return map_tensors((self._args, self._kwargs), example)  # type: ignore[no-any-return]

    def _works_at(self, values: Values) -> bool:
        """Whether the call works for some numbers; all else is as in the example."""
        values = {**self._sizes.hints, **{symbol: values[symbol] for symbol in self._positions}}
        return all(sign.holds(values) for sign in self._signs) and self._count(values) is not None

    def _works_everywhere(self) -> bool:
        """Whether it works for the stand-ins, and for all numbers that guards let pass."""
        if any(symbol.max is None for symbol in self._positions & self._sizes.bounded):
            return False
        return all(self._works_at({**self._sizes.stand_ins, **end}) for end in ({}, *self._ends()))

    def _ends(self) -> list[dict[Symbol, Any]]:
        bounded = self._positions & self._sizes.bounded
        return [{symbol: symbol.max for symbol in bounded}, {symbol: symbol.min for symbol in bounded}]

    def _require_sizes(self) -> None:
        """Adds guards for sizes for which the call works with all numbers of their ranges."""
        ends = self._ends()
        for symbol in self.symbols.keys() - self._positions:

            def fits(size: int, symbol: Symbol = symbol) -> bool:
                values = {**self._sizes.hints, symbol: size}
                return all(self._count({**values, **end}) is not None for end in ends)

            lowest = furthest(fits, self._sizes.hints[symbol], symbol.min)
            if lowest > symbol.min:
                self._sizes.relations[Relation(">=", symbol, lowest)] = None
