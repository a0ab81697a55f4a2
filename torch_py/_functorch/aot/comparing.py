"""Whether what operators compute from sizes is the same formula for all sizes.

In all recordings of a program, a product of two sizes is larger than a third one, and every size is larger
than the numbers of the program. What an operator computes from both, such as the length of a diagonal, is
then taken for the smaller one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from torch_py._ops import ops
from torch_py._shapes.arguments import Geometry, NotFollowed, stand_in
from torch_py._shapes.formulas import Formula, Symbol, Term, evaluate, symbols_in
from torch_py._shapes.sizes import Sizes
from torch_py._subclasses.fake_tensor import FakeTensorMode
from torch_py._tensor import Tensor
from torch_py.autograd.grad_mode import no_grad
from torch_py.fx.graph import Graph
from torch_py.fx.node import Node, map_arg

_LARGE = 1009
_SMALL = 2


def check_comparisons(graph: Graph, sizes: Sizes, mode: FakeTensorMode) -> None:
    """Runs operators with sizes in other orders. Raises NotFollowed if a result is not as large as its
    formulas say."""
    smallest = _smallest(graph, sizes)
    for node in graph.nodes:
        if node.op != "call_function" or "sizes" not in node.meta:
            continue
        terms = [term for given in node.all_input_nodes for term in given.meta.get("sizes", ())]
        varying = {term for term in terms if isinstance(term, (Symbol, Formula))}
        if smallest is not None and varying:
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


def _smallest(graph: Graph, sizes: Sizes) -> Mapping[Symbol, int] | None:
    """Sizes that are as small as may be; None if they do not go together."""
    inputs = [node.meta.get("val") for node in graph.find_nodes(op="placeholder")]
    symbols = [value for value in inputs if isinstance(value, Symbol)]
    values = {**sizes.hints, **{symbol: max(symbol.min, _SMALL) for symbol in symbols}}
    return values if all(relation.holds(values) for relation in sizes.relations) else None


def _orders(terms: set[Term], sizes: Sizes) -> Iterator[Mapping[Symbol, int]]:
    """Sizes for which a formula is smaller, or larger, than another term."""
    for formula in terms:
        for other in terms if isinstance(formula, Formula) else ():
            inner, outer = symbols_in(formula), symbols_in(other)
            if inner & outer or any(symbol.samples for symbol in inner | outer):
                continue
            for small, large in (inner, outer), (outer, inner):
                ranks = sorted(small, key=str), sorted(large, key=str)
                values = {**sizes.hints, **_numbered(ranks[0], _SMALL), **_numbered(ranks[1], _LARGE)}
                if all(relation.holds(values) for relation in sizes.relations):
                    yield values


def _numbered(symbols: list[Symbol], first: int) -> dict[Symbol, int]:
    return {symbol: first + number for number, symbol in enumerate(symbols)}


def _shape_for(node: Node, values: Mapping[Symbol, int], mode: FakeTensorMode) -> tuple[int, ...] | None:
    """The sizes of a node's result; None if it has none for such arguments."""

    def example(given: Node) -> Any:
        if "sizes" not in given.meta:
            return evaluate(given.meta["val"], values)
        geometry = Geometry(given.meta["sizes"], given.meta["strides"])
        return stand_in(mode, given.meta["val"].detach(), geometry, values)

    args, kwargs = map_arg((node.args, node.kwargs), example)
    try:
        with mode, no_grad():
            result = node.target(*args, **kwargs)  # type: ignore[operator]
    except (RuntimeError, IndexError, ValueError):
        return None
    return tuple(result.shape) if isinstance(result, Tensor) else None
