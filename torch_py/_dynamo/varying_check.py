"""Whether a captured graph is right for other sizes than those that it was captured with.

The graph was made on stand-ins, which are large. It is run again, on fake tensors of other sizes: large ones,
those of the example, and small ones. A size must be what its formula says, and a list must have as many
elements. Sizes that are too small for this become guards (`x[5]` needs six rows); if it fails in another way,
`NotFollowed` says so, and less is taken for variable.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from torch_py._dynamo.varying_worlds import Replay, solver_of
from torch_py._shapes.arguments import NotFollowed
from torch_py._shapes.formulas import Symbol, evaluate
from torch_py._shapes.numbers import term_of
from torch_py._shapes.sizes import Relation
from torch_py._shapes.solver import Solver
from torch_py._shapes.stand_ins import furthest
from torch_py._tensor import Tensor
from torch_py.fx.node import Node

if TYPE_CHECKING:
    from torch_py._dynamo.varying import Read, Varying

Values = Mapping[Symbol, int]


# What a node gives: the sizes of a tensor, outlines of the elements of a list, or an integer.
Outline = Any


def check(varying: Varying) -> None:
    """Raises NotFollowed if the graph is not right for the sizes that its guards allow. Adds guards."""
    with varying.recorder.suspended():
        _Check(varying).run()


class _Check:
    def __init__(self, varying: Varying) -> None:
        self._varying = varying
        self._sizes = varying.sizes
        self._solver: Solver | None = solver_of(varying.sizes) if varying.sizes.bounded else None
        self._formulas: dict[Node | Read, Any] = {}

    def run(self) -> None:
        self._note_formulas()
        problem = self._problem(self._sizes.hints)
        if problem is None and self._problem_of_small_sizes() is not None:
            for symbol in self._sizes.hints:
                self._require_size(symbol)
            problem = self._problem_of_small_sizes()
        if problem is not None:
            raise NotFollowed(problem)

    # Formulas

    def _note_formulas(self) -> None:
        """From several sets of stand-ins, which formulas the sizes of all nodes are."""
        sets = self._sizes.recordings()
        if self._solver is None:
            sets = sets[:2]
        try:
            rows = [self._outlines(values) for values in sets]
        except Exception as error:
            raise NotFollowed(str(error)) from error

        for asked in rows[0]:
            outlines = [row[asked] for row in rows]
            if isinstance(asked, Node):
                self._formulas[asked] = self._formula(outlines, sets[1], asked)
                continue
            self._formulas[asked] = asked.terms
            if not all(_agrees(asked.terms, *pair) for pair in zip(outlines, sets)):
                raise NotFollowed(_not_followed(asked))

    def _formula(self, outlines: list[Outline], other: Values, node: Node) -> Any:
        """The outline with a term in the place of each number; None for one that is not known."""
        first = outlines[0]
        if isinstance(first, int) and self._solver is not None:
            return self._solver.solution(tuple(outlines))
        if isinstance(first, int):
            term = term_of(self._sizes.wrap(first))
            return term if evaluate(term, other) == outlines[1] else None

        if first is None:
            return None
        if len({len(outline) for outline in outlines}) > 1:
            raise NotFollowed(_not_followed(node))
        return type(first)(self._formula(list(parts), other, node) for parts in zip(*outlines))

    # Other sizes

    def _problem(self, values: Values) -> str | None:
        """What is wrong with the graph for some sizes."""
        try:
            outlines = self._outlines(values)
        except Exception as error:
            return str(error)
        for asked, outline in outlines.items():
            if not _agrees(self._formulas[asked], outline, values):
                return _not_followed(asked)
        return None

    def _problem_of_small_sizes(self) -> str | None:
        smallest = (next(filter(self._sizes.allow, candidates), None) for candidates in self._small_sizes())
        problems = (self._problem(values) for values in smallest if values is not None)
        return next((problem for problem in problems if problem is not None), None)

    def _small_sizes(self) -> Iterator[Iterable[Values]]:
        """Sizes from small to larger ones: one of them small, or all of them, also in other orders."""
        hints = self._sizes.hints
        symbols = list(hints)
        for symbol in symbols:
            yield ({**hints, symbol: size} for size in _SAMPLES)
            if symbol.max is not None:
                yield [{**hints, symbol: symbol.max}]
        if len(symbols) > 1:
            yield self._rising(symbols, (0,))
            for order in self._sizes.orders():
                yield itertools.chain(self._rising(order, (100, 1)), [self._sizes.in_order(order)])

    def _rising(self, symbols: list[Symbol], steps: tuple[int, ...]) -> Iterator[Values]:
        for step, factor in itertools.product(steps, _FACTORS):
            yield {s: factor * (2 + step * position**2) for position, s in enumerate(symbols)}

    def _require_size(self, symbol: Symbol) -> None:
        """Adds a guard for the smallest size for which the graph is right, with all others as in the
        example."""

        def fails(size: int) -> bool:
            values = {**self._sizes.hints, symbol: size}
            return self._sizes.allow(values) and self._problem(values) is not None

        hint = self._sizes.hints[symbol]
        samples = [*itertools.takewhile(lambda size: size < hint, _SAMPLES), hint]
        failing = [position for position, size in enumerate(samples) if fails(size)]
        if not failing:
            return

        low, high = samples[failing[-1]], samples[failing[-1] + 1]
        smallest = furthest(lambda size: not fails(size), high, low)
        self._sizes.relations[Relation(">=", symbol, smallest)] = None

    # The graph once more

    def _outlines(self, values: Values) -> dict[Node | Read, Outline]:
        """What nodes give, and what the program has asked them for."""
        outlines: dict[Node | Read, Outline] = {}
        replay = Replay(self._varying.recorder, values)
        for node, value in replay.run():
            outlines[node] = _outline(value)
            for read in self._varying.reads.get(node, ()):
                outlines[read] = _outline(read.question(replay.found[read.node]))
        return outlines


_FACTORS = (1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 32, 64, 128, 256, 1024, 4096)


_SAMPLES = (*range(2, 18), 24, 32, 48, 64, 100, 150, 200, 300, 500, 1000, 2000, 5000)


def _not_followed(asked: Node | Read) -> str:
    node = asked if isinstance(asked, Node) else asked.node
    return f"the sizes of `{node.target}` do not follow from those of arguments"


def _outline(value: Any) -> Outline:
    if isinstance(value, Tensor):
        return tuple(value.shape)
    if isinstance(value, (list, tuple)):
        return [_outline(element) for element in value]
    return value if type(value) is int else None


def _agrees(formula: Any, outline: Outline, values: Values) -> bool:
    if formula is None:
        return True
    if not isinstance(formula, (list, tuple)):
        return bool(evaluate(formula, values) == outline)
    return len(formula) == len(outline) and all(_agrees(*pair, values) for pair in zip(formula, outline))
