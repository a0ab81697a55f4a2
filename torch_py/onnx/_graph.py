"""The ONNX graph under construction: its nodes, initializers and names, and sizes that are computed when the
exported model runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch_py
from torch_py import _C
from torch_py._tensor import Tensor
from torch_py.onnx._calls import Origin, leaves_of
from torch_py.onnx._sizes import Formula, Size, Varying, formula
from torch_py.onnx._types import NotAccepted, dtypes_of_node, onnx_dtype
from torch_py.onnx.errors import SymbolicValueError, UnsupportedOperatorError


@dataclass(frozen=True)
class Operand:
    """A tensor of the graph."""

    name: str
    shape: tuple[Size, ...]
    dtype: _C.dtype

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.shape)


@dataclass
class Node:
    """A call that is being written: its arguments by name and its results."""

    name: str
    overload: str  # "add_.Tensor"
    arguments: dict[str, Any]
    results: list[Operand | None]
    origin: Origin = field(default_factory=Origin)

    def __getitem__(self, argument: str) -> Any:
        if argument not in self.arguments:  # of an overload that the rule does not know
            raise self.unsupported(f"cannot be exported with arguments {sorted(self.arguments)}")
        return self.arguments[argument]

    def get(self, argument: str, default: Any = None) -> Any:
        """The value of `argument`, or `default` if the operator does not have it."""
        return self.arguments.get(argument, default)

    @property
    def result(self) -> Operand:
        """The first result."""
        found = self.results[0]
        assert found is not None
        return found

    def unsupported(self, reason: str) -> UnsupportedOperatorError:
        """The error to raise because the call cannot be exported."""
        return UnsupportedOperatorError(self.name, reason, self.origin)

    def refuse(self, argument: str, *accepted: Any) -> None:
        """Raises UnsupportedOperatorError unless the argument has one of the accepted values."""
        if self.get(argument) not in accepted:
            raise self.unsupported(f"cannot be exported with {argument}={self.get(argument)!r}")

    def number(self, argument: str) -> Any:
        """The value of an argument that must not depend on a dynamic dimension or an input."""
        value = self[argument]
        if isinstance(value, (Varying, Operand)):
            where = "dynamic dimension" if isinstance(value, Varying) else "tensor"
            raise self.unsupported(f"cannot be exported with {argument} from a {where}")
        return value

    def dim(self, argument: str = "dim", rank: int | None = None) -> int:
        """A dimension, counted from the front."""
        value = self.number(argument)
        rank = self.arguments["self"].rank if rank is None else rank
        return int(value) % max(rank, 1)


class Graph:
    """Collects nodes and initializers; every method that adds a node returns the names of its outputs."""

    def __init__(self, opset: int) -> None:
        self.opset = opset
        self.nodes: list[Any] = []
        self.initializers: dict[str, Any] = {}
        self.dimensions: dict[tuple[int, ...], tuple[str, int]] = {}  # where to read each varying size
        self.input_dimensions: list[tuple[int, ...]] = []
        self.names: set[str] = set()
        self.dtypes: dict[str, _C.dtype] = {}  # of everything in the graph, by name
        self._constants: dict[tuple[Any, ...], str] = {}
        self._sizes: dict[tuple[Any, ...], str] = {}
        self.scope = ""
        self.current: Node | None = None

    def unique(self, name: str) -> str:
        """`name`, with a number appended if it is already taken."""
        candidate = name
        count = 0
        while candidate in self.names:
            count += 1
            candidate = f"{name}_{count}"
        self.names.add(candidate)
        return candidate

    def op(self, op_type: str, *inputs: Operand | str | None, outputs: int = 1, **attributes: Any) -> Any:
        """Adds a node and returns the name of its output, or a tuple of names.

        Attributes that are None are left out. Identity adds nothing and returns the name of its input.
        """
        if op_type == "Identity":
            return _name(inputs[0])
        return self.node(op_type, *inputs, outputs=outputs, **attributes)

    def node(self, op_type: str, *inputs: Operand | str | None, outputs: int = 1, **attributes: Any) -> Any:
        """Like `op`, but adds a node for Identity as well."""
        from onnx import helper

        given = [_name(i) for i in inputs]
        while given and not given[-1]:
            given.pop()
        kept = {key: value for key, value in attributes.items() if value is not None}

        for key, value in kept.items():
            if any(isinstance(leaf, Varying) for leaf in leaves_of(value)):
                assert self.current is not None
                raise self.current.unsupported(f"cannot be exported with {key} from a dynamic dimension")

        # Integers of a dtype that the operator does not accept are computed in a wider one.
        dtypes = [self.dtypes[name] if name else None for name in given]
        try:
            taken, returned, wanted = dtypes_of_node(op_type, self.opset, dtypes, outputs, kept)
        except NotAccepted as error:
            assert self.current is not None
            reason = f"cannot be exported for {error}, which ONNX's {op_type} does not accept"
            raise self.current.unsupported(reason) from None
        given = [self._in_dtype(name, dtype) for name, dtype in zip(given, taken)]

        stem = f"{self.scope}.{op_type}" if self.scope else op_type
        names = [self.unique(f"{stem}_output") for _ in range(outputs)]
        self.dtypes |= zip(names, returned)
        self.nodes.append(helper.make_node(op_type, given, names, self.unique(stem), **kept))

        names = [self._in_dtype(name, dtype) for name, dtype in zip(names, wanted)]
        return names[0] if outputs == 1 else tuple(names)

    def _in_dtype(self, name: str, dtype: _C.dtype | None) -> str:
        return name if dtype is None or dtype == self.dtypes[name] else self.to(name, dtype)

    # -- constants ------------------------------------------------------------

    def initializer(self, tensor: Tensor, name: str) -> str:
        """Stores `tensor` in the graph and returns its name."""
        from onnx import TensorProto

        name = self.unique(name)
        proto = TensorProto(name=name, data_type=onnx_dtype(tensor.dtype), dims=list(tensor.shape))
        plain = tensor.detach().cpu().contiguous().reshape(-1)
        proto.raw_data = plain.view(torch_py.uint8).numpy().tobytes() if plain.numel() else b""
        self.initializers[name] = proto
        self.dtypes[name] = tensor.dtype
        return name

    def constant(self, values: Any, dtype: _C.dtype | None = None) -> str:
        """Stores numbers as an initializer; equal ones are shared."""
        dtype = torch_py.int64 if dtype is None else dtype
        key = (repr(values), str(dtype))
        if key not in self._constants:
            self._constants[key] = self.initializer(torch_py.tensor(values, dtype=dtype), "constant")
        return self._constants[key]

    # -- types ------------------------------------------------------------

    def cast(self, value: Any, dtype: _C.dtype) -> str:
        """A tensor or number, converted to `dtype`."""
        if isinstance(value, Operand):
            return value.name if value.dtype == dtype else self.op("Cast", value, to=onnx_dtype(dtype))
        if isinstance(value, Varying):
            return self._varying_scalar(value, dtype)
        return self.constant(_fitting(value, dtype), dtype)

    def to(self, name: str, dtype: _C.dtype) -> str:
        """The tensor `name`, converted to `dtype`."""
        return str(self.op("Cast", name, to=onnx_dtype(dtype)))

    def choose(self, condition: str, one: str, other: str, dtype: _C.dtype) -> str:
        """Where. For bool it is written in logic, because onnxruntime's Where does not accept bool."""
        if dtype != torch_py.bool:
            return str(self.op("Where", condition, one, other))
        chosen = self.op("And", condition, one)
        return str(self.op("Or", chosen, self.op("And", self.op("Not", condition), other)))

    def like(self, value: Any, operand: Operand) -> str:
        """A tensor or number in the dtype of `operand`."""
        return self.cast(value, operand.dtype)

    # -- sizes ------------------------------------------------------------

    def declare(self, operand: Operand, is_input: bool = False) -> None:
        """Records the dtype of a tensor of the graph, and where to read its varying sizes."""
        self.dtypes[operand.name] = operand.dtype
        for axis, size in enumerate(operand.shape):
            if isinstance(size, Varying) and size.values not in self.dimensions:
                self.dimensions[size.values] = (operand.name, axis)
                if is_input:
                    self.input_dimensions.append(size.values)

    def sizes(self, values: Sequence[Any]) -> str:
        """Integers as a one-dimensional tensor."""
        if not any(isinstance(v, (Varying, Operand)) for v in values):
            return self.constant([int(v) for v in values])
        parts = [self.size(v) for v in values]
        return parts[0] if len(parts) == 1 else str(self.op("Concat", *parts, axis=0))

    def size(self, value: Any) -> str:
        """An integer as a tensor of one element."""
        if isinstance(value, Operand):
            return str(self.op("Reshape", self.cast(value, torch_py.int64), self.constant([1])))
        if not isinstance(value, Varying):
            return self.constant([int(value)])
        if value.values not in self._sizes:
            self._sizes[value.values] = self._computed(value.values)
        return self._sizes[value.values]

    def _computed(self, values: tuple[int, ...]) -> str:
        if values in self.dimensions:
            return self.dimension(*self.dimensions[values])
        found = formula(values, self.input_dimensions)

        if found is None:
            others = list(self.dimensions)
            found = formula(values, others) if len(others) < 64 else None
            if found is None:
                raise self._unexplained(values)
            return self._evaluated(found, others)
        return self._evaluated(found, self.input_dimensions)

    def dimension(self, tensor: str, axis: int) -> str:
        """The size of a dimension of `tensor`, read when the model runs."""
        if self.opset >= 15:
            return str(self.op("Shape", tensor, start=axis, end=axis + 1))
        return str(self.op("Gather", self.op("Shape", tensor), self.constant([axis]), axis=0))

    def _evaluated(self, found: Formula, dims: Sequence[tuple[int, ...]]) -> str:
        factors = [self.size(Varying(dims[index])) for index in found.dims]
        value = factors[0] if len(factors) == 1 else str(self.op("Mul", *factors))

        steps = (
            ("Mul", found.numerator, 1),
            ("Add", found.offset, 0),
            ("Div", found.denominator, 1),
            ("Add", found.added, 0),
            ("Mod", found.modulus, 1),
        )

        for op_type, number, neutral in steps:
            if number != neutral:
                value = str(self.op(op_type, value, self.constant([number])))
        return value

    def _varying_scalar(self, value: Varying, dtype: _C.dtype) -> str:
        """A number that depends on dynamic dimensions: an integer formula, its root or a reciprocal."""
        scalar = self.constant([])
        if all(isinstance(v, int) for v in value.values):
            return self.to(self.op("Reshape", self.size(value), scalar), dtype)

        for function, nodes in _INVERSES:
            originals = [function(v) for v in value.values]
            rounded = tuple(round(v) for v in originals)
            is_integer = all(abs(r - v) <= 1e-9 * max(1.0, abs(v)) for r, v in zip(rounded, originals))
            if is_integer and self._explains(rounded):
                result = self.to(self.op("Reshape", self.size(Varying(rounded)), scalar), dtype)
                for op_type in nodes:
                    result = str(self.op(op_type, result))
                return result
        raise self._unexplained(value.values)

    def _explains(self, values: tuple[int, ...]) -> bool:
        return len(set(values)) > 1 and (
            values in self.dimensions or formula(values, self.input_dimensions) is not None
        )

    def _unexplained(self, values: tuple[Any, ...]) -> SymbolicValueError:
        where = ""
        if self.current is not None:
            where = f"in {self.current.name}{self.current.origin}: "
        return SymbolicValueError(
            f"torch.onnx.export: {where}a number depends on dynamic dimensions in a way that was not found "
            f"out: it is {values} where the dynamic dimensions are {self.input_dimensions}"
        )


# A function that makes such a number an integer, and the nodes that undo it.
_INVERSES: tuple[tuple[Any, tuple[str, ...]], ...] = (
    (lambda v: v, ()),
    (lambda v: v * v, ("Sqrt",)),
    (lambda v: 1 / v if v else 0.0, ("Reciprocal",)),
    (lambda v: 1 / (v * v) if v else 0.0, ("Sqrt", "Reciprocal")),
)


def common_dtype(*values: Any) -> Any:
    """The dtype in which tensors and numbers are combined."""
    examples = [_example(value) for value in values]
    result = examples[0]
    dtype = result.dtype if isinstance(result, Tensor) else None
    for other in examples[1:]:
        dtype = torch_py.result_type(result, other)
        result = result + other if isinstance(result, Tensor) or isinstance(other, Tensor) else result
    return dtype


def _example(value: Any) -> Any:
    if isinstance(value, Varying):
        return value.values[0]
    return torch_py.zeros((1,) * value.rank, dtype=value.dtype) if isinstance(value, Operand) else value


def _name(value: Operand | str | None) -> str:
    return value.name if isinstance(value, Operand) else value or ""


def _fitting(value: Any, dtype: _C.dtype) -> Any:
    """A number that the dtype can hold: for integer dtypes infinities become the largest or lowest value."""
    if not dtype.is_floating_point and not dtype.is_complex and isinstance(value, float) and dtype != _C.bool:
        info = torch_py.iinfo(dtype)
        return info.max if value >= info.max else info.min if value <= info.min else int(value)
    return value
