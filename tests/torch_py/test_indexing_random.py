"""Random index expressions, read, written and differentiated: results, errors and strides are PyTorch's."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.subject import WITH_PEER, torch

_EXPRESSIONS = 250


@pytest.fixture(scope="module")
def peer() -> Any:
    module = pytest.importorskip("torch", reason="PyTorch is not installed")
    if WITH_PEER:
        pytest.skip("PyTorch would be compared with itself")
    return module


class Case:
    """A tensor in some layout and an index, which either library can make."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.shape = [
            self.random.choice([0, 1, 2, 3, 3, 4]) for _ in range(self.random.choice([1, 2, 2, 3, 3, 4]))
        ]
        self.layout = self.random.choice(["contiguous", "permuted", "strided"])
        self.order = self.random.sample(range(len(self.shape)), len(self.shape))
        self.items = self._items()
        self.is_tuple = len(self.items) > 1 or self.random.random() < 0.5

    def __str__(self) -> str:
        return f"{self.layout} {self.order} {self.shape}{self.items}"

    def tensor(self, library: Any) -> Any:
        array = np.arange(float(np.prod(self.shape))).reshape(self.shape)
        if self.layout == "permuted":
            back = [int(i) for i in np.argsort(self.order)]
            return library.from_numpy(np.ascontiguousarray(array.transpose(self.order))).permute(*back)
        if self.layout == "strided":
            wide = library.zeros([2 * size for size in self.shape], dtype=library.float64)
            part = wide[tuple(slice(None, None, 2) for _ in self.shape)]
            part.copy_(library.from_numpy(array))
            return part
        return library.from_numpy(array.copy())

    def index(self, library: Any) -> Any:
        made = [item(library) if callable(item) else item for item in self.items]
        return tuple(made) if self.is_tuple else made[0]

    def _items(self) -> list[Any]:
        items: list[Any] = []
        dim = 0
        for _ in range(self.random.randint(1, len(self.shape) + 1)):
            item, consumed = self._item(dim)
            items.append(item)
            dim += consumed
        return items

    def _item(self, dim: int) -> tuple[Any, int]:
        size = self.shape[dim] if dim < len(self.shape) else 1
        kind = self.random.choice(
            ["int", "slice", "slice", "tensor", "tensor", "list", "array", "mask", "none", "ellipsis", "bool"]
        )

        if kind == "int":
            return self.random.randint(-max(size, 1), max(size, 1) - (self.random.random() < 0.9)), 1

        if kind == "slice":
            start, stop = (
                self.random.choice([None, self.random.randint(-size - 1, size + 1)]) for _ in range(2)
            )
            return slice(start, stop, self.random.choice([None, 1, 2, 3])), 1

        if kind == "mask":
            return _Mask(self.numbers.random(size) < 0.5), 1
        if kind in ("none", "ellipsis"):
            return (None if kind == "none" else ...), 0
        if kind == "bool":
            return self.random.random() < 0.5, 0

        shape = [self.random.choice([1, 2, 3]) for _ in range(self.random.choice([0, 1, 1, 2]))]
        return _Positions(self.numbers.integers(-max(size, 1), max(size, 1), shape), kind), 1


class _Mask:
    def __init__(self, array: Any) -> None:
        self.array = array

    def __repr__(self) -> str:
        return f"mask {self.array.tolist()}"

    def __call__(self, library: Any) -> Any:
        return library.from_numpy(self.array.copy())


class _Positions(_Mask):
    def __init__(self, array: Any, kind: str) -> None:
        super().__init__(array)
        self.kind = kind

    def __repr__(self) -> str:
        return f"{self.kind} {self.array.tolist()}"

    def __call__(self, library: Any) -> Any:
        if self.kind == "tensor":
            return library.from_numpy(self.array.copy()).clone()
        return self.array.tolist() if self.kind == "list" else self.array


def outcome(function: Callable[[], Any]) -> tuple[Any, Exception | None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(), None
        except Exception as error:
            return None, error


def both(case: Case, peer: Any, function: Callable[[Any], Any]) -> tuple[Any, Any] | None:
    """The results of both libraries, or None if both raise the same exception."""
    (ours, mistake), (theirs, expected) = outcome(lambda: function(torch)), outcome(lambda: function(peer))
    assert type(mistake) is type(expected), f"{case}: {mistake!r}, PyTorch: {expected!r}"
    return None if mistake is not None else (ours, theirs)


def assert_same(case: Case, ours: Any, theirs: Any) -> None:
    assert tuple(ours.shape) == tuple(theirs.shape), str(case)
    assert ours.tolist() == theirs.tolist(), str(case)


def significant_strides(tensor: Any) -> list[int]:
    return (
        [stride for stride, size in zip(tensor.stride(), tensor.shape) if size > 1] if tensor.numel() else []
    )


@pytest.mark.parametrize("seed", range(4))
def test_reading(seed: int, peer: Any) -> None:
    for case in map(Case, range(seed * _EXPRESSIONS, (seed + 1) * _EXPRESSIONS)):
        found = both(case, peer, lambda library, case=case: case.tensor(library)[case.index(library)])
        if found is None:
            continue
        assert_same(case, *found)
        assert significant_strides(found[0]) == significant_strides(found[1]), (
            f"{case}: {found[0].stride()}, PyTorch {found[1].stride()}"
        )
        assert (found[0]._base is None) == (found[1]._base is None), f"{case}: only one is a view"


@pytest.mark.parametrize("seed", range(4))
def test_writing_and_gradients(seed: int, peer: Any) -> None:
    for case in map(Case, range(seed * _EXPRESSIONS, (seed + 1) * _EXPRESSIONS)):
        place, error = outcome(lambda case=case: case.tensor(torch)[case.index(torch)])
        shape = [size if case.random.random() < 0.8 else 1 for size in (place.shape if error is None else ())]
        # Integers, whose sums do not depend on the order.
        values = case.numbers.integers(50, 99, shape).astype(np.float64)
        weights = case.numbers.integers(1, 9, case.shape).astype(np.float64)

        def write(library: Any, case: Case = case, values: Any = values, weights: Any = weights) -> Any:
            source = case.tensor(library).detach().requires_grad_()
            written = library.from_numpy(values.copy()).requires_grad_()
            target = source * 1
            target[case.index(library)] = written
            (target * library.from_numpy(weights)).sum().backward()
            return target, source.grad, written.grad

        found = both(case, peer, write)
        if found is None:
            continue
        for ours, theirs in zip(*found):
            assert (ours is None) == (theirs is None), str(case)
            if ours is not None:
                assert_same(case, ours, theirs)
