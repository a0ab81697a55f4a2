"""Copies of objects, made while a program is captured."""

import collections
import copy

import pytest

import torch_py as torch
from tests.torch_py.dynamo.comparing import check

ONES = torch.ones(3)


class Settings:
    def __init__(self):
        self.sizes = [1, 2, {"x": 3}]
        self.dtype = torch.float32
        self.count = 5


class Empty:
    pass


class Entries(dict):
    def __init__(self, *args):
        super().__init__(*args)
        self.more = [7]


class Elements(list):
    pass


class WithState:
    def __init__(self, kept=(1,)):
        self.kept = list(kept)
        self.cache = 9

    def __getstate__(self):
        return {"kept": self.kept}

    def __setstate__(self, state):
        self.kept = state["kept"]
        self.cache = 0


class WithArguments(WithState):
    def __new__(cls, *args):
        made = super().__new__(cls)
        made.arguments = args
        return made

    def __getnewargs__(self):
        return tuple(self.kept)


class Reducing(WithState):
    def __reduce__(self):
        return Reducing, (tuple(self.kept),)


OBJECTS = [
    Settings(),
    Empty(),
    Entries({"a": [1]}),
    Elements([1, [2]]),
    WithState(),
    WithArguments([3, 4]),
    Reducing([5]),
    collections.OrderedDict(a=[1]),
    collections.defaultdict(list, a=[1]),
    {1: [2]},
    (1, [2]),
    {1, 2},
]


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
@pytest.mark.parametrize("value", OBJECTS, ids=lambda value: type(value).__name__)
def test_copies(value, copied):
    check(lambda x, value: (x + 1, copied(value)), ONES, value, graphs=1)


def test_copies_are_apart():
    def changed(x, settings):
        own = copy.deepcopy(settings)
        own.sizes.append(4)
        own.count += 1
        shallow = copy.copy(settings)
        shallow.count = 0
        return x * own.count + len(own.sizes), own, shallow.sizes is settings.sizes

    check(changed, ONES, Settings(), graphs=1)


class WithSlots:
    __slots__ = ("value",)

    def __init__(self):
        self.value = 3


def test_copies_of_slots_end_the_graph():
    value = WithSlots()
    counter = check(lambda x: (x + 1, copy.copy(value).value, x * 2), ONES, fullgraph=False)
    assert counter.frame_count == 2


def test_changes_of_the_copied_object():
    settings = Settings()
    compiled = torch.compile(lambda x: x * copy.deepcopy(settings).count, fullgraph=True, backend="eager")
    assert torch.equal(compiled(ONES), ONES * 5)
    settings.count = 6
    assert torch.equal(compiled(ONES), ONES * 6)
