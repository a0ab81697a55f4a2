"""set_frame_hook(): functions that native code calls are offered to a hook."""

from __future__ import annotations

import gc
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import torch_py as torch

compiler = torch._C._compiler


@contextmanager
def hooked(hook: Callable[[Any], Any]) -> Iterator[None]:
    assert compiler.set_frame_hook(hook) is None
    try:
        yield
    finally:
        assert compiler.set_frame_hook(None) is hook


def double(x: Any) -> Any:
    return 2 * x


def calls_double(x: Any) -> Any:
    return double(x) + sum(map(double, [x]))


def only(function: Callable[..., Any], replacement: Any) -> Callable[[Any], Any]:
    return lambda found: replacement if found.__code__ is function.__code__ else None


def test_functions_are_replaced_wherever_they_are_called_from() -> None:
    with hooked(only(double, lambda x: 10 * x)):
        assert double(1) == 10
        assert calls_double(1) == 20
        assert sorted([2, 1], key=double) == [1, 2]
    assert calls_double(1) == 4


def test_none_lets_a_function_run() -> None:
    seen = []

    def hook(function: Any) -> None:
        seen.append(function.__name__)

    with hooked(hook):
        assert calls_double(3) == 12
    assert seen.count("double") == 2 and "calls_double" in seen
    assert "hook" not in seen


def everything(a: Any, b: Any = 2, /, c: Any = 3, *args: Any, d: Any, e: Any = 5, **kwargs: Any) -> Any:
    return lambda: (a, b, c, args, d, e, kwargs)


def test_arguments_are_bound() -> None:
    with hooked(only(everything, lambda *bound: bound)):
        assert everything(1, d=4) == (1, 2, 3, 4, 5, (), {})
        assert everything(1, 9, 8, 7, d=4, z=6) == (1, 9, 8, 4, 5, (7,), {"z": 6})
        with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'd'"):
            everything(1)


def test_the_function_of_the_hook() -> None:
    def outer(value: Any) -> Any:
        def inner(a: Any) -> Any:
            return value, a

        return inner

    inner = outer(5)
    found: list[Any] = []
    with hooked(only(inner, found.append)):
        inner(1)
    assert found == [1]

    functions: list[Any] = []
    with hooked(lambda function: functions.append(function)):
        inner(1)
    function = next(f for f in functions if f.__code__ is inner.__code__)
    assert function(2) == (5, 2)
    assert function.__globals__ is globals()


def test_errors_of_replacements_and_hooks() -> None:
    def fail(x: Any) -> Any:
        raise LookupError(x)

    with hooked(only(double, fail)):
        with pytest.raises(LookupError, match="5") as raised:
            double(5)
        assert [entry.name for entry in traceback.extract_tb(raised.value.__traceback__)][1:] == ["fail"]
        with pytest.raises(LookupError):
            calls_double(5)

    def broken(function: Any) -> Any:
        if function.__code__ is double.__code__:
            raise ZeroDivisionError

    with hooked(broken), pytest.raises(ZeroDivisionError):
        double(1)
    with hooked(only(double, 5)), pytest.raises(TypeError, match="not callable"):
        double(1)
    assert double(1) == 2


def test_the_hook_is_off_while_it_or_a_replacement_runs() -> None:
    depth = []

    def hook(function: Any) -> Any:
        depth.append(function.__name__)
        double(1)
        return (lambda x: double(x) + 1) if function.__code__ is double.__code__ else None

    with hooked(hook):
        assert double(4) == 9
    assert depth.count("double") == 1


def test_replacements_may_set_a_hook() -> None:
    def replacement(x: Any) -> Any:
        with hooked(only(double, lambda x: "inner")):
            return double(x)

    with hooked(only(double, replacement)):
        assert double(1) == "inner"
        assert double(1) == "inner"


def test_a_hook_that_was_left_is_taken_off() -> None:
    def replacement(x: Any) -> Any:
        compiler.set_frame_hook(lambda function: None)
        return x

    with hooked(only(double, replacement)):
        assert double(1) == 1
    assert double(1) == 2


def generator(values: Any) -> Iterator[Any]:
    yield from values


async def coroutine() -> None: ...


def test_what_is_not_an_ordinary_function_is_not_offered() -> None:
    seen: list[str] = []

    def hook(function: Any) -> None:
        seen.append(function.__name__)

    with hooked(hook):
        assert list(generator([1, 2])) == [1, 2]
        coroutine().close()
        exec("x = 1")

        class Body:
            pass

    assert not {"generator", "coroutine", "Body", "<module>"} & set(seen)


def test_skipped_code_is_not_offered() -> None:
    def skipped(x: Any) -> Any:
        return x

    code = skipped.__code__
    assert not compiler.is_skipped_code(code)
    compiler.skip_code(code)
    assert compiler.is_skipped_code(code)
    with hooked(only(skipped, lambda x: "replaced")):
        assert skipped(1) == 1
        compiler.skip_code(code, False)
        assert skipped(1) == "replaced"


def test_other_threads_are_left_alone() -> None:
    results: list[Any] = []
    with hooked(only(double, lambda x: "replaced")):
        thread = threading.Thread(target=lambda: results.append(double(2)))
        thread.start()
        thread.join()
        assert double(2) == "replaced"
    assert results == [4]


def test_hooks_and_resumed_frames_on_many_threads() -> None:
    from .frames import offset_of_line, resume

    place = offset_of_line(double, 1)
    correct: list[bool] = []

    def work(number: int) -> None:
        for i in range(300):
            with hooked(only(double, lambda x: (number, x))):
                first = double(i)
            correct.append(
                first == (number, i) and resume(double, place, x=i) == 2 * i and double(i) == 2 * i
            )

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert correct == [True] * 1200


def test_nothing_is_kept() -> None:
    values = [object() for _ in range(3)]

    def fail(x: Any) -> Any:
        raise LookupError

    before = [sys.getrefcount(value) for value in values]
    for _ in range(2000):
        with hooked(only(double, lambda x: x)):
            double(values[0])
        with hooked(only(double, fail)), pytest.raises(LookupError):
            double(values[1])
        with hooked(lambda function: None):
            str(values[2])
    gc.collect()
    assert [sys.getrefcount(value) for value in values] == before


def recursive(n: int) -> Any:
    return recursive(n + 1)


def test_recursion_ends_with_an_error() -> None:
    with hooked(lambda function: None), pytest.raises(RecursionError):
        recursive(0)
    with hooked(only(recursive, lambda n: recursive(n))), pytest.raises(RecursionError):
        recursive(0)


def test_wrong_arguments() -> None:
    with pytest.raises(TypeError, match="expected a callable or None, got int"):
        compiler.set_frame_hook(5)
    for function in (compiler.skip_code, compiler.is_skipped_code):
        with pytest.raises(TypeError, match="expected code, got int"):
            function(5)
