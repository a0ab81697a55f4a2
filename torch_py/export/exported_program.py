"""`ExportedProgram`: a graph with its state, its signature, and the structure of a call."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py._shapes.formulas import Symbol
from torch_py._tensor import Tensor
from torch_py.export._examples import Dimensions
from torch_py.export._unlift import unlift
from torch_py.export.graph_signature import ExportGraphSignature
from torch_py.fx.graph import Graph
from torch_py.fx.graph_module import GraphModule
from torch_py.nn.modules.module import Module
from torch_py.nn.parameter import Parameter
from torch_py.utils._pytree import TreeSpec

__all__ = [
    "CallSpec",
    "ExportedProgram",
    "ModuleCallEntry",
    "ModuleCallSignature",
    "default_decompositions",
]


@dataclass
class CallSpec:
    """The structures of `(args, kwargs)` and of the results of the module."""

    in_spec: TreeSpec
    out_spec: TreeSpec


@dataclass
class ModuleCallSignature:
    """The inputs and outputs of one call of a module."""

    inputs: list[Any]
    outputs: list[Any]
    in_spec: TreeSpec
    out_spec: TreeSpec
    forward_arg_names: list[str] | None = None


@dataclass
class ModuleCallEntry:
    """A call of a module: '' is the exported module itself."""

    fqn: str
    signature: ModuleCallSignature | None = None


@dataclass(frozen=True)
class ValueRange:
    """The sizes for which a program holds."""

    lower: int
    upper: int | None

    def __repr__(self) -> str:
        return f"VR[{self.lower}, {'int_oo' if self.upper is None else self.upper}]"


def default_decompositions() -> dict[Any, Callable[..., Any]]:
    """The table that `run_decompositions` uses by default. Empty: programs are recorded below autograd, where
    operators that are made of others have been taken apart already."""
    return {}


class ExportedProgram:
    """What `torch.export.export` returns.

    `graph` takes parameters, buffers, constants and the inputs of the user, and returns new values of buffers
    and the results; `graph_signature` says which is which. A program cannot be called; `module()` can.
    """

    def __init__(
        self,
        root: Module | dict[str, Any],
        graph: Graph,
        graph_signature: ExportGraphSignature,
        state_dict: dict[str, Tensor],
        range_constraints: dict[Symbol, ValueRange],
        module_call_graph: list[ModuleCallEntry],
        example_inputs: tuple[tuple[Any, ...], dict[str, Any]] | None = None,
        constants: dict[str, Tensor] | None = None,
        *,
        verifiers: Any = None,
    ) -> None:
        self._graph_module = GraphModule(root, graph)
        self._graph_signature = graph_signature
        self._state_dict = state_dict
        self._range_constraints = range_constraints
        self._module_call_graph = module_call_graph
        self._example_inputs = example_inputs
        self._constants = constants or {}
        self._training = False
        self._dimensions = Dimensions()
        self._parameter_names: tuple[list[str], list[str]] = ([], [])

    # Parts
    # ------------------------------------------------------------

    @property
    def graph_module(self) -> GraphModule:
        """The graph as a module whose arguments are all inputs of the graph."""
        return self._graph_module

    @property
    def graph(self) -> Graph:
        """The graph."""
        return self._graph_module.graph

    @property
    def graph_signature(self) -> ExportGraphSignature:
        """What the inputs and outputs of the graph are."""
        return self._graph_signature

    @property
    def state_dict(self) -> dict[str, Tensor]:
        """The parameters and persistent buffers, which are those of the exported module."""
        return self._state_dict

    @property
    def constants(self) -> dict[str, Tensor]:
        """Tensors that the program made while it was recorded, and buffers that are not persistent."""
        return self._constants

    @property
    def tensor_constants(self) -> dict[str, Tensor]:
        """The same as `constants`."""
        return self._constants

    @property
    def range_constraints(self) -> dict[Symbol, ValueRange]:
        """The sizes that may vary, and from where to where."""
        symbols = self._dimensions.symbols
        return self._range_constraints or {s: ValueRange(s.min, s.max) for s in symbols}

    @property
    def module_call_graph(self) -> list[ModuleCallEntry]:
        return self._module_call_graph

    @property
    def example_inputs(self) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
        """The arguments with which the program was exported."""
        return self._example_inputs

    @property
    def call_spec(self) -> CallSpec:
        """The structures of arguments and results."""
        signature = self._module_call_graph[0].signature
        assert signature is not None
        return CallSpec(signature.in_spec, signature.out_spec)

    @property
    def in_spec(self) -> TreeSpec:
        """The structure of `(args, kwargs)`."""
        return self.call_spec.in_spec

    @property
    def out_spec(self) -> TreeSpec:
        """The structure of the results."""
        return self.call_spec.out_spec

    @property
    def dialect(self) -> str:
        return "ATEN"

    # State
    # ------------------------------------------------------------

    def parameters(self) -> Iterator[Parameter]:
        """The parameters."""
        for _, parameter in self.named_parameters():
            yield parameter

    def named_parameters(self) -> Iterator[tuple[str, Parameter]]:
        """The parameters with their full names."""
        for name in self._graph_signature.parameters:
            yield name, self._state_dict[name]  # type: ignore[misc]

    def buffers(self) -> Iterator[Tensor]:
        """The buffers."""
        for _, buffer in self.named_buffers():
            yield buffer

    def named_buffers(self) -> Iterator[tuple[str, Tensor]]:
        """The buffers with their full names."""
        transient = set(self._graph_signature.non_persistent_buffers)
        for name in self._graph_signature.buffers:
            yield name, self._constants[name] if name in transient else self._state_dict[name]

    # Use
    # ------------------------------------------------------------

    def module(self, check_guards: bool = True) -> GraphModule:
        """A module that is called as the exported one was, with the state of the program.

        It checks its inputs unless `check_guards` is False: other shapes, dtypes or constants than those that
        the program was exported for raise AssertionError. Changes of buffers are written to them.
        """
        return unlift(self, check_guards)

    def run_decompositions(
        self,
        decomp_table: Mapping[Any, Callable[..., Any]] | None = None,
        decompose_custom_triton_ops: bool = False,
    ) -> ExportedProgram:
        """The program with operators replaced by what the functions of the table call for them.

        The table maps operators, such as ``torch.ops.aten.silu.default``, to functions. This program stays as
        it is. Raises ValueError for a program that was loaded without example inputs.
        """
        # Imported here: it makes programs of this class.
        from torch_py.export._export import export_again

        table = default_decompositions() if decomp_table is None else decomp_table
        return export_again(self, table)

    def validate(self) -> None:
        """Checks the graph. Raises RuntimeError if it is damaged."""
        self.graph.lint()
        placeholders = self.graph.find_nodes(op="placeholder")
        if [node.name for node in placeholders] != [s.arg.name for s in self._graph_signature.input_specs]:
            raise RuntimeError("ExportedProgram: the inputs of the graph are not those of its signature")

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise RuntimeError(
            "Unable to call ExportedProgram directly. You should use `exported_program.module()` instead."
        )

    def __str__(self) -> str:
        code = self._graph_module.print_readable(print_output=False)
        indented = code.rstrip().replace("\n", "\n    ")
        return (
            f"ExportedProgram:\n    {indented}\n\nGraph signature: {self._graph_signature}\n"
            f"Range constraints: {self.range_constraints}\n"
        )


__getattr__ = _lacking(__name__)
