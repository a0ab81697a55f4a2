"""Writes to saved tensors, version counters, nodes of leaves, options that choose how jacobians are
computed."""

from __future__ import annotations

from typing import Any

import pytest

from tests.subject import only_torch_py, torch

graph = torch.autograd.graph


def test_writes_to_what_is_saved() -> None:
    with graph.allow_mutation_on_saved_tensors() as context:
        x = torch.tensor([0.0, 1.0], requires_grad=True)
        y = x.exp()
        squared, factor = y * y, torch.tensor([2.0, 3.0])
        product = x * factor
        y.zero_()
        factor[0] = 7
        factor += 1
        squared.sum().backward()
        torch.testing.assert_close(x.grad, 2 * torch.exp(2 * x.detach()))
        x.grad = None
        product.sum().backward()
        assert x.grad.tolist() == [2, 3]
        out = torch.ones(2)
        total = (x * out).sum()
        torch.add(out, 1, out=out)
        with pytest.raises(RuntimeError, match="nested"), graph.allow_mutation_on_saved_tensors():
            pass
        total.backward()
        assert x.grad.tolist() == [3, 4]
        forgotten = (x * factor).sum()
        context.clear()
        with pytest.raises(AssertionError, match="outside of the 'allow_mutation_on_saved_tensors' context"):
            forgotten.backward()
        assert x.grad.tolist() == [3, 4]
        late = (x * factor).sum()
    with pytest.raises(AssertionError, match="outside of the 'allow_mutation_on_saved_tensors' context"):
        late.backward()


def test_versions() -> None:
    x, y = torch.ones(2), torch.ones(2)
    before = x._version
    graph.increment_version(x)
    graph.increment_version([x, y])
    assert x._version == before + 2
    a = torch.ones(2, requires_grad=True)
    b = a * y
    graph.increment_version(y)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        b.sum().backward()


def test_nodes() -> None:
    x = torch.ones(2, requires_grad=True)
    assert "AccumulateGrad" in graph._get_grad_fn_or_grad_acc(x).name()
    y = x * 2
    assert graph._get_grad_fn_or_grad_acc(y) is y.grad_fn


def test_multithreading_is_a_setting() -> None:
    assert (
        torch.autograd.is_multithreading_enabled()
        if hasattr(torch.autograd, "is_multithreading_enabled")
        else True
    )
    with torch.autograd.set_multithreading_enabled(False):
        x = torch.ones(1, requires_grad=True)
        (x * 2).backward()
        assert x.grad.item() == 2


def cube(x: Any) -> Any:
    return (x**3).sum()


def test_ways_to_compute_jacobians() -> None:
    from importlib import import_module

    functional = import_module(f"{torch.__name__}.autograd.functional")
    x = torch.tensor([1.0, 2.0])
    expected = torch.diag(2 * x)
    for options in ({}, {"vectorize": True}, {"vectorize": True, "strategy": "forward-mode"}):
        torch.testing.assert_close(functional.jacobian(lambda v: v**2, x, **options), expected)
    for options in ({}, {"vectorize": True}, {"vectorize": True, "outer_jacobian_strategy": "forward-mode"}):
        torch.testing.assert_close(functional.hessian(cube, x, **options), torch.diag(6 * x))
    for options, error in [
        ({"strategy": "sideways"}, AssertionError),
        ({"strategy": "forward-mode"}, NotImplementedError),
        ({"strategy": "forward-mode", "vectorize": True, "create_graph": True}, NotImplementedError),
        ({"strict": True, "vectorize": True}, RuntimeError),
    ]:
        with pytest.raises(error):
            functional.jacobian(lambda v: v**2, x, **options)


def test_the_older_name_of_gradients() -> None:
    x = torch.ones(1, requires_grad=True)
    with pytest.warns(FutureWarning, match="grad_variables"):
        torch.autograd.backward([x * 2], grad_variables=[torch.ones(1)])
    assert x.grad.item() == 2
    with pytest.raises(RuntimeError, match="both passed"), pytest.warns(FutureWarning):
        torch.autograd.backward([x * 2], [torch.ones(1)], grad_variables=[torch.ones(1)])


@only_torch_py
def test_absent_packages_can_be_imported_and_say_so_when_used() -> None:
    from torch_py.export import Dim, ExportedProgram, export
    from torch_py.nested import nested_tensor
    from torch_py.quantization import FakeQuantize, QuantStub

    assert not isinstance(3, ExportedProgram) and QuantStub()(3) == 3
    assert not hasattr(Dim, "AUTO")
    for use in (
        lambda: export(1),
        lambda: nested_tensor([1]),
        lambda: Dim.AUTO,
        lambda: FakeQuantize(),
        lambda: torch.nested.as_nested_tensor([]),
    ):
        with pytest.raises(NotImplementedError, match=r"torch\.(export|nested|quantization)\.\w+: torch_py"):
            use()


def test_inputs_may_be_an_iterator() -> None:
    layer = torch.nn.Linear(2, 1)
    weight, bias = torch.autograd.grad(layer(torch.ones(3, 2)).sum(), layer.parameters())
    assert weight.tolist() == [[3, 3]] and bias.tolist() == [3]
    layer(torch.ones(3, 2)).sum().backward(inputs=[layer.bias])
    torch.autograd.backward(iter([layer(torch.ones(1, 2)).sum()]), inputs=layer.parameters())
    assert layer.bias.grad.tolist() == [4] and layer.weight.grad.tolist() == [[1, 1]]
