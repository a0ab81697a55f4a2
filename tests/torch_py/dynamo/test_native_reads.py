# ruff: noqa: UP031, UP032
"""Compiled code is for what native code reads of its arguments: contents of containers, fields, identity."""

import functools
import itertools
import operator
from collections import Counter, deque
from dataclasses import dataclass
from types import SimpleNamespace as Namespace

import pytest

import torch_py as torch
from torch_py._dynamo.testing import CompileCounter

X = torch.ones(2)
BY_PAIR = {(0, 9): 1, (1, 9): 5}


@dataclass(frozen=True)
class Point:
    v: int


class Thing:
    def method(self):
        return self


class Number:
    def __init__(self, value):
        self.value = value

    def __index__(self):
        return self.value

    def __bool__(self):
        return bool(self.value)


def outcome(function, args):
    try:
        return function(X, *args).tolist()
    except RuntimeError as error:
        return str(error)


def check(program, first, second, graphs=2):
    """Two calls with different arguments, in both orders, and once more."""
    for calls in ((first, second), (second, first)):
        counter = CompileCounter()
        compiled = torch.compile(program, backend=counter)
        for args in (*calls, *calls):
            assert outcome(compiled, args) == outcome(program, args)
        assert graphs is None or counter.frame_count <= graphs


def programs(*functions):
    return pytest.mark.parametrize("program", functions, ids=range(len(functions)))


def of(values):
    """Programs of one argument, with two values for it."""
    return pytest.mark.parametrize("first, second", [values])


def added_to_set(x, key):
    found = {(0, 9)}
    found.add(key)
    return x * len(found)


@programs(
    lambda x, key: x + 1 if key in ((1, 9), (2, 9)) else x,
    lambda x, key: x + 1 if key in [(1, 9), (2, 9)] else x,
    lambda x, key: x + 1 if key in {(1, 9), (2, 9)} else x,
    lambda x, key: x + 1 if key in {(1, 9): 1} else x,
    lambda x, key: x * BY_PAIR[key],
    lambda x, key: x * BY_PAIR.get(key),
    lambda x, key: x * len({key: 1, (0, 9): 2}),
    lambda x, key: x * len({key, (0, 9)}),
    lambda x, key: x + hash(key) % 97,
    lambda x, key: x * {((1, 9), 1): 1}.pop((key, 1), 7),
    lambda x, key: x + 1 if key == (1, 9) else x,
    added_to_set,
)
@of([(0, 9), (1, 9)])
def test_keys_that_are_tuples(program, first, second):
    check(program, (first,), (second,))


@programs(
    lambda x, o: x * ({o: 1}.get(Point(1)) or 7),
    lambda x, o: x * len({o, Point(1)}),
    lambda x, o: x * len({o} & {Point(1)}),
    lambda x, o: x * ({v: 1 for v in [o]}.get(Point(1)) or 7),
    lambda x, o: x * len({v for v in (o, Point(1))}),
    lambda x, o: x * len({**{o: 1}, **{Point(1): 1}}),
    lambda x, o: x * len(dict.fromkeys([o, Point(1)])),
)
@of([Point(0), Point(1)])
def test_keys_with_a_hash_of_their_own(program, first, second):
    check(program, (first,), (second,))


@programs(
    lambda x, a: x.sum() + torch.tensor([a]).sum(),
    lambda x, a: x * max(a, [1, 5])[1],
    lambda x, a: x * sorted([a, [1, 5]])[0][1],
    lambda x, a: x + 1 if [a] == [[1, 5]] else x,
    lambda x, a: x + 1 if a in [[1, 5]] else x,
    lambda x, a: x * [a].count([1, 5]),
    lambda x, a: x + 1 if {"a": a} == {"a": [1, 5]} else x,
    lambda x, a: x * len(str([a])),
    lambda x, a: x * len(f"{({'a': a},)}"),
    lambda x, a: x * len("{}".format([a])),
    lambda x, a: x * len("%s" % a),
    lambda x, a: x * len("%s" % (a,)),
    lambda x, a: x * len("%(a)s" % {"a": a}),
    lambda x, a: x * sum(map(a.__getitem__, [0, 1])),
    lambda x, a: x * sum(map(a.count, [1, 1])),
    lambda x, a: x * sorted(range(2), key=a.__getitem__)[0],
    lambda x, a: x * len(list(filter(a.__contains__, [5]))),
    lambda x, a: x * sum(map(operator.itemgetter(1), [a])),
    lambda x, a: x * sum(map(sum, [a])),
    lambda x, a: x * max([0, 1], key=lambda i: [a, [1, 7]][i]),
    lambda x, a: x * sorted([{"a": a}, {"a": [1, 7]}], key=operator.itemgetter("a"))[0]["a"][1],
    lambda x, a: x + x[:, None].expand(2, 300)[[0, 1], a].sum(),
    lambda x, a: x + torch.arange(300)[a].sum(),
    lambda x, a: x * list(map(tuple, [a]))[0][1],
    lambda x, a: x * functools.partial(functools.partial(max, a), [0])()[1],
)
@of([[1, 200], [1, 5]])
def test_containers_in_containers(program, first, second):
    check(program, (first,), (second,))


@programs(
    lambda x, n: x * len(str(n)),
    lambda x, n: x * len(f"{n}"),
    lambda x, n: x * len(str([n])),
    lambda x, n: x + 1 if n == Namespace(a=1) else x,
    lambda x, n: x * sum(map(operator.attrgetter("a"), [n])),
    lambda x, n: x * len("{.a}".format(n)),
    lambda x, n: x * len("{0.a:{0.a}}".format(n)),
)
@of([Namespace(a=1), Namespace(a=100)])
def test_namespaces(program, first, second):
    check(program, (first,), (second,), graphs=4)


@programs(
    lambda x, p: x * functools.partial(p, 2)(),
    lambda x, p: x * sum(map(p, [2, 3])),
)
@of([functools.partial(max, 3), functools.partial(max, 7)])
def test_partials(program, first, second):
    check(program, (first,), (second,))


@pytest.mark.parametrize("kind", [dict, Counter, deque, bytearray], ids=lambda kind: kind.__name__)
def test_owners_of_methods(kind):
    first, second = [{0: 1, 1: 1}, {0: 1, 1: 5}] if issubclass(kind, dict) else [[1, 1], [1, 5]]
    program = lambda x, owner: x * sum(map(owner.__getitem__, [0, 1]))  # noqa: E731
    check(program, (kind(first),), (kind(second),), graphs=4)


def test_the_owner_of_a_method_that_is_an_argument():
    owner = {"a": 1}
    compiled = torch.compile(lambda x, get: x * get("a"), backend="eager")
    get = owner.get
    assert compiled(X, get).tolist() == [1, 1]
    owner["a"] = 5
    assert compiled(X, get).tolist() == [5, 5]


def test_truth_of_results():
    program = lambda x, found: x * len(list(filter(lambda i: found[i], [0, 1])))  # noqa: E731
    check(program, ([[], [1]],), ([[2], [1]],))


def test_contents_that_a_key_does_not_read():
    def program(x, table):
        return x * max([table, {"a": 1}], key=lambda entry: entry["a"])["a"]

    counter = CompileCounter()
    compiled = torch.compile(program, backend=counter)
    for unused in range(4):
        compiled(X, {"a": 5, "b": unused})
    assert counter.frame_count == 1


def test_methods_that_change_their_owner():
    def program(x, elements):
        return x * len(list(map(elements.append, [1, 2]))) * len(elements)

    compiled = torch.compile(program, backend="eager")
    for elements in ([], [1], []):
        expected = program(X, list(elements))
        assert torch.equal(compiled(X, elements), expected) and elements[-2:] == [1, 2]


def shortened(x, o):
    elements = [1, 2, 3, 4]
    elements[o:] = []
    return x * len(elements)


@programs(
    lambda x, o: x + x[o],
    lambda x, o: x[o:].sum() + x,
    lambda x, o: x * len("abcd"[:o]),
    lambda x, o: x * [1, 2, 3, 4][o:][0],
    lambda x, o: x * len(bytes(o)),
    lambda x, o: x * len(list(filter(None, [o]))),
    lambda x, o: x * len(list(itertools.compress("ab", [o, 1]))),
    lambda x, o: x * len(list(itertools.filterfalse(None, [o]))),
    lambda x, o: x * len(list(itertools.islice([1, 2, 3], o))),
    shortened,
)
def test_objects_as_numbers(program):
    check(program, (Number(0),), (Number(1),), graphs=4)


def changed_set(x, a, b):
    found = set()
    found.add(a)
    found.update([b])
    return x * len(found)


def discarded(x, a, b):
    found = {a, 1}
    found.discard(b)
    return x * len(found)


THINGS = Thing(), Thing()


@programs(
    changed_set,
    discarded,
    lambda x, a, b: x * len({*[a], *[b]}),
    lambda x, a, b: x * len({a} | {b}),
    lambda x, a, b: x * len({a} & {b}),
    lambda x, a, b: x + ({a} <= {b}),
    lambda x, a, b: x + {a}.isdisjoint({b}),
    lambda x, a, b: x * len({a: 1}.keys() & {b: 1}.keys()),
    lambda x, a, b: x * len({a: 1} | {b: 1}),
    lambda x, a, b: x * len({**{a: 1}, **{b: 1}}),
    lambda x, a, b: x * {a: 1}.pop(b, 9),
    lambda x, a, b: x * len(dict.fromkeys([a, b])),
    lambda x, a, b: x * len(Counter([a, b])),
    lambda x, a, b: x * [a, b].index(b),
    lambda x, a, b: x * [a, 1].count(b),
    lambda x, a, b: x + ({a: 1} == {b: 1}),
    lambda x, a, b: x * len({frozenset([a]), frozenset([b])}),
    lambda x, a, b: x * len({((a,), 1), ((b,), 1)}),
    lambda x, a, b: x * {(a, 1): 3}.get((b, 1), 9),
    lambda x, a, b: x * {a.method: 3}.get(b.method, 9),
    lambda x, a, b: x + (a.method == b.method),
    lambda x, a, b: x + (a.method in {b.method}),
)
def test_keys_of_new_containers(program):
    check(program, THINGS, (THINGS[0], THINGS[0]))


@programs(
    lambda x, found, a: x * len(found & {a}),
    lambda x, found, a: x * len(found - {a}),
    lambda x, found, a: x + (a in found),
    lambda x, found, a: x + ((a, 1) in {(b, 1) for b in found}),
)
@of([*THINGS])
def test_keys_of_containers_from_outside(program, first, second):
    check(program, ({first}, first), ({first}, second))


ZEROS, ONES = torch.zeros(3), torch.ones(3)


@programs(
    lambda x, a, b: x + (b in [1, a]),
    lambda x, a, b: x + (b in [a, 1]),
    lambda x, a, b: x + (b in [a, b]),
    lambda x, a, b: x + (b in (a,)),
    lambda x, a, b: x + (1 in [1, a, b]),
)
def test_search_for_a_tensor(program):
    check(program, (ZEROS, ONES), (ONES, ONES), graphs=None)


def test_a_break_in_native_code_that_has_begun():
    def program(x, elements):
        return x * sum(map(operator.methodcaller("item"), elements))

    check(program, ([torch.tensor(2), torch.tensor(3)],), ([torch.tensor(1), torch.tensor(3)],), graphs=4)


def test_a_constant_that_is_also_an_argument():
    pair = (0, 9)
    code = (lambda x, key: x * len({*[(0, 9)], key})).__code__
    constants = tuple(pair if constant == pair else constant for constant in code.co_consts)
    program = type(lambda: 0)(code.replace(co_consts=constants), globals())
    check(program, (pair,), ((1, 9),))
