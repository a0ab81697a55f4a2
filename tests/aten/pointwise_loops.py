"""Pointwise loops over operands of every form and length, for one instruction set.

Each element must have the bits of a loop over that element alone, whatever its place in a tensor. Prints
"ok" if it has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

import torch_py as torch

FUNCTIONS: dict[str, Callable[..., torch.Tensor]] = {
    "add": lambda a, b: torch.add(a, b, alpha=3),
    "div": torch.div,
    "sigmoid": lambda a, _: torch.sigmoid(a),
    "addcmul": lambda a, b: torch.addcmul(a, b, b, value=0.5),
    "expm1": lambda a, _: torch.expm1(a),  # converted by blocks
    "less": torch.lt,
    "times number": lambda a, _: a * 1.7,
    "number over": lambda a, _: 0.3 / a,
}
DTYPES = (torch.float32, torch.float16, torch.bfloat16, torch.float64)
LENGTHS = (1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 64, 255, 256, 257, 530)


def forms(values: torch.Tensor) -> Iterator[tuple[str, torch.Tensor]]:
    """Tensors of the same length as `values`: in place, strided, reversed and repeated."""
    length = len(values)
    yield "contiguous", values
    yield "unaligned", torch.cat([values[:1], values])[1:]
    for step in (2, 3, 5):
        yield f"every {step}", torch.stack([values] * step, 1).flatten()[::step]
    yield "repeated", values[:1].expand(length)


def bits(tensor: torch.Tensor) -> np.ndarray:
    size = tensor.element_size()
    view = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[size]
    return tensor.contiguous().view(view).numpy()


def values_of(tensor: torch.Tensor) -> np.ndarray:
    """The bits, but one pattern for every NaN: which it has is not specified."""
    if tensor.is_floating_point():
        tensor = torch.where(tensor.isnan(), torch.tensor(float("nan"), dtype=tensor.dtype), tensor)
    return bits(tensor)


def check_forms() -> None:
    torch.manual_seed(1)

    for dtype in DTYPES:
        values = (torch.randn(max(LENGTHS)) * 3).to(dtype)
        others = (torch.randn(max(LENGTHS)) * 3).to(dtype)
        values[:4] = torch.tensor([0.0, -0.0, float("inf"), float("nan")], dtype=dtype)

        for name, function in FUNCTIONS.items():
            for length in LENGTHS:
                for first_form, a in forms(values[:length]):
                    for second_form, b in forms(others[:length].flip(0)):
                        case = f"{name} {dtype} {length} {first_form} {second_form}"
                        check_elements(case, function, a, b)


def check_elements(
    case: str, function: Callable[..., torch.Tensor], a: torch.Tensor, b: torch.Tensor
) -> None:
    found = values_of(function(a, b))
    length = len(a)
    some = int(np.random.default_rng(length).integers(length))

    for i in {0, length - 1, some}:
        alone = values_of(function(a[i : i + 1].clone(), b[i : i + 1].clone()))
        assert (alone == found[i : i + 1]).all(), f"{case} [{i}]"


def check_in_place() -> None:
    for length in LENGTHS:
        values = torch.randn(length)
        expected = torch.sigmoid(values) + 1
        values.sigmoid_()
        values[:] = values
        values += 1
        assert torch.equal(values, expected), length

        wide = torch.randn(length, 3)
        expected = wide.clone()
        expected[:, 1] = torch.exp(wide[:, 1].clone())
        wide[:, 1].exp_()
        assert torch.equal(wide, expected), length


def check_rows_and_columns() -> None:
    for rows, columns in ((3, 5), (70, 16), (5, 300), (64, 33)):
        x = torch.randn(rows, columns)
        row = torch.randn(columns)
        column = torch.randn(rows, 1)
        for other in (row, column, row[:1]):
            expected = x.numpy() + np.broadcast_to(other.numpy(), (rows, columns))
            np.testing.assert_array_equal((x + other).numpy(), expected)
            np.testing.assert_array_equal((other + x).numpy(), expected)

        wide = torch.randn(rows, columns + 8)
        np.testing.assert_array_equal((wide[:, :columns] + x).numpy(), wide.numpy()[:, :columns] + x.numpy())


def check_each_row() -> None:
    """A call on many rows has the bits of calls on each of them, also where it overwrites an operand."""
    for dtype in DTYPES:
        for rows, columns in ((3, 1), (9, 17), (70, 48), (5, 300)):
            x = torch.randn(rows, columns).to(dtype)
            wide = torch.randn(rows, 2 * columns).to(dtype)
            others = (wide[:, :columns], wide[:, ::2], wide[:, :1], wide[0, :columns], wide[0, :1])

            for other in others:
                expected = [torch.addcmul(x[i], x[i], other.expand(rows, columns)[i]) for i in range(rows)]
                changed = x.clone()
                changed.addcmul_(changed, other)
                assert (values_of(torch.stack(expected)) == values_of(changed)).all(), (dtype, columns)
                assert (values_of(torch.addcmul(x, x, other)) == values_of(changed)).all(), (dtype, columns)


def check_conversions() -> None:
    """Every float16; every upper half of a float, with the lower halves at which rounding turns."""
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    widened = torch.from_numpy(halves.copy()).to(torch.float32).numpy()
    with np.errstate(all="ignore"):
        expected = halves.astype(np.float32).view(np.uint32)
    expected = np.where(np.isnan(halves), expected | 0x00400000, expected)  # quiet
    np.testing.assert_array_equal(widened.view(np.uint32), expected)

    upper = np.arange(1 << 16, dtype=np.uint32) << 16
    lower = np.array(
        [0, 1, 0x0FFF, 0x1000, 0x1001, 0x2FFF, 0x3000, 0x7FFF, 0x8000, 0x8001, 0xFFFF], np.uint32
    )
    floats = (upper[:, None] | lower).ravel().view(np.float32)
    x = torch.from_numpy(floats.copy())
    narrow = x.to(torch.float16)
    with np.errstate(all="ignore"):
        expected_half = floats.astype(np.float16)
    is_nan = np.isnan(floats)
    np.testing.assert_array_equal(
        bits(narrow).view(np.uint16)[~is_nan], expected_half.view(np.uint16)[~is_nan]
    )
    assert np.isnan(narrow.to(torch.float32).numpy()[is_nan]).all()

    brain = bits(x.to(torch.bfloat16)).view(np.uint16)
    words = floats.view(np.uint32)
    rounded = (words + (0x7FFF + ((words >> 16) & 1))) >> 16
    expected_brain = np.where(is_nan, (words >> 16) | 0x40, rounded).astype(np.uint16)
    np.testing.assert_array_equal(brain, expected_brain)


if __name__ == "__main__":
    check_forms()
    check_in_place()
    check_rows_and_columns()
    check_each_row()
    check_conversions()
    print("ok")
