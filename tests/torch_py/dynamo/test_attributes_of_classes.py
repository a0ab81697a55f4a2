"""Assignments to attributes of classes, which are made, undone, and made again by the code."""

import pytest

import torch_py as torch
from torch_py._dynamo.testing import CompileCounter

ONES = torch.ones(3)


def _classes():
    class Flag:
        state = None
        last = 0
        table = [1]

        def __init__(self, value):
            self.value = value

        def __enter__(self):
            self.before = type(self).state
            type(self).state = self.value

        def __exit__(self, *error):
            type(self).state = self.before

    class Special(Flag):
        pass

    return Flag, Special


def _switched(x, flag, special):
    with special(3):
        y = x * special.state
        with special(None):
            z = y if special.state is None else y * 100
    return z + (0 if special.state is None else special.state)


def _written(x, flag, special):
    flag.last = 7
    flag.state = "text"
    special.last = flag.last + 1
    return x * special.last, special.state, flag(1).last


def _made(x, flag, special):
    flag.table = [x * 2, flag.table]
    return special.table[0] + 1


def _own(x, flag, special):
    special.state = 2
    flag.state = 3
    return x * special.state, flag.state


PROGRAMS = [_switched, _written, _made, _own]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_assignments(program):
    def outcome(run):
        classes = _classes()
        found = []
        for _ in range(3):
            result = run(ONES, *classes)
            found.append((str(result), [_plain(kind) for kind in classes]))
            if program is _made:
                classes[0].table = [1]
        return found

    counter = CompileCounter()
    compiled = torch.compile(program, backend=counter, fullgraph=True)
    assert outcome(compiled) == outcome(program)
    assert counter.frame_count <= 3


def _plain(kind):
    return {name: str(value) for name, value in vars(kind).items() if name in ("state", "last", "table")}


def test_other_values_are_noticed():
    flag, special = _classes()
    counter = CompileCounter()
    compiled = torch.compile(_switched, backend=counter, fullgraph=True)
    for state, count in [(None, 1), (None, 1), (5, 2), (5, 2)]:
        flag.state = special.state = state
        assert torch.equal(compiled(ONES, flag, special), _switched(ONES, flag, special))
        assert counter.frame_count == count
        assert special.state == state


def test_exceptions_restore():
    def failing(x, flag):
        flag.last = 9
        raise ValueError("here")

    flag, _ = _classes()
    with pytest.raises(ValueError, match="here"):
        torch.compile(failing, backend="eager")(ONES, flag)
    assert flag.last == 9


class Watching(type):
    def __setattr__(cls, name, value):
        super().__setattr__(name, value)
        super().__setattr__("changes", cls.changes + 1)


def test_what_is_not_captured():
    class Watched(metaclass=Watching):
        changes = 0
        value = 1

    class Plain:
        def method(self):
            return 1

    def with_metaclass(x):
        Watched.value = 5
        return x * Watched.value

    def with_method(x):
        Plain.method = lambda self: 2
        return x * Plain().method()

    def with_new_name(x):
        Plain.more = 3
        return x * Plain.more

    for program, expected in [(with_metaclass, 5), (with_method, 2), (with_new_name, 3)]:
        with pytest.raises(torch._dynamo.exc.Unsupported, match="assignment to"):
            torch.compile(program, backend="eager", fullgraph=True)(ONES)
        assert torch.equal(torch.compile(program, backend="eager")(ONES), ONES * expected)
    assert Watched.changes == 1


class _Kept:
    """A descriptor that keeps values elsewhere."""

    def __get__(self, owner, kind):
        return owner.kept

    def __set__(self, owner, value):
        owner.kept = value

    def __delete__(self, owner):
        owner.kept = None


def test_attributes_that_descriptors_keep():
    class Owner:
        value = _Kept()

    def function(x, owner):
        owner.value = 2
        y = x * owner.value
        del owner.value
        return y, owner.value

    one, other = Owner(), Owner()
    compiled = torch.compile(function, backend="eager", fullgraph=True)
    assert compiled(ONES, one)[1] is function(ONES, other)[1] is None
    assert vars(one) == vars(other)
