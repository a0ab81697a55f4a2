"""TORCH_PY_COMPILE_CHECK compares compiled graphs with their operators."""

import pytest

import torch_py as torch
from torch_py._dynamo.checking import GraphDiffers

X = torch.randn(3, 4)


@pytest.fixture(autouse=True)
def checked(monkeypatch):
    monkeypatch.setenv("TORCH_PY_COMPILE_CHECK", "1")


def with_results(change):
    """A backend whose results are changed."""

    def backend(graph, inputs):
        return lambda *args: change(args, graph.forward(*args))

    return backend


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda args, results: tuple(r + 1 for r in results), "result 0 differs"),
        (lambda args, results: tuple(r.t().contiguous().t() for r in results), "result 0 has strides"),
        (lambda args, results: args[0].mul_(2) is None or results, "input 0 afterwards differs"),
        (lambda args, results: tuple(args[0].copy_(r) for r in results), "shares memory"),
    ],
)
def test_differences_are_errors(change, message):
    compiled = torch.compile(lambda x: x * 2, backend=with_results(change))
    with pytest.raises(GraphDiffers, match=message):
        compiled(X.clone())


def test_graphs_that_do_the_same_pass():
    def function(x):
        x.add_(1)
        return torch.nn.functional.dropout(x), x.t(), (x * 2).sum()

    compiled = torch.compile(function, backend="eager")
    for _ in range(2):
        assert compiled(X.clone())[1].shape == (4, 3)


@pytest.mark.parametrize("make", [torch.ones, lambda *size: torch.ones(*size, requires_grad=True) * 2])
def test_expanded_arguments(make):
    compiled = torch.compile(lambda x: (x.sin(), x.sum(0)), backend="eager")
    for given in (make(4).expand(3, 4), make(3, 1, 2).expand(3, 4, 2)):
        assert compiled(given)[0].shape == given.shape


def test_generators_and_results_of_operators_that_are_changed():
    """Both runs draw the same numbers, and change an argument that is not a leaf."""

    def function(x, generator):
        x.mul_(2)
        return x + torch.rand(2, generator=generator)

    compiled = torch.compile(function, backend="aot_eager")
    leaf = torch.ones(2, requires_grad=True)
    other = torch.Generator().manual_seed(3)
    result = compiled(leaf * 1, torch.Generator().manual_seed(3))
    assert torch.equal(result, function(leaf * 1, other))
    result.sum().backward()
    assert leaf.grad.tolist() == [2, 2]
