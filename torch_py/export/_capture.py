"""Records a module for several sizes of its inputs, and makes one graph of it that holds for all sizes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch_py
from torch_py._shapes.formulas import Symbol
from torch_py._shapes.solver import Ambiguous, Solver
from torch_py.export._errors import ExportError
from torch_py.export._examples import (
    Dimensions,
    leaves_of_sizes,
    sizes_to_record,
    with_other_values,
)
from torch_py.export._merging import ProgramMerge
from torch_py.export._recording import Recording, record
from torch_py.export._user_code import innermost_line
from torch_py.fx.node import Node
from torch_py.nn.modules.module import Module
from torch_py.utils._pytree import TreeSpec

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


class _Merge:
    """One recording for all sizes, of several."""

    def __init__(
        self, dimensions: Dimensions, all_sizes: list[dict[Symbol, int]], recordings: list[Recording]
    ) -> None:
        self.dimensions = dimensions
        self.first = recordings[0]
        self.recordings = recordings
        graphs = [recording.graph for recording in recordings]
        self._graphs = ProgramMerge(graphs, Solver(all_sizes), self._different)

    def merge(self) -> Recording:
        for other in self.recordings[1:]:
            if str(self.first.out_spec) != str(other.out_spec):
                last = self.first.nodes[-1]
                raise self._different(last, "returns another structure for some inputs than for others")
        self._check_constants()

        self._graphs.merge_inputs(
            {
                row.symbol: (self.first.leaves[row.leaf], row.dim)
                for row in reversed(self.dimensions.rows)
                if (row.factor, row.offset) == (1, 0)
            }
        )
        return self.first

    def _check_constants(self) -> None:
        for name, value in self.first.constants.items():
            for other in self.recordings[1:]:
                theirs = other.constants[name]
                same = value.shape == theirs.shape and value.dtype == theirs.dtype
                if not same or not bool(((value == theirs) | (value != value)).all()):
                    node = next(n for n in self.first.nodes if n.op == "get_attr" and n.target == name)
                    user = next(iter(node.users), node)
                    raise self._different(
                        user, f"gives `{user.target}` a constant that depends on the inputs"
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
