"""Values of a program in JSON: arguments of operators, terms of sizes, structures of arguments.

A JSON number, text, truth value, null or list is itself; everything else is an object with one key, which
names its kind.
"""

from __future__ import annotations

import math
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping
from typing import Any

import torch_py
from torch_py._shapes.formulas import OPERATIONS, Formula, Symbol
from torch_py._tensor import Tensor
from torch_py.export._archive import ArchiveError
from torch_py.export._merging import SizeOf
from torch_py.export._tensors import TensorReader, TensorWriter, dtype_named
from torch_py.fx.node import Node
from torch_py.utils._pytree import LeafSpec, TreeSpec

_LAYOUTS = {str(value): value for value in vars(torch_py).values() if isinstance(value, torch_py.layout)}
_FORMATS = {
    str(value): value for value in vars(torch_py).values() if isinstance(value, torch_py.memory_format)
}


def written(value: Any, tensors: TensorWriter) -> Any:
    """A value as JSON. Raises NotImplementedError for one that programs cannot be saved with."""
    if value is None or isinstance(value, str) or type(value) in (bool, int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": repr(value)}
    if isinstance(value, complex):
        return {"complex": [written(value.real, tensors), written(value.imag, tensors)]}

    if isinstance(value, Node):
        return {"node": value.name}
    if isinstance(value, Tensor):
        return {"tensor": tensors.add(value)}

    if isinstance(value, list):
        return [written(item, tensors) for item in value]
    if type(value) is tuple or isinstance(value, torch_py.Size):
        return {"tuple": [written(item, tensors) for item in value]}
    if isinstance(value, slice):
        return {"slice": [written(part, tensors) for part in (value.start, value.stop, value.step)]}
    if isinstance(value, dict):
        return {"dict": [[written(k, tensors), written(v, tensors)] for k, v in value.items()]}
    return _written_term_or_type(value)


def _written_term_or_type(value: Any) -> Any:
    if isinstance(value, SizeOf):
        return {"size": [value.position, value.dim]}
    if isinstance(value, Symbol):
        return {"symbol": [value.name, value.min, value.max]}
    if isinstance(value, Formula):
        return {"formula": [value.operation, *(_written_operand(operand) for operand in value.operands)]}

    if isinstance(value, torch_py.dtype):
        return {"dtype": str(value).removeprefix("torch.")}
    if isinstance(value, torch_py.device):
        return {"device": str(value)}
    if isinstance(value, torch_py.layout):
        return {"layout": str(value)}
    if isinstance(value, torch_py.memory_format):
        return {"memory_format": str(value)}
    raise NotImplementedError(
        f"a program with a value of type {type(value).__name__} cannot be saved: {value!r}"
    )


def _written_operand(operand: Any) -> Any:
    return operand if type(operand) in (int, float) else _written_term_or_type(operand)


class ValueReader:
    """Makes values of JSON. Raises ArchiveError for what `written` does not write."""

    def __init__(self, nodes: Mapping[str, Node], tensors: TensorReader) -> None:
        self.nodes = nodes
        self.tensors = tensors

    def read(self, value: Any) -> Any:
        """The value."""
        if value is None or isinstance(value, (str, bool, int, float)):
            return value
        if isinstance(value, list):
            return [self.read(item) for item in value]
        if not isinstance(value, dict) or len(value) != 1:
            raise ArchiveError("a damaged file of a saved program: a value has no kind")
        ((kind, content),) = value.items()
        reader = self._readers.get(kind)
        if reader is None:
            raise ArchiveError(f"a damaged file of a saved program: unknown kind of value {kind!r}")
        try:
            return reader(self, content)
        except (TypeError, ValueError, KeyError, IndexError, OverflowError) as error:
            raise ArchiveError(f"a damaged file of a saved program: bad {kind}: {error!r}") from None

    def _list(self, content: Any, count: int | None = None) -> list[Any]:
        if not isinstance(content, list) or (count is not None and len(content) != count):
            raise ValueError("expected a list")
        return [self.read(item) for item in content]

    def _float(self, content: Any) -> float:
        return {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}[content]

    def _node(self, content: Any) -> Node:
        return self.nodes[content]

    def _dict(self, content: Any) -> dict[Any, Any]:
        return {self.read(key): self.read(item) for key, item in content}

    def _symbol(self, content: Any) -> Symbol:
        name, low, high = content
        if not (isinstance(name, str) and type(low) is int and (high is None or type(high) is int)):
            raise ValueError("expected a name and a range")
        return Symbol(name, low, high)

    def _size(self, content: Any) -> SizeOf:
        position, dim = content
        return SizeOf(int(position), int(dim))

    def _formula(self, content: Any) -> Formula:
        operation, *operands = content
        if operation not in OPERATIONS:
            raise ValueError(f"unknown operation {operation!r}")
        return Formula(operation, tuple(self.read(operand) for operand in operands))

    _readers: Mapping[str, Callable[[ValueReader, Any], Any]] = {
        "complex": lambda self, content: complex(*self._list(content, 2)),
        "device": lambda self, content: torch_py.device(str(content)),
        "dict": _dict,
        "dtype": lambda self, content: dtype_named(content),
        "float": _float,
        "formula": _formula,
        "layout": lambda self, content: _LAYOUTS[content],
        "memory_format": lambda self, content: _FORMATS[content],
        "node": _node,
        "size": _size,
        "slice": lambda self, content: slice(*self._list(content, 3)),
        "symbol": _symbol,
        "tensor": lambda self, content: self.tensors[content],
        "tuple": lambda self, content: tuple(self._list(content)),
    }


# Structures
# ------------------------------------------------------------

_PLAIN_NODES = {kind.__name__: kind for kind in (tuple, list, dict, OrderedDict, deque)}
REGISTERED: dict[str, type] = {}  # by register_dataclass


def written_spec(spec: TreeSpec) -> Any:
    """A structure as JSON. Raises NotImplementedError for classes without a name in files."""
    if spec.is_leaf():
        return None
    children = [written_spec(child) for child in spec.children_specs]
    name = next((n for n, kind in {**_PLAIN_NODES, **REGISTERED}.items() if kind is spec.type), None)
    if name is None:
        raise NotImplementedError(
            f"a program with arguments or results of type {spec.type.__name__} cannot be saved; "
            f"register it with "
            "torch.export.register_dataclass"
        )
    context = spec.context
    if isinstance(context, list) and not all(isinstance(key, (str, int, bool, float)) for key in context):
        raise NotImplementedError("a program with a dict whose keys are not texts or numbers cannot be saved")
    return [name, list(context) if isinstance(context, (list, tuple)) else context, children]


def read_spec(content: Any) -> TreeSpec:
    """The structure. Raises ArchiveError for what `written_spec` does not write."""
    if content is None:
        return LeafSpec()
    if not isinstance(content, list) or len(content) != 3 or not isinstance(content[2], list):
        raise ArchiveError("a damaged file of a saved program: the structure of the arguments is missing")

    name, context, children = content
    kind = {**_PLAIN_NODES, **REGISTERED}.get(name) if isinstance(name, str) else None
    if kind is None:
        raise ArchiveError(
            f"the program has arguments or results of a class that was saved as {name!r}; register it with "
            "torch.export.register_dataclass before loading"
        )
    if kind in (dict, OrderedDict) and (not isinstance(context, list) or len(context) != len(children)):
        raise ArchiveError("a damaged file of a saved program: the keys of a dict are missing")
    if isinstance(context, list) and any(isinstance(key, (list, dict)) for key in context):
        raise ArchiveError("a damaged file of a saved program: a key is not a text or number")
    return TreeSpec(kind, context, tuple(map(read_spec, children)))
