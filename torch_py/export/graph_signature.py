"""What the inputs and outputs of an exported graph are: `ExportGraphSignature` and its parts."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from torch_py._pytorch_names.packages import lacking as _lacking

__all__ = [
    "ConstantArgument",
    "ExportGraphSignature",
    "InputKind",
    "InputSpec",
    "OutputKind",
    "OutputSpec",
    "SymBoolArgument",
    "SymFloatArgument",
    "SymIntArgument",
    "TensorArgument",
]


@dataclass
class TensorArgument:
    """A tensor, by the name of its node."""

    name: str


@dataclass
class SymIntArgument:
    """An integer that the graph computes, by the name of its node."""

    name: str


@dataclass
class SymFloatArgument:
    """A floating-point number that the graph computes, by the name of its node."""

    name: str


@dataclass
class SymBoolArgument:
    """A condition that the graph computes, by the name of its node."""

    name: str


@dataclass
class ConstantArgument:
    """A value that is always the same. An input has a node of this name; an output has none."""

    name: str
    value: Any


class InputKind(enum.Enum):
    """What an input of the graph is."""

    USER_INPUT = enum.auto()
    PARAMETER = enum.auto()
    BUFFER = enum.auto()
    CONSTANT_TENSOR = enum.auto()
    CUSTOM_OBJ = enum.auto()
    TOKEN = enum.auto()


class OutputKind(enum.Enum):
    """What an output of the graph is."""

    USER_OUTPUT = enum.auto()
    LOSS_OUTPUT = enum.auto()
    BUFFER_MUTATION = enum.auto()
    PARAMETER_MUTATION = enum.auto()
    GRADIENT_TO_PARAMETER = enum.auto()
    GRADIENT_TO_USER_INPUT = enum.auto()
    USER_INPUT_MUTATION = enum.auto()
    TOKEN = enum.auto()


@dataclass
class InputSpec:
    """One input. `target` is the full name of a parameter, buffer or constant; `persistent` tells whether a
    buffer is part of the state dict."""

    kind: InputKind
    arg: Any
    target: str | None
    persistent: bool | None = None

    def __post_init__(self) -> None:
        if self.kind is InputKind.BUFFER and self.persistent is None:
            raise AssertionError("Failed to specify persistent flag on BUFFER.")

    def __str__(self) -> str:
        target = "" if self.target is None else f" target='{self.target}'"
        persistent = "" if self.persistent is None else f" persistent={self.persistent}"
        return f"{self.arg.name}: {self.kind.name}{target}{persistent}"


@dataclass
class OutputSpec:
    """One output. `target` is the full name of the buffer, or the name of the input, that gets the value."""

    kind: OutputKind
    arg: Any
    target: str | None

    def __str__(self) -> str:
        target = "" if self.target is None else f" target='{self.target}'"
        return f"{self.arg.name}: {self.kind.name}{target}"


def _value(argument: Any) -> Any:
    return argument.value if isinstance(argument, ConstantArgument) else argument.name


@dataclass
class ExportGraphSignature:
    """The inputs and outputs of an exported graph, in order.

    Parameters, buffers and constants are inputs in front of those of the user; new values of buffers and of
    inputs that the program changes are outputs in front of its results.
    """

    input_specs: list[InputSpec] = field(default_factory=list)
    output_specs: list[OutputSpec] = field(default_factory=list)

    def _targets(self, kind: InputKind) -> tuple[str, ...]:
        return tuple(str(spec.target) for spec in self.input_specs if spec.kind is kind)

    def _inputs(self, kind: InputKind) -> dict[str, str]:
        return {spec.arg.name: str(spec.target) for spec in self.input_specs if spec.kind is kind}

    def _outputs(self, kind: OutputKind) -> dict[str, str]:
        return {spec.arg.name: str(spec.target) for spec in self.output_specs if spec.kind is kind}

    @property
    def parameters(self) -> tuple[str, ...]:
        """The full names of the parameters."""
        return self._targets(InputKind.PARAMETER)

    @property
    def buffers(self) -> tuple[str, ...]:
        """The full names of the buffers."""
        return self._targets(InputKind.BUFFER)

    @property
    def non_persistent_buffers(self) -> tuple[str, ...]:
        """The full names of the buffers that are not part of the state dict."""
        return tuple(
            str(spec.target)
            for spec in self.input_specs
            if spec.kind is InputKind.BUFFER and not spec.persistent
        )

    @property
    def lifted_tensor_constants(self) -> tuple[str, ...]:
        """The names of the tensors that the program made while it was recorded."""
        return self._targets(InputKind.CONSTANT_TENSOR)

    @property
    def lifted_custom_objs(self) -> tuple[str, ...]:
        return self._targets(InputKind.CUSTOM_OBJ)

    @property
    def user_inputs(self) -> tuple[Any, ...]:
        """The nodes of the user's inputs, by name; values for those that are constants."""
        return tuple(_value(spec.arg) for spec in self.input_specs if spec.kind is InputKind.USER_INPUT)

    @property
    def user_outputs(self) -> tuple[Any, ...]:
        """The nodes of the results, by name; values for those that are constants."""
        kinds = (OutputKind.USER_OUTPUT, OutputKind.LOSS_OUTPUT)
        return tuple(_value(spec.arg) for spec in self.output_specs if spec.kind in kinds)

    @property
    def inputs_to_parameters(self) -> dict[str, str]:
        """Inputs of the graph, and the parameters that they are."""
        return self._inputs(InputKind.PARAMETER)

    @property
    def inputs_to_buffers(self) -> dict[str, str]:
        """Inputs of the graph, and the buffers that they are."""
        return self._inputs(InputKind.BUFFER)

    @property
    def inputs_to_lifted_tensor_constants(self) -> dict[str, str]:
        return self._inputs(InputKind.CONSTANT_TENSOR)

    @property
    def inputs_to_lifted_custom_objs(self) -> dict[str, str]:
        return self._inputs(InputKind.CUSTOM_OBJ)

    @property
    def buffers_to_mutate(self) -> dict[str, str]:
        """Outputs of the graph, and the buffers whose new values they are."""
        return self._outputs(OutputKind.BUFFER_MUTATION)

    @property
    def parameters_to_mutate(self) -> dict[str, str]:
        return self._outputs(OutputKind.PARAMETER_MUTATION)

    @property
    def user_inputs_to_mutate(self) -> dict[str, str]:
        """Outputs of the graph, and the inputs whose new values they are."""
        return self._outputs(OutputKind.USER_INPUT_MUTATION)

    @property
    def backward_signature(self) -> None:
        """The gradients among the outputs: never, as graphs of backward are not exported."""

    def replace_all_uses(self, old: str, new: str) -> None:
        """Renames a node."""
        for argument in self._arguments():
            if argument.name == old:
                argument.name = new

    def _arguments(self) -> Iterable[Any]:
        for spec in (*self.input_specs, *self.output_specs):
            yield spec.arg

    def __str__(self) -> str:
        inputs = "\n".join(map(str, self.input_specs))
        outputs = "\n".join(map(str, self.output_specs))
        return f"\n# inputs\n{inputs}\n\n# outputs\n{outputs}\n"


__getattr__ = _lacking(__name__)
