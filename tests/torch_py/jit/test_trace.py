"""Traced modules and functions: what is recorded, for which inputs it holds, and what is warned about."""

import copy
import io

import pytest

from tests.subject import only_torch_py, torch
from tests.torch_py.export.models import GPT, ResNet, Tagger

nn = torch.nn


def reloaded(module):
    file = io.BytesIO()
    torch.jit.save(module, file)
    file.seek(0)
    return torch.jit.load(file)


@pytest.mark.parametrize(
    "make, example, others",
    [
        (ResNet, lambda: torch.randn(1, 3, 32, 32), [lambda: torch.randn(4, 3, 40, 36)]),
        (GPT, lambda: torch.randint(0, 11, (1, 5)), [lambda: torch.randint(0, 11, (3, 9))]),
        (Tagger, lambda: torch.randint(0, 11, (2, 7)), [lambda: torch.randint(0, 11, (5, 7))]),
    ],
)
def test_a_model_is_traced_saved_loaded_and_run(make, example, others):
    torch.manual_seed(0)
    model = make().eval()
    traced = torch.jit.trace(model, example(), check_trace=False, strict=False)
    assert isinstance(traced, torch.jit.ScriptModule) and list(traced.state_dict()) == list(
        model.state_dict()
    )
    for module in (traced, reloaded(traced)):
        for make_input in (example, *others):
            inputs = make_input()
            torch.testing.assert_close(module(inputs), model(inputs))


def test_the_state_is_shared_and_follows():
    model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3)).train()
    traced = torch.jit.trace(model, torch.randn(4, 2), check_trace=False)
    assert dict(traced.named_parameters())["0.weight"].data_ptr() == model[0].weight.data_ptr()
    x = torch.randn(5, 2)
    other = copy.deepcopy(model)
    torch.testing.assert_close(traced(x), other(x))
    torch.testing.assert_close(traced.state_dict(), other.state_dict())

    traced.load_state_dict({name: torch.ones_like(t) for name, t in traced.state_dict().items()})
    assert torch.equal(reloaded(traced).state_dict()["0.weight"], torch.ones(3, 2))


def test_a_trace_trains():
    model = nn.Linear(2, 1)
    traced = torch.jit.trace(model, torch.randn(4, 2))
    traced(torch.ones(3, 2)).sum().backward()
    assert torch.equal(model.weight.grad, torch.full((1, 2), 3.0))


def test_a_function_is_traced():
    def scaled(x, y):
        return {"sum": x * 2 + y, "tracing": torch.tensor(torch.jit.is_tracing())}

    traced = torch.jit.trace(scaled, (torch.ones(2), torch.ones(2)), strict=False, check_trace=False)
    assert isinstance(traced, torch.jit.ScriptFunction)
    found = traced(torch.ones(3), torch.zeros(3))
    assert torch.equal(found["sum"], torch.full((3,), 2.0)) and found["tracing"]
    assert not torch.jit.is_tracing()
    assert torch.equal(reloaded(traced)(torch.ones(4), torch.ones(4))["sum"], torch.full((4,), 3.0))


def test_a_branch_on_values_is_warned_about():
    def branch(x):
        return x if x.sum() > 0 else -x

    with pytest.warns(torch.jit.TracerWarning, match="might cause the trace to be incorrect"):
        traced = torch.jit.trace(branch, torch.ones(3))
    assert torch.equal(traced(-torch.ones(3)), -torch.ones(3))


@only_torch_py
def test_a_trace_that_differs_from_the_program_is_warned_about():
    counter = iter(range(100))

    def counts(x):
        return x + torch.full((2,), float(next(counter)))

    with pytest.warns(torch.jit.TracerWarning, match="does not match"):
        torch.jit.trace(counts, torch.ones(2))


def test_several_methods():
    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(2))

        def forward(self, x):
            return x * self.weight

        def inverse(self, x):
            return x / self.weight

    model = Two()
    traced = torch.jit.trace_module(model, {"forward": torch.ones(2), "inverse": torch.ones(2)})
    for module in (traced, reloaded(traced)):
        module.weight.data.fill_(4)
        assert torch.equal(module(torch.ones(2)), torch.full((2,), 4.0))
        assert torch.equal(module.inverse(torch.ones(2)), torch.full((2,), 0.25))


def test_code_and_graph():
    traced = torch.jit.trace(nn.Linear(2, 3), torch.ones(1, 2))
    assert "linear" in traced.code and "linear" in str(traced.graph)
    assert traced.original_name == "Linear"
    assert traced.eval() is traced and not traced.training and traced.train().training


def test_wrong_arguments():
    with pytest.raises((TypeError, AttributeError, RuntimeError)):
        torch.jit.trace(3, ())
    with pytest.raises(RuntimeError, match="mat1 and mat2"):
        torch.jit.trace(nn.Linear(2, 3), torch.ones(1, 4))
    with pytest.raises(AttributeError, match="Module"):
        torch.jit.trace_module(3, {"forward": ()})
