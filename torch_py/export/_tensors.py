"""Tensors of saved programs: their memory as bytes, and a description of each in JSON."""

from __future__ import annotations

from typing import Any

import torch_py
from torch_py._tensor import Tensor
from torch_py.export._archive import ArchiveError
from torch_py.nn.parameter import Parameter

_ALIGNMENT = 64
_DTYPES = {
    str(value).removeprefix("torch."): value
    for value in vars(torch_py).values()
    if isinstance(value, torch_py.dtype)
}


def dtype_named(name: Any) -> Any:
    """The dtype; ArchiveError for another name."""
    if not isinstance(name, str) or name not in _DTYPES:
        raise ArchiveError(f"a damaged file of a saved program: unknown dtype {name!r}")
    return _DTYPES[name]


class TensorWriter:
    """Collects tensors. Those that share memory share it in the file, too."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.data = bytearray()
        self._numbers: dict[int, tuple[Tensor, int]] = {}
        self._storages: dict[int, tuple[int, int]] = {}

    def add(self, tensor: Tensor) -> int:
        """The number of a tensor in the file."""
        if id(tensor) not in self._numbers:
            self._numbers[id(tensor)] = tensor, len(self.rows)
            self.rows.append(self._row(tensor))
        return self._numbers[id(tensor)][1]

    def _row(self, tensor: Tensor) -> dict[str, Any]:
        plain = tensor.detach()
        if plain.device.type != "cpu":
            plain = plain.cpu()
        start, size = self._bytes_of(plain)
        return {
            "dtype": str(tensor.dtype).removeprefix("torch."),
            "shape": list(tensor.shape),
            "stride": list(plain.stride()),
            "offset": plain.storage_offset(),
            "start": start,
            "size": size,
            "parameter": isinstance(tensor, Parameter),
            "requires_grad": tensor.requires_grad,
        }

    def _bytes_of(self, tensor: Tensor) -> tuple[int, int]:
        storage = tensor.untyped_storage()
        address = storage._address()
        size = storage.nbytes()
        if size == 0:
            return 0, 0
        if address not in self._storages:
            self.data.extend(bytes(-len(self.data) % _ALIGNMENT))
            flat = torch_py.empty(0, dtype=torch_py.uint8).set_(storage, 0, (size,), (1,))
            self._storages[address] = len(self.data), size
            self.data.extend(flat.numpy().tobytes())
        return self._storages[address]


class TensorReader:
    """Makes the tensors of a file. Descriptions that do not fit the bytes raise ArchiveError."""

    def __init__(self, rows: Any, data: bytes) -> None:
        if not isinstance(rows, list):
            raise ArchiveError("a damaged file of a saved program: the list of tensors is missing")
        self._rows = rows
        self._data = data
        self._tensors: dict[int, Tensor] = {}
        self._storages: dict[tuple[int, int], Tensor] = {}

    def __getitem__(self, number: Any) -> Tensor:
        if type(number) is not int or not 0 <= number < len(self._rows):
            raise ArchiveError(f"a damaged file of a saved program: no tensor {number!r}")
        if number not in self._tensors:
            self._tensors[number] = self._made(self._rows[number])
        return self._tensors[number]

    def _made(self, row: Any) -> Tensor:
        if not isinstance(row, dict):
            raise ArchiveError("a damaged file of a saved program: the description of a tensor is missing")
        dtype = dtype_named(row.get("dtype"))
        shape, stride = _sizes(row.get("shape")), _sizes(row.get("stride"))
        start, size, offset = _sizes([row.get("start"), row.get("size"), row.get("offset")])
        if len(shape) != len(stride) or start + size > len(self._data):
            raise ArchiveError("a damaged file of a saved program: a tensor lies outside of its bytes")

        last = offset + sum((length - 1) * step for length, step in zip(shape, stride))
        if 0 not in shape and (last + 1) * dtype.itemsize > size:
            raise ArchiveError("a damaged file of a saved program: a tensor lies outside of its bytes")

        tensor = torch_py.empty(0, dtype=dtype)
        if 0 in shape:
            return _with_gradient(tensor.new_empty(shape), row)
        memory = self._memory(start, size)
        if dtype is torch_py.bool and int(memory.max()) > 1:
            raise ArchiveError("a damaged file of a saved program: a bool has other bytes than 0 and 1")
        # Not a view: tensors that share memory are independent of each other for autograd.
        return _with_gradient(tensor.set_(memory.untyped_storage(), offset, shape, stride), row)

    def _memory(self, start: int, size: int) -> Tensor:
        if (start, size) not in self._storages:
            owned = bytearray(self._data[start : start + size])
            self._storages[start, size] = torch_py.frombuffer(owned, dtype=torch_py.uint8)
        return self._storages[start, size]


def _sizes(values: Any) -> list[int]:
    """Integers that are not negative; ArchiveError for anything else."""
    if not isinstance(values, list) or len(values) > 64:
        raise ArchiveError("a damaged file of a saved program: a shape is missing")
    if any(type(value) is not int or not 0 <= value < 2**63 for value in values):
        raise ArchiveError("a damaged file of a saved program: a size is not a number")
    return values


def _with_gradient(tensor: Tensor, row: dict[str, Any]) -> Tensor:
    differentiable = tensor.dtype.is_floating_point or tensor.dtype.is_complex
    requires_grad = bool(row.get("requires_grad")) and differentiable
    if row.get("parameter"):
        return Parameter(tensor, requires_grad=requires_grad)
    return tensor.requires_grad_() if requires_grad else tensor
