"""Records a module for several sizes of its inputs, and makes one graph of it that holds for all sizes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch_py
from torch_py._shapes.formulas import FormulaWriter, SizeOf, Symbol
from torch_py._shapes.solver import Ambiguous, Solver
from torch_py.export._description import Described
from torch_py.export._errors import ExportError
from torch_py.export._examples import (
    Dimensions,
    leaves_of_sizes,
    sizes_to_record,
    with_other_values,
)
from torch_py.export._recording import Recording, record
from torch_py.export._user_code import innermost_line
from torch_py.fx._arguments import map_aggregate
from torch_py.fx.node import Node
from torch_py.nn.modules.module import Module
from torch_py.utils._pytree import TreeSpec, tree_flatten

_MOST_RECORDINGS = 16


class Capture:
    """The call of a module to be recorded."""

    def __init__(
        self,
        module: Module,
        leaves: list[Any],
        in_spec: TreeSpec,
        names: list[str],
        meet: Callable[[str, str], None] | None = None,
        decompositions: Mapping[Any, Callable[..., Any]] | None = None,
    ) -> None:
        self.module = module
        self.leaves = leaves
        self.in_spec = in_spec
        self.names = names
        self.meet = None if meet is None else self._meeting(meet)
        self.has_met = False
        self.decompositions = decompositions or {}

    def _meeting(self, meet: Callable[[str, str], None]) -> Callable[[str, str], None]:
        """Notes that the program has read a value."""

        def noted(what: str, stack: str) -> None:
            self.has_met = True
            meet(what, stack)

        return noted

    def _record(self, leaves: list[Any]) -> Recording:
        return record(self.module, leaves, self.in_spec, self.names, self.meet, self.decompositions)

    def record(self, dimensions: Dimensions, sizes: dict[Symbol, int]) -> Recording:
        """A recording for inputs of these sizes. Raises ExportError if the program fails with them."""
        try:
            return self._record(leaves_of_sizes(self.leaves, dimensions, sizes))
        except ExportError:
            raise
        except (RuntimeError, IndexError, ValueError, AssertionError) as error:
            if sizes == dimensions.example:
                raise
            raise _fails(dimensions, sizes, error) from error

    def graph_for(self, dimensions: Dimensions) -> Recording:
        """A recording whose graph holds for all sizes of the dimensions, and all values of the inputs.

        Raises ExportError if that cannot be shown, with the operator and the line that depends on them.
        """
        all_sizes = sizes_to_record(dimensions)
        if dimensions.example not in all_sizes:
            # It shows errors that have nothing to do with sizes, as the program raises them.
            self.record(dimensions, dimensions.example)
        recordings = [self.record(dimensions, sizes) for sizes in all_sizes]
        self._add_other_values(dimensions, all_sizes, recordings)

        while True:
            try:
                return _Merge(dimensions, all_sizes, recordings).merge()
            except Ambiguous as question:
                if len(recordings) >= _MOST_RECORDINGS:
                    raise ExportError(
                        f"torch.export: the sizes that depend on {question.symbol} could not be determined"
                    ) from None
                all_sizes.append({**all_sizes[0], question.symbol: question.size})
                recordings.append(self.record(dimensions, all_sizes[-1]))

    def _add_other_values(
        self, dimensions: Dimensions, all_sizes: list[dict[Symbol, int]], recordings: list[Recording]
    ) -> None:
        """Adds recordings for inputs with other values, several if a result has a size that depends on them.

        A program that fails with such values, which are drawn from those of the example, is believed. One
        that may read values (`meet`) is taken to be what it is for the example.
        """
        count = 0 if self.meet is not None else 1
        if any(map(_has_size_of_values, recordings[0].nodes)) and not self.has_met:
            count = 3
        for seed in range(count):
            leaves = leaves_of_sizes(self.leaves, dimensions, all_sizes[0])
            try:
                recording = self._record(with_other_values(leaves, seed))
            except ExportError:
                raise
            except Exception:  # of the program: it may check its inputs
                continue
            all_sizes.append(all_sizes[0])
            recordings.append(recording)


def _has_size_of_values(node: Node) -> bool:
    """Whether the shape of a result depends on values, as that of `nonzero` does."""
    if getattr(node.target, "_structure", "") != "dynamic":
        return False
    if node.target is not torch_py.ops.aten.index.Tensor:
        return True
    return any(
        source.meta["val"].dtype in (torch_py.bool, torch_py.uint8) for source in node.all_input_nodes[1:]
    )


def _fails(dimensions: Dimensions, sizes: dict[Symbol, int], error: Exception) -> ExportError:
    name, stack = getattr(error, "_of_operator", ("", ""))
    operator = f" in `{name}`{innermost_line(stack)}" if name else ""
    shown = ", ".join(f"{symbol} = {size}" for symbol, size in sizes.items())
    example = ", ".join(f"{symbol} = {size}" for symbol, size in dimensions.example.items())
    symbols = ", ".join(map(str, dimensions.symbols))
    return ExportError(
        f"Constraints violated ({symbols})! The program runs for the example ({example}), and fails for "
        f"{shown}{operator}: {error}\nIf only some sizes are possible, give the Dim a range (min=, "
        f"max=), relate "
        "it to others, or leave the dimension static."
    )


def _is_tensor(node: Node) -> bool:
    return isinstance(node.meta.get("val"), Described)


class _Merge:
    """Compares recordings node by node, and replaces the numbers that vary in the first by formulas."""

    def __init__(
        self, dimensions: Dimensions, all_sizes: list[dict[Symbol, int]], recordings: list[Recording]
    ) -> None:
        self.dimensions = dimensions
        self.first = recordings[0]
        self.recordings = recordings
        self.columns = list(zip(*(recording.nodes for recording in recordings)))
        self.solver = Solver({s: tuple(sizes[s] for sizes in all_sizes) for s in dimensions.symbols})
        self.positions = [
            {node: position for position, node in enumerate(recording.nodes)} for recording in recordings
        ]

    def merge(self) -> Recording:
        self._check_form()
        self._check_constants()

        # All is solved before anything is changed: another recording may be needed.
        solved = [self._solve_arguments(column) for column in self.columns]
        shapes = [self._solve_shape(column) for column in self.columns]

        writer = FormulaWriter(self.first.graph, self._sources())
        for column, arguments, shape in zip(self.columns, solved, shapes):
            node = column[0]
            if arguments is not None:
                node.args, node.kwargs = map_aggregate(
                    arguments, lambda value, node=node: _written(value, writer, node)
                )
            if shape is not None:
                node.meta["val"].shape = shape
        return self.first

    # Are they the same program?
    # ------------------------------------------------------------

    def _check_form(self) -> None:
        first = self.first.nodes
        for other in self.recordings[1:]:
            for mine, theirs in zip(first, other.nodes):
                if (mine.op, mine.target) != (theirs.op, theirs.target):
                    raise self._different(
                        mine, f"calls `{_name(mine)}` for some inputs and `{_name(theirs)}` for others"
                    )
            if len(first) != len(other.nodes) or str(self.first.out_spec) != str(other.out_spec):
                raise self._different(first[-1], "calls a number of operators that depends on the inputs")

    def _check_constants(self) -> None:
        for name, value in self.first.constants.items():
            for other in self.recordings[1:]:
                theirs = other.constants[name]
                same = value.shape == theirs.shape and value.dtype == theirs.dtype
                if not same or not bool(((value == theirs) | (value != value)).all()):
                    node = next(n for n in self.first.nodes if n.op == "get_attr" and n.target == name)
                    user = next(iter(node.users), node)
                    raise self._different(
                        user, f"gives `{_name(user)}` a constant that depends on the inputs"
                    )

    def _different(self, node: Node, what: str) -> ExportError:
        line = innermost_line(node.meta.get("stack_trace"))
        if not self.dimensions.symbols:
            return ExportError(f"torch.export: the program depends on values of its inputs: it {what}{line}.")
        symbols = ", ".join(map(str, self.dimensions.symbols))
        return ExportError(
            f"Constraints violated ({symbols})! The program {what}{line}. Leave the dimension static, "
            f"or give it a "
            "range in which the program does not change."
        )

    # Numbers
    # ------------------------------------------------------------

    def _solve_arguments(self, column: tuple[Node, ...]) -> Any:
        """Arguments and keywords with terms in the places of numbers that vary; None if nothing varies."""
        flat = [tree_flatten((list(node.args), dict(node.kwargs)))[0] for node in column]
        if len({len(leaves) for leaves in flat}) > 1:
            raise self._different(column[0], f"gives `{_name(column[0])}` lists of different lengths")

        replaced: dict[int, Any] = {}
        for position, values in enumerate(zip(*flat)):
            if isinstance(values[0], Node):
                self._check_same_node(column[0], values)
            elif any(value != values[0] or type(value) is not type(values[0]) for value in values):
                if values[0] != values[0] and all(value != value for value in values):
                    continue  # nan
                replaced[position] = self._solved(column, values)
        if not replaced:
            return None

        counter = iter(range(len(flat[0])))

        def substituted(value: Any) -> Any:
            position = next(counter)
            return replaced.get(position, value)

        return map_aggregate((column[0].args, column[0].kwargs), substituted)

    def _check_same_node(self, node: Node, values: tuple[Any, ...]) -> None:
        places = {self.positions[i].get(value) for i, value in enumerate(values)}
        if len(places) > 1:
            raise self._different(node, f"gives `{_name(node)}` different values for different inputs")

    def _solved(self, column: tuple[Node, ...], values: tuple[Any, ...]) -> Any:
        term = None
        if all(type(value) in (int, float) for value in values):
            term = self.solver.solve(values, self._sizes_at_hand(column))
        if term is None:
            shown = ", ".join(map(repr, values))
            raise self._different(
                column[0],
                f"gives `{_name(column[0])}` an argument that depends on the inputs in a way that no "
                f"formula of sizes explains ({shown})",
            )
        return term

    def _sizes_at_hand(self, column: tuple[Node, ...]) -> list[tuple[SizeOf, tuple[int, ...]]]:
        """The sizes of the tensors that a node gets."""
        found = []
        for nodes in zip(*(node.all_input_nodes for node in column)):
            if all(map(_is_tensor, nodes)):
                position = self.positions[0][nodes[0]]
                for dim, sizes in enumerate(zip(*(node.meta["val"].shape for node in nodes))):
                    found.append((SizeOf(position, dim), sizes))
        return found

    def _solve_shape(self, column: tuple[Node, ...]) -> tuple[Any, ...] | None:
        """The shape of a value, for those who read the graph. Sizes that are not explained stay as SizeOf."""
        if not all(map(_is_tensor, column)):
            return None
        position = self.positions[0][column[0]]
        return tuple(
            self._solved_size(sizes, SizeOf(position, dim))
            for dim, sizes in enumerate(zip(*(node.meta["val"].shape for node in column)))
        )

    def _solved_size(self, sizes: tuple[int, ...], otherwise: SizeOf) -> Any:
        try:
            term = self.solver.solve(sizes)
        except Ambiguous:
            term = None
        return otherwise if term is None else term

    def _sources(self) -> dict[Any, tuple[Node, int]]:
        """Where the sizes of symbols and of computed tensors are found."""
        found: dict[Any, tuple[Node, int]] = {}
        for row in self.dimensions.rows:
            if (row.factor, row.offset) == (1, 0):
                found.setdefault(row.symbol, (self.first.leaves[row.leaf], row.dim))
        for position, node in enumerate(self.first.nodes):
            if _is_tensor(node):
                for dim in range(node.meta["val"].dim()):
                    found[SizeOf(position, dim)] = node, dim
        return found


def _written(value: Any, writer: FormulaWriter, node: Node) -> Any:
    return value if isinstance(value, (Node, str)) else writer.write(value, node)


def _name(node: Node) -> str:
    return str(node.target)
