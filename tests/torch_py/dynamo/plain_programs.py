"""Programs of numbers, for the byte code of all versions of Python."""

import contextlib
import functools

PROGRAMS = {}


def program(*args):
    def register(function):
        PROGRAMS[function.__name__] = function, args
        return function

    return register


@program(3, 4)
def arithmetic(a, b):
    c = a + b * 2 - a // b % 5
    c += a**2
    c <<= 1
    return -c, +c, ~c, not c, a < b <= 4, a != b, a is b, a in (3, 5), b not in [1], a / b, a & b | a ^ b


@program(3)
def closures(n):
    total = n

    def inner(k, by=2, *, scale=3):
        nonlocal total
        total += k * by * scale
        return lambda z: z + total + k

    return inner(2)(1), inner(3, by=1)(2), total


@program(4)
def comprehensions(n):
    k = 2
    a = [i * k for i in range(n) if i]
    b = {i: j for i, j in zip(a, "abc")}
    c = {i for i in a}
    d = [[i + j for j in range(2)] for i in range(2)]
    e = sum(i for i in a)
    return a, b, c, d, e, k


@program(3)
def generators(n):
    def count():
        received = 0
        for i in range(n):
            received = yield i + (received or 0)
        return "end"

    def outer():
        result = yield from count()
        yield result

    it = outer()
    found = [next(it)]
    found.append(it.send(10))
    found += list(it)
    return found


@program()
def throwing():
    def inner():
        try:
            yield 1
        except ValueError as error:
            yield str(error)
        finally:
            pass

    def outer():
        yield from inner()
        yield 5

    it = outer()
    next(it)
    return it.throw(ValueError("v")), next(it), list(it)


@program()
def exceptions():
    found = []
    for kind in (ValueError, KeyError, ZeroDivisionError):
        try:
            try:
                if kind is ZeroDivisionError:
                    return 1 / 0
                raise kind("x")
            except ValueError as error:
                found.append(("value", error.args))
                raise TypeError("again") from error
            except KeyError:
                found.append("key")
            else:
                found.append("else")
            finally:
                found.append("finally")
        except (TypeError, ZeroDivisionError) as error:
            found.append(type(error).__name__)
            found.append(type(error.__cause__).__name__)

    return found


@program()
def bare_raise():
    def run():
        try:
            raise KeyError("k")
        except KeyError:
            try:
                raise ValueError("v")
            except ValueError:
                pass
            raise

    try:
        run()
    except KeyError as error:
        return error.args


@program()
def returns_in_finally():
    def run(stop):
        for i in range(3):
            try:
                if i == stop:
                    return i
                continue
            finally:
                log.append(i)
        return "end"

    log = []
    return run(1), run(7), log


class Manager:
    def __init__(self, log, swallow=False):
        self.log = log
        self.swallow = swallow

    def __enter__(self):
        self.log.append("enter")
        return self

    def __exit__(self, kind, value, traceback):
        self.log.append(kind.__name__ if kind else None)
        return self.swallow


@contextlib.contextmanager
def managed(log):
    log.append("in")
    try:
        yield 3
    except KeyError:
        log.append("caught")
    finally:
        log.append("out")


@program()
def context_managers():
    log = []
    with Manager(log) as first, Manager(log, swallow=True):
        raise ValueError
    with managed(log) as n:
        log.append(n)
        raise KeyError

    try:
        with Manager(log):
            for i in range(3):
                with Manager(log):
                    if i == 1:
                        break
            raise IndexError
    except IndexError:
        log.append("index")
    return log, first is not None


@program(5)
def matching(n):
    found = []
    for value in ({"a": 1, "b": 2}, [1, 2, 3], (4, 5), "text", 7, None, Point(1, 2), [[]]):
        match value:
            case {"a": a, **rest}:
                found.append((a, rest))
            case [x, *others] if others:
                found.append((x, others))
            case Point(x, y=2):
                found.append(("point", x))
            case str():
                found.append("str")
            case int(k) | float(k):
                found.append(k + n)
            case None:
                found.append("none")
            case _:
                found.append("other")

    return found


class Point:
    __match_args__ = ("x", "y")
    count = 0

    def __init__(self, x, y):
        self.x = x
        self.y = y

    @property
    def total(self):
        return self.x + self.y

    @classmethod
    def make(cls, *values):
        return cls(*values)

    @staticmethod
    def fixed():
        return 9

    def __add__(self, other):
        return Point(self.x + other.x, self.y + other.y)

    def __eq__(self, other):
        return (self.x, self.y) == (other.x, other.y)

    def __hash__(self):
        return 1

    def __getitem__(self, key):
        return (self.x, self.y)[key]


class Special(Point):
    def __init__(self, x, y):
        super().__init__(x, y)
        self.extra = super().total

    @classmethod
    def make(cls, *values):
        return super().make(*values)


@program(2)
def classes(n):
    point = Point.make(n, 3) + Point(1, 1)
    special = Special.make(1, 2)
    return (
        point.total,
        point == Point(3, 4),
        point[1],
        Point.fixed(),
        special.extra,
        isinstance(special, Point),
    )


@program(2)
def classes_inside(n):
    class Local(Point):
        factor = n

        def scaled(self):
            return self.x * self.factor

        items = [i for i in range(3)]

    return Local(4, 5).scaled(), Local.items, Local.__qualname__


@program(1, (2, 3))
def arguments(a, rest):
    def callee(x, /, y, *more, z=1, **others):
        return x, y, more, z, others

    named = {"z": 5, "w": 6}
    return (
        callee(a, *rest),
        callee(a, y=2, **named),
        callee(*rest, *rest),
        functools.partial(callee, 1)(2, z=3),
    )


@program("x")
def texts(name):
    n, width = 3.14159, 8
    return f"{name!r:>{width}}|{n:.2f}|{n}", f"{name}{n!s}", name.join(["a", "b"])


@program([1, 2, 3])
def unpacking(items):
    a, b, c = items
    first, *rest = items
    *init, last = items
    (x, y), z = (1, 2), 3
    merged = {**{"a": 1}, "b": [*items, *rest]}
    return a, b, c, first, rest, init, last, x, y, z, merged, [*items], (*items, 4), {*items}


@program([5, 6, 7, 8])
def subscripts(items):
    copy = list(items)
    copy[0] = copy[1:3]
    del copy[1]
    copy[1:] = [0]
    copy[0][0] += 5
    table = {"a": 1}
    table["b"] = table["a"]
    del table["a"]
    return copy, table, items[-1], items[::2]


@program(10)
def loops(n):
    total = 0
    i = 0
    while True:
        i += 1
        if i == 3:
            continue
        if i > n:
            break
        total += i

    for j in range(3):
        if j == 5:
            break
    else:
        total += 100
    while i > 0:
        i -= 4
    else:
        total += 1000
    return total, i


@program(0, None, 3)
def conditions(a, b, c):
    return a or b or c, c and a, b is None and c, a if b is not None else c, (d := c) + d, not a


@program(6)
def recursion(n):
    return 1 if n < 2 else n * recursion(n - 1)


@program()
def deleting():
    x = 1
    del x
    try:
        return x  # noqa: F821  # that is the point
    except UnboundLocalError:
        return "unbound"


@program()
def assertions():
    try:
        assert [] == [1], "unequal"
    except AssertionError as error:
        return error.args


@program(3)
def stop_iteration_in_a_generator(n):
    def run():
        yield 1
        raise StopIteration(n)

    try:
        return list(run())
    except RuntimeError as error:
        return str(error)
