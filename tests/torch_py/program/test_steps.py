"""Programs compute what their steps say."""

from __future__ import annotations

import gc
import json
import threading
import weakref
from pathlib import Path

import pytest
from torch_py._C._compiler import Program, Slot

import torch_py as torch
from torch_py._C import _compiler

from .facts import facts, facts_of

aten = torch.ops.aten


def test_a_kernel_computes_an_output(kernels: str) -> None:
    program = Program(
        2,
        [facts(3, 4)] * 3,
        [("allocate", 2), ("kernel", "add_relu", (0, 1, 2), 12, 1000)],
        [2],
        library=kernels,
    )
    a, b = torch.randn(3, 4), torch.randn(3, 4)

    (result,) = program(a, b)

    assert torch.equal(result, torch.relu(a + b))


def test_every_call_has_fresh_outputs(kernels: str) -> None:
    steps = [("allocate", 1), ("kernel", "twice", (0, 1), 4, 100)]
    program = Program(1, [facts(4)] * 2, steps, [1], library=kernels)

    first = program(torch.ones(4))[0]
    second = program(torch.zeros(4))[0]

    assert first.tolist() == [2.0] * 4
    assert second.tolist() == [0.0] * 4


def test_kernels_share_the_arena_with_operators(kernels: str) -> None:
    """x -> twice (arena) -> mm with itself, out= (arena) -> twice -> output"""
    program = Program(
        1,
        [facts(8, 8)] * 4,
        [
            ("arena_size", 512),
            ("arena", 1, 0),
            ("kernel", "twice", (0, 1), 64, 16),
            ("arena", 2, 256),
            ("extern", aten.mm.out, (Slot(1), Slot(0)), {"out": Slot(2)}, ()),
            ("allocate", 3),
            ("kernel", "twice", (2, 3), 64, 16),
        ],
        [3],
        library=kernels,
    )
    x = torch.randn(8, 8)

    assert torch.allclose(program(x)[0], 4 * (x @ x))


def test_an_arena_is_reused_when_a_slot_is_no_longer_used(kernels: str) -> None:
    steps = [("arena_size", 128)]
    for slot in range(1, 6):  # each reads the one before it
        steps += [("arena", slot, 64 * (slot % 2)), ("kernel", "twice", (slot - 1, slot), 4, 8)]
    steps += [("allocate", 6), ("kernel", "twice", (5, 6), 4, 8)]
    program = Program(1, [facts(4)] * 7, steps, [6], library=kernels)

    assert program(torch.ones(4))[0].tolist() == [64.0] * 4


def test_an_operator_makes_its_results() -> None:
    x = torch.randn(4, 6)
    values, indices = torch.max(x, 1)
    program = Program(
        1,
        [facts_of(x), facts_of(values), facts_of(indices)],
        [("extern", aten.max.dim, (Slot(0), 1), {}, (1, 2))],
        [2, 1],
    )

    second, first = program(x)

    assert torch.equal(first, values)
    assert torch.equal(second, indices)


@pytest.mark.parametrize(("offset", "expected"), [(-2, [2.0, 4.0]), (-1, [4.0, 6.0]), (3, [12.0, 14.0])])
def test_a_view_may_leave_an_argument_but_not_its_memory(
    kernels: str, offset: int, expected: list[float]
) -> None:
    steps = [("view", 1, 0, offset), ("allocate", 2), ("kernel", "twice", (1, 2), 2, 8)]
    program = Program(1, [facts(3), facts(2), facts(2)], steps, [2], library=kernels)
    memory = torch.arange(1.0, 8.0)

    assert program(memory[2:5])[0].tolist() == expected
    with pytest.raises(RuntimeError, match="out of bounds for storage of size 28"):
        program(memory[:3] if offset < 0 else memory[4:])


def test_lists_of_tensors_go_in_and_out() -> None:
    x, y = torch.randn(2, 3), torch.randn(4, 3)
    program = Program(
        2,
        [facts(2, 3), facts(4, 3), facts(6, 3), facts(3, 3), facts(3, 3)],
        [
            ("extern", aten.cat.default, ([Slot(0), Slot(1)],), {}, (2,)),
            ("extern", aten.split.Tensor, (Slot(2), 3), {}, ((3, 4),)),
        ],
        [2, 3, 4],
    )

    joined, *halves = program(x, y)

    assert torch.equal(joined, torch.cat([x, y]))
    assert [torch.equal(a, b) for a, b in zip(halves, joined.split(3))] == [True, True]


def test_unwanted_results_are_dropped() -> None:
    program = Program(
        1, [facts(4, 6), facts(4)], [("extern", aten.max.dim, (Slot(0), 1), {}, (1, None))], [1]
    )
    x = torch.randn(4, 6)
    assert torch.equal(program(x)[0], x.max(1).values)


def test_views_share_memory(kernels: str) -> None:
    """Rows 1 and 2 of the input, and a transposed view of the result."""
    program = Program(
        1,
        [facts(3, 4), facts(2, 4), facts(2, 4), facts(4, 2, strides=(1, 4))],
        [
            ("view", 1, 0, 4),
            ("allocate", 2),
            ("kernel", "twice", (1, 2), 8, 100),
            ("view", 3, 2),
        ],
        [3],
        library=kernels,
    )
    x = torch.randn(3, 4)

    (result,) = program(x)

    assert result.stride() == (1, 4)
    assert torch.equal(result, (2 * x[1:]).t())


def test_a_view_of_an_input_is_one_for_the_caller() -> None:
    program = Program(1, [facts(3, 4), facts(4)], [("view", 1, 0, 8)], [1])
    x = torch.zeros(3, 4)

    (row,) = program(x)
    row.add_(1)

    assert x.sum().item() == 4
    assert x._version == row._version == 1


def test_inputs_begin_where_their_tensor_does(kernels: str) -> None:
    steps = [("view", 1, 0, 1), ("allocate", 2), ("kernel", "twice", (1, 2), 2, 8)]
    program = Program(1, [facts(3), facts(2), facts(2)], steps, [2], library=kernels)
    assert program(torch.arange(9.0)[4:7])[0].tolist() == [10.0, 12.0]


def test_a_changed_input_has_a_new_version(kernels: str) -> None:
    steps = [("kernel", "increment", (0,), 4, 8, (), (0,))]
    program = Program(1, [facts(4)], steps, [0], library=kernels)
    x = torch.zeros(4)

    (result,) = program(x)

    assert result is x
    assert x.tolist() == [1.0] * 4
    assert x._version == 1


def test_operators_change_inputs() -> None:
    program = Program(2, [facts(4)] * 2, [("extern", aten.copy_.default, (Slot(0), Slot(1)), {}, ())], [])
    x, y = torch.zeros(4), torch.ones(4)

    assert program(x, y) == []

    assert torch.equal(x, y)
    assert x._version == 1


def test_constants_follow_inputs(kernels: str) -> None:
    steps = [("allocate", 2), ("kernel", "add_relu", (0, 1, 2), 2, 8)]
    program = Program(1, [facts(2)] * 3, steps, [2], [torch.tensor([1.0, 2.0])], kernels)
    assert program(torch.tensor([1.0, 1.0]))[0].tolist() == [2.0, 3.0]


def test_kernels_run_on_several_threads(kernels: str) -> None:
    count = 1 << 18
    steps = [("allocate", 1), ("kernel", "twice", (0, 1), count, 1 << 12)]
    program = Program(1, [facts(count)] * 2, steps, [1], library=kernels)
    x = torch.randn(count)
    assert torch.equal(program(x)[0], 2 * x)


def test_empty_tensors(kernels: str) -> None:
    steps = [("arena_size", 0), ("arena", 1, 0), ("kernel", "twice", (0, 1), 0, 1)]
    steps += [("extern", aten.neg.default, (Slot(1),), {}, (2,))]
    program = Program(1, [facts(0, 3)] * 3, steps, [2], library=kernels)
    assert program(torch.empty(0, 3))[0].shape == (0, 3)


def test_a_result_in_the_arena_is_copied_out(kernels: str) -> None:
    """reshape may return its argument's memory, which ends with the call."""
    program = Program(
        1,
        [facts(2, 2), facts(2, 2), facts(4)],
        [
            ("arena_size", 64),
            ("arena", 1, 0),
            ("kernel", "twice", (0, 1), 4, 8),
            ("extern", aten.reshape.default, (Slot(1), [4]), {}, (2,)),
        ],
        [2],
        library=kernels,
    )

    first = program(torch.ones(2, 2))[0]
    program(torch.zeros(2, 2))
    assert first.tolist() == [2.0] * 4


def test_a_dropped_slot_gives_its_memory_back() -> None:
    seen = []

    @torch.library.custom_op("program_test::note", mutates_args=())
    def note(x: torch.Tensor) -> torch.Tensor:
        seen.append(weakref.ref(x))
        return x + 1

    program = Program(
        1,
        [facts(4)] * 3,
        [
            ("extern", aten.neg.default, (Slot(0),), {}, (1,)),
            ("extern", torch.ops.program_test.note.default, (Slot(1),), {}, (2,)),
            ("drop", 1),
        ],
        [2],
    )
    (result,) = program(torch.zeros(4))
    gc.collect()

    assert result.tolist() == [1.0] * 4
    assert seen[0]() is None


def test_a_view_outlives_what_it_views(kernels: str) -> None:
    program = Program(
        1,
        [facts(4), facts(4), facts(2), facts(2)],
        [
            ("allocate", 1),
            ("kernel", "twice", (0, 1), 4, 8),
            ("view", 2, 1, 2),
            ("drop", 1),
            ("allocate", 3),
            ("kernel", "twice", (2, 3), 2, 8),
        ],
        [3],
        library=kernels,
    )
    assert program(torch.arange(4.0))[0].tolist() == [8.0, 12.0]


def test_programs_run_in_threads_and_inside_of_themselves(kernels: str) -> None:
    """An operator in Python calls the program that calls it, while other threads do the same."""
    programs = []

    @torch.library.custom_op("program_test::again", mutates_args=())
    def again(x: torch.Tensor) -> torch.Tensor:
        return programs[0](x - 1)[0] if x[0].item() > 1 else x.clone()

    size = 64
    steps = [
        ("arena_size", 512),
        ("arena", 1, 0),
        ("kernel", "twice", (0, 1), size, 1000),
        ("extern", torch.ops.program_test.again.default, (Slot(0),), {}, (2,)),
        ("allocate", 3),
        ("kernel", "add_relu", (1, 2, 3), size, 1000),
    ]
    programs.append(Program(1, [facts(size)] * 4, steps, [3], library=kernels))
    results = {}

    def work(start: int) -> None:
        for _ in range(50):
            (result,) = programs[0](torch.full((size,), float(start)))
            results.setdefault(start, set()).add(tuple(result.tolist()))

    threads = [threading.Thread(target=work, args=(start,)) for start in range(2, 6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    # 2n + 2(n - 1) + ... + 2 + 1
    assert results == {n: {(float(n * (n + 1) + 1),) * size} for n in range(2, 6)}


def test_programs_record_nothing_and_convert_nothing(kernels: str) -> None:
    program = Program(1, [facts(4, 4)] * 2, [("extern", aten.mm.default, (Slot(0), Slot(0)), {}, (1,))], [1])
    x = torch.randn(4, 4, requires_grad=True)

    with torch.autocast("cpu", dtype=torch.bfloat16):
        (result,) = program(x)

    assert not result.requires_grad
    assert result.dtype == torch.float32
    assert torch.is_grad_enabled()
    assert torch.is_autocast_enabled("cpu") is False


def test_random_operators_draw_from_the_generator() -> None:
    program = Program(1, [facts(8)] * 2, [("extern", aten.rand_like.default, (Slot(0),), {}, (1,))], [1])
    torch.manual_seed(3)
    expected = torch.rand(8)
    torch.manual_seed(3)
    assert torch.equal(program(torch.empty(8))[0], expected)


def test_the_steps_are_legible(kernels: str) -> None:
    program = Program(
        2,
        [facts(3, 4), facts(4, 5), facts(3, 4), facts(3, 5), facts(15)],
        [
            ("arena_size", 64),
            ("arena", 2, 0),
            ("kernel", "twice", (0, 2), 12, 1000),
            ("extern", aten.mm.default, (Slot(2), Slot(1)), {}, (3,)),
            ("view", 4, 3),
            ("drop", 3),
        ],
        [4],
        library=kernels,
        names=["x", "weight", "doubled", "product", "flat"],
    )

    assert program.debug() == str(program)
    assert program.debug().splitlines() == [
        "program(x, weight):",
        "  # x float32 (3, 4) strides (4, 1)",
        "  # weight float32 (4, 5) strides (5, 1)",
        "  arena = allocate 64 bytes",
        "  doubled = arena[0] float32 (3, 4) strides (4, 1)",
        "  twice(x, doubled) for 12 by 1000",
        "  product = mm(self=doubled, mat2=weight)",
        "    # product float32 (3, 5) strides (5, 1)",
        "  flat = view of product float32 (15) strides (1)",
        "  drop product",
        "  return flat",
    ]


def test_kernels_are_in_profiles(kernels: str) -> None:
    steps = [("allocate", 1), ("kernel", "twice", (0, 1), 4, 8)]
    steps += [("extern", aten.neg.default, (Slot(1),), {}, (2,))]
    program = Program(1, [facts(4)] * 3, steps, [2], library=kernels, name="compiled_step")
    x = torch.ones(4)

    with torch.profiler.profile() as profile:
        program(x)

    events = {event.name: event for event in profile.events()}
    assert {"compiled_step", "twice", "aten::neg"} <= events.keys()
    assert events["twice"].parent is events["compiled_step"]
    assert events["aten::neg"].parent is events["compiled_step"]


def test_kernels_are_in_chrome_traces(kernels: str, tmp_path: Path) -> None:
    steps = [("allocate", 1), ("kernel", "twice", (0, 1), 4, 8)]
    program = Program(1, [facts(4)] * 2, steps, [1], library=kernels)

    with torch.profiler.profile() as profile:
        program(torch.ones(4))
    profile.export_chrome_trace(str(tmp_path / "trace.json"))

    names = [event["name"] for event in json.loads((tmp_path / "trace.json").read_text())["traceEvents"]]
    assert "twice" in names


def test_the_module_can_be_imported() -> None:
    import importlib

    assert importlib.import_module("torch_py._C._compiler") is _compiler


@pytest.mark.parametrize("number", [0, 7])
def test_slots_compare_by_number(number: int) -> None:
    assert Slot(number) == Slot(number)
    assert Slot(number) != Slot(number + 1)
    assert hash(Slot(number)) == hash(Slot(number))
    assert repr(Slot(number)) == f"Slot({number})"
    assert Slot(number).number == number
