"""Generators that are left in the middle are closed when they are dropped, and classes tell their bases."""

from __future__ import annotations

import abc
import contextlib
import dataclasses
import enum
import functools
import typing
from collections.abc import Sequence
from typing import Any

import pytest

import torch_py as torch
from tests.torch_py.dynamo.comparing import equal
from torch_py._dynamo.utils import counters

LOG: list[Any] = []
X = torch.ones(3)


def _numbered(x):
    try:
        yield x
        yield x + 1
    finally:
        LOG.append("closed")


def _left_by_break(x):
    for value in _numbered(x):
        x = value * 2
        break
    return x, list(LOG)


def _left_by_return(x):
    for value in _numbered(x):
        return value * 2


def _inside_of_with(x):
    def values():
        with contextlib.suppress(ValueError):
            yield x.sin()
            yield x.cos()

    return next(values()) + x


def _delegated(x):
    def outer():
        yield from _numbered(x)
        LOG.append("not reached")

    for value in outer():
        return value + 1


def _not_started(x):
    generator = _numbered(x)
    return x * (generator is not None)


def _exhausted(x):
    return sum(_numbered(x)), list(LOG)


def _closed(x):
    generator = _numbered(x)
    first = next(generator)
    generator.close()
    return first * 3, list(LOG)


def _without_cleanup(x):
    def values():
        yield x.sin()
        yield x.cos()

    return next(values()) + x


class Base:
    def __init_subclass__(cls, **kwargs: Any):
        LOG.append((cls.__name__, kwargs))


class Named:
    def __set_name__(self, owner: Any, name: str):
        LOG.append((owner.__name__, name))


class Partial:
    __init_subclass__ = functools.partial(lambda **kwargs: LOG.append("partial"))


class Prepared(type):
    @classmethod
    def __prepare__(mcs, *args: Any, **kwargs: Any):
        LOG.append("prepared")
        return {}


class _Entries:
    def __mro_entries__(self, bases: Any):
        LOG.append("entries")
        return ()


ENTRIES = _Entries()


class Meta(type):
    def __new__(mcs, name: str, *rest: Any):
        LOG.append(name)
        return super().__new__(mcs, name, *rest)


class Echo:
    def __init__(self):
        self.count = 0

    def __iter__(self):
        return self

    def __next__(self):
        self.count += 1
        if self.count > 2:
            raise StopIteration(7)
        return self.count

    def send(self, value: Any):
        return value * 10


def _sent_on(x):
    def values():
        yield from Echo()

    generator = values()
    next(generator)
    return generator.send(x)


class Closing(Echo):
    def close(self):
        LOG.append("closed")


def _closing(x):
    def values():
        yield from Closing()

    for value in values():
        return x * value


def _closed_delegate(x):
    def values():
        yield from Closing()

    generator = values()
    first = next(generator)
    generator.close()
    return x * first, list(LOG)


def _result_of_an_iterator(x):
    def values():
        result = yield from Echo()
        yield result

    return x * sum(values())


def _partial_hook(x):
    class Inner(Partial):
        factor = 3

    return x * Inner.factor


def _members(x):
    class Number(enum.Enum):
        ONE = 1

        def __init__(self, value: int):
            LOG.append(value)

    return x * Number.ONE.value


def _prepared(x):
    class Inner(metaclass=Prepared):
        factor = 3

    return x * Inner.factor


def _entries(x):
    class Inner(ENTRIES):  # type: ignore[valid-type, misc]
        factor = 3

    return x * Inner.factor


def _subclass(x):
    class Inner(Base, key=2):
        factor = 3

    return x * Inner.factor


def _named(x):
    class Inner:
        field = Named()
        factor = 3

    return x * Inner.factor


def _meta(x):
    class Inner(metaclass=Meta):
        factor = 3

    return x * Inner.factor


def _of_libraries(x):
    class Number(enum.Enum):
        TWO = 2

    @dataclasses.dataclass
    class Pair(abc.ABC):  # noqa: B024
        one: int = 2

    class Typed(typing.Generic[typing.TypeVar("T")]):
        factor = 2

    return x * Number.TWO.value * Pair().one * Typed.factor


def _plain(x):
    class Outer:
        factor = 2

    class Inner(Outer):
        def scaled(self):
            return super().factor * x

    return Inner().scaled()


def _calls(function: Any) -> list[Any]:
    LOG.clear()
    found = [function(X) for _ in range(3)]
    return [*found, *LOG]


@pytest.mark.parametrize(
    "program",
    [
        _left_by_break, _left_by_return, _inside_of_with, _delegated, _not_started, _exhausted, _closed,
        _without_cleanup, _subclass, _named, _meta, _of_libraries, _plain, _sent_on, _result_of_an_iterator,
        _partial_hook, _members, _prepared, _entries, _closing, _closed_delegate,
    ],
)  # fmt: skip
def test_as_in_eager_mode(program: Any):
    torch.compiler.reset()
    assert equal(_calls(torch.compile(program, backend="eager")), _calls(program))


@pytest.mark.parametrize(
    "program", [_not_started, _exhausted, _closed, _closed_delegate, _without_cleanup, _plain, _sent_on]
)
def test_no_break_without_need(program: Any):
    torch.compiler.reset()
    counters.clear()
    _calls(torch.compile(program, backend="eager"))
    assert not counters["graph_break"]


class Layers(Sequence):
    """Its iterator waits inside of `try`, with a clause for IndexError."""

    def __init__(self, *values: Any):
        self.values = values

    def __getitem__(self, index: Any):
        return self.values[index]

    def __len__(self):
        return len(self.values)


def _first_of_sequence(x):
    for layer in Layers(torch.sin, torch.cos):
        return layer(x)


def _first_within_clauses(x):
    def values():
        try:
            try:
                yield x.sin()
            except (KeyError, IndexError):
                yield x.cos()
            except ValueError:
                pass
        except Exception:
            LOG.append("left")

    return next(values()) + x


def _with_two(x):
    def values():
        try:
            try:
                yield x.sin()
            except IndexError:
                pass
        finally:
            LOG.append("left")

    return next(values()) + x


def _with_all(x):
    def values():
        try:
            yield x.sin()
        except:  # noqa: E722
            LOG.append("left")

    return next(values()) + x


def _with_base(x):
    def values():
        try:
            yield x.sin()
        except (ValueError, BaseException):
            LOG.append("left")

    return next(values()) + x


@pytest.mark.parametrize("function", [_first_of_sequence, _first_within_clauses])
def test_clauses_for_exceptions_do_nothing_when_a_generator_is_left(function):
    assert equal(torch.compile(function, backend="eager", fullgraph=True)(X), function(X))


class Failure(Exception):
    pass


def _with_a_condition(x):
    """Whose jump looks like that of a clause."""

    def values():
        try:
            yield x.sin()
        finally:
            if Failure:
                LOG.append("left")

    return next(values()) + x


def _with_an_expression(x):
    def values():
        try:
            yield x.sin()
        except ValueError and GeneratorExit:  # noqa: B030
            LOG.append("left")

    return next(values()) + x


@pytest.mark.parametrize(
    "function", [_with_two, _with_all, _with_base, _with_a_condition, _with_an_expression]
)
def test_clauses_that_meet_the_end_of_a_generator(function):
    compiled = torch.compile(function, backend="eager")
    for call in (function, compiled, compiled):
        LOG.clear()
        call(X)
        assert LOG == ["left"]
