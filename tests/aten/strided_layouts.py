"""Loops over tensors of random layouts, compared with NumPy; prints what differs.

Run as a program, so that an environment variable can choose the instruction set: SEED CASES.
"""

from __future__ import annotations

import random
import sys
from typing import Any

import numpy as np

import torch_py as torch

_SIZES = [0, 1, 2, 3, 4, 5, 7, 16, 17, 31, 33, 64, 65, 130, 200]
_DTYPES = ["bool", "uint8", "int16", "int32", "float32", "float64", "complex64", "complex128"]
_LARGEST = 60_000
_LARGEST_BASE = 500_000


class Layout:
    """A view of a new tensor: other order of dimensions, steps, offsets, repeated dimensions."""

    def __init__(self, choose: random.Random, shape: list[int]) -> None:
        rank = len(shape)
        self.order = choose.sample(range(rank), rank)
        self.steps = [choose.choice([1, 1, 1, 2, 3, 4, 5]) for _ in shape]
        self.offsets = [choose.choice([0, 0, 1, 3]) for _ in shape]
        self.repeated = [choose.random() < 0.15 for _ in shape]
        self.shape = shape
        if np.prod(self.base_sizes()) > _LARGEST_BASE:
            self.steps = [1] * rank
            self.offsets = [0] * rank

    def __str__(self) -> str:
        return f"order {self.order} steps {self.steps} offsets {self.offsets} repeated {self.repeated}"

    def base_sizes(self) -> list[int]:
        return [
            1 if repeated else size * step + offset
            for size, step, offset, repeated in zip(self.shape, self.steps, self.offsets, self.repeated)
        ]

    def without_repetitions(self) -> Layout:
        self.repeated = [False] * len(self.shape)
        return self

    def array(self, numbers: np.random.Generator, dtype: str) -> Any:
        """The view's base, whose dimensions lie in memory in `order`."""
        sizes = self.base_sizes()
        base = numbers.integers(-100, 100, [sizes[d] for d in self.order])
        return base.astype(dtype)

    def view(self, base: Any) -> Any:
        """The view of an array or tensor."""
        back = [self.order.index(d) for d in range(len(self.shape))]
        turned = base.transpose(back) if isinstance(base, np.ndarray) else base.permute(*back)
        for d, size in enumerate(self.shape):
            if self.repeated[d]:
                continue
            end = self.offsets[d] + size * self.steps[d]
            part = [slice(None)] * len(self.shape)
            part[d] = slice(self.offsets[d], end, self.steps[d])
            turned = turned[tuple(part)]
        if isinstance(turned, np.ndarray):
            return np.broadcast_to(turned, self.shape) if any(self.repeated) else turned
        return turned.expand(*self.shape)


class Case:
    def __init__(self, seed: int) -> None:
        self.choose = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.seed = seed
        self.shape = self._shape()
        self.dtype = self.choose.choice(_DTYPES)

    def _shape(self) -> list[int]:
        rank = self.choose.choice([1, 2, 2, 2, 3, 3, 4, 5])
        while True:
            shape = [self.choose.choice(_SIZES) for _ in range(rank)]
            if np.prod([max(1, size) for size in shape]) <= _LARGEST:
                return shape

    def operand(self, written: bool = False) -> tuple[Any, Any, Any, str]:
        """An array and a tensor of equal values, in a random layout, and the tensor's base."""
        layout = Layout(self.choose, self.shape)
        if written:
            layout.without_repetitions()
        base = layout.array(self.numbers, self.dtype)
        tensor = torch.from_numpy(base.copy())
        return layout.view(base), layout.view(tensor), tensor, f"{layout} of {base.shape}"

    def problems(self) -> list[str]:
        a, x, _, layout_a = self.operand()
        b, y, _, layout_b = self.operand()
        text = f"seed {self.seed}: {self.dtype} {self.shape}; {layout_a}; {layout_b}"

        other = self.choose.choice([dtype for dtype in _DTYPES if dtype[:7] != "complex"])
        sum_or_or = np.logical_or if self.dtype == "bool" else np.add
        expected = {
            "contiguous": (a, lambda: x.contiguous()),
            "clone": (a, lambda: x.clone()),
            "add": (sum_or_or(a, b), lambda: x + y),
            "where": (np.where(a == b, a, b), lambda: torch.where(x == y, x, y)),
            "add out": (sum_or_or(a, b), lambda: self.written(lambda out: torch.add(x, y, out=out))),
            "copy_": (a, lambda: self.written(lambda out: out.copy_(x))),
        }
        if self.dtype[:7] != "complex":
            expected["to"] = (a.astype(other), lambda: x.to(getattr(torch, other)))
        found = [
            f"{name}: {text}"
            for name, (wanted, call) in expected.items()
            if not np.array_equal(call().numpy(), wanted)
        ]
        return found + self.problems_in_place(b, y, text)

    def written(self, write: Any) -> Any:
        """The written view of a new tensor, after a check that nothing around it has changed."""
        array, view, base, _ = self.operand(written=True)
        array = array.copy()
        before = base.clone()
        write(view)
        result = view.clone()
        view.copy_(torch.from_numpy(array))
        if not np.array_equal(base.numpy(), before.numpy()):
            raise AssertionError(f"seed {self.seed}: elements outside of the view were written")
        return result

    def problems_in_place(self, b: Any, y: Any, text: str) -> list[str]:
        a, x, _, layout = self.operand(written=True)
        wanted = np.logical_or(a, b) if self.dtype == "bool" else a + b
        x += y
        return [] if np.array_equal(x.numpy(), wanted) else [f"add_: {text}; in {layout}"]


def main() -> int:
    first, count = int(sys.argv[1]), int(sys.argv[2])
    problems = [problem for seed in range(first, first + count) for problem in Case(seed).problems()]
    print("\n".join(problems) or "ok")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
