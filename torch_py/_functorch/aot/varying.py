"""Graphs for sizes that vary: one of several that were recorded with primes as sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import count
from typing import Any

from torch_py import _C
from torch_py._functorch.aot.joint import SharedMemory, trace
from torch_py._functorch.aot.nodes import mode_of
from torch_py._functorch.aot.recipes import BACKWARD, Recipe, Traced, Viewed
from torch_py._functorch.aot.recording import Decompositions, Program
from torch_py._ops import ops
from torch_py._records import Fields, Record
from torch_py._shapes.arguments import Arguments, NotFollowed, example_of, solved_geometry
from torch_py._shapes.formulas import Formula, Symbol, Term, evaluate, symbols_in
from torch_py._shapes.merging import GraphMerge, merged, solved
from torch_py._shapes.sizes import Sizes
from torch_py._shapes.solver import Ambiguous, Solver
from torch_py._shapes.stand_ins import MOST_RECORDINGS
from torch_py._subclasses.fake_tensor import FakeTensorMode
from torch_py._tensor import Tensor
from torch_py._torch_function import DisableTorchFunctionSubclass
from torch_py.autograd.grad_mode import no_grad
from torch_py.fx.graph import Graph
from torch_py.fx.node import Node, map_arg
from torch_py.utils._pytree import tree_flatten


class Size(Record):
    """A number among the inputs of the graph: the size of an argument, how often a divisor goes into it, or
    an argument itself."""

    position: int
    dim: int | None
    divisor: int = 1

    def of(self, arguments: Sequence[Any]) -> int:
        argument = arguments[self.position]
        return int(argument if self.dim is None else argument.shape[self.dim] // self.divisor)


def trace_varying(
    program: Program, arguments: Arguments, sizes: Sizes, names: Sequence[str], decompositions: Decompositions
) -> Traced:
    """Like `trace`, for all sizes that the symbols of `sizes` may be.

    The inputs of the graph are the tensors, and then one number for each symbol. Numbers that follow from
    these are computed by nodes; ``meta["sizes"]`` and ``meta["strides"]`` have formulas where the first
    recording has primes. Raises NotFollowed if the program depends on the sizes in other ways.
    """

    def record(given: Sequence[Any]) -> Traced:
        return trace(program, given, names, decompositions, arguments.geometries.keys().isdisjoint)

    recordings = _Recordings(record, arguments, sizes, mode_of(arguments.values))
    for values in sizes.settled():
        recordings.add(values)
    while True:
        try:
            with DisableTorchFunctionSubclass():  # fake tensors are asked for many facts
                return recordings.merged()
        except Ambiguous as question:
            recordings.add({**recordings.all_sizes[0], question.symbol: question.size})


class _Recordings(Fields):
    _record: Callable[[Sequence[Any]], Traced]
    _arguments: Arguments
    _sizes: Sizes
    _mode: FakeTensorMode
    _traced: list[Traced] = []
    all_sizes: list[Mapping[Symbol, int]] = []

    def add(self, sizes: Mapping[Symbol, int]) -> None:
        """Records the program once more."""
        if len(self._traced) == MOST_RECORDINGS:
            raise NotFollowed("the sizes that it computes could not be determined")
        given = self._arguments.for_sizes(self._mode, sizes)

        try:
            self._traced.append(self._record(given))
        except SharedMemory:
            what = "memory around an argument whose sizes vary"
            raise NotFollowed(f"it changes {what}, by as_strided") from None
        except (ArithmeticError, IndexError, RuntimeError, TypeError, ValueError) as error:
            if isinstance(error, NotImplementedError):
                raise
            raise NotFollowed(f"for some sizes it raises {type(error).__name__}: {error}") from error

        self.all_sizes.append(sizes)

    def merged(self) -> Traced:
        first = self._traced[0]
        self._check_results()
        solver = Solver(self.all_sizes)
        for term in self._sizes.reals:
            if not solver.know_real(term):
                raise NotFollowed(f"{term} is the same number for many sizes")
        graphs = [traced.module.graph for traced in self._traced]
        merge = GraphMerge(graphs, solver, lambda node, what: NotFollowed(f"the program {what}"))
        _solve_geometry(merge)

        sources = self._arguments.sources()
        positions = {symbol: len(first.inputs) + i for i, symbol in enumerate(sources)}
        recipes = [traced.recipes for traced in self._traced]
        recipes = [_merged_recipe(row, solver, positions) for row in zip(*recipes)]
        merge.merge(_add_inputs(first, list(sources)))
        _check_comparisons(first.module.graph, self._sizes, self._mode)
        first.module.recompile()
        first.inputs = [*first.inputs, *(Size(*place) for place in sources.values())]
        first.recipes = recipes
        return first

    def _check_results(self) -> None:
        """What is done outside of the graph may not depend on sizes."""
        if len({repr(traced.backward_error) for traced in self._traced}) > 1:
            raise NotFollowed("backward raises an error that names sizes")
        for other in self._traced[1:]:
            for fact in ("inputs", "num_outputs", "tangents", "differentiated", "changes", "reshapings"):
                if getattr(self._traced[0], fact) != getattr(other, fact):
                    raise NotFollowed(f"the program has other {fact} for some sizes than for others")
            if len(self._traced[0].recipes) != len(other.recipes):
                raise NotFollowed("the program has other results for some sizes than for others")
            if not all(map(_are_equal, self._traced[0].module.buffers(), other.module.buffers())):
                raise NotFollowed("the program makes a tensor of numbers that depend on sizes")


def _are_equal(constant: Tensor, other: Tensor) -> bool:
    """Whether tensors have the same bits, wherever they are."""
    if constant.data_ptr() == other.data_ptr():
        return True
    rows = [one.detach().reshape(-1).view(_C.uint8) for one in (constant, other)]
    return bool(_C._torch.equal(*rows))


def _merged_recipe(recipes: Sequence[Recipe], solver: Solver, positions: Mapping[Symbol, int]) -> Recipe:
    """How a result is made for all sizes."""
    first = recipes[0]
    if not isinstance(first, Viewed):
        if any(recipe != first for recipe in recipes):
            raise NotFollowed("the program has other results for some sizes than for others")
        return first

    forms = {(recipe.source, *(s.form for s in recipe.steps)) for recipe in recipes if type(recipe) is Viewed}
    if len(forms) > 1 or not all(type(recipe) is Viewed for recipe in recipes):
        raise NotFollowed("the program returns other views of its arguments for some sizes than for others")
    explained = partial(solved, solver.solve, _not_explained)
    steps = []
    for column in zip(*(recipe.steps for recipe in recipes)):  # type: ignore[union-attr]
        args, kwargs = merged([(step.args, step.kwargs) for step in column], explained)
        steps.append(column[0].with_arguments(args, kwargs))
    terms = tree_flatten([(step.args, step.kwargs) for step in steps])[0]
    symbols = {symbol for term in terms for symbol in symbols_in(term)}
    return Viewed(first.source, tuple(steps), tuple((s, positions[s]) for s in positions if s in symbols))


def _not_explained(values: tuple[Any, ...]) -> Exception:
    return NotFollowed("the program returns views of its arguments that no formula of their sizes explains")


def _solve_geometry(merge: GraphMerge) -> None:
    """Notes sizes and strides of all tensors. Raises NotFollowed for one that no formula explains."""
    for column in merge.columns:
        values = [node.meta.get("val") for node in column]
        if all(isinstance(value, Tensor) for value in values):
            shapes = [tuple(value.shape) for value in values]
            sizes, strides = solved_geometry(shapes, [value.stride() for value in values], merge.solver.solve)
            if None in sizes or None in strides:
                raise NotFollowed(f"`{column[0].target}` has a result whose sizes no formula explains")
            column[0].meta.update(sizes=sizes, strides=strides)


def _add_inputs(traced: Traced, symbols: list[Symbol]) -> dict[Symbol, Node]:
    """Placeholders for the symbols, behind the tensors and before the gradients of outputs."""
    graph = traced.module.graph
    placeholders = graph.find_nodes(op="placeholder")
    primals = [node for node in placeholders if BACKWARD not in node.meta]
    following = primals[-1].next if primals else next(iter(graph.nodes))
    added = {}
    for symbol in symbols:
        with graph.inserting_before(following):
            added[symbol] = graph.placeholder(symbol.name)
        added[symbol].meta["val"] = symbol
    return added


# Whether what operators compute from sizes is the same formula for all sizes
# ------------------------------------------------------------

# In all recordings of a program, a product of two sizes is larger than a third one, and every size is larger
# than the numbers of the program. What an operator computes from both, such as the length of a diagonal, is
# then taken for the smaller one.
_LARGE = 1009
_SMALL = 2


def _check_comparisons(graph: Graph, sizes: Sizes, mode: FakeTensorMode) -> None:
    """Runs operators with sizes in other orders. Raises NotFollowed if a result is not as large as its
    formulas say."""
    smallest = {symbol: max(symbol.min, _SMALL) for symbol in sizes.hints}
    may_be_small = sizes.allow(smallest)
    for node in graph.nodes:
        if node.op != "call_function" or "sizes" not in node.meta:
            continue
        terms = [term for given in node.all_input_nodes for term in given.meta.get("sizes", ())]
        varying = {term for term in terms if isinstance(term, (Symbol, Formula))}
        if may_be_small and varying:
            _check(node, smallest, mode)
        if len(varying) >= 2 and not varying <= set(node.meta["sizes"]):
            for values in _orders(varying, sizes):
                _check(node, values, mode)


def _check(node: Node, values: Mapping[Symbol, int], mode: FakeTensorMode) -> None:
    shape = _shape_for(node, values, mode)
    if shape is None and node.target is ops.aten.as_strided.default:
        raise NotFollowed("places in the memory of a tensor are not computed from its sizes")
    if shape not in (None, tuple(evaluate(size, values) for size in node.meta["sizes"])):
        raise NotFollowed(f"the sizes of `{node.target}` depend on which of two others is larger")


def _orders(terms: set[Term], sizes: Sizes) -> Iterator[Mapping[Symbol, int]]:
    """Sizes for which a formula is smaller, or larger, than another term."""
    for formula in terms:
        for other in terms if isinstance(formula, Formula) else ():
            inner, outer = symbols_in(formula), symbols_in(other)
            if inner & outer or any(symbol.samples for symbol in inner | outer):
                continue
            for small, large in (inner, outer), (outer, inner):
                values = dict(sizes.hints)
                values.update(zip(sorted(small, key=str), count(_SMALL)))
                values.update(zip(sorted(large, key=str), count(_LARGE)))
                if sizes.allow(values):
                    yield values


def _shape_for(node: Node, values: Mapping[Symbol, int], mode: FakeTensorMode) -> tuple[int, ...] | None:
    """The sizes of a node's result; None if it has none for such arguments."""
    args, kwargs = map_arg((node.args, node.kwargs), lambda given: example_of(given, mode, values))
    try:
        with mode, no_grad():
            result = node.target(*args, **kwargs)  # type: ignore[operator]
    except (RuntimeError, IndexError, ValueError):
        return None
    return tuple(result.shape) if isinstance(result, Tensor) else None
