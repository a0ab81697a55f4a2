"""Each row of a guard program: what passes it, what does not, and how that is said."""

from __future__ import annotations

import gc
import math
import weakref
from collections import OrderedDict
from types import SimpleNamespace
from typing import Any

import pytest

import torch_py as torch
from torch_py._shapes.formulas import FUNCTIONS

compiler = torch._C._compiler
NAN = float("nan")


def check(rows: list[Any], *arguments: Any, registers: int = 8) -> str | None:
    return compiler.GuardProgram(rows, registers).check(arguments)


def cell(value: Any) -> Any:
    return (lambda: value).__closure__[0]  # type: ignore[index]


@pytest.mark.parametrize(
    ("row", "passing", "failing", "reason"),
    [
        (("is", 0, None, "L['x']"), None, 0, "L['x'] was None, is 0"),
        (("type_is", 0, int, "L['x']"), 3, True, "L['x'] was of type int, is of type bool"),
        (("equals", 0, 3, "L['n']"), 3, 4, "L['n'] was 3, is 4"),
        (("equals", 0, 3, "L['n']"), 3, 3.0, "L['n'] was 3 (int), is 3.0 (float)"),
        (("equals", 0, 1, "L['n']"), 1, True, "L['n'] was 1 (int), is True (bool)"),
        (("equals", 0, 10**30, "L['n']"), 10**30, 10**30 + 1, f"L['n'] was {10**30}, is {10**30 + 1}"),
        (("equals", 0, 0.0, "L['n']"), 0.0, -0.0, "L['n'] was 0.0, is -0.0"),
        (("equals", 0, NAN, "L['n']"), float("nan"), 1.0, "L['n'] was nan, is 1.0"),
        (("equals", 0, 0j, "L['n']"), 0j, complex(0.0, -0.0), "L['n'] was 0j, is -0j"),
        (("equals", 0, (1, (2.0,)), "t"), (1, (2.0,)), (1, (2,)), "t was (1, (2.0,)), is (1, (2,))"),
        (("equals", 0, "a", "L['s']"), "a", "b", "L['s'] was 'a', is 'b'"),
        (("length", 0, 2, "L['l']"), [1, 2], [1], "len(L['l']) was 2, is 1"),
        (("length", 0, 2, "L['l']"), {1, 2}, 5, "len(L['l']) was 2, is nothing"),
        (
            ("keys", 0, ("a", "b"), "d"),
            {"a": 1, "b": 2},
            {"b": 1, "a": 2},
            "d.keys() was ('a', 'b'), is ('b', 'a')",
        ),
        (("no_attr", 0, "hook", "m"), object(), SimpleNamespace(hook=1), "m now has an attribute 'hook'"),
        (("no_key", 0, "a", "d"), {}, {"a": 1}, "d now has a key 'a'"),
        (("in_range", 0, 2, 9, "s"), 9, 10, "s was between 2 and 9, is 10"),
        (("in_range", 0, 2, None, "s"), 10**18, 1, "s was at least 2, is 1"),
        (("in_range", 0, None, 9, "s"), -(10**18), 10**30, f"s was at most 9, is {10**30}"),
        (("in_range", 0, 2, 9, "s"), 2, 2.5, "s was between 2 and 9, is 2.5"),
    ],
)
def test_checks_of_one_object(row: Any, passing: Any, failing: Any, reason: str) -> None:
    assert check([row], passing) is None
    assert check([row], failing) == reason


def test_an_ordered_dict_has_its_own_order() -> None:
    row = ("keys", 0, ("a", "b"), "d")
    given = OrderedDict(b=1, a=2)
    assert check([row], given) is not None
    given.move_to_end("b")
    assert check([row], given) is None


def test_aliases() -> None:
    row = ("alias", 0, 1, "x and y")
    x = torch.ones(2)
    assert check([row], x, x) is None
    assert check([row], x, torch.ones(2)) == "x and y were the same object, are different ones"


def test_distinct_tensors() -> None:
    row = ("distinct", (0, 1), "inputs")
    x = torch.ones(4)
    assert check([row], x, torch.ones(4)) is None
    assert check([row], x[:2], x[2:]) is None
    assert check([row], x, x[:0]) is None
    assert check([row], x, x) == "inputs: argument 0 and argument 1 are the same object"
    assert check([row], x[:3], x[2:]) == "inputs: argument 0 and argument 1 share memory"
    assert check([row], 1, x) is None


def test_many_distinct_tensors() -> None:
    tensors = [torch.ones(2) for _ in range(30)]
    row = ("distinct", tuple(range(30)), "inputs")
    assert check([row], *tensors, registers=30) is None
    tensors[25] = tensors[3].view(1, 2)
    assert check([row], *tensors, registers=30) in (
        "inputs: argument 3 and argument 25 share memory",
        "inputs: argument 25 and argument 3 share memory",
    )


def test_storages() -> None:
    x, y = torch.ones(4), torch.ones(2)
    row = ("storages", (0, 1, 2), (0, 16, 0, -1, 2, -1), "inputs")
    assert check([row], x[:2], x[2:], y) is None
    assert check([row], x[:2], x[2:], 1) is None
    message = "inputs: argument {} shares its storage with others than before"
    assert check([row], x[:2], y, y) == message.format(1)
    assert check([row], x[:2], x[2:], x[:2]) == message.format(2)

    large = torch.ones(6)
    message = "inputs: the storage of argument 0 has another size, 24 bytes"
    assert check([row], large[:2], large[2:], y) == message


def test_relations_of_sizes() -> None:
    n, m = ("register", 0), ("register", 1)
    product = ("size_relation", (n, 2, "*", m, "=="), "2 * s0 == s1")
    assert check([product], 3, 6) is None
    assert check([product], 3, 7) == "2 * s0 == s1 does not hold"
    assert check([product], 3, 6.0) == "2 * s0 == s1 does not hold"
    assert check([product], 2**62, 2**63 - 1) == "2 * s0 == s1 does not hold"

    for a in (-7, 7):
        for b in (-2, 2):
            assert check([("size_relation", (n, m, "//", a // b, "=="), "floor")], a, b) is None
            assert check([("size_relation", (n, m, "%", a % b, "=="), "rest")], a, b) is None
    assert check([("size_relation", (n, m, "%"), "rest")], 1, 0) == "rest does not hold"
    assert check([("size_relation", (n, m, "min", n, m, "max", "<", "not", 5, "and"), "x")], 2, 2) is None


@pytest.mark.parametrize("n", [2, 3, 10, 977, 10**6 + 3])
def test_relations_of_real_numbers_are_those_of_python(n: int) -> None:
    number = ("register", 0)
    computed = {
        "quotient": ((number, 7, "/"), n / 7),
        "power": ((0.999, number, "**"), 0.999**n),
        "product": ((number, 0.1, "*", 3, "-", 2.5, "+"), n * 0.1 - 3 + 2.5),
        "smaller": ((number, 10, "/", 1.0, "min"), min(n / 10, 1.0)),
        "larger": ((1.0, number, 10, "/", "-", 0.1, "max"), max(1.0 - n / 10, 0.1)),
        "float": ((number, "float"), float(n)),
        **{name: ((number, 2e5, "/", name), getattr(math, name)(n / 2e5)) for name in FUNCTIONS},
    }

    for name, (formula, value) in computed.items():
        assert check([("size_relation", (*formula, value, "=="), name)], n) is None
        assert check([("size_relation", (*formula, math.nextafter(value, 9e9), "<"), name)], n) is None
        assert check([("size_relation", (*formula, value, "!="), name)], n) == f"{name} does not hold"


def test_real_numbers_that_are_not_there() -> None:
    n = ("register", 0)
    for formula in ((n, 0, "/"), (-1.0, "sqrt"), (n, 1000, "*", "exp"), (0, "log"), (2**53 + 1, n, "/")):
        assert check([("size_relation", (*formula, 0, ">="), "it")], 5) == "it does not hold"
    assert check([("size_relation", (0.5, "not", "not"), "it")], 5) is None


def test_reading_rows() -> None:
    x = torch.ones(3, 4)
    module = SimpleNamespace(layers=[{"w": x}], function=cell(x))
    space = {"module": module}
    rows = [
        ("global", 1, space, "module"),
        ("attr", 2, 1, "layers"),
        ("item", 3, 2, 0),
        ("key", 4, 3, "w"),
        ("size", 5, 4, 1),
        ("equals", 5, 4, "size"),
        ("attr", 6, 1, "function"),
        ("cell", 7, 6),
        ("alias", 4, 7, "w and the cell"),
        ("type", 8, 4),
        ("is", 8, torch.Tensor, "type(w)"),
        ("const", 9, x),
        ("alias", 9, 0, "the constant and the argument"),
    ]
    program = compiler.GuardProgram(rows, 10)
    assert program.row_count == len(rows)
    assert program.check([x]) is None

    module.layers.clear()
    assert program.check((x,)) == "module.layers[0] is no longer there"
    module.layers.append([])
    assert program.check((x,)) == "module.layers[0]['w'] is no longer there"
    del module.layers
    assert program.check((x,)) == "module.layers is no longer there"
    space.clear()
    assert program.check((x,)) == "module is no longer there"


def test_objects_that_misbehave() -> None:
    class Hostile:
        error: type[BaseException] = ValueError

        def __getattr__(self, name: str) -> Any:
            raise self.error(name)

        def __eq__(self, other: object) -> bool:
            raise self.error("==")

        def __len__(self) -> int:
            raise self.error("len")

        def __repr__(self) -> str:
            raise self.error("repr")

        __hash__ = object.__hash__

    rows: list[Any] = [
        [("attr", 1, 0, "name")],
        [("no_attr", 0, "name", "x")],
        [("equals", 0, Hostile(), "x")],
        [("length", 0, 1, "x")],
    ]
    for program in rows:
        assert isinstance(check(program, Hostile()), str)

    Hostile.error = KeyboardInterrupt
    for program in rows:
        with pytest.raises(KeyboardInterrupt):
            check(program, Hostile())


@pytest.mark.parametrize(
    ("rows", "registers", "error", "words"),
    [
        (None, 1, TypeError, "rows must be in a tuple or list"),
        ([7], 1, TypeError, "must be a tuple that begins with a word"),
        ([()], 1, TypeError, "must be a tuple that begins with a word"),
        ([("look", 0)], 1, ValueError, "unknown word 'look'"),
        ([("is", 0, None)], 1, ValueError, r"row 0 \('is'\) has 2 operands, expected 3"),
        ([("is", 0, None, 5)], 1, TypeError, "expected a text, got int"),
        ([("is", 1, None, "x")], 1, ValueError, "register 1 of a program with 1 registers"),
        ([("is", -1, None, "x")], 1, ValueError, "register -1"),
        ([("is", 10**30, None, "x")], 1, ValueError, "more than 64 bits"),
        ([("is", "0", None, "x")], 1, TypeError, "expected an int, got str"),
        ([], -1, ValueError, "expected 0 to"),
        ([], 10**9, ValueError, "expected 0 to"),
        ([("attr", 0, 0, "a")], 1, ValueError, "fills a register that holds an argument"),
        ([("const", 0, 1), ("const", 0, 1)], 1, ValueError, "filled already"),
        ([("attr", 1, 0, 5)], 2, TypeError, "expected a name, got int"),
        ([("item", 1, 0, -1)], 2, ValueError, "not negative"),
        ([("key", 1, 0, [])], 2, TypeError, "unhashable"),
        ([("global", 1, [], "a")], 2, TypeError, "expected a dict, got list"),
        ([("type_is", 0, 5, "x")], 1, TypeError, "expected a type, got int"),
        ([("keys", 0, ["a"], "x")], 1, TypeError, "expected a tuple of keys, got list"),
        ([("tensor", 0, torch.ones(1), "x")], 1, TypeError, "expected TensorFacts, got Tensor"),
        ([("distinct", 5, "x")], 1, TypeError, "expected a tuple of registers, got int"),
        ([("distinct", (0, 5), "x")], 1, ValueError, "register 5"),
        ([("storages", (0,), (0, "a"), "x")], 1, TypeError, "expected an int, got str"),
        ([("storages", (0,), (0,), "x")], 1, ValueError, "two ints for each register"),
        ([("state", -1, "x")], 1, ValueError, "thread_state"),
        ([("size_relation", [], "x")], 1, TypeError, "must be a tuple"),
        ([("size_relation", (), "x")], 1, ValueError, "leave one value"),
        ([("size_relation", (1, "+"), "x")], 1, ValueError, "too few operands"),
        ([("size_relation", (1, "^"), "x")], 1, ValueError, "unknown operation"),
        ([("size_relation", (("register", 9),), "x")], 1, ValueError, "register 9"),
        ([("size_relation", (("register", -9),), "x")], 1, ValueError, "no such register"),
        ([("size_relation", (None,), "x")], 1, ValueError, "expected an operation"),
        ([("size_relation", ("cos",), "x")], 1, ValueError, "too few operands"),
        ([("watched", ({},), ())], 1, ValueError, "expected a tuple of objects"),
        ([("watched", (5,), (), "x")], 1, TypeError, "expected an object with a __dict__.*, got int"),
        ([("watched", ({},), 5, "x")], 1, TypeError, "rows must be in a tuple"),
    ],
)
def test_rows_that_are_not_a_program(rows: Any, registers: int, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        compiler.GuardProgram(rows, registers)


def test_rows_inside_of_each_other_have_an_end() -> None:
    rows: tuple[Any, ...] = ()
    for _ in range(10_000):
        rows = (("watched", (), rows, "x"),)
    with pytest.raises(ValueError, match="too many rows inside of each other"):
        compiler.GuardProgram(rows, 1)


def test_too_few_arguments() -> None:
    program = compiler.GuardProgram([("is", 2, None, "x")], 3)
    with pytest.raises(ValueError, match="reads 3 arguments, got 2"):
        program.check((1, 2))
    with pytest.raises(TypeError, match="expected a tuple or list"):
        program.check(5)


def test_programs_that_refer_to_themselves_are_freed() -> None:
    class Box:
        program: Any = None

    box = Box()
    box.program = compiler.GuardProgram([("is", 0, box, "x")], 1)
    gone = weakref.ref(box)
    del box
    gc.collect()
    assert gone() is None
