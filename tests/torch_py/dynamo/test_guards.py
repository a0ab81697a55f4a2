"""Everything that compiled code depends on is noticed when it changes."""

import os

import pytest

import torch_py as torch
from torch_py._dynamo.testing import CompileCounter

ONES = torch.ones(3)


class Watched:
    """A compiled function, and how often it was compiled."""

    def __init__(self, function):
        self.function = function
        self.counter = CompileCounter()
        self.compiled = torch.compile(function, backend=self.counter, fullgraph=True)

    def __call__(self, *args, **kwargs):
        expected = self.function(*args, **kwargs)
        actual = self.compiled(*args, **kwargs)
        assert torch.equal(actual, expected) and actual.dtype == expected.dtype
        assert actual.requires_grad == expected.requires_grad
        return self.counter.frame_count


@pytest.mark.parametrize(
    "other",
    [
        torch.ones(4),
        torch.ones(3, dtype=torch.float64),
        torch.ones(3, 1),
        torch.ones(6)[::2],
        torch.ones(3, requires_grad=True),
        torch.nn.Parameter(torch.ones(3)),
        2,
        2.5,
    ],
    ids=repr,
)
def test_arguments(other):
    watched = Watched(lambda x, y: x * y if isinstance(y, (int, float)) else (x.sum() * y))
    assert watched(ONES, ONES + 1) == 1
    assert watched(ONES, ONES + 2) == 1
    assert watched(ONES, other) == 2
    assert watched(ONES, other) == 2


SCALE = 2


def scaled(x):
    return x * SCALE


def test_globals(monkeypatch):
    watched = Watched(lambda x: scaled(x) + SCALE)
    assert watched(ONES) == 1
    monkeypatch.setitem(globals(), "SCALE", 3)
    assert watched(ONES) == 2
    monkeypatch.setitem(globals(), "scaled", lambda x: x - 1)
    assert watched(ONES) == 3


def test_closures_and_defaults():
    factor = 2

    def function(x, by=3):
        return x * factor + by

    watched = Watched(lambda x: function(x))
    assert watched(ONES) == 1
    factor = 5
    assert watched(ONES) == 2
    function.__defaults__ = (4,)
    assert watched(ONES) == 3

    def other(x, by=3):
        return x - by - factor

    function.__code__ = other.__code__
    assert watched(ONES) == 4


class Net(torch.nn.Module):
    scale = 1

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)
        self.register_buffer("offset", torch.zeros(3))
        self.factor = 2
        self.items = [1, 2]

    def forward(self, x):
        return self.linear(x) * self.factor * self.scale + self.offset + sum(self.items)


CHANGES = {
    "attribute": lambda net: setattr(net, "factor", 3),
    "hook": lambda net: net.register_forward_hook(lambda module, args, out: out * 2),
    "inner hook": lambda net: net.linear.register_forward_pre_hook(lambda module, args: (args[0] * 2,)),
    "shadowed submodule": lambda net: vars(net).update(linear=torch.nn.ReLU()),
    "other submodule": lambda net: setattr(net, "linear", torch.nn.Linear(3, 3)),
    "shadowed method": lambda net: setattr(net, "forward", lambda x: x + 1),
    "other parameter": lambda net: setattr(net.linear, "weight", torch.nn.Parameter(torch.ones(3, 3))),
    "no bias": lambda net: setattr(net.linear, "bias", None),
    "data of another dtype": lambda net: net.double(),
    "frozen": lambda net: net.requires_grad_(False),
    "list": lambda net: net.items.append(3),
    "instance shadows class": lambda net: setattr(net, "scale", 5),
    "class of the submodule": lambda net: setattr(net.linear, "__class__", Doubling),
}


class Doubling(torch.nn.Linear):
    def forward(self, x):
        return super().forward(x) * 2


@pytest.mark.parametrize("change", CHANGES)
def test_changes_of_modules(change):
    net = Net()
    watched = Watched(lambda x: net(x.to(net.linear.weight.dtype) if hasattr(net.linear, "weight") else x))
    assert watched(torch.ones(2, 3)) == 1 and watched(torch.ones(2, 3)) == 1
    CHANGES[change](net)
    count = watched(torch.ones(2, 3))
    assert count == 2
    assert watched(torch.ones(2, 3)) == 2


def test_values_of_parameters_need_no_new_code():
    net = Net()
    watched = Watched(lambda x: net(x))
    assert watched(torch.ones(2, 3)) == 1
    with torch.no_grad():
        net.linear.weight.add_(1)
    assert watched(torch.ones(2, 3)) == 1
    net.load_state_dict({**net.state_dict(), "linear.bias": torch.full((3,), 7.0), "offset": torch.ones(3)})
    assert watched(torch.ones(2, 3)) == 1
    net.linear.weight.data = torch.zeros(3, 3)
    assert watched(torch.ones(2, 3)) == 1
    net.offset = torch.full((3,), 2.0)
    assert watched(torch.ones(2, 3)) == 1


def test_patched_classes(monkeypatch):
    net = Net()
    watched = Watched(lambda x: net(x))
    assert watched(torch.ones(2, 3)) == 1
    monkeypatch.setattr(Net, "scale", 4)
    assert watched(torch.ones(2, 3)) == 2
    monkeypatch.setattr(Net, "forward", lambda self, x: x + 1)
    assert watched(torch.ones(2, 3)) == 3
    monkeypatch.setattr(torch.nn.Linear, "forward", lambda self, x: x * 3)
    assert watched(torch.ones(2, 3)) == 3


def test_training_mode():
    net = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.BatchNorm1d(3))
    watched = Watched(lambda x: net(x))
    x = torch.randn(4, 3)
    watched.compiled(x)
    net.eval()
    assert watched(x) == 2 and watched(x) == 2


def test_state_of_the_thread():
    watched = Watched(lambda x: x * torch.ones(3, requires_grad=True) + torch.ones(3))
    assert watched(ONES) == 1
    with torch.no_grad():
        assert watched(ONES) == 2
    torch.set_default_dtype(torch.float64)
    try:
        assert watched(ONES) == 3
    finally:
        torch.set_default_dtype(torch.float32)
    assert watched(ONES) == 3


def test_aliases():
    def change(x, y):
        x.add_(1)
        return x + y

    counter = CompileCounter()
    compiled = torch.compile(change, backend=counter)
    assert compiled(torch.ones(2), torch.ones(2)).tolist() == [3, 3]
    same = torch.ones(2)
    assert compiled(same, same).tolist() == [4, 4]
    assert compiled(torch.ones(2), torch.ones(2)).tolist() == [3, 3] and counter.frame_count == 2

    def append(a, b, x):
        a.append(x + 1)
        return len(b)

    compiled = torch.compile(append, backend="eager")
    assert compiled([], [], ONES) == 0
    items = []
    assert compiled(items, items, ONES) == 1 and len(items) == 1


def test_containers():
    watched = Watched(lambda x, items, entries: x * len(items) + entries["a"] + sum(entries.values()))
    assert watched(ONES, [1, 2], {"a": 1}) == 1
    assert watched(ONES, [1, 2], {"a": 1}) == 1
    assert watched(ONES, [1, 2, 3], {"a": 1}) == 2
    assert watched(ONES, [1, 2, 3], {"a": 1, "b": 2}) == 3
    assert watched(ONES, (1, 2, 3), {"a": 1, "b": 2}) == 4


def test_unused_arguments_do_not_matter():
    watched = Watched(lambda x, options: x + 1)
    assert watched(ONES, 1) == 1 and watched(ONES, {"a": 2}) == 1 and watched(ONES, None) == 1


def test_limit_of_recompiles():
    counter = CompileCounter()
    compiled = torch.compile(lambda x, n: x * n, backend=counter)
    for n in range(20):
        assert compiled(ONES, n).tolist() == [n] * 3
    assert counter.frame_count <= torch._dynamo.config.recompile_limit
    before = counter.frame_count
    assert compiled(ONES, 3).tolist() == [3] * 3 and counter.frame_count == before


def test_recompiles_say_why(capsys):
    torch._logging.set_logs(recompiles=True)
    try:
        compiled = torch.compile(lambda x: x + 1, backend="eager")
        compiled(torch.ones(8))
        compiled(torch.ones(9))
    finally:
        torch._logging.set_logs()
    assert "L['x'].size(0) was 8, is 9" in capsys.readouterr().err


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_reading_arguments_that_share_memory_compiles_once(backend):
    def program(x, y):
        return x.sin() + y, y[1:]

    compiled = torch.compile(program, backend=backend)
    start = torch.randn(8)
    pairs = [(start[:4], start[2:6]), (start[4:], start[3:7]), (start[:4], torch.randn(4))] * 3
    for x, y in pairs:
        found = compiled(x, y)
        for actual, expected in zip(found, program(x, y)):
            torch.testing.assert_close(actual, expected)
        assert found[1].data_ptr() == y[1:].data_ptr()
    assert len(compiled.entries) == 1

    same = compiled(start[:4], start[:4])
    torch.testing.assert_close(same[0], program(start[:4], start[:4])[0])


def test_writing_to_arguments_that_share_memory():
    def program(x, y):
        x.add_(1)
        return y * 2

    compiled = torch.compile(program, backend="aot_eager")
    for offset in (2, 4, 1, 2):
        start = torch.arange(8.0)
        other = torch.arange(8.0)
        assert torch.equal(
            compiled(start[:4], start[offset : offset + 4]), program(other[:4], other[offset : offset + 4])
        )
        assert torch.equal(start, other)


def test_variables_of_the_environment(monkeypatch):
    def function(x):
        if "TORCH_PY_TEST" in os.environ:
            return x * int(os.environ["TORCH_PY_TEST"])
        return x * (10 if os.getenv("TORCH_PY_OTHER") is None else 100)

    monkeypatch.delenv("TORCH_PY_TEST", raising=False)
    monkeypatch.delenv("TORCH_PY_OTHER", raising=False)
    watched = Watched(function)
    assert watched(ONES) == watched(ONES) == 1
    monkeypatch.setenv("TORCH_PY_TEST", "3")
    assert watched(ONES) == 2
    monkeypatch.setenv("TORCH_PY_TEST", "4")
    assert watched(ONES) == 3
    monkeypatch.delenv("TORCH_PY_TEST")
    monkeypatch.setenv("TORCH_PY_OTHER", "")
    assert watched(ONES) == 4


def test_reading_in_code_that_writes_elsewhere():
    def function(out, a, b):
        out.add_(a)
        return out * b

    def parts(first, second, third):
        memory = torch.arange(9.0)
        pieces = memory[:3], memory[3:6], memory[6:]
        return [pieces[i] if i is not None else torch.ones(3) for i in (first, second, third)]

    counter = CompileCounter()
    compiled = torch.compile(function, backend=counter, fullgraph=True)
    compilations = []
    for which in [(None, 0, 1), (None, 1, 1), (None, None, 2), (0, 0, 1), (0, 1, 0), (0, 1, 2), (2, None, 1)]:
        actual, expected = parts(*which), parts(*which)
        assert torch.equal(compiled(*actual), function(*expected))
        assert all(map(torch.equal, actual, expected))
        compilations.append(counter.frame_count)
    assert compilations[:3] == [1, 1, 1]
    assert compilations[3] == 2  # what is written to is also read


def test_modules_that_are_made_for_each_call():
    class Scale(torch.nn.Module):
        def __init__(self, factor):
            super().__init__()
            self.factor = factor
            self.weight = torch.nn.Parameter(torch.full((3,), float(factor)))
            self.inner = torch.nn.Linear(3, 3, bias=False)

        def forward(self, x):
            return self.inner(x * self.weight) * self.factor

    watched = Watched(lambda module, x: module(x))
    modules = [Scale(2) for _ in range(4)]
    assert [watched(module, ONES) for module in modules] == [1, 2, 2, 2]
    assert watched(modules[0], ONES) == 2
    assert watched(Scale(3), ONES) == 3  # by the value of an attribute

    modules[1].register_forward_hook(lambda module, args, result: result + 1)
    assert watched(modules[1], ONES) == 4
    assert watched(modules[2], ONES) == 4
    modules[2].eval()
    modules[3].inner.requires_grad_(False)
    assert watched(modules[3], ONES) == 5


def test_compilers_that_fail_are_given_up(monkeypatch):
    tried = []

    def failing(graph, inputs):
        tried.append(1)
        raise NotImplementedError("this graph")

    monkeypatch.setattr(torch._dynamo.config, "suppress_errors", True)
    compiled = torch.compile(lambda x: x + 1, backend=failing)
    with pytest.warns(UserWarning, match="runs eagerly"):
        for _ in range(6):
            assert torch.equal(compiled(ONES), ONES + 1)
    assert len(tried) == 3

    torch._dynamo.reset()
    with pytest.warns(UserWarning, match="runs eagerly"):
        compiled(ONES)
    assert len(tried) == 4


def test_the_keys_of_a_dictionary_that_is_changed():
    def function(x, table):
        table["n"] = 1
        return x + len(table), list(table)

    compiled = torch.compile(function, backend="eager")
    for keys in ([], ["a"], ["a", "b"], ["n"], ["b", "n"]):
        table = dict.fromkeys(keys, 0)
        result, names = compiled(torch.zeros(1), table)
        assert names == list(table) and result.item() == len(table)


def test_the_texts_of_exceptions():
    def function(x, error):
        return x, str(error), f"{error!r}", error.args

    compiled = torch.compile(function, backend="eager")
    x = torch.ones(1)
    for error in (ValueError("a"), ValueError("b"), ValueError(1, 2), KeyError("k")):
        assert compiled(x, error)[1:] == function(x, error)[1:]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x + x.storage_offset(),
        lambda x: x[1:] * torch.Tensor.storage_offset(x[1:]),
        lambda x: x.as_strided((2, 2), (1, 2), 0) + 1,
        lambda x: torch.as_strided(x[2:], (2, 2), (1, 2), storage_offset=3) + 1,
        lambda x: x[1:].as_strided((2,), (2,)).mul_(1) + 1,
    ],
)
def test_where_a_tensor_begins_in_memory(function):
    memory = torch.arange(24.0)
    watched = Watched(function)
    assert watched(memory[:18]) == 1
    assert watched(memory[6:]) == 2
    assert watched((memory + 1)[6:]) == 2


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x[1:].view(-1, 1).expand(-1, 2).sum(0),
        lambda x: x.as_strided((2, 2), (1, 2)) + 1,
        lambda x: torch.as_strided(x[2:], (2, 2), (1, 2), storage_offset=None) + 1,
    ],
)
def test_views_of_other_places_need_no_new_code(function):
    memory = torch.arange(24.0)
    watched = Watched(function)
    assert watched(memory[:18]) == 1
    assert watched(memory[6:]) == 1
