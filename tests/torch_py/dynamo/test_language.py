"""Python's features, each as one graph."""

import collections
import contextlib
import dataclasses
import enum
import functools
import inspect
import itertools
import math
import operator

import pytest

import torch_py as torch
from tests.torch_py.dynamo.comparing import check

ONES = torch.ones(3)
PROGRAMS = {}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


@program
def closures(x):
    y = x + 1

    def inner(z):
        nonlocal y
        y = y * 2
        return y + z

    return inner(x) + inner(x)


@program
def comprehensions(x):
    items = [x * i for i in range(3)]
    by_number = {i: v for i, v in enumerate(items)}
    numbers = {i for i in range(2)}
    return sum(items) + by_number[2] + len(numbers), sum(v for v in items)


@program
def generators(x):
    def numbers(n):
        for i in range(n):
            yield x * i
        return 7

    def outer():
        result = yield from numbers(3)
        yield x + result

    return list(outer())


@program
def sending_to_a_generator(x):
    def running():
        total = x
        while True:
            received = yield total
            if received is None:
                return
            total = total + received

    it = running()
    next(it)
    a = it.send(x)
    b = it.send(x * 2)
    return a, b


@program
def throwing_into_generators(x):
    def inner():
        try:
            yield x
        except ValueError:
            yield x + 1

    def outer():
        yield from inner()
        yield x * 3

    it = outer()
    a = next(it)
    b = it.throw(ValueError())
    c = next(it)
    it.close()
    return a + b + c


@program
def exceptions(x):
    try:
        raise ValueError("a")
    except ValueError as error:
        y = x + 1
        text = str(error)
    finally:
        y = y * 2
    try:
        {}["k"]
    except (KeyError, TypeError):
        y = y + 1
    else:
        y = y - 100
    return y, text


@program
def nested_exceptions(x):
    def fail(kind):
        try:
            raise kind("inner")
        except KeyError as error:
            raise RuntimeError("outer") from error

    try:
        fail(KeyError)
    except RuntimeError as error:
        return x + 1, type(error.__cause__).__name__, error


@program
def finally_after_return(x):
    seen = []

    def run():
        try:
            return x + 1
        finally:
            seen.append(x * 2)

    return run(), seen


class Point:
    scale = 3

    def __init__(self, a):
        self.a = a

    @property
    def double(self):
        return self.a * 2

    @double.setter
    def double(self, value):
        self.a = value / 2

    def __add__(self, other):
        return Point(self.a + other.a)

    def __radd__(self, other):
        return Point(self.a + other)

    def __call__(self, v):
        return self.a + v

    def __getitem__(self, key):
        return self.a[key]

    def __len__(self):
        return 5

    def __iter__(self):
        yield self.a
        yield self.a * 2

    def __contains__(self, value):
        return value == 4

    def __eq__(self, other):
        return isinstance(other, Point)

    def __hash__(self):
        return 3

    def __getattr__(self, name):
        if name == "missing":
            return self.a * 7
        raise AttributeError(name)

    @classmethod
    def make(cls, a):
        return cls(a)

    @staticmethod
    def increased(a):
        return a + 1


@program
def classes(x):
    point = Point(x) + Point.make(x)
    point.double = x * 4
    return point(Point.increased(point.double)) + point[0] + point.scale + point.missing


@program
def special_methods(x):
    point = 1 + Point(x)
    first, second = point
    return first + second + len(point), 4 in point, point == Point(x), hasattr(point, "nothing"), bool(point)


class Base:
    def scaled(self, x):
        return x + 1


class Derived(Base):
    factor = 3

    def scaled(self, x):
        return super().scaled(x) * self.factor


@program
def inheritance(x):
    return Derived().scaled(x)


@program
def matching(x):
    found = []
    for command in ({"op": "add", "v": 3}, [1, 2, 3, 4], Point(2), 5, "text", (1,)):
        match command:
            case {"op": "add", "v": v, **rest}:
                found.append(x + v + len(rest))
            case [a, b, *rest]:
                found.append(x * a + b + len(rest))
            case Point(a=a):
                found.append(x + a)
            case int(n) if n > 4:
                found.append(x * n)
            case str() | (1,):
                found.append(x)
    return found


@program
def recursion(x):
    def power(n):
        return x if n == 0 else power(n - 1) * x

    return power(5)


@contextlib.contextmanager
def increased(value):
    try:
        yield value + 1
    finally:
        pass


class Swallows:
    def __enter__(self):
        return 3

    def __exit__(self, *exception):
        return exception[0] is ValueError


@program
def context_managers(x):
    with increased(x) as y:
        z = y * 2
    with Swallows() as k:
        z = z + k
        raise ValueError
    with contextlib.nullcontext(4) as n, contextlib.suppress(KeyError):
        z = z + n
        raise KeyError
    return z


@program
def grad_modes(x):
    with torch.no_grad():
        y = x * 2
        with torch.enable_grad():
            inside = torch.is_grad_enabled()
    with torch.set_grad_enabled(False):
        z = y + 1
    return y, z, inside, torch.is_grad_enabled()


@torch.no_grad()
def without_gradients(x):
    return x * 2


@program
def decorators_of_grad_mode(x):
    return without_gradients(x), torch.is_grad_enabled()


@dataclasses.dataclass
class Record:
    a: object
    b: int = 3
    c: list = dataclasses.field(default_factory=list)


@program
def data_classes(x):
    record = Record(x + 1)
    record.c.append(x)
    return record, record.a + record.b


Pair = collections.namedtuple("Pair", "a b")


@program
def named_tuples(x):
    pair = Pair(x, b=x + 1)
    return pair, pair.a + pair.b, pair._replace(a=2)


@program
def fields_of_given_tuples(x):
    def total(pair):
        return sum(a * b for a, b in zip(pair.a, pair.b)) + len(pair.a)

    return total(GIVEN) + x, total(Pair(x, x + 1)), [row for _, row in enumerate(GIVEN.b)]


GIVEN = Pair(torch.arange(3.0), torch.ones(3))


@dataclasses.dataclass
class Output(collections.OrderedDict):
    sample: object
    more: object = None

    def __post_init__(self):
        for field in dataclasses.fields(self):
            if getattr(self, field.name) is not None:
                self[field.name] = getattr(self, field.name)


@program
def ordered_outputs(x):
    output = Output(x + 1)
    output["last"] = x
    output.move_to_end("sample")
    return output, list(output.values()), output.sample


class Processor:
    def __call__(self, x, scale=2, *rest):
        return x * scale


PROCESSOR = Processor()


@program
def signatures(x):
    names = set(inspect.signature(PROCESSOR.__call__).parameters.keys())
    return PROCESSOR(x, **{name: value for name, value in {"scale": 3, "bias": 1}.items() if name in names})


STACK = torch.nn.ModuleList([torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)])


@program
def numbered_modules(x):
    for number, module in enumerate(STACK):
        x = module(x) * number
    return x, [number for number, _ in zip(range(5), STACK)]


class Word(tuple):
    """A tuple that has no length for others."""

    def __len__(self):
        raise NotImplementedError


@program
def tuples_with_methods_of_their_own(x):
    word = Word((2, 3))
    return x * word[0]


class Color(enum.Enum):
    RED = 1
    BLUE = 2


@program
def enumerations(x):
    return x * Color.BLUE.value, Color(1), Color["RED"] is Color.RED


@program
def partial_functions(x):
    return functools.partial(lambda a, b, c=1: a + b + c, x, c=3)(2)


@program
def builtin_functions(x):
    items = sorted([3, 1, 2], key=lambda v: -v)
    largest = max(items, key=lambda v: v)
    pairs = list(zip(items, [x, x + 1, x + 2]))
    total = functools.reduce(lambda a, b: a + b, [x, x, x])
    mapped = list(map(lambda v: v * largest, [x]))
    kept = list(filter(lambda v: v > 1, items))
    return pairs[0][1] * largest + total + mapped[0], kept, any(v > 2 for v in items), all([1, 0])


@program
def library_functions(x):
    joined = list(itertools.chain([1], itertools.islice(itertools.count(3), 2)))
    getter = operator.itemgetter(1)
    return x * math.sqrt(4) + getter([1, 2]), joined, operator.attrgetter("ndim")(x)


@program
def texts(x):
    n = len(x)
    return x + n, f"{n:>3}{n!r}", f"{n}-{1.5:.2f}", ", ".join(str(i) for i in range(n))


@program
def arguments(x):
    def callee(a, /, *rest, b=3, **named):
        return a * b + named["c"] + len(rest)

    return callee(x, 1, 2, c=2) + callee(*[x], **{"b": 1, "c": 5})


@program
def wrong_arguments(x):
    def callee(a, b):
        return a + b

    try:
        return callee(x)
    except TypeError:
        return x * 7


@program
def shapes(x):
    y = x.repeat(2).view(2, -1)
    a, b = y.shape
    return y.view(b, a).t().reshape(-1)[:2], y.size(0), y.ndim, y.shape, len(y)


@program
def in_place(x):
    y = x.clone()
    y.add_(1)
    y += 2
    y[0] = 5
    y[1:] *= 2
    return y


@program
def several_results(x):
    a, b, c = x.split(1)
    largest = x.max(dim=0)
    head, *tail = x
    return a + b, c, largest.values, largest, head, tail


@program
def questions_about_tensors(x):
    kind = type(x) is torch.Tensor and isinstance(x, torch.Tensor) and not isinstance(x, torch.nn.Parameter)
    return x + 1, kind, hasattr(x, "foo"), x.dtype == torch.float32, x.device.type, x.is_contiguous()


@program
def loops(x):
    i = 0
    while i < 3:
        i += 1
        if i == 2:
            continue
        x = x + i
    else:
        x = x * 2
    for i in range(10):
        if i > 2:
            break
        x = x - i
    return x


@program
def classes_inside(x):
    class Local:
        z = 4

        def f(self, v):
            return v + self.z

    return Local().f(x)


@program
def walrus_and_conditions(x):
    if (n := len(x)) > 2 and not n == 4:
        return x + n if n != 5 else x
    return None


@program
def containers(x):
    items = [x, 1, (2, x)]
    items += [3]
    items.insert(0, x * 2)
    items[1:2] = [5, 6]
    del items[-1]
    entries = {"a": x, **{"b": 2}}
    entries |= {"c": 3}

    entries.setdefault("d", []).append(x + 1)
    counts = collections.defaultdict(list)
    counts["k"].append(x)
    queue = collections.deque([1, 2], maxlen=3)
    queue.appendleft(x)
    ordered = collections.OrderedDict(a=x)
    ordered["b"] = 3
    return items, entries, counts, queue, ordered, {1, 2} | {3}, frozenset([4]), slice(1, 2)


@program
def shared_and_cyclic_objects(x):
    items = [x]
    items.append(items)
    shared = {"x": x + 1}
    return items[1] is items and len(items), [shared, shared], x + 1


@program
def functions_as_results(x):
    y = x + 1

    def add(v, by=3):
        return v + y + by

    return add(x), [add(v) for v in (x, y)]


@program
def constants_of_tensors(x):
    return x + torch.tensor([1.0, 2.0, 3.0]) + torch.zeros(3) + torch.arange(3) + torch.full((3,), 2.0)


@program
def assertions(x):
    assert x.shape[0] == 3, "three"
    return x + 1


@program
def star_expressions(x):
    first, *rest = [1, 2, 3]
    return x * first, [*rest, *rest], {**{"a": 1}, "b": x}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    check(PROGRAMS[name], ONES, graphs=1)


# What becomes of the keys of an argument, in their order


def added_again(table, x):
    table.update(k=x, m=1)
    del table["k"]
    table["k"] = x + 1
    return x * 2


def added_and_removed_twice(table, x):
    for _ in range(2):
        table["k"] = x
        table.pop("k")
    return x * 2


def moved_behind_the_others(table, x):
    kept = table.pop("a")
    table["a"] = kept
    table["c"] = 3
    return x * 2


def moved_and_removed(table, x):
    del table["a"]
    table["a"] = x
    del table["a"], table["b"]
    table["b"] = 2
    return x * 2


def removed_after_a_change_of_the_whole(table, x):
    table.clear()
    table.update(b=x, a=1)
    del table["b"]
    table["b"] = 2
    return x * 2


def removed_before_a_change_of_the_whole(table, x):
    del table["a"]
    table["a"] = x
    table.popitem()
    return x * 2


def removed_before_an_exception(table, x):
    del table["a"]
    table["a"] = x
    raise ValueError(list(table))


@pytest.mark.parametrize(
    "function",
    [
        added_again,
        added_and_removed_twice,
        moved_behind_the_others,
        moved_and_removed,
        removed_after_a_change_of_the_whole,
        removed_before_a_change_of_the_whole,
        removed_before_an_exception,
    ],
)
def test_the_order_of_keys(function):
    check(function, {"a": 1, "b": 2}, ONES, fullgraph=False)


def moved_to_the_end(table, x):
    table.move_to_end("a")
    return x * 2, list(table)


def moved_before_a_key_is_removed(table, x):
    table.move_to_end("a")
    table["c"] = table.pop("b")
    return x * 2


def moved_after_a_key_was_removed(table, x):
    table["c"] = table.pop("a")
    table.move_to_end("b")
    return x * 2


@pytest.mark.parametrize(
    "function", [moved_to_the_end, moved_before_a_key_is_removed, moved_after_a_key_was_removed]
)
@pytest.mark.parametrize("moved", ["", "a"])
def test_the_order_of_an_ordered_dict(function, moved):
    """It is another one than that which dict itself has, as soon as a key was moved."""
    table = collections.OrderedDict(a=1, b=2)
    if moved:
        table.move_to_end(moved)
    check(function, table, ONES, fullgraph=False)


class Doubled(list):
    def __getitem__(self, index):
        return list.__getitem__(self, index) * 2


def test_iteration_over_lists_with_subscripts_of_their_own():
    def function(x, values):
        return x * sum(values) + values[0], [*values]

    check(function, torch.ones(2), Doubled([1, 2]))


class Silent(list):
    """A list that has no length or slices for others."""

    def __len__(self):
        raise NotImplementedError

    def __getitem__(self, index):
        return list.__getitem__(self, operator.index(index))


def test_iteration_over_containers_without_length():
    def function(x, words, values):
        values.append(x.size(0))
        return [x * number for word in words for number in word], x * values[-1]

    x, values = torch.ones(2), Silent([1, 2])
    products, last = torch.compile(function, backend="eager", fullgraph=True)(x, [Word((2, 3))], values)
    assert [product.tolist() for product in products] == [[2.0, 2.0], [3.0, 3.0]]
    assert (last.tolist(), [*list.__iter__(values)]) == ([2.0, 2.0], [1, 2, 2])


def test_counters_are_returned():
    def function(x, n):
        return x + 1, collections.Counter([n, 3, 3])

    check(function, torch.ones(2), 2)
