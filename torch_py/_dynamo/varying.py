"""What varies between calls of a compiled function: which sizes, and what a capture notes about them.

A tensor whose sizes vary is captured as one with primes as sizes (torch_py/_shapes/sizes.py). Sizes
that the program reads are SymInts; in the graph they are nodes, and decisions that depend on them become
guards.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from torch_py._C import Size
from torch_py._C._compiler import TensorFacts
from torch_py._dynamo.exc import Break
from torch_py._dynamo.varying_policy import LARGEST_NUMBER, Policy
from torch_py._records import Fields
from torch_py._shapes.arguments import Geometry, NotFollowed, geometry_of, stand_in
from torch_py._shapes.formulas import (
    OPERATIONS,
    Formula,
    Symbol,
    Term,
    evaluate,
    postfix,
    product,
    replaced,
    symbols_in,
)
from torch_py._shapes.numbers import Held, SymFloat, SymInt, SymSize, term_of
from torch_py._shapes.sizes import Sizes, TooManySizes
from torch_py._shapes.stand_ins import Range, furthest, samples_in
from torch_py._subclasses.fake_tensor import FakeTensorMode
from torch_py._tensor import Tensor
from torch_py.fx.node import Node

if TYPE_CHECKING:
    from torch_py._dynamo.recorder import Input, Recorder
    from torch_py._dynamo.sources import RowWriter, Source
    from torch_py._dynamo.varying_replays import Worlds
    from torch_py.fx.graph import Graph


Values = Mapping[Symbol, int]
Question = Callable[[Tensor], Any]  # to a tensor, about its sizes
StandIn = tuple[Tensor, Geometry]
Test = Callable[[Values], bool]


class Place(NamedTuple):
    """Where a number that varies is found: a dimension of an input, or an input that is a number."""

    made: Input
    dim: int | None  # None for a number
    divisor: int = 1  # of the size

    @property
    def key(self) -> tuple[str, int | None]:
        """How a `Policy` knows it."""
        return self.made.source.text, self.dim

    @property
    def is_size(self) -> bool:
        return self.dim is not None

    @property
    def value(self) -> int:
        """The size or the number in the example."""
        return self.made.real.shape[self.dim] if self.is_size else self.made.real  # type: ignore[no-any-return]

    def __str__(self) -> str:
        text = self.made.source.text
        return f"{text}.size({self.dim})" if self.is_size else text


def _is_as_narrow(symbol: Symbol, allowed: Range) -> bool:
    """Whether a symbol has stand-ins of a range already, and guards if it needs them."""
    if allowed.is_guarded:
        return symbol.max is not None and allowed.low <= symbol.min and symbol.max <= allowed.high
    return bool(symbol.samples) and allowed.low <= min(symbol.samples) and max(symbol.samples) <= allowed.high


class Read(Fields):
    """A question to the tensor of a node, and what the answer seemed to be."""

    node: Node
    question: Question
    terms: Any


class Varying:
    """The sizes and integers that vary in one capture."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.sizes = Sizes()
        self.places: dict[Symbol, Place] = {}
        self._equal: list[tuple[Place, Place]] = []
        self._nodes: dict[Term, Node] = {}
        self.reads: dict[Node, list[Read]] = {}  # by the last node of the graph at that time
        self._geometries: dict[int, Geometry] = {}  # by the id of the tensor
        self._other_sizes: set[int] = set()  # those of inputs that do not vary
        self._limits: dict[Symbol, Range] = {}  # for the next capture
        self.recorder: Recorder  # which sets it

    # Inputs

    def stand_in(self, mode: FakeTensorMode, tensor: Tensor, source: Source) -> StandIn | None:
        """The fake tensor of an input some of whose sizes vary; None for others."""
        dims = self.policy.dimensions(tensor, source)
        self._other_sizes |= {size for dim, size in enumerate(tensor.shape) if dim not in dims}
        if not dims:
            return None

        terms: dict[int, Term] = {}
        try:
            for dim in sorted(dims):
                place = source.text, dim
                divisor = self.policy.divisor_of(place, tensor.shape[dim])
                count = tensor.shape[dim] // divisor
                symbol = self.sizes.new(count, self.policy.range_of(place, count)).term
                terms[dim] = product(divisor, symbol)
            geometry = geometry_of(tensor, terms)
        except (NotFollowed, TooManySizes):
            return None

        return stand_in(mode, tensor, geometry, self.sizes.stand_ins), geometry

    def note_input(self, made: Input, geometry: Geometry | None) -> None:
        """Where the sizes of an input are found; equal ones have to stay equal."""
        if geometry is None:
            return

        made.node.meta["geometry"] = self._geometries[id(made.real)] = geometry
        for symbol, dim, divisor in geometry.places():
            self._note_place(symbol, Place(made, dim, divisor))

    def number(self, value: int, source: Source) -> SymInt | None:
        """An integer of the program, if it varies."""
        if not self.policy.varies(value, source):
            return None
        known = self._namesake(value, source)
        if known is not None:
            return self.sizes.integer(known)  # type: ignore[return-value]
        try:
            return self.sizes.new(value, self.policy.range_of((source.text, None), value), is_number=True)
        except TooManySizes:
            return None

    def _namesake(self, value: int, source: Source) -> Symbol | None:
        """An equal integer of the same name, which is taken to be always equal: that of another layer."""
        numbers = [(symbol, place) for symbol, place in self.places.items() if not place.is_size]
        named = (symbol for symbol, place in numbers if place.made.source.key == source.key)
        found = (symbol for symbol in named if self.sizes.hints[symbol] == value)
        return next(found, None) if isinstance(source.key, str) else None

    def note_number(self, made: Input) -> None:
        made.node.meta["symbol"] = made.fake.term
        self._note_place(made.fake.term, Place(made, None))

    def _note_place(self, symbol: Any, found: Place) -> None:
        place = self.places.setdefault(symbol, found)
        if place != found:
            self._equal.append((place, found))

    # What programs read

    def read(self, value: Any, node: Node, question: Question) -> Any:
        """What the tensor of a node was asked for, a number or sizes: with SymInts for what varies."""
        kind = type(value)
        if kind is int:
            (found,) = self._numbers((value,), node, lambda tensor: (question(tensor),))
            terms: Any = term_of(found)
        elif isinstance(value, tuple) and all(type(item) is int for item in value):
            numbers = self._numbers(value, node, question)
            terms = list(map(term_of, numbers))
            is_varying = any(type(number) is SymInt for number in numbers)
            found = (SymSize if kind is Size else tuple)(numbers) if is_varying else value
        else:
            return value
        last = next(iter(reversed(node.graph.nodes)))
        self.reads.setdefault(last, []).append(Read(node, question, terms))
        return found

    def _numbers(self, values: Any, node: Node, question: Question) -> list[int]:
        """What a tensor answers to a question, with SymInts for what varies."""
        if self.sizes.bounded:
            return list(map(self.sizes.integer, self.worlds.terms(values, node, question)))
        found = list(map(self.sizes.wrap, values))
        if all(self.sizes.is_explained(number) or number in self._other_sizes for number in found):
            return found
        try:
            terms = self.worlds.terms(values, node, question)  # such as half of a size
        except Break:
            return found
        return list(map(self.sizes.integer, terms))

    @cached_property
    def worlds(self) -> Worlds:
        """What tensors of the capture would be for other stand-ins."""
        # Imported here: most programs do not need it.
        from torch_py._dynamo.varying_replays import Worlds

        return Worlds(self)

    def shape_of(self, tensor: Tensor) -> list[int]:
        """The sizes of a tensor, with SymInts for those that vary."""
        if not self.sizes.bounded:
            return list(map(self.sizes.wrap, tensor.shape))
        return self._numbers(tensor.shape, self.recorder.node_of(tensor), lambda other: other.shape)

    def limit(self, symbols: set[Symbol], holds: Test, is_guarded: bool | None = None) -> None:
        """Has the program captured anew with numbers that operators can have: for which `holds` is true, as
        it is for the example. A number that can hardly be anything else does not vary in this call.

        Without `is_guarded`, relations guard what holds, unless it is about one number alone.
        """
        hints, stand_ins = self.sizes.hints, self.sizes.stand_ins
        culprits = {symbol for symbol in symbols if not holds({**hints, symbol: stand_ins[symbol]})}
        share = len(culprits or symbols)
        for symbol in sorted(culprits or symbols, key=str):

            def fits(number: int, symbol: Symbol = symbol) -> bool:
                return holds({**hints, symbol: number})

            low = furthest(fits, hints[symbol], 2)
            high = furthest(fits, hints[symbol], LARGEST_NUMBER)
            is_alone = len(symbols) == 1
            found = Range(low, high, is_alone if is_guarded is None else is_guarded, share)
            near = found.near(hints[symbol])
            if _is_as_narrow(symbol, near) or not samples_in(near):
                self.sizes.single.add(symbol)
            else:
                self._limits[symbol] = found.both(self._limits.get(symbol, found))

    def fixed(self, value: Any) -> Any:
        """A value for native code that looks at the bits of integers: the number in the example."""
        if type(value) is slice:
            return slice(self.fixed(value.start), self.fixed(value.stop), self.fixed(value.step))
        if type(value) is Held:
            value.refuse()
        return self.sizes.fix(value)

    def node_of(self, value: SymInt | SymFloat, graph: Graph) -> Node:
        """The node that computes a number."""
        if type(value) is SymFloat:
            self.sizes.note_real(value.term)
        return self._node(value.term, graph)

    def _node(self, term: Term, graph: Graph) -> Any:
        if not isinstance(term, (Symbol, Formula)):
            return term
        if term not in self._nodes:
            if isinstance(term, Symbol):
                made, dim, divisor = place = self.places[term]
                if not place.is_size:
                    return made.node
                # Before all calls, which may change the shape of the input.
                with graph.inserting_after(self.recorder.scopes[0].last_input or made.node):
                    node = graph.create_node("call_method", "size", (made.node, dim), {}, name=term.name)
                if divisor > 1:
                    node.meta["example_value"] = place.value
                    with graph.inserting_after(node):
                        node = graph.call_function(operator.floordiv, (node, divisor))
            else:
                operands = tuple(self._node(operand, graph) for operand in term.operands)
                node = graph.call_function(OPERATIONS[term.operation][0], operands)
            node.meta["example_value"] = evaluate(term, self.sizes.hints)
            self._nodes[term] = node
        return self._nodes[term]

    # The end of a capture

    def settle(self, raised: BaseException | None) -> bool:
        """Whether the program is captured again: sizes turned out to be needed as numbers, or operators take
        them in a range only, or the program fails for the stand-ins."""
        sizes = self.sizes
        for term, holds in sizes.lost:
            self.limit(symbols_in(term), holds, is_guarded=False)

        has_reasons = bool(self._limits or sizes.fixed or sizes.divisors or sizes.single)
        if raised is not None and self.sizes.hints and not has_reasons:
            self.give_up()
            return True
        for symbol, allowed in self._limits.items():
            self.policy.limit(self.places[symbol].key, allowed)
        for symbol, divisor in sizes.divisors.items():
            for place in self.places_of([symbol]):
                self.policy.divide(place.key, place.divisor * divisor)
        self._tie(self.places_of(sizes.single))
        self._fix(sizes.fixed)
        return has_reasons

    def places_of(self, symbols: Collection[Symbol]) -> list[Place]:
        """Wherever the values of symbols are found."""
        leading = [self.places[symbol] for symbol in symbols if symbol in self.places]
        return [*leading, *(other for place, other in self._equal if place in leading)]

    def _fix(self, symbols: Collection[Symbol]) -> None:
        """From now on, code is for one value of these; or of ones that are equal, for this one."""
        for symbol in symbols:
            places = self.places_of([symbol])
            if len(places) > 1:
                self._tie(places)
            else:
                self.policy.fixed.update(place.key for place in places)

    def _tie(self, places: Iterable[Place]) -> None:
        """From now on, these do not vary where they are what they are in this call."""
        self.policy.tied.update((place.key, place.value) for place in places)

    def give_up(self) -> None:
        """After the program could not be followed: chooses what is taken for fixed when it is captured again.

        First sizes that may have to be those of a tensor that does not vary, such as a weight; then
        positions; then whether sizes are even, or multiples of more; then attributes; then the other
        integers; then all sizes instead of these; then everything.
        """
        places = self.places_of(self.places)
        tied = [place for place in places if place.is_size and place.value in self._other_sizes]
        numbers = [place for place in places if not place.is_size]
        undivided = [(place.key, place.value) for place in places if place.is_size and place.divisor == 1]
        attributes = [place for place in numbers if self.policy.is_attribute(place.made.source)]

        if tied:
            self._tie(tied)
        elif self.sizes.bounded:
            self._fix(self.sizes.bounded)
        # A list, so that each size is asked whether it is a multiple of a power of two, which may be needed.
        elif any([self.policy.divide_evenly(*pair) for pair in undivided]):
            pass
        elif numbers:
            keys = [place.key for place in attributes or numbers]
            self.policy.take_for_fixed(*keys, *self.policy.taken_for_fixed)
        else:
            self.policy.take_for_fixed("sizes")

    # Guards

    def facts(self, tensor: Tensor, offset: int | None = None) -> TensorFacts:
        """What code assumes about an input: sizes that vary are left open."""
        geometry = self._geometries.get(id(tensor))
        if geometry is None:
            return TensorFacts(tensor, offset=offset)
        sizes = tuple(size if type(size) is int else None for size in geometry.sizes)
        return TensorFacts(tensor, sizes, offset=offset)

    def rows(self, writer: RowWriter, rows: list[Any]) -> None:
        """Appends the checks of what was decided about sizes."""
        registers: dict[Place, int] = {}

        def words_of(place: Place) -> tuple[Any, ...]:
            if place not in registers:
                value = registers[place] = writer._register(place.made.source, rows)
                if place.is_size:
                    registers[place] = writer.registers
                    writer.registers += 1
                    rows.append(("size", registers[place], value, place.dim))
            return (("register", registers[place]),)

        relations: list[tuple[str, Any, Any]] = []
        for place in self.places.values():
            if not place.is_size:
                relations += [(">=", place, 2), ("<=", place, LARGEST_NUMBER)]
        relations += [("==", _counted(place), _counted(other)) for place, other in self._equal]
        places = self.places_of(self.places)
        multiples = dict.fromkeys(place for place in places if place.divisor > 1)
        relations += [("==", Formula("mod", (place, place.divisor)), 0) for place in multiples]
        relations += [(">=", place, 2 * place.divisor) for place in multiples]
        relations += [(r.sign, self._placed(r.left), self._placed(r.right)) for r in self.sizes.relations]
        for sign, left, right in relations:
            formula = (*postfix(left, words_of), *postfix(right, words_of), sign)
            rows.append(("size_relation", formula, f"{left} {sign} {right}"))

    def _placed(self, term: Term) -> Any:
        """A term with the places of symbols instead of these."""
        return replaced(term, lambda symbol: _counted(self.places[symbol]))

    def text_of(self, term: Term, text_of_place: Callable[[Place], str]) -> str:
        """A term as Python over the arguments of the compiled function."""
        return f"({replaced(term, lambda symbol: _counted(self.places[symbol], text_of_place))})"


def _counted(place: Place, shown: Callable[[Place], Any] = lambda place: place) -> Any:
    """The number that a symbol stands for, as a term with the place, or what is `shown` for it."""
    found = shown(place)
    return Formula("floordiv", (found, place.divisor)) if place.divisor > 1 else found


# What tensors are asked for that depends on their sizes.
SIZES = frozenset({"shape", "size", "stride", "numel", "nelement", "storage_offset", "nbytes", "__len__"})


def name_read(target: Any, args: tuple[Any, ...]) -> str:
    """The name of what a call asks a tensor for."""
    if target is getattr:
        return str(args[1])
    return target if isinstance(target, str) else getattr(target, "__name__", "")
