"""Programs refuse wrong steps when they are made, and wrong inputs when they are called."""

from __future__ import annotations

from typing import Any

import pytest
from torch_py._C._compiler import Program, Slot

import torch_py as torch

from .facts import facts

aten = torch.ops.aten
CPU = torch.device("cpu")


def kernel(*slots: int, name: str = "nothing") -> tuple[Any, ...]:
    return ("kernel", name, slots, 4, 8)


# Steps of a program with one input of four floats, three more such slots and one constant, slot 1.
WRONG_STEPS = {
    "unknown": ([("jump", 1)], "step 0 .*unknown step 'jump'"),
    "no name": ([(1, 2)], "begins with its name"),
    "a list": ([["allocate", 2]], "a step is a tuple"),
    "too short": ([("arena", 2)], "expected 2 parts, got 1"),
    "too long": ([("drop", 0, 1)], "expected 1 parts, got 2"),
    "slot beyond": ([("allocate", 9)], "there is no slot 9"),
    "negative slot": ([("allocate", -1)], "there is no slot -1"),
    "slot of another type": ([("allocate", 2.0)], "number of a slot"),
    "made twice": ([("allocate", 2), ("allocate", 2)], "step 1: slot 2 is made twice"),
    "an input made": ([("allocate", 0)], "slot 0 is made twice"),
    "used before": ([kernel(0, 2)], "slot 2 is used before it is made"),
    "used after": ([("drop", 0), kernel(0)], "slot 0 is used after it was dropped"),
    "dropped twice": ([("drop", 0), ("drop", 0)], "used after it was dropped"),
    "no kernel": ([kernel(0, name="absent")], "has no kernel 'absent'"),
    "constant written": ([("kernel", "nothing", (1,), 4, 8, (), (1,))], "slot 1 is a constant"),
    "constant written by operator": (
        [("extern", aten.add_.Tensor, (Slot(1), Slot(0)), {}, ())],
        "slot 1 is a constant",
    ),
    "written, not given": ([("kernel", "nothing", (0,), 4, 8, (), (1,))], "slot 1 is written but not"),
    "no grain": ([("kernel", "nothing", (0,), 4, 0)], "grain 0"),
    "negative extent": ([("kernel", "nothing", (0,), -1, 1)], "extent -1"),
    "arena too late": ([("allocate", 2), ("arena_size", 64)], "arena_size must be the first step"),
    "no arena": ([("arena", 2, 0)], "does not fit"),
    "beyond the arena": ([("arena_size", 64), ("arena", 2, 64)], "does not fit: it ends at byte 80"),
    "before the arena": ([("arena_size", 64), ("arena", 2, -64)], "not a positive multiple of 64"),
    "unaligned": ([("arena_size", 64), ("arena", 2, 16)], "not a positive multiple of 64"),
    "overlap": (
        [("arena_size", 64), ("arena", 2, 0), ("arena", 3, 0), kernel(2, 3)],
        "step 2: slot 3 overlaps in the arena with slot 2, which is used until step 3",
    ),
    "overlap through a view": (
        [("arena_size", 64), ("arena", 2, 0), ("view", 4, 2), ("arena", 3, 0), kernel(3, 4)],
        "slot 3 overlaps",
    ),
    "view beyond": (
        [("allocate", 3), ("view", 2, 3, 1)],
        "reaches from byte 4 to 20 of slot 3, which has 16",
    ),
    "view before": ([("allocate", 3), ("view", 2, 3, -1)], "reaches from byte -4"),
    "an operator's name": ([("extern", "mm", (), {}, ())], "expected an operator"),
    "unknown keyword": ([("extern", aten.neg.default, (Slot(0),), {"other": 1}, ())], "Unknown keyword"),
    "missing argument": (
        [("extern", aten.mm.default, (Slot(0),), {}, ())],
        "missing value for argument 'mat2'",
    ),
    "a tensor": ([("extern", aten.neg.default, (torch.ones(4),), {}, ())], "tensors .* must be slots"),
    "wrong argument": ([("extern", aten.sum.default, (Slot(0), "x"), {}, ())], "argument 'dim'"),
    "number of results": ([("extern", aten.neg.default, (Slot(0),), {}, (2, 3))], "has 1 results, got 2"),
    "results of a list": ([("extern", aten.split.Tensor, (Slot(0), 2), {}, (2,))], "a list has a tuple"),
    "a result that is a number": ([("extern", aten.item.default, (Slot(0),), {}, (2,))], "not a tensor"),
    "a tensor for a list": ([("extern", aten.cat.default, (Slot(0),), {}, (2,))], "argument 'tensors'"),
    "a symbol": ([("allocate", 2), ("kernel", "nothing", (0,), ("s0",), 1)], "uses s0, but .* 0 symbols"),
    "half a formula": ([("kernel", "nothing", (0,), (4, "+"), 1)], "fewer than two operands"),
    "two numbers": ([("kernel", "nothing", (0,), (4, 4, 4, "+"), 1)], "must leave one number"),
    "words in a formula": ([("kernel", "nothing", (0,), (4, "plus"), 1)], "operators"),
    "division by zero": ([("kernel", "nothing", (0,), (4, 0, "//"), 1)], "divides by zero"),
    "overflow": ([("kernel", "nothing", (0,), (1 << 62, 4, "*"), 1)], "overflows"),
}


@pytest.mark.parametrize(("steps", "message"), WRONG_STEPS.values(), ids=WRONG_STEPS)
def test_wrong_steps(kernels: str, steps: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError, RuntimeError), match=message):
        Program(1, [facts(4)] * 5, steps, [], [torch.ones(4)], kernels)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"num_inputs": "1"}, "num_inputs must be an int"),
        ({"num_inputs": 7}, "num_inputs is 7, but there are 2 slots"),
        ({"slots": 5}, "slots must be a list or tuple"),
        ({"slots": [facts(4), "float"]}, "a slot is"),
        ({"slots": [facts(4), (torch.float32, (4,), (1, 1), CPU)]}, "1 sizes and 2 strides"),
        ({"slots": [facts(4), (torch.float32, (-4,), (1,), CPU)]}, "size -4"),
        ({"slots": [facts(4), (torch.float32, (4,), (-1,), CPU)]}, "stride -1"),
        ({"slots": [facts(4), (torch.float32, (1 << 40, 1 << 40), (1, 1), CPU)]}, "larger than any memory"),
        ({"slots": [facts(4), int]}, "only inputs are"),
        ({"outputs": [0, 1]}, "output slot 1 does not hold a tensor"),
        ({"outputs": [5]}, "output slot 5 does not hold a tensor"),
        ({"outputs": 0}, "outputs must be a list or tuple"),
        ({"constants": [1]}, "constants must be tensors"),
        ({"constants": [torch.ones(4)] * 3}, "more inputs and constants than slots"),
        ({"library": 3}, "os.PathLike"),
        ({"library": "/absent/kernels.so"}, "cannot load the kernels"),
        ({"symbols": [0]}, "a symbol is"),
        ({"symbols": [(3, 0)]}, "names input 3"),
        ({"symbols": [(0, 1)]}, "dimension 1 of input 0, which it does not have"),
        ({"symbols": [(0, None)]}, "which is not an int"),
        ({"names": ["x"]}, "2 slots and 1 names"),
        ({"name": 1}, "name must be a str"),
    ],
)
def test_wrong_parts(changed: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"num_inputs": 1, "slots": [facts(4)] * 2, "steps": [], "outputs": []}
    Program(**given)
    with pytest.raises((ValueError, TypeError, RuntimeError), match=message):
        Program(**(given | changed))


def test_outputs_that_are_not_the_callers() -> None:
    with pytest.raises(ValueError, match="output slot 1 is in the arena; allocate it"):
        Program(1, [facts(4)] * 2, [("arena_size", 64), ("arena", 1, 0)], [1])
    with pytest.raises(ValueError, match="output slot 1 is a constant"):
        Program(1, [facts(4)] * 2, [], [1], [torch.ones(4)])


def test_constants_are_as_their_slots_say() -> None:
    with pytest.raises(ValueError, match="constant 1 is float32 of size \\[3\\]"):
        Program(1, [facts(4)] * 2, [], [], [torch.ones(3)])


def test_kernels_need_memory_of_the_cpu(kernels: str) -> None:
    meta = (torch.float32, (4,), (1,), torch.device("meta"))
    with pytest.raises(ValueError, match="must be on the CPU, not on meta"):
        Program(1, [meta], [kernel(0)], [], library=kernels)


def test_kernels_need_a_library() -> None:
    with pytest.raises(ValueError, match="the program has no library"):
        Program(1, [facts(4)], [kernel(0)], [])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (torch.ones(2, 3, dtype=torch.float64), "input 1 is float64"),
        (torch.ones(3, 2), r"input 1 is float32 of size \[3, 2\]"),
        (
            torch.ones(3, 2).t(),
            r"strides \[1, 2\] on cpu, expected float32 of size \[2, 3\] and strides \[3, 1\]",
        ),
        (torch.ones(6), "input 1"),
        (torch.ones(2, 3, device="meta"), "input 1 is float32 .* on meta"),
        (3, "input 1 is a number, expected a tensor"),
    ],
)
def test_wrong_inputs(wrong: Any, message: str) -> None:
    program = Program(2, [facts(2, 3)] * 2, [], [0])
    program(torch.ones(2, 3), torch.ones(2, 3))
    with pytest.raises(RuntimeError, match=message):
        program(torch.ones(2, 3), wrong)


def test_strides_of_single_elements_are_of_no_consequence() -> None:
    program = Program(1, [facts(1, 3)], [], [0])
    assert program(torch.ones(3, 1).t())[0].shape == (1, 3)


def test_tensors_that_stand_for_others_are_refused() -> None:
    from torch_py._subclasses import FakeTensorMode

    program = Program(1, [facts(3)], [], [0])
    with FakeTensorMode() as mode:
        fake = mode.from_tensor(torch.ones(3))
    with pytest.raises(RuntimeError, match="input 0 is not a plain tensor"):
        program(fake)


def test_calls_need_as_many_inputs_as_there_are() -> None:
    program = Program(1, [facts(4)], [], [0])
    for inputs in ((), (torch.ones(4),) * 2):
        with pytest.raises(TypeError, match=f"takes 1 inputs, got {len(inputs)}"):
            program(*inputs)
    with pytest.raises(TypeError, match="keyword"):
        program(x=torch.ones(4))
    with pytest.raises(TypeError, match="input 0 of a program must be a Tensor or an int, got str"):
        program("x")


def test_results_that_are_not_as_predicted() -> None:
    steps = [("extern", aten.neg.default, (Slot(0),), {}, (1,))]
    program = Program(1, [facts(4), facts(5)], steps, [1])
    with pytest.raises(RuntimeError, match=r"result 0 of neg \(slot 1\) is float32 of size \[4\]"):
        program(torch.ones(4))


def test_errors_of_operators_arrive() -> None:
    def fail(x: torch.Tensor) -> torch.Tensor:
        raise KeyError("why")

    program = Program(1, [facts(4)] * 2, [("extern", fail, (Slot(0),), {}, (1,))], [1])
    with pytest.raises(KeyError, match="why"):
        program(torch.ones(4))

    steps = [("extern", aten.mm.default, (Slot(0), Slot(0)), {}, (1,))]
    with pytest.raises(RuntimeError):
        Program(1, [facts(4)] * 2, steps, [1])(torch.ones(4))


def test_functions_return_tensors() -> None:
    program = Program(1, [facts(4)] * 2, [("extern", lambda x: None, (Slot(0),), {}, (1,))], [1])
    with pytest.raises(RuntimeError, match="result 0 of <lambda> .* is None"):
        program(torch.ones(4))


def test_arguments_that_contain_themselves() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(RecursionError):
        Program(1, [facts(4)], [("extern", lambda x: x, (endless,), {}, ())], [])


@pytest.mark.parametrize("number", [-1, 1 << 40, "1", 1.0])
def test_wrong_slots(number: Any) -> None:
    with pytest.raises((ValueError, TypeError), match="Slot"):
        Slot(number)
