"""Programs for sizes that vary, and programs that read and return integers."""

from __future__ import annotations

import pytest
from torch_py._C._compiler import PredictionError, Program, Slot

import torch_py as torch

from .facts import facts

aten = torch.ops.aten


def rows_and_columns(kernels: str) -> Program:
    """relu(2x + 2x), the sums of its rows, and cat([x, x])."""
    rows = ("s0",)
    columns = ("s1",)
    count = ("s0", "s1", "*")
    device = torch.device("cpu")
    same = (torch.float32, (rows, columns), (columns, 1), device)
    sums = (torch.float32, (rows,), (1,), device)
    twice = (torch.float32, ((2, "s0", "*"), columns), (columns, 1), device)

    steps = [
        ("arena_size", (*count, 4, "*", 63, "+", 64, "//", 64, "*")),
        ("arena", 1, 0),
        ("kernel", "twice", (0, 1), count, 16),
        ("allocate", 2),
        ("kernel", "add_relu", (1, 1, 2), count, 16),
        ("allocate", 3),
        ("kernel", "sum_rows", (2, 3), rows, 4, (columns,)),
        ("extern", aten.cat.default, ([Slot(0), Slot(0)],), {}, (4,)),
    ]

    symbols = [(0, 0), (0, 1)]
    names = ["x", "doubled", "result", "sums", "both"]
    return Program(1, [same, same, same, sums, twice], steps, [2, 3, 4], (), kernels, symbols, names)


def test_sizes_that_vary(kernels: str) -> None:
    program = rows_and_columns(kernels)
    for rows in (3, 1, 40, 3, 0):
        for columns in (5, 2, 64):
            x = torch.randn(rows, columns)

            result, sums, both = program(x)

            assert torch.equal(result, torch.relu(4 * x))
            assert torch.allclose(sums, result.sum(1), atol=1e-5)
            assert torch.equal(both, torch.cat([x, x]))


def test_inputs_must_fit_the_sizes_of_others() -> None:
    size = ("s0",)
    vector = (torch.float32, (size,), (1,), torch.device("cpu"))
    program = Program(2, [vector] * 2, [], [0], symbols=[(0, 0)])
    program(torch.ones(3), torch.ones(3))
    with pytest.raises(RuntimeError, match=r"input 1 is float32 of size \[4\]"):
        program(torch.ones(3), torch.ones(4))
    with pytest.raises(RuntimeError, match="input 0 is not a tensor of 1 dimensions"):
        program(torch.ones(3, 3), torch.ones(3))


def test_predicted_sizes_are_compared_with_results() -> None:
    """narrow(x, 0, 0, 3), for which n - 1 was right when n was 4."""
    n = ("s0",)
    slots = [
        (torch.float32, (n,), (1,), torch.device("cpu")),
        (torch.float32, (("s0", 1, "-"),), (1,), torch.device("cpu")),
    ]
    steps = [("extern", aten.narrow.default, (Slot(0), 0, 0, 3), {}, (1,))]
    program = Program(1, slots, steps, [1], symbols=[(0, 0)])

    assert program(torch.arange(4.0))[0].tolist() == [0.0, 1.0, 2.0]
    with pytest.raises(PredictionError, match=r"result 0 of narrow \(slot 1\) is float32 of size \[3\]"):
        program(torch.arange(6.0))


def test_integers_are_inputs_and_arguments(kernels: str) -> None:
    length = ("s0",)
    half = ("s0", 2, "//")
    part = (torch.float32, (length,), (1,), torch.device("cpu"))
    shaped = (torch.float32, (half, 2), (2, 1), torch.device("cpu"))
    steps = [
        ("extern", aten.narrow.default, (Slot(0), 0, 0, length), {}, (2,)),
        ("extern", aten.view.default, (Slot(2), [half, 2]), {}, (3,)),
    ]
    program = Program(2, [facts(8), int, part, shaped], steps, [2, 3], symbols=[(1, None)])

    for count in (2, 4, 8):
        part, shaped = program(torch.arange(8.0), count)
        assert part.tolist() == list(range(count))
        assert shaped.shape == (count // 2, 2)

    with pytest.raises(RuntimeError, match="input 1 is a tensor, expected an int"):
        program(torch.arange(8.0), torch.ones(()))
    with pytest.raises(ValueError, match="size -2"):
        program(torch.arange(8.0), -2)


def test_formulas_are_legible(kernels: str) -> None:
    text = rows_and_columns(kernels).debug()
    assert "s0 = x.size(0)" in text
    assert "arena = allocate ((s0*s1*4 + 63) // 64)*64 bytes" in text
    assert "sum_rows(result, sums, s1) for s0 by 4" in text
    assert "# both float32 (2*s0, s1) strides (s1, 1)" in text


def test_arenas_are_checked_for_the_sizes_of_a_call(kernels: str) -> None:
    n = ("s0",)
    vector = (torch.float32, (n,), (1,), torch.device("cpu"))
    steps = [("arena_size", 192), ("arena", 1, 0), ("arena", 2, 64)]
    steps += [("kernel", "nothing", (1, 2), n, 16)]
    program = Program(1, [vector] * 3, steps, [0], library=kernels, symbols=[(0, 0)])

    program(torch.ones(16))
    with pytest.raises(ValueError, match="slot 2 overlaps"):
        program(torch.ones(17))
