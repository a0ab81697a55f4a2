"""Programs that keep something of each call, or get something new in it, are compiled once or twice."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

import torch_py as torch
from tests.torch_py.dynamo.comparing import equal
from torch_py._dynamo.testing import CompileCounter

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
