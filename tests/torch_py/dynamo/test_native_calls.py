"""Native code in programs: what it advances, changes, prints and calls, in the first call and in the next."""

import bisect
import functools
import heapq
import itertools
import math
import operator
import random
import sys
import types
import warnings
from collections import Counter, OrderedDict, deque

import pytest

import torch_py as torch
from tests.torch_py.dynamo.comparing import equal, observed

ONES = torch.ones(2)


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


# Functions of C that change their arguments


def fills_a_heap(x):
    heap = []
    heapq.heappush(heap, 3)
    heapq.heappush(heap, 1)
    print(x.sum().item())
    return heapq.heappop(heap), heap, x + 1


def counts(x):
    counter = Counter("ab")
    print(x.sum().item())
    counter.update("bc")
    return dict(counter), x


@pytest.mark.parametrize(
    "program, given",
    [
        (lambda x, heap: heapq.heappush(heap, 0), [3, 4]),
        (lambda x, heap: heapq.heappop(heap), [3, 4]),
        (lambda x, heap: heapq.heapreplace(heap, 7), [3, 4]),
        (lambda x, items: bisect.insort(items, 2), [1, 3]),
        (lambda x, items: bisect.insort_left(a=items, x=2, key=lambda v: v), [1, 3]),
        (lambda x, items: operator.iconcat(items, [4]), [1, 3]),
        (lambda x, items: functools.reduce(operator.iconcat, [[1], [x]], items), [1, 3]),
        (lambda x, counter: counter.update("ab"), Counter("bc")),
        (lambda x, entries: entries.update({"q": x}) or entries.move_to_end("a"), OrderedDict(a=1, b=2)),
        (lambda x, given: fills_a_heap(x), None),
        (lambda x, given: counts(x), None),
    ],
)
def test_functions_that_change_their_arguments(program, given):
    compare(program, (ONES, given), (torch.ones(3), given))


# Functions that native code calls


class Noted:
    """Notes in a list that it was made."""

    def __init__(self, given):
        self.number, notes = given
        notes.append(self.number)

    def __lt__(self, other):
        return self.number < other.number


def appends_in_a_loop(x, items):
    for _ in map(items.append, [x, 2]):
        pass
    return x + 1


def appends_and_prints(x, items):
    print(*map(items.append, [1, x.sum().item()]))
    return x * 2


@pytest.mark.parametrize(
    "program, given",
    [
        (lambda x, entries: [x, *map(entries.pop, ("a", "b"))], {"a": 1, "b": 2, "c": 3}),
        (lambda x, entries: sorted(list(entries), key=entries.pop), {"a": 3, "b": 1}),
        (lambda x, entries: list(map(operator.setitem, [entries], ["q"], [x])), {"a": 3}),
        (lambda x, items: sorted((x,), key=items.append), [1]),
        (lambda x, items: items.sort(key=Noted), [(3, [5]), (1, [6])]),
        (lambda x, items: list(iter(items.pop, 3)), [1, 3, 2, 2]),
        (lambda x, items: list(itertools.starmap(items.insert, [(0, 9), (1, x)])), [1, 2]),
        (lambda x, items: list(filter(items.append, [1, 2])), [7]),
        (lambda x, items: [items.index(len), list(itertools.repeat(len, 2)) == [len, len]], [1, len]),
        (lambda x, seen: any(map(seen.add, [1, 2])), {5}),
        (lambda x, owner: list(map(setattr, [owner], "z", [x])), types.SimpleNamespace(a=1)),
        (lambda x, given: list(map(print, [1, 2])), None),
        (lambda x, given: sorted([3, 1, 2], key=functools.cmp_to_key(lambda a, b: a - b)), None),
        (lambda x, given: [*map(type, [x, 1]), max([1, -3], key=abs)], None),
        (lambda x, given: [type(y) for y in map(torch.sin, [x, x + 1])], None),
        (appends_in_a_loop, [1]),
        (appends_and_prints, [1]),
    ],
)
def test_functions_that_native_code_calls(program, given):
    compare(program, (ONES, given), (torch.ones(3), given))


def test_native_functions_are_called_anew_in_each_call():
    compiled = torch.compile(lambda: [next(iter(random.random, 0)) for _ in range(2)], backend="eager")
    assert len({*compiled(), *compiled()}) == 4


# Methods of built-in types


@pytest.mark.parametrize(
    "name, rest",
    [
        *[(name, (2,)) for name in ("__add__", "__mul__", "__pow__", "__rsub__")],
        *[(name, ()) for name in ("__neg__", "__hash__", "bit_length")],
    ],
)
def test_unbound_methods_of_integers_that_vary(name, rest):
    method = getattr(int, name)
    compare(
        lambda x, n: x * method(n, *rest) + method(x.size(0), *rest), *((torch.ones(n), n) for n in (2, 3, 4))
    )


def adds_a_note(x, owner):
    owner.add_note("note")
    return x + 1


def fills_a_namespace(x, owner):
    types.SimpleNamespace.__init__(owner, c=3)
    return x + owner.c


@pytest.mark.parametrize(
    "program, make",
    [
        pytest.param(
            adds_a_note,
            lambda: ValueError("x"),
            marks=pytest.mark.skipif(sys.version_info < (3, 11), reason="exceptions have no notes"),
        ),
        (fills_a_namespace, types.SimpleNamespace),
    ],
)
def test_methods_that_change_an_object(program, make):
    compiled = torch.compile(program, backend="eager")
    for _ in range(2):
        expected, actual = make(), make()
        assert equal(program(ONES, expected), compiled(ONES, actual))
        assert vars(actual) == vars(expected) != {}


class Hashed:
    def __init__(self, found):
        self.found = found

    def __hash__(self):
        return self.found


@pytest.mark.parametrize("found", [2**61 + 1, 2**63 - 1, 2**63, -(2**63), -1, True, "text"])
def test_hashes_of_objects(found):
    compare(lambda x: (x, hash(Hashed(found))), (ONES,), (torch.ones(3),))


@pytest.mark.parametrize(
    "program",
    [
        lambda: len(value=[1]),
        lambda: isinstance(value=1, kinds=int),
        lambda: hasattr(value=1, name="real"),
        lambda: getattr(1, name="real"),
        lambda: list(given=[1]),
        lambda: next(iterator=iter([1])),
        lambda: any(elements=[1]),
        lambda: hash(value=1),
        lambda: functools.reduce(max, given=[1]),
        lambda: operator.getitem(owner=[1], key=0),
        lambda: operator.truth(value=1),
    ],
)
def test_builtins_take_no_names_of_the_interpreter(program):
    with pytest.raises(TypeError):
        torch.compile(lambda x: (x, program()), backend="eager")(ONES)


# Texts of tensors

LOSS = "loss %s"
PLAIN = b"%r"
NAMED = "%(loss)s %(n)d"
NUMBERS = "%d %5.1f"


def formats_in_place(x):
    text = NUMBERS
    text %= (x.size(0), x.size(0))
    return text, x + 1


def prints_an_error(x):
    try:
        raise ValueError(LOSS % x.sum(), x)
    except ValueError as error:
        print(error)
    return x + 1


def logs_a_loss(x):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.warn(LOSS % x.sum(), stacklevel=1)
    return [str(one.message) for one in caught], x + 1


@pytest.mark.parametrize(
    "program",
    [
        lambda x: LOSS % x.sum(),
        lambda x: PLAIN % x,
        formats_in_place,
        lambda x: NAMED % {"loss": [x.sum()], "n": 3},
        lambda x: NUMBERS % (x.sum(), x[0]),
        lambda x: ", ".join(map(str, x)),
        lambda x: list(map(repr, [x])),
        lambda x: list(map("{}".format, [x])),
        lambda x: str(deque([x * 2])),
        lambda x: repr(types.SimpleNamespace(loss=x * 2)),
        lambda x: repr(slice(x, {"a": {x.sum(): 1}})),
        lambda x: str(ValueError("bad", x * 2)),
        lambda x: f"{functools.partial(map, x).args} {ValueError(x)}",
        lambda x: str(object=x),
        prints_an_error,
        logs_a_loss,
    ],
)
def test_texts_of_tensors(program):
    compare(program, (ONES,), (torch.tensor([2.0, 3.0, 4.0]),))


def raises_an_error(x):
    raise ValueError(LOSS % x.sum())


def test_texts_of_tensors_in_errors_that_are_raised():
    compiled = torch.compile(raises_an_error, backend="eager")
    for _ in range(2):
        with pytest.raises(ValueError, match=r"loss tensor\(2\.\)"):
            compiled(ONES)
