"""Watched objects: whatever changes in them is noticed, and what did not change is not looked at."""

from __future__ import annotations

import gc
import sys
import threading
import weakref
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import torch_py as torch

compiler = torch._C._compiler
PATIENCE = 3  # changes after which the rows are run in every call


class Probe:
    """Counts how often the rows behind watched objects are run."""

    def __init__(self, *watched: Any) -> None:
        self.runs = 0
        rows = (("attr", 0, 1, "passes"), ("is", 0, True, "probe"))
        self.passes_next = True
        self.program = compiler.GuardProgram([("watched", watched, (("const", 1, self), *rows), "w")], 2)

    @property
    def passes(self) -> bool:
        self.runs += 1
        return self.passes_next

    def notices(self) -> bool:
        """Whether a call runs the rows."""
        before = self.runs
        assert self.program.check(()) is None
        return self.runs > before


def settled(*watched: Any) -> Probe:
    probe = Probe(*watched)
    assert probe.notices(), "nothing is known before the first call"
    # Where changes of an object cannot be told, its rows are always run.
    assert probe.notices() != all(compiler.can_watch(target) for target in watched)
    return probe


class Attributes:
    shared: Any = 1

    def __init__(self) -> None:
        self.a = 1
        self.b = 2

    def method(self) -> None: ...


class Slots:
    __slots__ = ("a",)


class Meta(type):
    pass


def set_in_loop(target: Any) -> None:
    for i in range(100):
        target.a = i


def set_once(target: Any) -> None:
    target.a = 5


CHANGES_OF_OBJECTS: list[Callable[[Any], Any]] = [
    set_once,
    set_in_loop,
    lambda x: setattr(x, "a", 5),
    lambda x: setattr(x, "new", 5),
    lambda x: delattr(x, "b"),
    lambda x: object.__setattr__(x, "a", 7),
    lambda x: x.__dict__.update(a=3),
    lambda x: x.__dict__.pop("a"),
    lambda x: x.__dict__.popitem(),
    lambda x: x.__dict__.clear(),
    lambda x: x.__dict__.setdefault("c", 1),
    lambda x: x.__dict__.__ior__({"z": 1}),
    lambda x: setattr(x, "__dict__", {"a": 1, "b": 2}),
    lambda x: setattr(x, "__class__", type("Other", (Attributes,), {})),
]


@pytest.mark.parametrize("change", CHANGES_OF_OBJECTS)
def test_changes_of_objects(change: Callable[[Any], Any]) -> None:
    target = Attributes()
    probe = settled(target)
    change(target)
    assert probe.notices()
    if compiler.can_watch(target):
        assert not probe.notices()
        target.__dict__["again"] = 1
        assert probe.notices()


def test_a_copy_of_its_dict_makes_every_object_watchable() -> None:
    target = Attributes()
    target.__dict__ = dict(target.__dict__)
    assert compiler.can_watch(target)
    for change in (set_once, set_in_loop, set_once, set_in_loop):
        probe = settled(target)
        change(target)
        assert probe.notices()


def test_code_that_is_specialised_for_one_class() -> None:
    targets = [Attributes() for _ in range(50)]
    for target in targets:
        set_once(target)
        set_in_loop(target)
    probes = [Probe(target) for target in targets]
    for probe in probes:
        assert probe.notices()
    for target, probe in zip(targets, probes, strict=True):
        set_once(target)
        assert probe.notices()


CHANGES_OF_DICTS: list[Callable[[Any], Any]] = [
    lambda d: d.update(a=5),
    lambda d: d.pop("a"),
    lambda d: d.clear(),
    lambda d: d.__setitem__("a", 2),
    lambda d: d.__delitem__("a"),
    lambda d: exec("a = 7", d),
    lambda d: exec("global a; a = 9", d, {}),
    lambda d: exec("del b", d),
]


@pytest.mark.parametrize("change", CHANGES_OF_DICTS)
def test_changes_of_dicts(change: Callable[[Any], Any]) -> None:
    target: dict[str, Any] = {"a": 1, "b": 2}
    probe = settled(target)
    change(target)
    assert probe.notices()
    assert not probe.notices()


def test_changes_of_types() -> None:
    class Base(metaclass=Meta):
        pass

    class Derived(Base):
        x = 1

    probe = settled(Derived)
    changes: list[Callable[[], Any]] = [
        lambda: setattr(Derived, "x", 2),
        lambda: setattr(Base, "new", 2),
        lambda: setattr(Derived, "__call__", lambda self: 1),
    ]
    for change in changes:
        change()
        assert probe.notices()

    probe = settled(Derived)
    Derived.__bases__ = (type("Other", (Base,), {}),)
    assert probe.notices()
    del Derived.x
    assert probe.notices()


def test_changes_of_functions_and_cells() -> None:
    def outer() -> Any:
        value: Any = [1]

        def function(a: Any = 1, *, b: Any = 2) -> Any:
            return value

        def change(new: Any) -> None:
            nonlocal value
            value = new

        return function, change

    function, change = outer()
    probe = settled(function)
    function.__defaults__ = (2,)
    assert probe.notices()
    function.__kwdefaults__ = {"b": 3}
    assert probe.notices()
    function.__code__ = (lambda a, *, b: value).__code__.replace(  # type: ignore[name-defined]  # noqa: F821
        co_freevars=("value",)
    )
    assert probe.notices()

    probe = settled(function.__closure__[0])
    for _ in range(2):
        change([1])
        assert probe.notices()


def test_what_was_seen_cannot_be_replaced_by_something_at_its_address() -> None:
    target = SimpleNamespace(a=1)
    cell = (lambda: target).__closure__[0]  # type: ignore[index]
    for _ in range(50):
        cell.cell_contents = [1]
        probe = settled(cell)
        cell.cell_contents = None
        cell.cell_contents = [1]
        assert probe.notices()


def test_modules_of_python_and_of_torch() -> None:
    module = ModuleType("m")
    probe = settled(module)
    module.a = 1  # type: ignore[attr-defined]
    assert probe.notices()

    layer = torch.nn.Linear(2, 2)
    probe = settled(layer, layer._parameters, layer._forward_hooks, type(layer))
    if compiler.can_watch(layer):
        layer(torch.ones(2))
        layer.weight.data.add_(1)
        assert not probe.notices()
    layer.register_forward_hook(lambda *_: None)
    assert probe.notices()
    layer.weight = torch.nn.Parameter(torch.ones(2, 2))
    assert probe.notices()
    layer.eval()
    assert probe.notices()


def test_rows_that_fail() -> None:
    target = {"a": 1}
    probe = settled(target)
    probe.passes_next = False
    target["a"] = 2
    for _ in range(2):
        assert probe.program.check(()) == "probe was True, is False"
    probe.passes_next = True
    assert probe.notices()
    assert not probe.notices()


def test_what_changes_often_is_looked_at_in_every_call() -> None:
    target = {"a": 1}
    probe = settled(target)
    for i in range(PATIENCE):
        target["a"] = i + 2
        assert probe.notices()
        assert not probe.notices()
    target["a"] = 100
    assert probe.notices()
    assert probe.notices()


def test_what_changes_once_in_a_while_is_watched_for_good() -> None:
    target = {"a": 1}
    probe = settled(target)
    for i in range(10 * PATIENCE):
        target["a"] = i
        assert probe.notices()
        assert not any(probe.notices() for _ in range(20))


def test_a_change_while_the_rows_run_is_noticed() -> None:
    target: dict[str, Any] = {}

    class Changing:
        count = 0

        @property
        def attribute(self) -> None:
            self.count += 1
            if self.count == 1:
                target["a"] = 1

    changing = Changing()
    rows = (("const", 0, changing), ("attr", 1, 0, "attribute"))
    program = compiler.GuardProgram([("watched", (target,), rows, "x")], 2)
    for expected in (1, 2, 2, 2):
        assert program.check(()) is None
        assert changing.count == expected


def test_several_groups_and_rows_behind_them() -> None:
    first, second = {"a": 1}, {"a": 1}
    value = ("key", 1, 0, "a")
    rows = [
        ("watched", (first,), (("const", 0, first), value, ("equals", 1, 1, "first")), "w"),
        ("watched", (second,), (("const", 0, second), value, ("equals", 1, 1, "second")), "w"),
        ("is", 2, None, "x"),
    ]
    program = compiler.GuardProgram(rows, 3)
    arguments = (0, 0, None)

    assert program.check(arguments) is None
    assert program.check((0, 0, 5)) == "x was None, is 5"

    second["a"] = 2
    assert program.check(arguments) == "second was 1, is 2"
    second["a"] = 1
    assert program.check(arguments) is None
    first["a"] = 3
    assert program.check(arguments) == "first was 1, is 3"


def test_registers_of_rows_that_may_not_run_are_not_read() -> None:
    rows = [("watched", ({},), (("const", 0, 1),), "w"), ("is", 0, 1, "x")]
    with pytest.raises(ValueError, match="filled only after a change"):
        compiler.GuardProgram(rows, 1)


def test_watched_objects_may_die_with_the_program() -> None:
    for _ in range(3):
        target = Attributes()
        probes = [settled(target), settled(target), settled(target.__dict__, Attributes)]
        del probes[0]
        gc.collect()
        target.a = 7
        assert probes[0].notices() and probes[1].notices()
        gone = weakref.ref(target)
        del target, probes
        gc.collect()
        assert gone() is None
    Attributes.shared = 2


def test_a_program_in_what_it_watches_is_freed() -> None:
    target = Attributes()
    target.program = Probe(target)  # type: ignore[attr-defined]
    assert target.program.notices()  # type: ignore[attr-defined]
    gone = weakref.ref(target)
    del target
    gc.collect()
    assert gone() is None


def test_an_object_that_loses_its_dict() -> None:
    target = Attributes()
    probe = settled(target)
    del target.__dict__
    assert probe.notices()
    target.a = 1
    assert probe.notices()


def test_what_has_no_dict_is_refused() -> None:
    for target in (5, Slots(), [], "a", None):
        with pytest.raises(TypeError, match="__dict__"):
            Probe(target)
        assert not compiler.can_watch(target)
    assert compiler.can_watch({}) and compiler.can_watch(Attributes)


def test_changes_on_another_thread() -> None:
    target = {"a": 1}
    probe = settled(target)
    thread = threading.Thread(target=target.update, kwargs={"a": 2})
    thread.start()
    thread.join()
    assert probe.notices()


@pytest.mark.skipif(sys.version_info[:3] == (3, 13, 0), reason="stores of attributes are not reported")
def test_objects_of_all_kinds_can_be_watched_here() -> None:
    assert compiler.can_watch(Attributes())
