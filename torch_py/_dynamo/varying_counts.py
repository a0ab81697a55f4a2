"""Calls whose number of results, or of steps, depends on sizes that vary: `x.split(2)`, `x.unbind()`, a GRU.

A graph has one node for each of them, so that code is for one number of them: what the number depends on is
taken for fixed. The stand-ins of sizes cannot show it, as they are large: `unbind` would make twenty thousand
results, and a recurrent layer take as many steps. The call is tried on tensors without memory, of the sizes
of the example and of others.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, NoReturn

from torch_py import _C
from torch_py._dynamo.breaks import Break
from torch_py._dynamo.effects import Draws
from torch_py._dynamo.nested import map_tensors
from torch_py._dynamo.varying_arguments import packet_of, schemas_of
from torch_py._ops import OpOverloadPacket
from torch_py._shapes.formulas import Symbol, evaluate, symbols_in
from torch_py._shapes.reals import term_of
from torch_py._subclasses.calls import generator_in
from torch_py._tensor import Tensor
from torch_py.utils._python_dispatch import TorchDispatchMode

if TYPE_CHECKING:
    from torch_py._dynamo.varying import Varying


Run = Callable[..., Any]
Count = Callable[[Any], int]


def settle_count(varying: Varying, target: Any, run: Run, args: Any, kwargs: dict[str, Any]) -> None:
    """Raises Break, after which the capture begins anew, if sizes had to be fixed for a call of `target`:
    ``run(*args, **kwargs)``."""
    if not _returns_list(packet_of(target)):
        return

    call = Call(varying, run, args, kwargs, _results)
    if call.fix_decisive():
        raise Break("a call", "the number of its results depends on sizes")


def _results(result: Any) -> int:
    return 1 if isinstance(result, Tensor) else len(result)  # `where` has forms with one and with several


MOST_CALLS = 10_000  # of operators in one call on stand-ins, each of which is larger


class TooManyCalls(RuntimeError):
    """A call on stand-ins calls more than MOST_CALLS operators."""


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

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

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

    def __init__(
        self, varying: Varying, run: Run, args: Any, kwargs: Any, count: Count = lambda _: 1
    ) -> None:
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
            symbols = symbols_in(term_of(number))
            self.symbols |= dict.fromkeys(sorted(symbols, key=str))
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
        for value in (2, 2 * hint + 1, sizes.stand_ins[symbol]):
            values = {**sizes.hints, symbol: value}
            is_possible = all(relation.holds(values) for relation in sizes.relations)
            if is_possible and self._count(values) not in (expected, None):
                return True
        return False

    def works(self, values: Mapping[Symbol, int]) -> bool:
        """Whether it can be called with some sizes."""
        return self._count(values) is not None

    def _count(self, values: Mapping[Symbol, int]) -> int | None:
        """The count for some sizes; None if the call fails."""

        def made(value: Any) -> Any:
            if not isinstance(value, Tensor):
                return evaluate(value.term, values)
            shape = [evaluate(term_of(size), values) for size in self._shapes[id(value)]]
            return _C._torch.empty(shape, dtype=value.dtype, device="meta")

        draws = Draws([generator_in(self._args, self._kwargs) or _C.default_generator])
        states = draws.states()
        with self._varying.recorder.outside():
            try:
                args, kwargs = map_tensors((self._args, self._kwargs), made)
                return self._counted(self._run(*args, **kwargs))
            except (RuntimeError, TypeError, ValueError, IndexError):
                return None
            finally:
                draws.take_back(states)
