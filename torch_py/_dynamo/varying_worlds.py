"""The graph of a capture, run for other numbers than those of the example.

Small numbers do not tell which sizes they come from. While some sizes have small stand-ins, what the program
reads of a tensor is compared with what it would read for other stand-ins, and solved for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from torch_py._dynamo.breaks import Break
from torch_py._shapes.arguments import Geometry, stand_in
from torch_py._shapes.formulas import Symbol, Term
from torch_py._shapes.sizes import Sizes
from torch_py._shapes.solver import Ambiguous, Solver
from torch_py._shapes.stand_ins import MOST_RECORDINGS
from torch_py._tensor import Tensor
from torch_py._thread_state import ThreadState
from torch_py.fx.node import Node, map_arg

if TYPE_CHECKING:
    from torch_py._dynamo.recorder import Recorder
    from torch_py._dynamo.varying import Varying


class Replay:
    """The nodes of the graph, run one after another on fake tensors of other sizes."""

    def __init__(self, recorder: Recorder, values: Mapping[Symbol, int]) -> None:
        self._recorder = recorder
        self.values = dict(values)
        self.found: dict[Node, Any] = {}

    def run(self) -> Iterator[tuple[Node, Any]]:
        """Runs the nodes that have not been run yet; gives each with its result."""
        inputs = {made.node: made for made in self._recorder.all_inputs()}
        for node in list(self._recorder.scopes[0].graph.nodes):
            if node not in self.found:
                self.found[node] = self._value(node, inputs)
                yield node, self.found[node]

    def _value(self, node: Node, inputs: Mapping[Node, Any]) -> Any:
        if node.op == "placeholder":
            return self._input(node, inputs.get(node))
        args, kwargs = map_arg((node.args, node.kwargs), self.found.__getitem__)
        with self._recorder.fake_mode:
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
        return stand_in(self._recorder.fake_mode, made.real, geometry, self.values)


class Worlds:
    """What tensors of a capture would be for other stand-ins, for which the graph is run on demand."""

    def __init__(self, varying: Varying) -> None:
        self._varying = varying
        self._recorder = varying.recorder
        self._replays: list[Replay] = []
        self._solver: Solver | None = None

    def terms(
        self, values: Sequence[int], node: Node, question: Callable[[Tensor], Sequence[int]]
    ) -> list[Term]:
        """The formulas of what a tensor answers to a question, which is `values` in the capture."""
        sizes = self._varying.sizes
        found: list[Any] = []
        while len(found) != len(values):
            try:
                rows = [values, *self._answers(node, question)]
                found = [self._solver_for(len(rows)).solve(numbers) for numbers in zip(*rows)]
            except Ambiguous as doubt:
                if len(sizes.recordings()) == MOST_RECORDINGS:
                    self._give_up()
                sizes.questions.append((doubt.symbol, doubt.size))
                continue
            except (KeyError, RuntimeError, TypeError, ValueError, IndexError):
                self._give_up()

            if None in found or len(found) != len(values):
                self._give_up()
        return found

    def _answers(self, node: Node, question: Callable[[Tensor], Any]) -> Iterator[Any]:
        state = ThreadState()  # which nodes may change
        try:
            for number, row in enumerate(self._varying.sizes.recordings()[1:]):
                if len(self._replays) == number:
                    self._replays.append(Replay(self._recorder, row))
                replay = self._replays[number]
                replay.values.update(row)
                with self._recorder.suspended():
                    for _ in replay.run():
                        pass
                    yield question(replay.found[node])
        finally:
            state.restore()

    def _solver_for(self, recordings: int) -> Solver:
        """The solver, which knows what it has found before, until there are more numbers or recordings."""
        sizes = self._varying.sizes
        if self._solver is None or self._solver.form != (len(sizes.hints), recordings):
            self._solver = solver_of(sizes)
        return self._solver

    def _give_up(self) -> NoReturn:
        """Fixes the numbers that have small stand-ins; the capture begins anew."""
        sizes = self._varying.sizes
        for symbol in sizes.bounded:
            sizes.fix_symbol(symbol)
        raise Break("a size", "no formula of the numbers that vary explains it")


def solver_of(sizes: Sizes) -> Solver:
    """A solver for the numbers of several recordings."""
    rows = sizes.recordings()
    return Solver({symbol: tuple(row[symbol] for row in rows) for symbol in sizes.stand_ins})
