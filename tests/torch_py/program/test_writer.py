"""ProgramWriter, with which the compiler writes programs, and programs for sizes that vary."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
from torch_py._C._compiler import PredictionError

import torch_py as torch
from torch_py._inductor.program import Formula, Program, ProgramWriter, Slot, facts_of, formula_of

from .facts import facts

aten = torch.ops.aten


def test_a_program_is_written_step_by_step(kernels: str) -> None:
    x, weight = torch.randn(8, 4), torch.randn(4, 3)
    writer = ProgramWriter()
    x_slot, weight_slot = writer.input("x", facts_of(x)), writer.input("weight", facts_of(weight))
    added = torch.randn(8, 3)
    bias = writer.constant("bias", added)
    doubled = writer.slot("doubled", facts(8, 4))
    product = writer.slot("product", facts(8, 3))
    result = writer.slot("result", facts(8, 3))

    writer.arena(256)
    writer.place(doubled, 0)
    writer.kernel("twice", [x_slot, doubled], extent=32, grain=8)
    writer.call(aten.mm.default, [Slot(doubled), Slot(weight_slot)], results=[product])
    writer.allocate(result)
    writer.kernel("add_relu", [product, bias, result], extent=24, grain=8)
    writer.drop(product)
    program = writer.program([result], kernels)

    assert torch.allclose(program(x, weight)[0], torch.relu(2 * x @ weight + added), atol=1e-5)
    assert program.debug().startswith("program(x, weight):\n")


def test_inputs_and_constants_come_first() -> None:
    writer = ProgramWriter()
    writer.input("x", facts(4))
    writer.slot("y", facts(4))
    with pytest.raises(ValueError, match="input 'z' comes after 'y'"):
        writer.input("z", facts(4))
    with pytest.raises(ValueError, match="constant 'c' comes after 'y'"):
        writer.constant("c", torch.ones(4))


def test_formulas_are_written_as_arithmetic() -> None:
    n = Formula(("s0",))
    assert (n + 1) // 2 == ("s0", 1, "+", 2, "//")
    assert 3 * n - n % 4 == (3, "s0", "*", "s0", 4, "%", "-")
    assert 1 + n == (1, "s0", "+")
    assert 1 - n == (1, "s0", "-")
    assert 8 // n == (8, "s0", "//")
    assert n.max(2).min(n) == ("s0", 2, "max", "s0", "min")


class Term(NamedTuple):
    """As torch_py._shapes.formulas.Formula."""

    operation: str
    operands: tuple[Any, ...]


def test_terms_of_shapes_become_formulas() -> None:
    n, m = Formula(("s0",)), Formula(("s1",))
    term = Term("floordiv", (Term("add", ("n", 5)), Term("max", ("m", 2, "n"))))
    assert formula_of(term, {"n": n, "m": m}) == (n + 5) // m.max(2).max(n)
    assert formula_of(7, {}) == 7
    assert formula_of("n", {"n": n}) == n
    with pytest.raises(ValueError, match="a program has no integer for"):
        formula_of(Term("truediv", ("n", 2)), {"n": n})
    with pytest.raises(KeyError):
        formula_of("m", {"n": n})


def rows_and_columns(kernels: str) -> Program:
    """relu(2x + 2x), the sums of its rows, and cat([x, x])."""
    writer = ProgramWriter()
    x = writer.input("x", (torch.float32, (("s0",), ("s1",)), (("s1",), 1), torch.device("cpu")))
    rows, columns = writer.symbol(x, 0), writer.symbol(x, 1)
    same = (torch.float32, (rows, columns), (columns, 1), torch.device("cpu"))
    doubled, result = writer.slot("doubled", same), writer.slot("result", same)
    sums = writer.slot("sums", (torch.float32, (rows,), (1,), torch.device("cpu")))
    twice = writer.slot("both", (torch.float32, (2 * rows, columns), (columns, 1), torch.device("cpu")))

    writer.arena((rows * columns * 4 + 63) // 64 * 64)
    writer.place(doubled, 0)
    writer.kernel("twice", [x, doubled], rows * columns, 16)
    writer.allocate(result)
    writer.kernel("add_relu", [doubled, doubled, result], rows * columns, 16)
    writer.allocate(sums)
    writer.kernel("sum_rows", [result, sums], rows, 4, sizes=[columns])
    writer.call(aten.cat.default, [[Slot(x), Slot(x)]], results=[twice])
    return writer.program([result, sums, twice], kernels)


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
    writer = ProgramWriter()
    x = writer.input("x", facts(8))
    length = writer.integer_input("length")
    part = writer.slot("part", (torch.float32, (length,), (1,), torch.device("cpu")))
    shaped = writer.slot("shaped", (torch.float32, (length // 2, 2), (2, 1), torch.device("cpu")))
    writer.call(aten.narrow.default, [Slot(x), 0, 0, length], results=[part])
    writer.call(aten.view.default, [Slot(part), [length // 2, 2]], results=[shaped])
    program = writer.program([part, shaped], kernels)

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
