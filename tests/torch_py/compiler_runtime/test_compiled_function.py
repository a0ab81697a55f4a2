"""CompiledFunction: binding, entries, misses, and everything a function can do otherwise."""

from __future__ import annotations

import copy
import functools
import gc
import inspect
import pickle
import threading
import weakref
from collections.abc import Callable
from typing import Any

import pytest

import torch_py as torch

compiler = torch._C._compiler
CompiledFunction = compiler.CompiledFunction
GuardProgram = compiler.GuardProgram


def is_value(value: Any, registers: int = 1) -> Any:
    return GuardProgram([("equals", 0, value, "L['x']")], registers)


def refuse(*_: Any) -> Any:
    raise AssertionError("called without need")


def recorder(function: Callable[..., Any]) -> tuple[Any, list[Any]]:
    """A compiled function whose misses return their arguments, and the reasons of the misses."""
    seen: list[Any] = []

    def miss(compiled: Any, bound: tuple[Any, ...], reasons: list[str]) -> Any:
        seen.append(reasons)
        return lambda *given: given

    return CompiledFunction(function, miss), seen


def plain(a: Any, b: Any = 2, *, c: Any = 3) -> Any:
    """Plain."""


def positional_only(a: Any, b: Any = 2, /, c: Any = 3) -> Any: ...


def everything(a: Any, /, b: Any, *args: Any, c: Any, d: Any = 4, **kwargs: Any) -> Any: ...


def only_stars(*args: Any, **kwargs: Any) -> Any: ...


def with_cells(a: Any, b: Any = 1) -> Any:
    return lambda: (a, b)


CALLS: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((), {}),
    ((1,), {}),
    ((1, 2), {}),
    ((1, 2, 3), {}),
    ((1, 2, 3, 4), {}),
    ((1,), {"b": 5}),
    ((1,), {"c": 5}),
    ((), {"a": 1}),
    ((), {"b": 1, "a": 2}),
    ((1,), {"a": 1}),
    ((1, 2), {"b": 2}),
    ((1, 2), {"c": 3, "d": 4, "e": 5}),
    ((1, 2, 3), {"c": 3, "a": 4, "z": 5}),
    ((1,), {"unknown": 1}),
]


@pytest.mark.parametrize("function", [plain, positional_only, everything, only_stars, with_cells])
@pytest.mark.parametrize(("args", "kwargs"), CALLS)
def test_arguments_are_bound_as_the_function_binds_them(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    compiled, _ = recorder(function)
    try:
        function(*args, **kwargs)
    except TypeError as expected:
        with pytest.raises(TypeError) as raised:
            compiled(*args, **kwargs)
        assert str(raised.value) == str(expected)
        return

    signature = inspect.signature(function).bind(*args, **kwargs)
    signature.apply_defaults()
    values = signature.arguments
    names = inspect.getfullargspec(function)
    order = [*names.args, *names.kwonlyargs, *filter(None, (names.varargs, names.varkw))]
    assert compiled(*args, **kwargs) == tuple(values[name] for name in order)


def test_keywords_that_are_no_interned_strings() -> None:
    class Name(str):
        pass

    compiled, _ = recorder(plain)
    assert compiled(**{"".join(["", "a"]): 1, Name("c"): 5}) == (1, 2, 5)


def test_changed_defaults_are_seen() -> None:
    def function(a: Any, b: Any = 1, *, c: Any = 2) -> Any: ...

    compiled, _ = recorder(function)
    function.__defaults__ = (10,)
    function.__kwdefaults__["c"] = 20
    assert compiled(0) == (0, 10, 20)
    function.__defaults__ = None
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'b'"):
        compiled(0)


def test_entries_are_tried_and_misses_say_why() -> None:
    compiled, seen = recorder(lambda x: None)
    compiled.add(is_value(1), lambda x: "one")
    compiled.add(is_value(2), lambda x: "two")
    assert [compiled(1), compiled(2), compiled(1)] == ["one", "two", "one"]
    assert compiled(3) == (3,)
    assert seen == [["L['x'] was 1, is 3", "L['x'] was 2, is 3"]]
    compiled.clear()
    assert compiled.entries == () and compiled(1) == (1,)


def test_the_entry_used_last_comes_first() -> None:
    compiled, _ = recorder(lambda x: None)
    entries = [compiled.add(is_value(i), lambda x: x) for i in range(4)]
    before = compiled.entries
    assert list(before) == entries[::-1]
    compiled(1)
    assert compiled.entries == (entries[1], entries[3], entries[2], entries[0])
    assert list(before) == entries[::-1], "a tuple that was handed out changed"
    compiled(0)
    assert compiled.entries == (entries[0], entries[1], entries[3], entries[2])
    assert compiled.entries[0].code(5) == 5
    assert compiled.entries[0].guards.check((0,)) is None


def test_the_function_itself_may_stand_for_code() -> None:
    compiled = CompiledFunction(only_stars, lambda *_: only_stars)
    assert compiled(1, a=2) is None
    identity = lambda *args, **kwargs: (args, kwargs)  # noqa: E731
    compiled = CompiledFunction(identity, refuse)
    compiled.add(GuardProgram([], 2), identity)
    assert compiled(1, a=2) == ((1,), {"a": 2})


def test_the_limit() -> None:
    asked = []

    def miss(compiled: Any, bound: Any, reasons: Any) -> Any:
        asked.append(bound)
        if len(compiled.entries) < compiled.limit:
            compiled.add(is_value(bound[0]), lambda x: ("compiled", x))
        return lambda x: ("missed", x)

    compiled = CompiledFunction(lambda x: ("eager", x), miss, limit=2)
    assert [compiled(i)[0] for i in (0, 1, 0, 2, 3, 1, 4)] == [
        "missed", "missed", "compiled", "missed", "eager", "compiled", "eager"
    ]  # fmt: skip
    assert asked == [(0,), (1,), (2,)]
    with pytest.raises(RuntimeError, match="there are 2 entries already, the limit"):
        compiled.add(is_value(7), lambda x: x)

    compiled.limit = 3
    assert [compiled(i)[0] for i in (4, 4, 5, 6)] == ["missed", "compiled", "missed", "eager"]
    with pytest.raises(ValueError, match="limit"):
        compiled.limit = -1
    with pytest.raises(ValueError, match="limit"):
        del compiled.limit


def test_a_miss_that_raises_is_asked_again() -> None:
    def miss(*_: Any) -> Any:
        raise LookupError

    compiled = CompiledFunction(lambda x: x, miss, limit=0)
    for _ in range(2):
        with pytest.raises(LookupError):
            compiled(1)


def test_new_code_of_the_function_ends_all_entries() -> None:
    def function(x: Any) -> Any: ...

    compiled, _ = recorder(function)
    compiled.add(GuardProgram([], 1), lambda x: "old")
    assert compiled(1) == "old"
    function.__code__ = (lambda x, y=7: None).__code__
    function.__defaults__ = (7,)
    assert compiled(1) == (1, 7)
    assert compiled.entries == ()


def test_eager_calls() -> None:
    compiled = CompiledFunction(lambda x: ("eager", x), refuse)
    assert compiler.set_eager_calls(True) is False
    try:
        assert compiled(1) == ("eager", 1)
    finally:
        assert compiler.set_eager_calls(False) is True


def test_it_looks_like_the_function() -> None:
    plain.mark = 5  # type: ignore[attr-defined]
    compiled = CompiledFunction(plain, refuse)
    for name in functools.WRAPPER_ASSIGNMENTS:
        assert getattr(compiled, name, None) == getattr(plain, name, None)
    assert compiled.mark == 5
    assert compiled.__wrapped__ is plain and compiled._torchdynamo_orig_callable is plain
    assert inspect.signature(compiled) == inspect.signature(plain)
    compiled.other = 1
    assert "other" in compiled.__dict__ and not hasattr(plain, "other")
    assert repr(compiled) == f"<compiled {plain!r}>"
    assert weakref.ref(compiled)() is compiled
    assert copy.deepcopy(compiled) is compiled


named = CompiledFunction(lambda x: x, refuse)
named.__qualname__ = "named"
named.__module__ = __name__


def test_pickle_finds_it_by_name() -> None:
    assert pickle.loads(pickle.dumps(named)) is named


def test_methods() -> None:
    class Model:
        @recorder
        def forward(self, x: Any) -> Any: ...

        forward = forward[0]  # type: ignore[index]
        static = staticmethod(forward)

    model = Model()
    assert model.forward(1) == (model, 1)
    bound = model.forward
    assert bound(x=2) == (model, 2) and bound.__self__ is model
    assert Model.forward(model, 3) == (model, 3)
    assert Model.static(1, 2) == (1, 2)


def test_recursion_ends_with_an_error() -> None:
    compiled = CompiledFunction(lambda x: x, refuse)
    compiled.add(GuardProgram([], 1), compiled)
    with pytest.raises(RecursionError):
        compiled(1)
    again = CompiledFunction(lambda x: x, lambda *_: again)
    with pytest.raises(RecursionError):
        again(1)


def test_guards_may_change_the_entries_they_belong_to() -> None:
    class Vicious:
        def __getattr__(self, name: str) -> Any:
            compiled.clear()
            gc.collect()
            raise AttributeError(name)

    compiled, _ = recorder(lambda x: None)
    compiled.add(GuardProgram([("attr", 1, 0, "a")], 2), refuse)
    compiled.add(GuardProgram([("no_attr", 0, "a", "x")], 1), lambda x: "code")
    assert compiled(Vicious()) == "code"
    assert compiled.entries == ()


def test_misses_on_many_threads() -> None:
    def miss(compiled: Any, bound: Any, reasons: Any) -> Any:
        if len(compiled.entries) < compiled.limit:
            compiled.add(is_value(bound[0]), lambda x: x + 1)
        return lambda x: x + 1

    compiled = CompiledFunction(lambda x: x + 1, miss, limit=5)
    results: list[bool] = []

    def work() -> None:
        results.append(all(compiled(i % 7) == i % 7 + 1 for i in range(3000)))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 4
    assert len(compiled.entries) == 5


def test_cycles_are_freed() -> None:
    def function(x: Any) -> Any: ...

    compiled = CompiledFunction(function, refuse)
    compiled.add(GuardProgram([("is", 0, compiled, "x")], 1), compiled.__repr__)
    function.compiled = compiled  # type: ignore[attr-defined]
    gone = weakref.ref(compiled)
    del compiled, function

    gc.collect()
    assert gone() is None


def test_calls_leave_no_references() -> None:
    import sys

    compiled = CompiledFunction(everything, lambda *_: lambda *given: None)
    values = [object() for _ in range(6)]
    before = [sys.getrefcount(value) for value in values]
    for _ in range(1000):
        compiled(values[0], values[1], values[2], c=values[3], e=values[4])
        with pytest.raises(TypeError):
            compiled(values[0], nothing=values[5])
    assert [sys.getrefcount(value) for value in values] == before


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((), TypeError),
        ((len, refuse), TypeError),
        ((plain, 5), TypeError),
        ((plain, refuse, -1), ValueError),
        ((plain, refuse, "8"), TypeError),
    ],
)
def test_wrong_arguments(arguments: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        CompiledFunction(*arguments)


def test_wrong_entries() -> None:
    compiled = CompiledFunction(lambda x: x, lambda *_: 5)
    with pytest.raises(TypeError, match="expected a GuardProgram, got list"):
        compiled.add([], plain)
    with pytest.raises(TypeError, match="expected a callable, got int"):
        compiled.add(GuardProgram([], 0), 5)
    with pytest.raises(ValueError, match="the guards read 2 arguments, the function has 1"):
        compiled.add(GuardProgram([("is", 1, None, "y")], 2), plain)
    with pytest.raises(TypeError, match="miss returned int, which is not callable"):
        compiled(1)
    with pytest.raises(TypeError):
        compiler.Entry()
