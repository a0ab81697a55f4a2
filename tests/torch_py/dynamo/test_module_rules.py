"""Modules that are called without an interpreter for what all modules do."""

from collections import Counter, OrderedDict

import pytest

import torch_py as torch
from torch_py._dynamo.frame import Frame

nn = torch.nn


@pytest.fixture
def frames(monkeypatch):
    """How often each function is interpreted."""
    found = Counter()
    original = Frame.run

    def run(self):
        found[self.code.co_qualname if hasattr(self.code, "co_qualname") else self.code.co_name] += 1
        return original(self)

    monkeypatch.setattr(Frame, "run", run)
    return found


def compiled(function):
    torch._dynamo.reset()
    return torch.compile(function, backend="eager", fullgraph=True)


def test_calls_and_attributes_of_layers_take_no_frames(frames):
    model = nn.Sequential(*[nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4)) for _ in range(3)])
    x = torch.randn(2, 4)
    assert torch.equal(compiled(model)(x), model(x))
    assert frames["Linear.forward"] + frames["forward"] > 0
    assert not [name for name in frames if "__getattr__" in name or "__call__" in name]


def test_hooks_are_interpreted_from_when_they_are_there(frames):
    model = nn.Linear(4, 4)
    run = compiled(lambda x: model(x))
    x = torch.randn(2, 4)
    expected = run(x)

    handle = model.register_forward_hook(lambda module, arguments, result: result + 1)
    assert torch.equal(run(x), expected + 1)
    handle.remove()
    assert torch.equal(run(x), expected)

    everywhere = nn.modules.module.register_module_forward_hook(lambda module, arguments, result: result * 2)
    try:
        assert torch.equal(run(x), expected * 2)
    finally:
        everywhere.remove()
    assert torch.equal(run(x), expected)


def test_changed_parameters_submodules_and_classes():
    class Scaled(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(4, 4)

        def forward(self, x):
            return self.inner(x)

    model = Scaled()
    run = compiled(model)
    x = torch.randn(2, 4)
    run(x)
    model.inner = nn.Linear(4, 3)
    assert torch.equal(run(x), model.inner(x))
    model.inner.weight = nn.Parameter(torch.ones(3, 4))
    assert torch.equal(run(x), model.inner(x))

    Scaled.__call__ = lambda self, x: self.forward(x) + 1
    assert torch.equal(run(x), model.inner(x) + 1)
    Scaled.__getattr__ = lambda self, name: nn.Identity() if name == "inner" else None
    assert torch.equal(run(x), x + 1)


def test_registries_of_other_kinds_and_missing_names():
    class Names(OrderedDict):
        def __contains__(self, name):
            return name == "anything"

        def __getitem__(self, name):
            return nn.Identity()

    class Strange(nn.Module):
        def forward(self, x):
            return self.anything(x) if hasattr(self, "anything") else x * 2

    model = Strange()
    x = torch.ones(2)
    assert compiled(model)(x).tolist() == [2, 2]
    model._modules = Names()
    assert compiled(model)(x).tolist() == [1, 1]

    def missing(x):
        return model.nothing

    with pytest.raises(AttributeError, match="'Strange' object has no attribute 'nothing'"):
        torch.compile(missing, backend="eager")(x)


def test_a_break_inside_of_layers_resumes_in_the_caller():
    class Noisy(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(4, 4)

        def forward(self, x):
            y = self.inner(x)
            torch._dynamo.graph_break()
            return self.inner(y) + 1

    model = nn.Sequential(Noisy(), nn.ReLU(), Noisy())
    x = torch.randn(2, 4)
    torch._dynamo.reset()
    assert torch.equal(torch.compile(model, backend="eager")(x), model(x))
