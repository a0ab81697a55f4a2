"""`torch.compile` for tensors on the GPU: graphs call the operators of the library."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import torch_py as torch
from torch_py import nn

BACKENDS = ["eager", "aot_eager", "inductor"]


class _Network(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.convolution = nn.Conv2d(2, 4, 3)
        self.norm = nn.BatchNorm2d(4)
        self.drop = nn.Dropout(0.25)
        self.head = nn.Linear(4 * 9, 3)

    def forward(self, images: Any) -> Any:
        return self.head(self.drop(torch.relu(self.norm(self.convolution(images)))).flatten(1))


def _trained(run: Any, batches: list[Any]) -> tuple[list[Any], dict[str, Any]]:
    """Losses, and the state afterwards, of some steps of a network that `run` takes."""
    torch.manual_seed(3)
    network = _Network().cuda()
    called = run(network)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1, momentum=0.9)
    losses = []
    for batch in batches:
        loss = nn.functional.cross_entropy(called(batch), torch.arange(len(batch), device="cuda") % 3)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return losses, network.state_dict()


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_network_trains_as_it_does_eagerly(backend: str) -> None:
    """With random numbers, buffers that change, and two sizes of a batch."""
    batches = [torch.randn(count, 2, 5, 5, device="cuda") for count in (4, 4, 3)]
    expected = _trained(lambda network: network, batches)
    compiled = _trained(lambda network: torch.compile(network, backend=backend), batches)
    torch.testing.assert_close(compiled, expected)


def _scaled(x: Any, weight: Any) -> Any:
    return torch.softmax(x * weight, -1).cumsum(-1)[:, 1:]


@pytest.mark.parametrize("mode", ["default", "reduce-overhead", "max-autotune"])
def test_modes_give_what_eager_gives(mode: str) -> None:
    x, weight = torch.randn(3, 5, device="cuda"), torch.randn(5, device="cuda", requires_grad=True)
    compiled = torch.compile(_scaled, mode=mode)
    for _ in range(3):
        torch.testing.assert_close(compiled(x, weight), _scaled(x, weight))
    (gradient,) = torch.autograd.grad(compiled(x, weight).sum(), weight)
    torch.testing.assert_close(gradient, torch.autograd.grad(_scaled(x, weight).sum(), weight)[0])


@pytest.mark.parametrize("backend", BACKENDS)
def test_another_device_is_compiled_anew(backend: str) -> None:
    counter = torch._dynamo.testing.CompileCounterWithBackend(backend)
    compiled = torch.compile(lambda x: (x * 2).sin(), backend=counter)
    for device in ("cpu", "cuda", "cpu", "cuda"):
        x = torch.randn(4, device=device)
        assert torch.equal(compiled(x), (x * 2).sin())
    assert counter.frame_count == 2


def test_copies_between_devices_stay_in_a_graph() -> None:
    def function(x: Any) -> Any:
        return (x.cuda() + torch.ones(3, device="cuda")).cpu() * 2

    x = torch.randn(3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it would run eagerly
        assert torch.equal(torch.compile(function, fullgraph=True)(x), function(x))


@pytest.mark.parametrize("dynamic", [False, True])
def test_sizes_that_vary(dynamic: bool) -> None:
    compiled = torch.compile(_scaled, dynamic=dynamic)
    for rows, columns in ((3, 5), (4, 5), (4, 7)):
        x, weight = torch.randn(rows, columns, device="cuda"), torch.randn(columns, device="cuda")
        torch.testing.assert_close(compiled(x, weight), _scaled(x, weight))
