"""Modules as functions of their parameters, under the older names of functorch."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

from tests.subject import only_torch_py, torch

functional = importlib.import_module(
    "functorch" if torch.__name__ == "torch" else "torch_py._functorch.make_functional"
)
pytestmark = pytest.mark.filterwarnings("ignore")


def test_a_function_of_parameters():
    model = torch.nn.Linear(2, 3)
    function, params = functional.make_functional(model)
    x = torch.randn(4, 2)
    assert torch.equal(function(params, x), model(x)) and all(p.requires_grad for p in params)
    zeros = [torch.zeros_like(p) for p in params]
    assert function(zeros, x).abs().sum().item() == 0 and model.weight.abs().sum().item() > 0

    grads = torch.func.grad(lambda p: function(p, x).sum())(params)
    assert torch.allclose(grads[1], torch.full((3,), 4.0))
    assert not any(p.requires_grad for p in functional.make_functional(model, True)[1])


def test_buffers_are_arguments():
    model = torch.nn.BatchNorm1d(3).eval()
    with pytest.raises(RuntimeError, match="has buffers"):
        functional.make_functional(model)
    function, params, buffers = functional.make_functional_with_buffers(model)
    x = torch.randn(4, 3)
    assert torch.equal(function(params, buffers, x), model(x)) and len(buffers) == 3


def test_ensembles():
    models = [torch.nn.Linear(2, 3) for _ in range(4)]
    function, params, buffers = functional.combine_state_for_ensemble(models)
    x = torch.randn(5, 2)
    found = torch.vmap(function, in_dims=(0, 0, None))(params, buffers, x)
    assert torch.allclose(found, torch.stack([model(x) for model in models]), atol=1e-6)
    with pytest.raises(RuntimeError):
        functional.combine_state_for_ensemble([])
    with pytest.raises(RuntimeError):
        functional.combine_state_for_ensemble([torch.nn.Linear(2, 2), torch.nn.Bilinear(1, 1, 1)])


@only_torch_py
def test_the_package_functorch_is_ours_for_unchanged_programs():
    program = (
        "import functorch, torch; f, p = functorch.make_functional(torch.nn.Linear(2, 2));"
        "assert f(p, torch.ones(2)).shape == (2,); assert functorch.vmap is torch.vmap;"
        "assert 'torch_py' in functorch.__file__"
    )
    subprocess.run([sys.executable, "-m", "torch_py.as_torch", "-c", program], check=True)


def test_batched_tensors_can_be_asked_for():
    native = importlib.import_module(f"{torch.__name__}._C._functorch")
    seen = []

    def function(x):
        seen.append(
            (native.is_batchedtensor(x), native.get_unwrapped(x).shape, native.is_legacy_batchedtensor(x))
        )
        return x * 2

    x = torch.ones(3, 2)
    torch.vmap(function)(x)
    assert seen == [(True, (3, 2), False)] and not native.is_batchedtensor(x)
    assert native.maybe_get_bdim(x) == -1
    with pytest.raises(RuntimeError):
        native.get_unwrapped(x)
