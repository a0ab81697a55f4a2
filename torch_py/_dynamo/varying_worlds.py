"""The graph of a capture, run for other numbers than those of the example.

Small numbers do not tell which sizes they come from. While some sizes have small stand-ins, what the program
reads of a tensor is compared with what it would read for other stand-ins, and solved for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from torch_py._dynamo.breaks import Break
from torch_py._records import Fields
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


class Replay(Fields):
    """The nodes of the graph, run one after another on fake tensors of other sizes."""

    recorder: Recorder
    values: Mapping[Symbol, int]
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


class Worlds(Fields):
    """What tensors of a capture would be for other stand-ins, for which the graph is run on demand."""

    varying: Varying
    _replays: list[Replay] = []
    _solver: Solver | None = None

    def terms(
        self, values: Sequence[int], node: Node, question: Callable[[Tensor], Sequence[int]]
    ) -> list[Term]:
        """The formulas of what a tensor answers to a question, which is `values` in the capture."""
        sizes = self.varying.sizes
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
        recorder = self.varying.recorder
        state = ThreadState()  # which nodes may change
        try:
            for number, row in enumerate(self.varying.sizes.recordings()[1:]):
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

    def _solver_for(self, recordings: int) -> Solver:
        """The solver, which knows what it has found before, until there are more numbers or recordings."""
        sizes = self.varying.sizes
        if self._solver is None or self._solver.form != (len(sizes.hints), recordings):
            self._solver = solver_of(sizes)
        return self._solver

    def _give_up(self) -> NoReturn:
        """Fixes the numbers that have small stand-ins; the capture begins anew."""
        sizes = self.varying.sizes
        sizes.fix_symbols(*sizes.bounded)
        raise Break("a size", "no formula of the numbers that vary explains it")


def solver_of(sizes: Sizes) -> Solver:
    """A solver for the numbers of several recordings."""
    rows = sizes.recordings()
    return Solver({symbol: tuple(row[symbol] for row in rows) for symbol in sizes.stand_ins})
