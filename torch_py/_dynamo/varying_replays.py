"""The graph of a capture, run for other numbers than those of the example.

It is run to explain what the program reads of a tensor (`Worlds`), and to see whether the graph is right for
other sizes than those that it was captured with (`check`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from torch_py._dynamo.exc import Break
from torch_py._records import Fields
from torch_py._shapes.arguments import Geometry, NotFollowed, stand_in
from torch_py._shapes.formulas import Relation, Symbol, Term, evaluate
from torch_py._shapes.merging import merged
from torch_py._shapes.numbers import term_of
from torch_py._shapes.solver import Ambiguous, Solver
from torch_py._shapes.stand_ins import MOST_RECORDINGS, furthest
from torch_py._tensor import Tensor
from torch_py._thread_state import ThreadState
from torch_py.fx.node import Node, map_arg

if TYPE_CHECKING:
    from torch_py._dynamo.recorder import Recorder
    from torch_py._dynamo.varying import Question, Read, Values, Varying


class Replay(Fields):
    """The nodes of the graph, run one after another on fake tensors of other sizes."""

    recorder: Recorder
    values: Values
    found: dict[Node, Any] = {}

    def run(self) -> Iterator[tuple[Node, Any]]:
        """Runs the nodes that have not been run yet; gives each with its result."""
        inputs = {made.node: made for made in self.recorder.all_inputs()}
        for node in list(self.recorder.scopes[0].graph.nodes):
            if node not in self.found:
                self.found[node] = self._value(node, inputs)
                yield node, self.found[node]

    def _value(self, node: Node, inputs: Mapping[Node, Any]) -> Any:
        if node.op == "placeholder":
            return self._input(node, inputs.get(node))
        args, kwargs = map_arg((node.args, node.kwargs), self.found.__getitem__)
        with self.recorder.fake_mode:
            if node.op == "call_method":
                return getattr(args[0], str(node.target))(*args[1:], **kwargs)
            return node.target(*args, **kwargs)  # type: ignore[operator]

    def _input(self, node: Node, made: Any) -> Any:
        if made is None:
            return node.meta["example_value"]
        if "symbol" in node.meta:
            return self.values[node.meta["symbol"]]
        # Not the tensor of the capture, whose sizes the program may change in place.
        geometry = node.meta.get("geometry") or Geometry(tuple(made.real.shape), made.real.stride())
        return stand_in(self.recorder.fake_mode, made.real, geometry, self.values)


# What tensors of a capture would be
# ------------------------------------------------------------

# Small numbers do not tell which sizes they come from. While some sizes have small stand-ins, what the
# program reads of a tensor is compared with what it would read for other stand-ins, and solved for them.


class Worlds(Fields):
    """What tensors of a capture would be for other stand-ins, for which the graph is run on demand."""

    varying: Varying
    _replays: list[Replay] = []
    _solver: Solver | None = None  # which knows what it has found before, for the same recordings

    def terms(self, values: Sequence[int], node: Node, question: Question) -> list[Term]:
        """The formulas of what a tensor answers to a question, which is `values` in the capture."""
        sizes = self.varying.sizes
        found: list[Any] = []
        while len(found) != len(values):
            recordings = sizes.recordings()
            if self._solver is None or self._solver.recordings != recordings:
                self._solver = Solver(recordings)
            try:
                rows = [values, *self._answers(recordings[1:], node, question)]
                found = list(map(self._solver.solve, zip(*rows)))
            except Ambiguous as doubt:
                if len(recordings) == MOST_RECORDINGS:
                    self._give_up()
                sizes.questions.append((doubt.symbol, doubt.size))
                continue
            except (KeyError, RuntimeError, TypeError, ValueError, IndexError):
                self._give_up()

            if None in found or len(found) != len(values):
                self._give_up()
        return found

    def _answers(self, others: Sequence[Values], node: Node, question: Question) -> Iterator[Any]:
        recorder = self.varying.recorder
        state = ThreadState()  # which nodes may change
        try:
            for number, row in enumerate(others):
                if len(self._replays) == number:
                    self._replays.append(Replay(recorder, row))
                replay = self._replays[number]
                replay.values = row
                with recorder.suspended():
                    for _ in replay.run():
                        pass
                    yield question(replay.found[node])
        finally:
            state.restore()

    def _give_up(self) -> NoReturn:
        """Fixes the numbers that have small stand-ins; the capture begins anew."""
        sizes = self.varying.sizes
        sizes.fix_symbols(*sizes.bounded)
        raise Break("a size", "no formula of the numbers that vary explains it")


# Checks
# ------------------------------------------------------------

# The graph was made on stand-ins, which are large. It is run again, on fake tensors of other sizes: large
# ones, those of the example, and small ones. A size must be what its formula says, and a list must have as
# many elements. Sizes that are too small for this become guards (`x[5]` needs six rows); if it fails in
# another way, `NotFollowed` says so, and less is taken for variable.

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
        self._solver = Solver(self._sizes.recordings()) if self._sizes.bounded else None
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

        def formula(numbers: tuple[Any, ...]) -> Any:
            if isinstance(numbers[0], (tuple, list)):
                raise NotFollowed(_not_followed(node))
            if numbers[0] is None:
                return None
            if self._solver is not None:
                return self._solver.solution(numbers)
            term = term_of(self._sizes.wrap(numbers[0]))
            return term if evaluate(term, other) == numbers[1] else None

        return merged(outlines, formula)

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
