"""Programs that keep something of each call, or get something new in it, are compiled once or twice."""

from __future__ import annotations

import copy
import datetime
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import torch_py as torch
from tests.torch_py.dynamo.comparing import equal
from torch_py._dynamo.testing import CompileCounter, CompileCounterWithBackend

X = torch.ones(2)
HISTORY: list[Any] = []


def calls(function: Callable[..., Any], *arguments: tuple[Any, ...]) -> tuple[list[Any], list[Any]]:
    """What calls return or raise one after another, and what the arguments are then."""
    arguments, HISTORY[:] = copy.deepcopy(arguments), []
    found = []
    for given in arguments:
        try:
            found.append(function(*given))
        except Exception as error:
            found.append(error)
    return found, [*arguments, *HISTORY]


def compilations(program: Callable[..., Any], *arguments: tuple[Any, ...]) -> int:
    """Compares calls with those of eager mode; gives the number of graphs."""
    torch.compiler.reset()
    counter = CompileCounter()
    expected = calls(program, *arguments)
    actual = calls(torch.compile(program, backend=counter), *arguments)
    assert equal(expected, actual), f"\nexpected {expected}\nactual   {actual}"
    return counter.frame_count


def _global(x):
    HISTORY.append(x + 1)
    return x * 2


def _of_argument(x, log):
    log.append(x.shape)
    log += [x, 3]
    log.extend(i for i in range(2))
    return x + 1


def _around_a_break(x, log):
    log.append(x * 3)
    torch._dynamo.graph_break()
    log.append(2)
    return x + 1


@pytest.mark.parametrize("program", [_global, _of_argument, _around_a_break])
def test_appending_does_not_look_at_the_list(program):
    log: list[Any] = []
    arguments = [(X,) if program is _global else (X, log)] * 4
    assert compilations(program, *arguments) == (2 if program is _around_a_break else 1)


def _reads_before(x, log):
    total = sum(log)
    log.append(total)
    return x + total, log[-1]


def _reads_after(x, log):
    log.append(5)
    return x + log[2], len(log), log[:2]


def _misses(x, log):
    log.append(5)
    try:
        return x + log[3]
    except IndexError:
        return x


def _changes_after(x, log):
    log.append(x)
    log.append(log.pop() * 2)
    log.reverse()
    return log


def _itself(x, log):
    log.extend(log)
    log.append(log)
    return log.pop() is log, x + 1


@pytest.mark.parametrize("program", [_reads_before, _reads_after, _misses, _changes_after, _itself])
def test_lists_that_are_read_and_appended_to(program):
    compilations(program, (X, [1, 2]), (X, [1, 2, 3]), (X, [1, 2, 4]), (X, [7, 2]))


def test_appending_to_a_list_with_two_names():
    def program(x, log, other):
        log.append(2)
        return x + len(other)

    both, other = [1], [1]
    compilations(program, (X, both, both), (X, both, other), (X, both, both), (X, other, both))


# Numbers that come from tensors


def _branch(x):
    value, y = x.sum().item(), x + 1
    return y * 2 if value > 3 else y


def _appended(x):
    losses = []
    losses.append(x.sum().item())
    losses.append((x * 2).sum().item())
    return losses, x + 1


def _summed(x):
    total = 0.0
    for i in range(3):
        total += (x * i).sum().item()
    return total, x * 2


def _operand(x):
    value = float(x.sum())
    return x * value, torch.full((2,), value), x.clamp(max=value)


def _list_of_numbers(x):
    values = x.tolist()
    return x * 2, values, values[0] + 1, max(values), sum(values)


def _texts(x):
    value, y = x.sum().item(), x * 2
    return f"{value:.2f} {value}", "%f" % value, "{}".format(value), str(value), y  # noqa: UP030, UP031, UP032


def _native_functions(x):
    value = x.sum().item()
    y = x * 2
    rounded = math.sqrt(value), round(value, 1), int(value), abs(value), divmod(value, 2), value.is_integer()
    return y, rounded, isinstance(value, float), type(value) is float, value is None, bool(value)


def _containers(x):
    value = x.sum().item()
    kept = {"value": value, "both": [value, (value,)]}
    found = value in [1.0, 2.0], [value] == [value], [value] == [1.0], sorted([value, 1.0, value / 2])
    return kept, found, {value: 1}, {value}, min([value, 2.0]), x + 1


def _objects(x):
    value = x.sum().item()

    class Record:
        def __init__(self, value):
            self.value = value

        def twice(self):
            return self.value * 2 + value

    record = Record(value)
    y = x * record.value
    return y, record.value, record.twice()


def _under_two_names(x):
    value = x.sum().item()
    other = value if x is not None else 0
    torch._dynamo.graph_break()
    y = x + 1
    return y, other, value is other, [value] == [other], value is not None


FLOATS = [
    _under_two_names,
    _branch, _appended, _summed, _operand, _list_of_numbers, _texts, _native_functions, _containers, _objects
]  # fmt: skip


@pytest.mark.parametrize("program", FLOATS)
def test_numbers_of_tensors_are_not_compiled_for(program):
    several = [(X * (i / 2 + 0.25),) for i in range(12)]
    assert compilations(program, *several) == compilations(program, *several[:6])


class Settings:
    rate = 0.5


def _scaled(x, rate):
    return (x.sin() * rate).cos()


def _scaled_in_a_callee(x, rate):
    return _scaled(x, rate) + _scaled(x + 1, rate=rate)


def _set_and_read(x, rate):
    Settings.rate = rate
    return x * Settings.rate


def _within_try(x, rate):
    try:
        x = x / (rate - 0.75)
        return x, 1 / (rate - 0.75)
    except ZeroDivisionError:
        return x - 1


def _in_a_list(x, rate):
    return [factor * x for factor in [rate, rate * 2]]


@pytest.mark.parametrize("program", [_scaled, _scaled_in_a_callee, _set_and_read, _within_try, _in_a_list])
def test_floats_with_many_values_are_not_compiled_for(program):
    several = [(X, i / 4) for i in range(24)]
    assert compilations(program, *several) == compilations(program, *several[:8])


def test_a_rate_that_a_schedule_changes():
    def losses(wrap):
        torch.manual_seed(0)
        model = torch.nn.Linear(2, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)

        def step(x):
            optimizer.zero_grad()
            loss = model(x).pow(2).sum()
            loss.backward()
            optimizer.step()
            return loss.detach()

        step = wrap(step)
        found = []
        for _ in range(16):
            found.append(step(X))
            schedule.step()
            counts.append(counter.frame_count)
        return found

    counter, counts = CompileCounter(), []
    expected = losses(lambda step: step)
    found = losses(lambda step: torch.compile(step, backend=counter))
    torch.testing.assert_close(found, expected)
    assert counts[-8] == counts[-1]


def test_texts_that_are_passed_on():
    def program(x, name):
        x = x + 1
        torch._dynamo.graph_break()
        return x * 2, name, [name]

    assert compilations(program, *((X, f"name {i}") for i in range(12))) == 5


USES_OF_TEXTS = [
    lambda x, text: x * (len(text) + ("1" in text) + (text in "12")),
    lambda x, text: (
        x,
        f"<{text}>",
        text + "!",
        "!" + text,
        text * 2,
        "-".join([text, "a"]),
        str.join("", [text]),
    ),
    lambda x, text: (
        x,
        text.upper(),
        text[0],
        [*text],
        text == "1",
        {text: 1}.get(text),
        sorted([text, "3"]),
    ),
    lambda x, text: (x, getattr(Names, text, None), os.path.join("folder", text), Path(text).name, int(text)),
    lambda x, text: (x, torch.device("cpu" if text else text), str(text), repr(text), hash(text), bool(text)),
]


class Names:
    pass


@pytest.mark.parametrize("use", USES_OF_TEXTS)
def test_texts_that_are_used(use):
    def program(x, text):
        x = x + 1
        torch._dynamo.graph_break()
        return use(x, text)

    compilations(program, *((X, str(i)) for i in range(6)))


def test_settings_are_compiled_for():
    def program(x, mode):
        x = x + 1
        torch._dynamo.graph_break()
        return x * 2 if mode == "double" else x * 3

    assert compilations(program, *[(X, "double"), (X, "triple")] * 3) == 3


# Values that are equal to those of the call before

TABLE = {
    (2, 0): 2.0,
    (2, 1): 3.0,
    (3, ("a", None)): 4.0,
    frozenset({1}): 5.0,
    datetime.date(2020, 1, 1): 6.0,
}
SETTINGS: dict[str, Any] = {}
OTHER = (2, 0)
MAKERS = [
    lambda: tuple([2, 0]),
    lambda: (3, tuple(["a", None])),
    lambda: frozenset([1]),
    lambda: datetime.date(2020, 1, 1),
]


@pytest.mark.parametrize("make", MAKERS)
def test_equal_values_of_global_variables(make):
    def program(x):
        SETTINGS["key"] = make()
        return inner(x)

    def read(x):
        key = SETTINGS["key"]
        return (
            x * TABLE[key],
            key == OTHER,
            [key],
            key if isinstance(key, frozenset | datetime.date) else key[1],
        )

    torch.compiler.reset()
    counter = CompileCounter()
    inner = read
    expected = program(X)
    inner = torch.compile(read, backend=counter)
    assert all(equal(program(X), expected) for _ in range(3))
    assert counter.frame_count == 1

    SETTINGS["key"] = (2, 1)
    assert equal(inner(X), read(X))
    SETTINGS["key"] = (2.0, True)  # as a key, it is the same
    assert equal(inner(X), read(X))
    assert counter.frame_count == 3


def test_identity_of_equal_values():
    def read(x):
        return x * (SETTINGS["key"] is OTHER)

    compiled = torch.compile(read, backend="eager")
    for key in (OTHER, tuple([2, 0]), OTHER):
        SETTINGS["key"] = key
        assert equal(compiled(X), read(X))


def test_equal_values_that_are_returned():
    compiled = torch.compile(lambda x: (x + 1, SETTINGS["key"]), backend="eager")
    for _ in range(2):
        SETTINGS["key"] = (2, tuple([1]))
        assert compiled(X)[1] is SETTINGS["key"]


class _Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, value: Any, factor: Any) -> Any:
        ctx.factor = factor
        return value * factor

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        return gradient * ctx.factor, None


@pytest.mark.parametrize("function", [_Scaled.apply, lambda x, n: (x.exp() * n).exp().mul_(n)])
@pytest.mark.parametrize("dynamic", [None, True])
def test_counters_in_programs_with_gradients(function: Any, dynamic: bool | None):
    """The second function raises in backward: it changes what `exp` has kept."""
    counts = {"runs": 0}

    def program(x):
        counts["runs"] += 1
        return function(x, 3) + counts["runs"]

    torch.compiler.reset()
    counter = CompileCounterWithBackend("aot_eager")
    compiled = torch.compile(program, backend=counter, dynamic=dynamic)
    x = torch.ones(5, requires_grad=True)
    for runs in range(8):
        counts["runs"] = runs
        assert equal(compiled(x).detach(), function(x, 3).detach() + runs + 1)
    assert counter.frame_count <= 4  # with dynamic=True, one is given up: its error names a size


@pytest.mark.parametrize("dynamic", [None, True])
def test_factors_of_custom_functions(dynamic: bool | None):
    compiled = torch.compile(_Scaled.apply, backend="aot_eager", dynamic=dynamic)
    x = torch.ones(5, requires_grad=True)
    for factor in range(2, 6):
        found = compiled(x, factor)
        assert equal(found.detach(), x.detach() * factor)
        assert equal(*torch.autograd.grad(found.sum(), x), torch.full((5,), float(factor)))


def test_errors_of_the_program_fix_no_integers():
    counts = {"runs": 0}

    def program(x, n):
        if n % 2:
            found = x * n
        counts["runs"] += 1
        return found + counts["runs"]

    torch.compiler.reset()
    counter = CompileCounter()
    compiled = torch.compile(program, backend=counter)
    for n in (3, 2, 4, *[1] * 8):
        counts["runs"] += n
        if n % 2:
            assert equal(compiled(X, n), X * n + counts["runs"])
        else:
            with pytest.raises(UnboundLocalError):
                compiled(X, n)
    assert counter.frame_count <= 3


class Kept:
    __slots__ = ("__dict__", "value")


def _kept_list(kept, x):
    kept.last = [x.sum()]
    return x + 1


def _kept_sizes(kept, x):
    kept.last = x.shape, {"rows": x.shape[0]}
    return x + 1


def _kept_function(kept, x):
    kept.last = lambda: x
    return x + 1


def _kept_in_a_dictionary(kept, x):
    vars(kept)["last"] = [1]
    vars(kept).update(more=(x, 1))
    return x + 1


@pytest.mark.parametrize("program", [_kept_list, _kept_sizes, _kept_function, _kept_in_a_dictionary])
def test_what_is_only_written_may_be_anything(program):
    counter, kept = CompileCounter(), Kept()
    compiled = torch.compile(program, backend=counter)
    for size in range(2, 12):
        compiled(kept, torch.ones(size))
    assert counter.frame_count <= 3
    assert str(vars(kept).keys()) in ("dict_keys(['last'])", "dict_keys(['last', 'more'])")


def test_equal_values_are_written():
    """Where other calls find another value, which the program has not read."""
    count = 5

    def program(kept, x):
        nonlocal count
        kept.value = kept.other = count = 5
        return x + 1

    kept = Kept()
    kept.value = kept.other = 5
    compiled = torch.compile(program, backend="eager")
    compiled(kept, X)
    kept.value = kept.other = count = 7
    compiled(kept, X)
    assert (kept.value, kept.other, count) == (5, 5, 5)


def test_a_value_that_is_only_removed():
    def program(kept, x):
        del kept.other
        return x + 1

    kept = Kept()
    compiled = torch.compile(program, backend="eager")
    for value in (1, [2], 3):
        kept.other = value
        compiled(kept, X)
        assert not vars(kept)
    with pytest.raises(AttributeError):
        compiled(kept, X)


def test_a_global_variable_that_is_only_removed():
    def program(x):
        global REMOVED
        del REMOVED
        return x + 1

    compiled = torch.compile(program, backend="eager")
    for value in (1, [2]):
        globals()["REMOVED"] = value
        compiled(X)
        with pytest.raises(NameError, match="name 'REMOVED' is not defined"):
            compiled(X)
