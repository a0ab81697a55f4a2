"""resume(): the rest of a function, from the middle of loops, try and with statements."""

from __future__ import annotations

import gc
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from types import CellType
from typing import Any

import pytest

import torch_py as torch

from .frames import handler_block, offset_of, offset_of_line, resume

compiler = torch._C._compiler
UNBOUND = compiler.UNBOUND


def test_it_works_here() -> None:
    assert compiler.can_resume() is True
    assert repr(UNBOUND) == "UNBOUND"


# --- Loops and expressions ---


def total(numbers: Any, start: int = 0) -> Any:
    result = start
    for number in numbers:
        result += number
    return result


def test_in_the_middle_of_a_loop() -> None:
    numbers = iter([1, 2, 3])
    next(numbers)
    assert resume(total, offset_of(total, "FOR_ITER"), (numbers,), result=10) == 15
    assert resume(total, offset_of_line(total, 3), (iter([5]),), result=1, number=2) == 8
    assert resume(total, offset_of_line(total, 1), numbers=[7], start=1) == 8


def table(rows: Any) -> Any:
    found = []
    for row in rows:
        for cell in row:
            found.append(cell)
    return found


def test_in_nested_loops() -> None:
    rows = iter([[3, 4]])
    inner = offset_of(table, "FOR_ITER", number=1)
    assert resume(table, inner, (rows, iter([2])), found=[1]) == [1, 2, 3, 4]


def expression(a: Any, b: Any) -> Any:
    return len(a) * 100 + abs(b)


def test_in_the_middle_of_an_expression() -> None:
    assert resume(expression, offset_of(expression, "LOAD_GLOBAL", "abs"), (300,), b=-5) == 305


def many(a: Any, b: Any = 1, /, c: Any = 2, *args: Any, d: Any, e: Any = 3, **kwargs: Any) -> Any:
    pass
    return a, b, c, args, d, e, kwargs


def test_all_kinds_of_parameters() -> None:
    values = dict(a=1, b=2, c=3, args=(4,), d=5, e=6, kwargs={"f": 7})
    assert resume(many, offset_of_line(many, 2), **values) == tuple(values.values())


def maybe(flag: Any) -> Any:
    if flag:
        value = 1
    return value


def test_variables_without_a_value() -> None:
    assert resume(maybe, offset_of_line(maybe, 3), flag=0, value=5) == 5
    with pytest.raises(UnboundLocalError, match="value"):
        resume(maybe, offset_of_line(maybe, 1), flag=0)


def long_jump(flag: Any) -> Any:
    values = []
    for i in flag:
        values.append((i, i + 1, i + 2, i + 3, i + 4, i + 5, i + 6, i + 7, i + 8, i + 9, i + 10))
        values.append((i, i + 1, i + 2, i + 3, i + 4, i + 5, i + 6, i + 7, i + 8, i + 9, i + 10))
        values.append((i, i + 1, i + 2, i + 3, i + 4, i + 5, i + 6, i + 7, i + 8, i + 9, i + 10))
        values.append((i, i + 1, i + 2, i + 3, i + 4, i + 5, i + 6, i + 7, i + 8, i + 9, i + 10))
        values.append((i, i + 1, i + 2, i + 3, i + 4, i + 5, i + 6, i + 7, i + 8, i + 9, i + 10))
        values.append((i, i + 1, i + 2, i + 3, i + 4, i + 5, i + 6, i + 7, i + 8, i + 9, i + 10))
        values.append((i, i + 1, i + 2, i + 3, i + 4, i + 5, i + 6, i + 7, i + 8, i + 9, i + 10))
        values.append((i, i + 1, i + 2, i + 3, i + 4, i + 5, i + 6, i + 7, i + 8, i + 9, i + 10))
        values.append((i, i + 1, i + 2, i + 3, i + 4, i + 5, i + 6, i + 7, i + 8, i + 9, i + 10))
        values.append((i, i + 1, i + 2, i + 3, i + 4, i + 5, i + 6, i + 7, i + 8, i + 9, i + 10))
    return len(values)


def test_an_instruction_with_a_prefix() -> None:
    offset = offset_of(long_jump, "FOR_ITER")
    assert resume(long_jump, offset, (iter([1, 2]),), values=[]) == 20
    with pytest.raises(ValueError, match="no instruction begins at offset"):
        resume(long_jump, offset + 2, (iter([1, 2]),), values=[])


# --- try and with ---


def guarded(action: Any, log: list[Any]) -> Any:
    try:
        try:
            action()
        except LookupError as error:
            log.append(type(error))
        else:
            log.append("else")
    finally:
        log.append("finally")
    return log


def test_in_a_try_statement() -> None:
    def fail(error: type[Exception]) -> Callable[[], None]:
        def action() -> None:
            raise error

        return action

    place = offset_of_line(guarded, 3)
    blocks = handler_block(guarded, 0) + handler_block(guarded, 1)
    for error in (KeyError, IndexError):
        assert resume(guarded, place, (), blocks, action=fail(error), log=[]) == [error, "finally"]
    assert resume(guarded, place, (), blocks, action=list, log=[]) == ["else", "finally"]

    log: list[Any] = []
    with pytest.raises(ZeroDivisionError):
        resume(guarded, place, (), blocks, action=fail(ZeroDivisionError), log=log)
    assert log == ["finally"]


class Manager:
    def __init__(self, swallow: bool) -> None:
        self.swallow = swallow
        self.seen: list[Any] = []

    def __enter__(self) -> Manager:
        return self

    def __exit__(self, kind: Any, value: Any, trace: Any) -> bool:
        self.seen.append(kind)
        return self.swallow


def managed(manager: Any, divisor: int) -> Any:
    with manager as entered:
        result = 10 // divisor
        return result, entered
    return "swallowed"


def test_in_a_with_statement() -> None:
    place = offset_of_line(managed, 2)

    def run(manager: Manager, divisor: int) -> Any:
        blocks = handler_block(managed, level=1)
        return resume(managed, place, (manager.__exit__,), blocks, divisor=divisor, entered=manager)

    manager = Manager(True)
    assert run(manager, 2) == (5, manager) and manager.seen == [None]
    assert run(manager, 0) == "swallowed" and manager.seen[1:] == [ZeroDivisionError]

    manager = Manager(False)
    with pytest.raises(ZeroDivisionError):
        run(manager, 0)
    assert manager.seen == [ZeroDivisionError]


def looped(items: Any, manager: Any, log: list[Any]) -> Any:
    for item in items:
        with manager:
            log.append(10 // item)
    return log


def test_in_a_with_statement_in_a_loop() -> None:
    manager = Manager(True)
    stack = (iter([0, 5]), manager.__exit__)
    blocks = handler_block(looped, level=2)
    place = offset_of_line(looped, 3)
    assert resume(looped, place, stack, blocks, item=2, manager=manager, log=[]) == [5, 2]
    assert manager.seen == [None, ZeroDivisionError, None]


# --- Variables ---


def with_cells(a: Any, b: Any) -> Any:
    c = 5

    def inner() -> Any:
        nonlocal c
        c += a
        return b, c

    return inner(), c


def test_cells_of_its_own() -> None:
    assert resume(with_cells, offset_of_line(with_cells, 3), a=1, b=2, c=10) == ((2, 11), 11)
    with pytest.raises(NameError, match="'?c'?"):
        resume(with_cells, offset_of_line(with_cells, 3), a=1, b=2)


def make_counter() -> Any:
    count = 0

    def step(by: int) -> int:
        nonlocal count
        count += by
        return count

    return step


def test_cells_of_functions_around() -> None:
    step = make_counter()
    step(3)
    assert resume(step, offset_of_line(step, 2), by=4) == 7
    assert step(0) == 7


class Base:
    def name(self) -> str:
        return "base"


class Derived(Base):
    def name(self) -> str:
        prefix = "derived of "
        return prefix + super().name()


def test_super_without_arguments() -> None:
    function = Derived.name
    assert resume(function, offset_of_line(function, 2), self=Derived(), prefix="p ") == "p base"


def below(values: Any) -> Any:
    scale = 2
    doubled = (value * scale for value in values)
    return sum(doubled), [value + scale for value in values], {value: scale for value in values}


def test_generators_and_comprehensions_below() -> None:
    place = offset_of_line(below, 2)
    assert resume(below, place, values=[1, 2], scale=3) == (9, [4, 5], {1: 3, 2: 3})


def look() -> Any:
    here = 1
    return sys._getframe(), locals()


def test_the_frame_is_one_of_the_function() -> None:
    frame, found = resume(look, offset_of_line(look, 2), here=7)
    assert frame.f_code is look.__code__ and frame.f_lineno == look.__code__.co_firstlineno + 2
    assert found == {"here": 7} and frame.f_locals["here"] == 7
    assert frame.f_back is None or frame.f_back.f_code.co_name == "resume"


def test_globals_and_builtins() -> None:
    function = eval("lambda: (value, len)")
    code = function.__code__
    place = offset_of(function, "LOAD_GLOBAL", "value")
    assert compiler.resume(code, place, {"value": 5}, {"len": 6}, None, (), ()) == (5, 6)
    assert compiler.resume(code, place, {"value": 5}, None, (), (), ())[0] == 5


# --- Exceptions ---


def failing(value: Any) -> Any:
    first = value
    second = first + 1
    return second


def test_tracebacks_name_the_line() -> None:
    with pytest.raises(TypeError) as raised:
        resume(failing, offset_of_line(failing, 2), first="a")
    last = traceback.extract_tb(raised.value.__traceback__)[-1]
    assert (last.name, last.lineno) == ("failing", failing.__code__.co_firstlineno + 2)


def endless(depth: int) -> Any:
    depth += 1
    return resume(endless, offset_of_line(endless, 1), depth=depth)


def test_recursion_ends_with_an_error() -> None:
    with pytest.raises(RecursionError):
        endless(0)
    assert resume(total, offset_of_line(total, 4), result=1) == 1


# --- References ---


def test_nothing_is_kept() -> None:
    class Item:
        pass

    def work(item: Any, items: Any) -> Any:
        kept = item
        for other in items:
            kept = (other, lambda: item)
        if kept is None:
            raise ValueError
        return None

    item = Item()
    values = [work.__code__, item, None]
    while gc.collect():  # what other tests have left may take several rounds
        pass
    before = [sys.getrefcount(value) for value in values]
    place = offset_of(work, "FOR_ITER")
    for _ in range(10_000):
        resume(work, place, (iter([item]),), item=item, kept=item)
        with pytest.raises(ValueError):
            resume(work, place, (iter([]),), item=item, kept=None)
    gc.collect()
    after = [sys.getrefcount(value) for value in values]
    assert after[:2] == before[:2]
    assert abs(after[2] - before[2]) < 100
    assert sum(isinstance(found, Item) for found in gc.get_objects()) == 1


def test_results_that_outlive_the_frame() -> None:
    def make(value: Any) -> Any:
        local = [value]
        return lambda: local

    assert resume(make, offset_of_line(make, 2), local=[3])() == [3]


# --- Threads ---


def test_many_threads() -> None:
    place = offset_of(total, "FOR_ITER")
    correct: list[bool] = []

    def numbers(count: int) -> Iterator[int]:
        yield from range(count)

    def work() -> None:
        correct.append(
            all(resume(total, place, (numbers(i),), result=0) == sum(range(i)) for i in range(300))
        )

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert correct == [True] * 4


def test_inside_of_another_resumed_function() -> None:
    def outer(place: int) -> Any:
        begin = 1
        return begin + resume(total, place, (iter([1]),), result=5)

    place = offset_of(total, "FOR_ITER")
    assert resume(outer, offset_of_line(outer, 2), begin=2, place=place) == 8


def test_under_a_tracer() -> None:
    events: list[str] = []

    def trace(frame: Any, event: str, _: Any) -> Any:
        events.append(event)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        assert resume(total, offset_of(total, "FOR_ITER"), (iter([1]),), result=5) == 6
    finally:
        sys.settrace(before)
    assert "line" in events


# --- Wrong arguments ---


def simple(a: Any) -> Any:
    b = a
    return b


def generator() -> Any:
    yield


def good() -> list[Any]:
    return [simple.__code__, offset_of_line(simple, 2), {}, None, None, (1, 2), ()]


@pytest.mark.parametrize(
    ("position", "value", "error", "words"),
    [
        (0, 5, TypeError, "'code' must be code, not int"),
        (0, generator.__code__, ValueError, "generators and coroutines"),
        (0, compile("1", "", "exec"), ValueError, "modules and class bodies"),
        (1, "a", TypeError, None),
        (1, -2, ValueError, "no instruction begins at offset -2"),
        (1, 10**6, ValueError, "no instruction begins"),
        (1, 10**30, Exception, None),
        (1, 3, ValueError, "no instruction begins"),
        (2, [], TypeError, "'globals' must be a dict"),
        (3, [], TypeError, "'builtins' must be a dict or None"),
        (4, [], TypeError, "'closure' must be a tuple, not list"),
        (4, (CellType(1),), ValueError, "expected 0 elements in 'closure', got 1"),
        (5, [1, 2], TypeError, "'fastlocals' must be a tuple, not list"),
        (5, (1,), ValueError, "expected 2 elements in 'fastlocals', got 1"),
        (6, [], TypeError, "'stack' must be a tuple, not list"),
        (6, (0,) * 50, ValueError, "50 values on a stack of"),
    ],
)
def test_wrong_arguments(position: int, value: Any, error: type[Exception], words: str | None) -> None:
    arguments = good()
    assert compiler.resume(*arguments) == 2
    arguments[position] = value
    with pytest.raises(error, match=words):
        compiler.resume(*arguments)


def test_more_wrong_arguments() -> None:
    for count in (0, 6, 9):
        with pytest.raises(TypeError, match="takes 7 or 8 positional arguments"):
            compiler.resume(*(good() * 2)[:count])
    with pytest.raises(TypeError, match="'blocks' must be a tuple"):
        compiler.resume(*good(), 5)
    with pytest.raises((TypeError, ValueError)):
        compiler.resume(*good(), ((1, "a", 2),))
    with pytest.raises((TypeError, ValueError)):
        compiler.resume(*good(), (1,))

    step = make_counter()
    arguments = [step.__code__, offset_of_line(step, 2), {}, None, step.__closure__, (1,), ()]
    assert compiler.resume(*arguments) == 1
    arguments[4] = (5,)
    with pytest.raises(TypeError, match="'closure' must be a cell, not int"):
        compiler.resume(*arguments)


def test_a_cell_is_expected_where_the_frame_has_one() -> None:
    slots = compiler.frame_slots(with_cells.__code__)
    assert {name for name, is_cell in slots if is_cell} == {"a", "b", "c"}
    arguments = [with_cells.__code__, offset_of_line(with_cells, 3), {}, None, None, (1,) * len(slots), ()]
    with pytest.raises(TypeError, match="'fastlocals' must be a cell, not int"):
        compiler.resume(*arguments)
    with pytest.raises(TypeError, match="expected code"):
        compiler.frame_slots(5)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="frames of 3.10 have their cells when they begin")
def test_the_instructions_that_make_cells_are_not_repeated() -> None:
    given = tuple(CellType(1) if is_cell else 1 for _, is_cell in compiler.frame_slots(with_cells.__code__))
    with pytest.raises(ValueError, match="before the first instruction of the source"):
        compiler.resume(with_cells.__code__, 0, {}, None, None, given, ())
