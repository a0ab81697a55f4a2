"""Backward passes over several streams: Note [Streams of a backward pass]."""

from __future__ import annotations

from typing import Any

import pytest

from tests.subject import torch


class Remembering(torch.autograd.Function):
    """The identity; notes the current stream of its backward call."""

    streams: list[Any] = []

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x.clone()

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        Remembering.streams.append(torch.cuda.current_stream())
        return grad.clone()


def test_nodes_run_on_the_stream_of_their_forward_call():
    side = torch.cuda.Stream()
    x = torch.randn(3000, device="cuda", requires_grad=True)
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        y = Remembering.apply(x)
    torch.cuda.current_stream().wait_stream(side)

    Remembering.streams.clear()
    Remembering.apply(y).sum().backward()
    assert Remembering.streams == [torch.cuda.default_stream(), side]


@pytest.mark.parametrize("branches", [1, 2, 4])
def test_gradients_of_several_streams(branches: int):
    """Streams of the emulation run as late as possible: a missing wait gives wrong numbers."""
    values = torch.randn(5000)
    x = values.cuda().requires_grad_()
    total = torch.zeros((), device="cuda")
    for k in range(branches):
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            part = (x * (k + 1)).sin().square().sum()
        torch.cuda.current_stream().wait_stream(side)
        total = total + part
    total.backward()

    plain = values.requires_grad_()
    sum((plain * (k + 1)).sin().square().sum() for k in range(branches)).backward()
    torch.testing.assert_close(x.grad.cpu(), plain.grad)


def test_several_devices_take_part(two_devices: Any):
    x = torch.randn(100, device="cuda:0", requires_grad=True)
    (x * 2).to("cuda:1").exp().sum().backward()
    torch.testing.assert_close(x.grad, (2 * (2 * x).exp()).detach())


def test_gradients_accumulate_from_the_host_and_the_device():
    x = torch.randn(100, requires_grad=True)
    (x.cuda().sin().sum().cpu() + x.cos().sum()).backward()
    torch.testing.assert_close(x.grad, (x.cos() - x.sin()).detach())
