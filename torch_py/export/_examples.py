"""Sizes for the recordings of a program: which symbol each dynamic dimension has, and examples of them."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import torch_py
from torch_py._shapes.formulas import Symbol, Term, affine
from torch_py._tensor import Tensor
from torch_py.export._errors import ExportError
from torch_py.export.dynamic_shapes import Dim, _Hint

_RECORDINGS = 4  # and one more for each further symbol
_FARTHEST = 16  # from the example


@dataclass(frozen=True)
class Dimension:
    """A dynamic dimension of a leaf: its size is factor * symbol + offset."""

    leaf: int
    dim: int
    symbol: Symbol
    factor: int = 1
    offset: int = 0

    @property
    def term(self) -> Term:
        return affine(self.factor, self.symbol, self.offset)


@dataclass
class Dimensions:
    """The dynamic dimensions of all leaves, with the sizes of the example."""

    rows: list[Dimension] = field(default_factory=list)
    example: dict[Symbol, int] = field(default_factory=dict)
    nameless: set[Symbol] = field(default_factory=set)  # of Dim.AUTO and Dim.DYNAMIC
    automatic: set[Symbol] = field(default_factory=set)  # of Dim.AUTO: may turn out to be static

    @property
    def symbols(self) -> list[Symbol]:
        return list(self.example)

    def groups(self) -> list[list[Symbol]]:
        """The nameless symbols, grouped by their size in the example and by whether they are automatic."""
        found: dict[tuple[int, bool], list[Symbol]] = {}
        for symbol, size in self.example.items():
            if symbol in self.nameless:
                found.setdefault((size, symbol in self.automatic), []).append(symbol)
        return list(found.values())

    def with_means(self, means: Mapping[Symbol, Symbol]) -> Dimensions:
        """The same with nameless symbols replaced by others. Automatic ones without another are static."""
        kept = {s: means.get(s, s) for s in self.example if s in means or s not in self.automatic}
        return Dimensions(
            [replace(row, symbol=kept[row.symbol]) for row in self.rows if row.symbol in kept],
            {kept[symbol]: size for symbol, size in self.example.items() if symbol in kept},
            self.nameless & set(kept.values()),
            self.automatic & set(kept.values()),
        )

    def joined(self) -> Dimensions:
        """The same, where nameless dimensions that are equal in the example are taken to be always equal."""
        return self.with_means({symbol: group[0] for group in self.groups() for symbol in group})


def read_dimensions(given: list[dict[int, Any]], leaves: list[Any], names: list[str]) -> Dimensions:
    """The dimensions of what a program has declared. Raises ExportError where the example contradicts it."""
    found = Dimensions()
    by_name: dict[str, Symbol] = {}
    for leaf, row in enumerate(given):
        for dim, declared in row.items():
            size = leaves[leaf].shape[dim]
            if isinstance(declared, Dim):
                _add_named(found, by_name, declared, leaf, dim, size, names[leaf])
                continue

            symbol = Symbol(f"s{len(found.nameless)}")
            found.example[symbol] = size
            found.rows.append(Dimension(leaf, dim, symbol))
            found.nameless.add(symbol)
            if declared is _Hint.AUTO:
                found.automatic.add(symbol)
    return found


def _add_named(
    found: Dimensions, by_name: dict[str, Symbol], declared: Dim, leaf: int, dim: int, size: int, name: str
) -> None:
    root = declared.root
    symbol = by_name.setdefault(root.__name__, Symbol(root.__name__, root.min, root.max))
    if (symbol.min, symbol.max) != (root.min, root.max):
        raise ExportError(f"Found different definitions of Dim('{root.__name__}') in `dynamic_shapes`")

    example, rest = divmod(size - declared.offset, declared.factor)
    if rest or found.example.setdefault(symbol, example) != example:
        raise ExportError(
            f"Constraints violated ({root.__name__})! {name}.shape[{dim}] is declared as "
            f"{declared.__name__}, but is {size}"
            + (f" where {root.__name__} is {found.example[symbol]}" if symbol in found.example else "")
        )
    found.rows.append(Dimension(leaf, dim, symbol, declared.factor, declared.offset))


def sizes_to_record(dimensions: Dimensions) -> list[dict[Symbol, int]]:
    """Sizes for several recordings, the example first unless sizes in it are 0 or 1, which are special.

    The sizes of different symbols have nothing to do with each other, and differ within a recording.
    """
    if not dimensions.example:
        return [{}]
    count = _RECORDINGS + min(len(dimensions.example), 4) - 1
    has_example = all(size > 1 for size in dimensions.example.values())
    recordings: list[dict[Symbol, int]] = [dict(dimensions.example)] if has_example else []

    candidates = {symbol: _candidates(symbol, size) for symbol, size in dimensions.example.items()}
    for number in range(len(recordings), count):
        sizes: dict[Symbol, int] = {}
        for symbol, possible in candidates.items():
            free = [size for size in possible if size not in sizes.values()] or possible
            sizes[symbol] = free[number % len(free)]
        recordings.append(sizes)
    return recordings


def _candidates(symbol: Symbol, example: int) -> list[int]:
    """Sizes to record, in an order of its own for each symbol: above the example if the range has enough
    of them, or else below it."""

    def allowed(sizes: Iterable[int]) -> list[int]:
        return [size for size in sizes if symbol.allows(size) and size != example]

    found = allowed(range(max(example, 3) + 1, max(example, 3) + _FARTHEST))
    if len(found) < _RECORDINGS:
        found += allowed(range(2, example))
    if not found:
        found = allowed((1, 2, 3))
    if not found:
        raise ExportError(f"Dim('{symbol}'): the range from {symbol.min} to {symbol.max} has one size only")
    random.Random(symbol.name).shuffle(found)
    return found


def leaves_of_sizes(leaves: list[Any], dimensions: Dimensions, sizes: dict[Symbol, int]) -> list[Any]:
    """The leaves with other sizes: rows of the example, repeated or left out."""
    resized = list(leaves)
    for row in dimensions.rows:
        tensor = resized[row.leaf]
        size = row.factor * sizes[row.symbol] + row.offset
        if tensor.shape[row.dim] != size:
            resized[row.leaf] = _with_size(tensor, row.dim, size)
    return resized


def _with_size(tensor: Tensor, dim: int, size: int) -> Tensor:
    before = tensor.shape[dim]
    with torch_py.no_grad():
        if before == 0:
            shape = list(tensor.shape)
            shape[dim] = size
            return tensor.new_zeros(shape)
        rows = torch_py.arange(size, device=tensor.device) % before
        return tensor.index_select(dim, rows).requires_grad_(tensor.requires_grad)


def with_other_values(leaves: list[Any], seed: int) -> list[Any]:
    """Tensors of the same shapes, with the values of the given ones shuffled, with other signs, or zero."""
    with torch_py.random.fork_rng(devices=[]), torch_py.no_grad():
        torch_py.manual_seed(seed)
        return [_redrawn(leaf) if isinstance(leaf, Tensor) and leaf.numel() else leaf for leaf in leaves]


def _redrawn(tensor: Tensor) -> Tensor:
    places = torch_py.randint(0, tensor.numel(), (tensor.numel(),), device=tensor.device)
    drawn = tensor.detach().reshape(-1)[places]
    if tensor.dtype.is_floating_point or tensor.dtype.is_complex:
        drawn = drawn * torch_py.randint(-1, 2, drawn.shape, device=tensor.device)
    elif tensor.dtype is torch_py.bool:
        drawn = torch_py.rand(drawn.shape, device=tensor.device) < 0.5
    redrawn = torch_py.empty_like(tensor)
    redrawn.copy_(drawn.to(tensor.dtype).view(tensor.shape))
    return redrawn.requires_grad_(tensor.requires_grad)
