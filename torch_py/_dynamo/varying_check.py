"""Whether a captured graph is right for other sizes than those that it was captured with.

The graph was made on stand-ins, which are large. It is run again, on fake tensors of other sizes: large ones,
those of the example, and small ones. A size must be what its formula says, and a list must have as many
elements. Sizes that are too small for this become guards (`x[5]` needs six rows); if it fails in another way,
`NotFollowed` says so, and less is taken for variable.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from torch_py import _C
from torch_py._shapes.arguments import Geometry, NotFollowed, stand_in
from torch_py._shapes.formulas import Symbol, Term, evaluate
from torch_py._shapes.integers import Relation, SymInt
from torch_py._tensor import Tensor
from torch_py.fx.node import Node, map_arg

if TYPE_CHECKING:
    from torch_py._dynamo.recorder import Recorder
    from torch_py._dynamo.varying import Read, Varying

Values = Mapping[Symbol, int]
# What a node gives: the sizes of a tensor, outlines of the elements of a list, or an integer.
Outline = Any


def check(varying: Varying, recorder: Recorder) -> None:
    """Raises NotFollowed if the graph is not right for the sizes that its guards allow. Adds guards."""
    if varying.places:
        with recorder.suspended():
            _Check(varying, recorder).run()


class _Check:
    def __init__(self, varying: Varying, recorder: Recorder) -> None:
        self._varying = varying
        self._sizes = varying.sizes
        self._recorder = recorder
        self._inputs = {made.node: made for made in (*recorder.inputs.values(), *recorder.numbers.values())}
        self._formulas: dict[Node | Read, Any] = {}

    def run(self) -> None:
        self._note_formulas()
        problem = self._problem(self._sizes.hints)
        if problem is not None:
            raise NotFollowed(problem)

        if self._problem_of_small_sizes() is None:
            return
        for symbol in self._sizes.hints:
            self._require_size(symbol)
        problem = self._problem_of_small_sizes()
        if problem is not None:
            raise NotFollowed(problem)

    # Formulas

    def _note_formulas(self) -> None:
        """From two sets of large sizes, which formulas the sizes of all nodes are."""
        other = self._sizes.other_stand_ins(1)
        try:
            outlines = self._outlines(self._sizes.stand_ins)
            others = self._outlines(other)
        except Exception as error:
            raise NotFollowed(str(error)) from error
        for asked, outline in outlines.items():
            if isinstance(asked, Node):
                self._formulas[asked] = self._formula(outline, others[asked], other, asked)
                continue
            self._formulas[asked] = asked.terms
            if not _agrees(asked.terms, others[asked], other):
                raise NotFollowed(_not_followed(asked))

    def _formula(self, outline: Outline, expected: Outline, other: Values, node: Node) -> Any:
        """The outline with a term in the place of each number; None for one that is not known."""
        if isinstance(outline, int):
            number = self._sizes.wrap(outline)
            term = number.term if type(number) is SymInt else number
            return term if evaluate(term, other) == expected else None
        if outline is None:
            return None
        if len(outline) != len(expected):
            raise NotFollowed(_not_followed(node))
        kind = type(outline)
        return kind(self._formula(*pair, other, node) for pair in zip(outline, expected))

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

    def _allows(self, values: Values) -> bool:
        """Whether guards let such sizes pass."""
        return all(relation.holds(values) for relation in self._sizes.relations)

    def _problem_of_small_sizes(self) -> str | None:
        for candidates in self._small_sizes():
            values = next(filter(self._allows, candidates), None)
            problem = None if values is None else self._problem(values)
            if problem is not None:
                return problem
        return None

    def _small_sizes(self) -> Iterator[Iterator[Values]]:
        """Sizes from small to larger ones: one of them small, all, and some smaller than others."""
        hints = self._sizes.hints
        symbols = list(hints)
        for symbol in symbols:
            yield ({**hints, symbol: size} for size in _SAMPLES)
        if len(symbols) > 1:
            yield self._rising(symbols, (0,))
            yield self._rising(symbols, (100, 1))
            yield self._rising(symbols[::-1], (100, 1))

    def _rising(self, symbols: list[Symbol], steps: tuple[int, ...]) -> Iterator[Values]:
        for step, factor in itertools.product(steps, _FACTORS):
            yield {s: factor * (2 + step * position) for position, s in enumerate(symbols)}

    def _require_size(self, symbol: Symbol) -> None:
        """Adds a guard for the smallest size for which the graph is right, with all others as in the
        example."""

        def fails(size: int) -> bool:
            values = {**self._sizes.hints, symbol: size}
            return self._allows(values) and self._problem(values) is not None

        hint = self._sizes.hints[symbol]
        samples = [*itertools.takewhile(lambda size: size < hint, _SAMPLES), hint]
        failing = [position for position, size in enumerate(samples) if fails(size)]
        if not failing:
            return

        low, high = samples[failing[-1]], samples[failing[-1] + 1]
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if fails(middle) else (low, middle)
        self._sizes.relations[Relation(">=", symbol, high)] = None

    # The graph once more

    def _outlines(self, values: Values) -> dict[Node | Read, Outline]:
        """What nodes give, and what the program has asked them for."""
        found: dict[Node, Any] = {}
        outlines: dict[Node | Read, Outline] = {}
        for node in self._recorder.graph.nodes:
            found[node] = self._value(node, found, values)
            outlines[node] = _outline(found[node])
            for read in self._varying.reads.get(node, ()):
                outlines[read] = _outline(read.question(found[read.node]))
        return outlines

    def _value(self, node: Node, found: dict[Node, Any], values: Values) -> Any:
        if node.op == "placeholder":
            return self._input(node, values)
        args, kwargs = map_arg((node.args, node.kwargs), found.__getitem__)
        with self._recorder.fake_mode:
            if node.op == "call_method":
                return getattr(args[0], str(node.target))(*args[1:], **kwargs)
            return node.target(*args, **kwargs)  # type: ignore[operator]

    def _input(self, node: Node, values: Values) -> Any:
        made = self._inputs.get(node)
        if made is None:
            return node.meta["example_value"]
        if "symbol" in node.meta:
            return values[node.meta["symbol"]]
        geometry = node.meta.get("geometry")
        if geometry is None and made.real.layout is not _C.strided:
            return made.fake
        # Another tensor than that of the capture, whose sizes the program may change in place.
        geometry = geometry or Geometry(tuple(made.real.shape), made.real.stride())
        return stand_in(self._recorder.fake_mode, made.real, geometry, values)


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
