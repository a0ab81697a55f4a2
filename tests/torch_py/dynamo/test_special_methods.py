"""Methods and functions of the program that native code calls: what they read is guarded."""

import collections
import dataclasses
import functools
import heapq
import itertools
import types

import pytest

import torch_py as torch
from tests.torch_py.dynamo.comparing import equal

ONES = torch.ones(2)


@dataclasses.dataclass
class Config:
    value: int


@dataclasses.dataclass(frozen=True, order=True)
class Key:
    __slots__ = ("value",)
    value: int


class Number:
    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return self.value == other.value

    def __lt__(self, other):
        return self.value < other.value

    def __hash__(self):
        return hash(self.value)

    def __index__(self):
        return self.value

    def __len__(self):
        return self.value

    def __str__(self):
        return f"number {self.value}"

    def __call__(self, x):
        return x + self.value


class Elements:
    def __init__(self, value):
        self.value = value

    def __len__(self):
        return self.value

    def __getitem__(self, index):
        return index * self.value


class Backward(Elements):
    def __reversed__(self):
        yield from (self.value, 2)


class Scale(torch.nn.Module):
    def __init__(self, value):
        super().__init__()
        self.value = value

    def forward(self, x):
        return x * self.value


class Doubled(collections.OrderedDict):
    """OrderedDicts are read by their methods where dictionaries are not."""

    def __init__(self, value):
        super().__init__(a=value)

    def __getitem__(self, key):
        return 2 * super().__getitem__(key)


LAYERS = torch.nn.ModuleList([torch.nn.Linear(1, 2), torch.nn.Linear(2, 1)])


PROGRAMS = {
    "in a list": (Config, lambda c: c in [Config(1), Config(2)]),
    "in a list of the program": (Config, lambda c: Config(1) in [c]),
    "lists": (Config, lambda c: [c] == [Config(1)]),
    "dictionaries": (Config, lambda c: {"a": [c]} == {"a": [Config(1)]}),
    "tuples": (Number, lambda c: ((1, c) < (1, Number(2)), (c,) == (Number(1),))),
    "keys": (Key, lambda c: {Key(1): 10, Key(2): 20}.get(c, 0)),
    "sets": (Key, lambda c: (c in {Key(1)}, len({c, Key(2)}))),
    "hashes": (Key, lambda c: hash((c, 1)) == hash((Key(2), 1))),
    "sorted": (Number, lambda c: [number.value for number in sorted([c, Number(2)])]),
    "min": (Number, lambda c: min(c, Number(2)).value),
    "heapq": (Number, lambda c: heapq.nsmallest(1, [c, Number(2)])[0].value),
    "index": (Number, lambda c: [Number(1), Number(2), Number(3)].index(c)),
    "count": (Number, lambda c: [c].count(Number(2))),
    "indices": (Number, lambda c: (list(range(c)), [1, 2, 3, 4][c], [0] * c)),
    "lengths": (Number, lambda c: list(map(len, [c]))),
    "texts": (Number, lambda c: f"{c} {c!s:>3}" + str([str(c)])),
    "text of a list": (Config, lambda c: str([c])),
    "objects in objects": (Config, lambda c: [Config(c)] == [Config(Config(1))]),
    "map": (Number, lambda c: list(map(c, [1, 2]))),
    "modules in map": (Scale, lambda c: list(map(c, [1, 2]))),
    "a key of sorted": (Scale, lambda c: sorted([1, -1], key=c)),
    "reversed": (Backward, lambda c: list(reversed(c))),
    "reversed elements": (Elements, lambda c: list(reversed(c))),
    "reversed layers": (int, lambda c: [layer.out_features * c for layer in reversed(LAYERS)]),
    "unpacked": (Doubled, lambda c: ({**c}, dict(**c))),
    "classes in map": (int, lambda c: [made.value for made in map(Number, [c])]),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_objects_of_the_program(name):
    kind, function = PROGRAMS[name]
    compiled = torch.compile(lambda x, c: (x * 2, function(c)), backend="eager")
    for value in (1, 2, 3, 1):
        given = kind(value)
        assert equal(compiled(ONES, given), (ONES * 2, function(given)))


class Replaced(dict):
    """A class one of whose special methods is replaced by the next test."""

    def __getattribute__(self, name):
        return 1 if name == "one" else super().__getattribute__(name)

    def __missing__(self, key):
        return 1

    def __hash__(self):
        return 1

    def __int__(self):
        return 1

    def __get__(self, owner, kind):
        return 1


class Owner:
    described = Replaced()


READS = {
    "__getattribute__": lambda c: c.one,
    "__missing__": lambda c: c["key"],
    "__hash__": lambda c: hash(c),
    "__int__": lambda c: int(c),
    "__get__": lambda c: Owner().described,
}


@pytest.mark.parametrize("name", READS)
def test_special_methods_that_are_replaced(name, monkeypatch):
    """They are guarded."""
    compiled = torch.compile(lambda x, c: x * READS[name](c), backend="eager")
    assert torch.equal(compiled(ONES, Replaced()), ONES)
    monkeypatch.setattr(Replaced, name, lambda *given: 3)
    assert torch.equal(compiled(ONES, Replaced()), ONES * 3)


def test_functions_stay_themselves():
    def one(x):
        return x + 1

    def function(x):
        functions = [one]
        functions.insert(0, one)
        part = functools.partial(one)
        space = types.SimpleNamespace(one=one)
        return functions[0](x), functions[0] is one, part.func is one, part(x), space.one is one

    assert equal(torch.compile(function, backend="eager")(ONES), function(ONES))


def test_fields_of_objects_that_are_only_kept():
    """They are not looked at: code stays valid when they change."""

    def function(x, kept, config):
        kept.append(config)
        return [x for config in kept]

    counter = torch._dynamo.testing.CompileCounter()
    compiled = torch.compile(lambda x, config: function(x * 2, [], config), backend=counter)
    for value in range(4):
        compiled(ONES, Config(value))
    assert counter.frame_count == 1


def drawn(x, generator):
    return x + torch.randn(2, generator=generator)


def drawn_of_a_new_one(x, seed):
    return x + torch.rand(2, generator=torch.Generator().manual_seed(seed))


def test_generators_of_random_numbers():
    """A graph keeps the very generator that its operators have, so others need another graph."""
    compiled = torch.compile(drawn, backend="eager")
    compiled_new = torch.compile(drawn_of_a_new_one, backend="eager")
    for seed in (3, 4, 3):
        one, other = torch.Generator().manual_seed(seed), torch.Generator().manual_seed(seed)
        assert torch.equal(compiled(ONES, one), drawn(ONES, other))
        assert torch.equal(one.get_state(), other.get_state())
        assert torch.equal(compiled_new(ONES, seed), drawn_of_a_new_one(ONES, seed))


FACTOR = 2


def factor():
    return FACTOR


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, config):
        ctx.config = config
        return x * config.value * factor()

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.config.value, None


def test_what_custom_functions_read(monkeypatch):
    """Fields of their arguments, and globals."""
    compiled = torch.compile(lambda x, config: Scaled.apply(x, config), backend="aot_eager")
    config = Config(1)
    for config.value in (1, 2, 3):
        assert torch.equal(compiled(ONES, config), ONES * config.value * 2)
    monkeypatch.setitem(globals(), "FACTOR", 5)
    assert torch.equal(compiled(ONES, config), ONES * 15)
    assert torch.equal(compiled(ONES, Config(4)), ONES * 20)


class AttributeDict(dict):
    __getattr__ = dict.get
    __setattr__ = dict.__setitem__  # type: ignore[assignment]
    __delattr__ = dict.__delitem__  # type: ignore[assignment]


class Strict(dict):
    __getattr__ = dict.__getitem__


class Cached:
    @functools.lru_cache  # noqa: B019
    def __getattr__(self, name):
        if name != "scale":
            raise AttributeError(name)
        return 3


def _read(x, owner):
    return x.relu() if hasattr(owner, "relu") else x * (getattr(owner, "scale", 5) or 7)


def _written(x, owner):
    owner.made = x * 2
    owner.left = 3
    del owner.left
    return owner.made + 1, owner


@pytest.mark.parametrize(
    ("program", "make"),
    [
        (_read, lambda: AttributeDict(relu=True)),
        (_read, lambda: AttributeDict(scale=4)),
        (_read, Cached),
        (_written, lambda: AttributeDict(relu=True)),
        (lambda x, owner: x * owner.scale, lambda: Strict(scale=2)),
    ],
)
def test_access_to_attributes_by_other_callables(program, make):
    compiled = torch.compile(program, backend="eager", fullgraph=True)
    for _ in range(2):
        assert equal(compiled(-ONES, make()), program(-ONES, make()))


class Hundreds(dict):
    def __getitem__(self, key):
        return 100

    def keys(self):
        return ["other"]

    def own_keys(self):
        return super().keys()


def test_entries_of_dictionaries_that_look_otherwise():
    def program(x, given):
        return x + 1, {**given}, dict(given), function(**given), list(given.own_keys())

    function = torch.compiler.disable(lambda **named: named)
    given = Hundreds(a=1)
    assert equal(torch.compile(program, backend="eager")(ONES, given), program(ONES, given))


def test_what_a_call_that_ends_a_graph_gets():
    """Not the numbers that were there when it was captured."""

    def program(x, numbers, named):
        given = function(*numbers, **named)
        return x + 1, given, "{}".format(*numbers)

    function = torch.compiler.disable(lambda *given, **named: (given, named))
    compiled = torch.compile(program, backend="eager")
    for kind in (int, float):
        for number in map(kind, range(2, 9)):
            arguments = [ONES, [number], {"number": number * 2}]
            assert equal(compiled(*arguments), program(*arguments))


def test_what_lists_of_the_program_contain():
    def program(x, pairs):
        return x + 1, collections.OrderedDict([*pairs]), list(itertools.starmap(max, list(pairs)))

    compiled = torch.compile(program, backend="eager")
    for number in range(4):
        assert equal(compiled(ONES, [(1, number)]), program(ONES, [(1, number)]))


class TwiceOfKey(dict):
    def __getitem__(self, key):
        return super().__getitem__(key) * 2


class TwiceOfList(list):
    def __getitem__(self, index):
        return super().__getitem__(index) * 2


class TwiceOfTuple(tuple):
    __slots__ = ()

    def __getitem__(self, index):
        return super().__getitem__(index) * 2


def test_elements_of_containers_with_a_getitem_of_their_own():
    """Compiled code reads what is in them, as the program's method does."""

    def of_dictionary(x, given):
        return x + given["a"], given.get("a"), list(given.values()), {**given}, dict(given)

    def of_sequence(x, given):
        return x + given[0], list(given)

    cases = [(of_dictionary, lambda value: TwiceOfKey(a=value))]
    cases += [(of_sequence, lambda value, kind=kind: kind([value])) for kind in (TwiceOfList, TwiceOfTuple)]
    for program, make in cases:
        compiled = torch.compile(program, backend="eager")
        for value in (ONES, 0.5, 0.25, 0.75, 1.5, 2.5):
            assert equal(compiled(ONES, make(value)), program(ONES, make(value)))
