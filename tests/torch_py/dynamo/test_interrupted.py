"""Breaks inside of expressions: comprehensions, displays, iterators over generators, loops in `try`."""

import collections
import functools
import itertools

import pytest

import torch_py as torch
from tests.torch_py.dynamo.comparing import equal

ONES = torch.ones(3)


# Iterators over containers that were changed before the break

ITERATORS = {
    "from the end": (list, reversed),
    "numbered from the end": (list, lambda items: enumerate(map(str, reversed(items)))),
    "both ends": (list, lambda items: zip(reversed(items), items)),
    "deque": (collections.deque, iter),
    "set": (set, iter),
    "dict": (dict.fromkeys, lambda items: iter(items.items())),
}


@pytest.mark.parametrize("name", ITERATORS)
def test_iterators_over_changed_containers(name):
    make, iterate = ITERATORS[name]

    def function(x, items):
        items.update({4: x}) if hasattr(items, "update") else items.extend([4, 5])
        iterator = iterate(items)
        first = next(iterator)
        torch._dynamo.graph_break()
        return x + 1, [first, *iterator], len(items)

    compiled = torch.compile(function, backend="eager")
    assert equal(compiled(ONES, make([1, 2, 3])), function(ONES, make([1, 2, 3])))


# Containers that were begun before a break, and are finished after it


def broken(value):
    torch._dynamo.graph_break()
    return value


BEGUN_BEFORE_A_BREAK = {
    "tuple": lambda x, n: (n, *broken([x, n])),
    "list": lambda x, n: [n, x * n, *broken([x, n])],
    "set": lambda x, n: {n, *broken([n + 1])},
    "dict": lambda x, n: {"a": n, **broken({"b": x * n}), "".join("a"): 2},
    "arguments": lambda x, n: check_arguments(n, *broken([n, 3]), q=n, **broken({"z": x})),
    "list comprehension": lambda x, n: [broken(x * i) for i in range(n)],
    "two loops": lambda x, n: [i + broken(j) for i in (1, 2) for j in range(n)],
    "set comprehension": lambda x, n: {broken(i) for i in range(n)},
    "dict comprehension": lambda x, n: {i: broken(x * i) for i in range(n)},
    "nested": lambda x, n: [[broken(x * i + j) for j in range(i)] for i in range(n)],
    "used at once": lambda x, n: torch.stack([broken(x * i) for i in range(n)] + [x]),
    "sorted": lambda x, n: sorted([broken(-i) for i in range(n)]),
}


def check_arguments(*args, **kwargs):
    return args, kwargs


@pytest.mark.parametrize("name", BEGUN_BEFORE_A_BREAK)
def test_containers_that_are_begun_before_a_break(name):
    """Whatever a capture puts into them is undone, and what is read of them is guarded."""
    function = BEGUN_BEFORE_A_BREAK[name]
    compiled = torch.compile(function, backend="eager")
    for n in (2, 3, 1, 2, 4, 0):
        assert equal(compiled(ONES, n), function(ONES, n))


def test_one_piece_of_code_continues_a_comprehension():
    """The length of the list that it fills is not looked at."""
    counter = torch._dynamo.testing.CompileCounter()
    compiled = torch.compile(lambda xs: [x * broken(2) for x in xs], backend=counter)
    xs = [ONES * i for i in range(12)]
    assert equal(compiled(xs), [x * 2 for x in xs])
    assert counter.frame_count == 1


def numbers(n):
    for i in range(n):
        yield broken(i)


ITERATORS_OF_GENERATORS = {
    "zip": lambda n: list(zip(numbers(n), numbers(n))),
    "enumerate": lambda n: list(enumerate(numbers(n))),
    "map": lambda n: list(map(lambda v: v + 1, numbers(n))),
    "chain": lambda n: list(itertools.chain(numbers(n), numbers(n))),
    "chains": lambda n: list(itertools.chain.from_iterable([numbers(n), numbers(n)])),
    "groupby": lambda n: [(k, list(g)) for k, g in itertools.groupby(range(n), key=lambda v: broken(v))],
    "in": lambda n: (1 in numbers(n), 7 in numbers(n)),
    "comparison": lambda n: sorted([n, 1, 2], key=functools.cmp_to_key(lambda a, b: broken(a - b))),
}


@pytest.mark.parametrize("name", ITERATORS_OF_GENERATORS)
def test_iterators_over_generators_that_are_interrupted(name):
    """Native code advances no generator of the program while a continuation is captured."""
    function = ITERATORS_OF_GENERATORS[name]
    compiled = torch.compile(lambda x, n: (x + n, function(n)), backend="eager")
    for n in (1, 2, 3, 1):
        assert equal(compiled(ONES, n), (ONES + n, function(n)))


def numbers_up_to(n, bad):
    for i in range(n):
        if i == bad:
            raise ValueError(f"bad {i}")
        yield i


def test_loops_inside_of_try():
    """The exception of an iterator meets its handler, and the rest of the loop is compiled."""

    def function(x, values):
        steps = []
        try:
            for value in values:
                x = x + value
                torch._dynamo.graph_break()
                x = x * 2
            steps.append("all")
        except ValueError as error:
            steps.append(str(error))
        finally:
            steps.append("end")
        return x, steps

    counter = torch._dynamo.testing.CompileCounter()
    compiled = torch.compile(function, backend=counter)
    for n, bad in ((3, 9), (3, 1), (4, 0), (0, 0), (3, 2), (5, 9)):
        assert equal(compiled(ONES, numbers_up_to(n, bad)), function(ONES, numbers_up_to(n, bad)))
    assert counter.frame_count > 1
