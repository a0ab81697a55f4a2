"""Native code in programs: what it advances, changes, prints and calls, in the first call and in later ones."""

import functools
import itertools
import math

import pytest

import torch_py as torch
from tests.torch_py.dynamo.comparing import equal, observed


def compare(program, *calls):
    """Compares a compiled program with the program itself, for the arguments of several calls."""
    compiled = torch.compile(program, backend="eager")
    for args in calls:
        expected = observed(program, args)
        actual = observed(compiled, args)
        assert equal(expected, actual), f"\nexpected {expected}\nactual   {actual}"


# Iterators that a graph ends in


def extends(x):
    found = [x.sum()]
    found.extend(map(float, x))
    return found


def unpacks(x):
    first, second, third = map(float, x * 2)
    return first, second + x, third


def continues_with_an_iterator(x):
    iterator = map(float, x)
    first = next(iterator)
    return first, x + sum(iterator)


class Values:
    def __init__(self, x):
        self.values = map(float, x)

    def __iter__(self):
        return zip(self.values)


def iterates_over_an_object(x):
    values = Values(x)
    return list(values), list(values)


@pytest.mark.parametrize(
    "program",
    [
        lambda x: list(map(float, x)),
        lambda x: tuple(map(bool, x)),
        lambda x: list(map(math.sqrt, x)),
        lambda x: list(map(torch.Tensor.item, x)),
        lambda x: list(filter(lambda v: v > 0, x)),
        lambda x: list(filter(None, x)),
        lambda x: sorted(map(lambda v: v * -1, x)),
        lambda x: dict(zip("abc", map(float, x))),
        lambda x: list(enumerate(itertools.chain([5], map(float, x)))),
        lambda x: list(itertools.takewhile(lambda v: v < 2, x)),
        lambda x: list(itertools.dropwhile(lambda v: v < 1, x)),
        lambda x: list(itertools.filterfalse(lambda v: v < 1, x)),
        lambda x: list(itertools.compress("abc", x > 0)),
        lambda x: [(key, len(list(group))) for key, group in itertools.groupby(x, key=float)],
        lambda x: next(filter(lambda v: v > 0, x)),
        lambda x: any(map(lambda v: v > 1, x)),
        lambda x: 2.0 in map(lambda v: v * 1, x),
        lambda x: max(*map(float, x)),
        lambda x: max(map(lambda v: v * 2, x)),
        lambda x: functools.reduce(lambda a, b: a + b.item(), iter(x), 0),
        lambda x: [1, *map(float, x), x.sum()],
        extends,
        unpacks,
        continues_with_an_iterator,
        iterates_over_an_object,
    ],
)
def test_iterators_that_a_graph_ends_in(program):
    compare(program, (torch.arange(3.0),), (torch.tensor([2.0, 0.0, 1.0]),))
