"""What varies between calls of a compiled function: which sizes, and what a capture notes about them.

A tensor whose sizes vary is captured as one with primes as sizes (torch_py/_shapes/integers.py). Sizes
that the program reads are SymInts; in the graph they are nodes, and decisions that depend on them become
guards.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, NamedTuple

from torch_py._C import Size
from torch_py._C._compiler import TensorFacts
from torch_py._dynamo import config
from torch_py._shapes.arguments import Geometry, NotFollowed, geometry_of, stand_in
from torch_py._shapes.formulas import OPERATIONS, Formula, Symbol, Term, evaluate
from torch_py._shapes.integers import (
    VARYING,
    Relation,
    Sizes,
    SymFloat,
    SymInt,
    SymSize,
    TooManySizes,
    combined,
)
from torch_py._subclasses.fake_tensor import FakeTensorMode
from torch_py._tensor import Tensor
from torch_py.fx.node import Node
from torch_py.nn.parameter import Parameter

if TYPE_CHECKING:
    from torch_py._dynamo.guard_rows import RowWriter
    from torch_py._dynamo.recorder import Input
    from torch_py._dynamo.sources import Source
    from torch_py.fx.graph import Graph


_LARGEST_NUMBER = 2**31 - 1  # that varies: operators of small dtypes have limits, too
# Of a tensor: the number of its elements, with large stand-ins as sizes, is an int64, too.
_MOST_DIMENSIONS = 3


class Policy:
    """Which sizes of a function's tensors vary, and which of its integers: those that have been seen to, and
    sizes that programs mark.

    Tensors and integers are known by the text of their source. With `dynamic`, all vary from the start; with
    False, only marked ones do. Of modules that were found in a place, code is for the particular module until
    another one comes.
    """

    def __init__(self, dynamic: bool | None) -> None:
        if dynamic is None and not config.assume_static_by_default:
            dynamic = True
        elif dynamic is None and not config.automatic_dynamic_shapes:
            dynamic = False
        self.dynamic = dynamic

        self._seen: dict[str, tuple[int, ...]] = {}
        self._varying: dict[str, set[int]] = {}
        self._fixed: set[tuple[str, int | None]] = set()  # the dimension is None for numbers
        self._tied: dict[tuple[str, int], int] = {}
        self._seen_numbers: dict[str, int] = {}
        self._varying_numbers: set[str] = set()
        self._modules: dict[str, weakref.ref[Any]] = {}
        self._varying_modules: set[str] = set()
        self.fixes_numbers = config.specialize_int
        self.is_off = False

    def dimensions(self, tensor: Tensor, source: Source) -> set[int]:
        """The dimensions of a tensor that vary; sizes of 0 and 1 do not, nor do those of modules' tensors."""
        text = source.text
        marked = getattr(tensor, "_dynamo_dynamic_indices", set()) | getattr(
            tensor, "_dynamo_weak_dynamic_indices", set()
        )
        static = getattr(tensor, "_dynamo_static_indices", set())
        if source.is_fixed:
            return set()

        is_parameter = config.force_parameter_static_shapes and isinstance(tensor, Parameter)
        found = set(range(tensor.dim())) if self.dynamic else set()
        if is_parameter or source.is_of_module:
            found = set()
        elif self.dynamic is None:
            found = self._changed(tensor, text)
        found = (found | marked) - static
        found = {d for d in found if tensor.shape[d] > 1 and not self._is_fixed(text, d, tensor.shape[d])}
        return found if len(found) <= _MOST_DIMENSIONS or marked else _without_channels(found)

    def _is_fixed(self, text: str, dim: int, size: int) -> bool:
        return (text, dim) in self._fixed or self._tied.get((text, dim)) == size

    def _changed(self, tensor: Tensor, text: str) -> set[int]:
        """The dimensions that have had another size in an earlier call."""
        before = self._seen.get(text, ())
        changed = self._varying.setdefault(text, set())
        if len(before) == tensor.dim():
            changed |= {d for d, size in enumerate(tensor.shape) if size != before[d]}
        return changed

    def observe(self, tensor: Tensor, source: Source) -> None:
        """Notes the sizes of an argument that code is compiled for."""
        self._seen[source.text] = tuple(tensor.shape)

    def varies(self, number: int, source: Source) -> bool:
        """Whether an integer varies; 0, 1 and negative ones do not, nor do those that modules have."""
        text = source.text
        if source.is_fixed or source.is_of_module or self.fixes_numbers or self.dynamic is False:
            return False
        if self._seen_numbers.get(text, number) != number:
            self._varying_numbers.add(text)
        if not 2 <= number <= _LARGEST_NUMBER or (text, None) in self._fixed:
            return False
        return self.dynamic is True or text in self._varying_numbers

    def observe_number(self, number: int, source: Source) -> None:
        """Notes an integer that code is compiled for."""
        self._seen_numbers[source.text] = number

    def tie(self, text: str, dim: int, size: int) -> None:
        """From now on a size does not vary where it is this one."""
        self._tied[text, dim] = size

    def observe_module(self, module: Any, source: Source) -> None:
        """Notes a module that code is compiled for."""
        self._modules.setdefault(source.text, weakref.ref(module))

    def is_particular(self, module: Any, source: Source) -> bool:
        """Whether code may be for this very module: there has been no other one in its place."""
        before = self._modules.get(source.text)
        if before is not None and before() is not module:
            self._varying_modules.add(source.text)
        return source.text not in self._varying_modules

    def fix(self, text: str, dim: int | None) -> None:
        """From now on the size, or the number (None), is part of what code is compiled for."""
        self._fixed.add((text, dim))


def _without_channels(dimensions: set[int]) -> set[int]:
    """As many dimensions as may vary: channels, which weights fix, and then the last ones do not."""
    return set(sorted(dimensions - {1})[:_MOST_DIMENSIONS])


class Place(NamedTuple):
    """Where a number that varies is found: a dimension of an input, or an input that is a number."""

    made: Input
    dim: int | None  # None for a number

    @property
    def is_size(self) -> bool:
        return self.dim is not None

    @property
    def size(self) -> int | None:
        """The size in the example; None for a number."""
        return self.made.real.shape[self.dim] if self.is_size else None

    def __str__(self) -> str:
        text = self.made.source.text
        return f"{text}.size({self.dim})" if self.is_size else text


class Read:
    """A question to the tensor of a node, about its sizes, and what the answer seemed to be."""

    def __init__(self, node: Node, question: Callable[[Tensor], Any], terms: Any) -> None:
        self.node = node
        self.question = question
        self.terms = terms


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
        self.last_input: Node | None = None  # of the graph

    # Inputs

    def stand_in(
        self, mode: FakeTensorMode, tensor: Tensor, source: Source
    ) -> tuple[Tensor, Geometry] | None:
        """The fake tensor of an input some of whose sizes vary; None for others."""
        dims = self.policy.dimensions(tensor, source)
        self._other_sizes |= {size for dim, size in enumerate(tensor.shape) if dim not in dims}
        if not dims:
            return None
        try:
            terms = {dim: self.sizes.new(tensor.shape[dim]).term for dim in sorted(dims)}
            geometry = geometry_of(tensor, terms)
        except (NotFollowed, TooManySizes):
            return None
        return stand_in(mode, tensor, geometry, self.sizes.stand_ins), geometry

    def note_input(self, made: Input, geometry: Geometry | None) -> None:
        """Where the sizes of an input are found; equal ones have to stay equal."""
        self.last_input = made.node
        if geometry is None:
            return

        made.node.meta["geometry"] = self._geometries[id(made.real)] = geometry
        for dim, term in enumerate(geometry.sizes):
            if isinstance(term, Symbol):
                self._note_place(term, Place(made, dim))

    def number(self, value: int, source: Source) -> SymInt | None:
        """An integer of the program, if it varies."""
        if not self.policy.varies(value, source):
            return None
        try:
            return self.sizes.new_number(value)
        except TooManySizes:
            return None

    def note_number(self, made: Input) -> None:
        self.last_input = made.node
        made.node.meta["symbol"] = made.fake.term
        self._note_place(made.fake.term, Place(made, None))

    def _note_place(self, symbol: Any, found: Place) -> None:
        place = self.places.setdefault(symbol, found)
        if place != found:
            self._equal.append((place, found))

    # What programs read

    def read(self, value: Any, node: Node, question: Callable[[Tensor], Any]) -> Any:
        """What the tensor of a node was asked for, a number or sizes: with SymInts for what varies."""
        kind = type(value)
        if kind is int:
            found = self.sizes.wrap(value)
            terms: Any = _term(found)
        elif isinstance(value, tuple) and all(type(item) is int for item in value):
            found = (SymSize if kind is Size else tuple)(map(self.sizes.wrap, value))
            terms = [_term(item) for item in found]
            found = value if all(type(item) is int for item in found) else found
        else:
            return value
        last = next(iter(reversed(node.graph.nodes)))
        self.reads.setdefault(last, []).append(Read(node, question, terms))
        return found

    def fixed(self, value: Any) -> Any:
        """A value for native code that looks at the bits of integers: the number in the example."""
        if type(value) in VARYING:
            return self.sizes.fix(value)
        if type(value) is slice:
            return slice(self.fixed(value.start), self.fixed(value.stop), self.fixed(value.step))
        return value

    def node_of(self, value: SymInt | SymFloat, graph: Graph) -> Node:
        """The node that computes a number."""
        if type(value) is SymFloat:
            self.sizes.reals[value.term] = None
        return self._node(value.term, graph)

    def _node(self, term: Term, graph: Graph) -> Any:
        if not isinstance(term, (Symbol, Formula)):
            return term
        if term not in self._nodes:
            if isinstance(term, Symbol):
                made, dim = place = self.places[term]
                if not place.is_size:
                    return made.node
                # In front of all calls: they may change the shape of the input.
                with graph.inserting_after(self.last_input or made.node):
                    node = graph.create_node("call_method", "size", (made.node, dim), {}, name=term.name)
            else:
                operands = tuple(self._node(operand, graph) for operand in term.operands)
                node = graph.call_function(OPERATIONS[term.operation][0], operands)
            node.meta["example_value"] = evaluate(term, self.sizes.hints)
            self._nodes[term] = node
        return self._nodes[term]

    # The end of a capture

    def settle(self, raised: BaseException | None) -> bool:
        """Whether the program is captured again: sizes turned out to be needed as numbers, or it fails
        for primes as sizes."""
        if raised is not None and self.sizes.hints:
            self.give_up()
            return True
        for symbol in self.sizes.fixed:
            made, dim = self.places[symbol]
            self.policy.fix(made.source.text, dim)
        for place, other in self._equal:
            if set(self.sizes.fixed) & {s for s, known in self.places.items() if known == place}:
                self.policy.fix(other.made.source.text, other.dim)
        return bool(self.sizes.fixed)

    def give_up(self) -> None:
        """After the program could not be followed: chooses what is taken for fixed when it is captured again.

        First sizes that may have to be those of a tensor that does not vary, such as a weight; then integers
        of the program; then everything.
        """
        tied = [place for place in self._all_places() if place.size in self._other_sizes]
        for place in tied:
            self.policy.tie(place.made.source.text, place.dim, place.size)  # type: ignore[arg-type]
        if self.has_numbers and not tied:
            self.policy.fixes_numbers = True
        elif not tied:
            self.policy.is_off = True

    def _all_places(self) -> list[Place]:
        return [*self.places.values(), *(other for _, other in self._equal)]

    @property
    def has_numbers(self) -> bool:
        """Whether integers of the program vary."""
        return not all(place.is_size for place in self.places.values())

    # Guards

    def facts(self, tensor: Tensor) -> TensorFacts:
        """What code assumes about an input: sizes that vary are left open."""
        geometry = self._geometries.get(id(tensor))
        if geometry is None:
            return TensorFacts(tensor)
        return TensorFacts(tensor, tuple(size if type(size) is int else None for size in geometry.sizes))

    def rows(self, writer: RowWriter, rows: list[Any]) -> None:
        """Appends the checks of what was decided about sizes."""
        registers: dict[Place, int] = {}

        def register(place: Place) -> int:
            if place not in registers:
                value = registers[place] = writer._register(place.made.source, rows)
                if place.is_size:
                    registers[place] = writer.registers
                    writer.registers += 1
                    rows.append(("size", registers[place], value, place.dim))
            return registers[place]

        for place in self.places.values():
            if not place.is_size:
                for sign, limit in ((">=", 2), ("<=", _LARGEST_NUMBER)):
                    formula = (("register", register(place)), limit, sign)
                    rows.append(("size_relation", formula, f"{place} {sign} {limit}"))
        for place, other in self._equal:
            text = f"{place} == {other}"
            pair = (("register", register(place)), ("register", register(other)), "==")
            rows.append(("size_relation", pair, text))
        for relation in self.sizes.relations:
            tokens = [self._tokens(term, register) for term in (relation.left, relation.right)]
            formula = (*tokens[0], *tokens[1], relation.sign)
            rows.append(("size_relation", formula, self._shown(relation)))

    def _tokens(self, term: Term, register: Any) -> tuple[Any, ...]:
        if isinstance(term, Symbol):
            return (("register", register(self.places[term])),)
        if isinstance(term, Formula):
            operands = [word for operand in term.operands for word in self._tokens(operand, register)]
            return (*operands, _SIGNS[term.operation])
        return (term,)

    def _shown(self, relation: Relation) -> str:
        sides = (self._named(term) for term in (relation.left, relation.right))
        return str(Relation(relation.sign, *sides))

    def _named(self, term: Term) -> Term:
        """A term with the places of symbols as their names."""
        if isinstance(term, Symbol):
            return Symbol(str(self.places[term]))
        if isinstance(term, Formula):
            return Formula(term.operation, tuple(map(self._named, term.operands)))
        return term

    def text_of(self, term: Term, text_of_source: Any) -> str:
        """A term as Python over the arguments of the compiled function."""
        if isinstance(term, Symbol):
            made, dim = place = self.places[term]
            text: str = text_of_source(made.source)
            return f"{text}.size({dim})" if place.is_size else text
        if isinstance(term, Formula):
            operands = [self.text_of(operand, text_of_source) for operand in term.operands]
            if len(operands) == 1:
                return f"({operands[0]}) ** 0.5"
            return f"({operands[0]} {_SIGNS[term.operation]} {operands[1]})"
        return repr(term)


_SIGNS = {"add": "+", "sub": "-", "mul": "*", "floordiv": "//", "mod": "%", "truediv": "/", "pow": "**"}


def _term(value: int) -> Term:
    return value.term if isinstance(value, SymInt) else value


_SIZES = frozenset({"shape", "size", "stride", "numel", "nelement", "storage_offset", "nbytes", "__len__"})


def reads_sizes(target: Any, args: tuple[Any, ...]) -> bool:
    """Whether a call asks a tensor for numbers that depend on its sizes."""
    if target is getattr:
        return args[1] in _SIZES
    return (target if isinstance(target, str) else getattr(target, "__name__", "")) in _SIZES


# Functions of C that do not look at the bits of integers: they store them, or use their methods.
_KEEPING = frozenset({max, min, sum, isinstance, tuple, list, set, dict, slice, zip, math.prod})
_KEEPING_METHODS = frozenset({"append", "extend", "add", "update", "setdefault", "__setitem__"})


def call_with_numbers(varying: Varying, callee: Any, args: Any, kwargs: Any) -> Any:
    """Calls a function of C with numbers that may vary."""
    if getattr(callee, "__module__", None) == "_operator" and len(args) == 2 and not kwargs:
        return combined(callee, *args)
    if callee is math.sqrt and len(args) == 1 and type(args[0]) is SymInt:
        return args[0] ** 0.5
    owner = getattr(callee, "__self__", None)
    if type(owner) is slice:
        callee = getattr(varying.fixed(owner), callee.__name__)
    if not keeps_sizes(callee) or (callee in _COMPUTING and _has_reals(args)):
        args = [all_fixed(varying, value) for value in args]
        kwargs = {name: varying.fixed(value) for name, value in kwargs.items()}
    return callee(*args, **kwargs)


def _has_reals(args: Any) -> bool:
    items = args[0] if len(args) == 1 and isinstance(args[0], (list, tuple)) else args
    return any(isinstance(item, float) for item in items)


def all_fixed(varying: Varying, value: Any) -> Any:
    """A number, or the numbers in a list, as in the example."""
    return type(value)(map(varying.fixed, value)) if has_varying(value) else varying.fixed(value)


def has_varying(value: Any) -> bool:
    """Whether a list has numbers that vary."""
    return type(value) in (list, tuple, SymSize) and any(type(item) in VARYING for item in value)


_COMPUTING = (max, min, sum, math.prod)  # floats among the numbers would take integers for their bits


def keeps_sizes(callee: Any) -> bool:
    """Whether a function of C may be given sizes that vary."""
    if getattr(callee, "__module__", None) == "_operator":
        return True
    owner = getattr(callee, "__self__", None)
    if isinstance(owner, (list, dict, set)):
        return callee.__name__ in _KEEPING_METHODS
    if isinstance(owner, type) and callee.__name__ == "__new__":  # of named tuples
        return owner in _KEEPING
    return isinstance(callee, Hashable) and callee in _KEEPING
