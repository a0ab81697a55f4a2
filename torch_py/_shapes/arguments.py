"""Tensors without memory that stand for arguments whose sizes vary."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from torch_py import _C
from torch_py._records import Record
from torch_py._shapes.formulas import Formula, Symbol, Term, affine, evaluate, product
from torch_py._subclasses.converter import mark_like, requiring_as, viewed_as
from torch_py._subclasses.fake_tensor import FakeTensorMode
from torch_py._subclasses.unseen import unseen
from torch_py._tensor import Tensor
from torch_py.autograd.grad_mode import inference_mode
from torch_py.fx.node import Node

Numbers = tuple[int, ...]


class NotFollowed(Exception):
    """A program cannot be followed for sizes that vary; the message says why."""


class Geometry(Record):
    """Sizes and strides of a tensor, as numbers and formulas."""

    sizes: tuple[Term, ...]
    strides: tuple[Term, ...]

    def places(self) -> Iterator[tuple[Any, int, int]]:
        """The symbols, each with its dimension and the divisor of that size: the symbol says how often it
        goes into the size."""
        for dim, size in enumerate(self.sizes):
            if not isinstance(size, int):
                divisor, symbol = size.operands if isinstance(size, Formula) else (1, size)
                yield symbol, dim, divisor


def geometry_of(tensor: Tensor, varying: Mapping[int, Term]) -> Geometry:
    """The geometry of `tensor` with other sizes for some dimensions; the tensor keeps the order of its
    strides, and the gaps between rows: those of ``x[:, :-1]`` are one element longer than the rows.

    Raises NotFollowed for a tensor whose strides do not follow from its sizes in this way. What this finds is
    what guards compare strides with (TensorFacts).
    """
    shape, strides = tensor.shape, tensor.stride()
    sizes = tuple(varying.get(dim, size) for dim, size in enumerate(shape))
    factors: dict[int, list[Term]] = {}
    inner = None
    for dim in _from_inside(shape, strides):
        if strides[dim] == 0:  # expanded: the others do not depend on its size
            factors[dim] = [0]
            continue
        if inner is None or all(isinstance(term, int) for term in (*factors[inner], sizes[inner])):
            is_read_once = inner is None or strides[dim] >= strides[inner] * shape[inner]
            factors[dim] = [strides[dim]]
        else:
            quotient, rest = divmod(strides[dim], max(strides[inner], 1))
            gap = quotient - shape[inner]
            is_read_once = rest == 0 and gap >= 0
            factors[dim] = [*factors[inner], affine(1, sizes[inner], gap)]

        if not is_read_once:
            raise NotFollowed("a tensor with sizes that vary has strides that do not follow from them")
        inner = dim
    return Geometry(sizes, tuple(product(*factors[dim]) for dim in range(tensor.dim())))


def are_dense(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether elements with these strides fill memory without gaps, and none is read twice."""
    expected = 1
    for dim in _from_inside(shape, strides):
        if shape[dim] != 1 and strides[dim] != expected:
            return False
        expected *= shape[dim]
    return True


def repeats_elements(tensor: Any) -> bool:
    """Whether several elements of a tensor may have one place in memory, as those of expanded tensors do."""
    reach = 0
    for stride, size in sorted(zip(tensor.stride(), tensor.shape)):
        if size > 1 and stride <= reach:
            return True
        reach += (size - 1) * stride
    return False


def is_dense(tensor: Any) -> bool:
    """Whether a fake tensor has no gaps, and reads no element twice."""
    return tensor.numel() == 0 or are_dense(tensor.shape, tensor.stride())


def _from_inside(shape: Sequence[int], strides: Sequence[int]) -> list[int]:
    """The dimensions, that whose elements are next to each other first."""
    return sorted(range(len(shape)), key=lambda dim: (strides[dim], shape[dim]))


def solved_geometry(
    shapes: Sequence[Numbers], strides: Sequence[Numbers], solve: Callable[[Numbers], Term | None]
) -> tuple[Sequence[Term | None], Sequence[Term | None]]:
    """Sizes and strides of a tensor that has been seen with several sizes, as formulas.

    A stride is most often the product of the sizes of the dimensions inside of it; `solve` finds others.
    """
    sizes = list(map(solve, zip(*shapes)))
    order = _from_inside(shapes[0], strides[0])
    found: list[Term | None] = [None] * len(sizes)
    for position, dim in enumerate(order):
        inner = order[:position]
        numbers = tuple(row[dim] for row in strides)
        factors = [term for i in inner if (term := sizes[i]) is not None]
        is_product = numbers == tuple(math.prod(shape[i] for i in inner) for shape in shapes)
        found[dim] = product(*factors) if is_product and len(factors) == position else solve(numbers)
    return tuple(sizes), tuple(found)


def stand_in(
    mode: FakeTensorMode, tensor: Tensor, geometry: Geometry, values: Mapping[Symbol, int]
) -> Tensor:
    """A fake tensor like `tensor`, which begins at the same place in its memory, with the sizes that
    `geometry` has for some values of the symbols."""
    sizes = tuple(evaluate(size, values) for size in geometry.sizes)
    strides = tuple(evaluate(stride, values) for stride in geometry.strides)
    offset = tensor.storage_offset()
    base = tensor._base
    with inference_mode(tensor.is_inference()):  # whatever the mode of the call
        if base is not None and base.dtype == tensor.dtype:
            memory = _empty(mode, base, (offset + reach(sizes, strides),), (1,))
            fake = viewed_as(mode, memory, tensor, sizes, strides, offset)
        else:
            fake = _empty(mode, tensor, sizes, strides, offset)
    mark_like(fake, tensor)
    return fake  # type: ignore[no-any-return]


def example_of(node: Node, mode: FakeTensorMode, values: Mapping[Symbol, int]) -> Any:
    """What a node gives for some values of the symbols: a fake tensor, or a number."""
    if "sizes" not in node.meta:
        return evaluate(node.meta["val"], values)
    geometry = Geometry(node.meta["sizes"], node.meta["strides"])
    return stand_in(mode, node.meta["val"].detach(), geometry, values)


def _empty(
    mode: FakeTensorMode, tensor: Tensor, sizes: tuple[int, ...], strides: tuple[int, ...], offset: int = 0
) -> Tensor:
    with unseen():
        twin = _C._torch.empty_strided(sizes, strides, dtype=tensor.dtype, device="meta")
        if offset:
            memory = _C._torch.empty(offset + reach(sizes, strides), dtype=tensor.dtype, device="meta")
            twin.set_(memory.untyped_storage(), offset, sizes, strides)
    return requiring_as(mode, mode._wrap(twin, tensor.device), tensor)  # type: ignore[no-any-return]


def reach(sizes: Sequence[int], strides: Sequence[int]) -> int:
    """How much memory a tensor needs, counted in elements."""
    return 0 if 0 in sizes else 1 + sum((size - 1) * stride for size, stride in zip(sizes, strides))


class Arguments:
    """Arguments of a program, of which some are tensors with sizes that vary, or integers that vary."""

    def __init__(
        self,
        values: Sequence[Any],
        geometries: Mapping[int, Geometry],
        numbers: Mapping[int, Symbol] | None = None,
    ) -> None:
        """`geometries` are those of the tensors that vary, by position, and `numbers` are the integers.
        Raises NotFollowed if such a tensor shares memory with another argument."""
        self.values = list(values)
        self.geometries = dict(geometries)
        self.numbers = dict(numbers or {})
        owners: dict[int, int] = {}
        for position, value in enumerate(values):
            if isinstance(value, Tensor):
                first = owners.setdefault(value.untyped_storage()._cdata, position)
                if first != position and {first, position} & geometries.keys():
                    raise NotFollowed("arguments with sizes that vary share memory")

    def for_sizes(self, mode: FakeTensorMode, sizes: Mapping[Symbol, int]) -> list[Any]:
        """The arguments, with fake tensors of these sizes, and numbers, in the place of those that vary."""
        given = list(self.values)
        for position, geometry in self.geometries.items():
            given[position] = stand_in(mode, given[position], geometry, sizes)
        for position, symbol in self.numbers.items():
            given[position] = sizes[symbol]
        return given

    def sources(self) -> dict[Symbol, tuple[int, int | None, int]]:
        """Where the size of each symbol is found: the position of an argument, the dimension, None for an
        argument that is a number, and the divisor of that size."""
        found: dict[Symbol, tuple[int, int | None, int]] = {
            symbol: (position, None, 1) for position, symbol in self.numbers.items()
        }
        for position, geometry in reversed(self.geometries.items()):
            for symbol, dim, divisor in geometry.places():
                found[symbol] = (position, dim, divisor)
        return found
