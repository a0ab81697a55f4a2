"""Graphs of very many nodes are built, run backward and freed without recursion: on a small stack."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from tests.subject import torch

LENGTH = 100_000
STACK = 256 << 10


def run_on_small_stack(work: Callable[[], None]) -> None:
    """Runs it in a thread whose stack has a few bytes per node; a thread that overflows ends the process."""
    problems: list[BaseException] = []

    def guarded() -> None:
        try:
            work()
        except BaseException as error:
            problems.append(error)

    before = threading.stack_size(STACK)
    try:
        thread = threading.Thread(target=guarded)
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    if problems:
        raise problems[0]


def chain(step: Callable[[Any], Any], length: int = LENGTH) -> tuple[Any, Any]:
    start = torch.ones(2, requires_grad=True)
    end = start
    for _ in range(length):
        end = step(end)
    return start, end


STEPS: dict[str, Callable[[Any], Any]] = {
    "nothing saved": lambda x: x + 1,
    "input saved": lambda x: x.sin(),
    "output saved": lambda x: x.tanh(),
    "two edges": lambda x: x + x.detach(),
    "both saved": lambda x: x * x,
    "view": lambda x: x.view(2),
    "list": lambda x: torch.cat([x[:1], x[1:]]),
    "in place": lambda x: x.clone().mul_(0.5),
}


@pytest.mark.parametrize("step", STEPS)
def test_backward(step: str) -> None:
    def work() -> None:
        start, end = chain(STEPS[step], LENGTH // 4)
        end.sum().backward()
        assert start.grad.shape == (2,)

    run_on_small_stack(work)


@pytest.mark.parametrize("step", STEPS)
def test_free(step: str) -> None:
    def work() -> None:
        _, end = chain(STEPS[step])
        node = end.grad_fn
        del end
        assert node is not None
        del node

    run_on_small_stack(work)


def test_a_wide_graph() -> None:
    def work() -> None:
        start = torch.ones(1, requires_grad=True)
        torch.stack([start * 2 for _ in range(LENGTH)]).sum().backward()
        assert start.grad.item() == 2 * LENGTH

    run_on_small_stack(work)


def test_a_graph_of_gradients() -> None:
    def work() -> None:
        start, end = chain(lambda x: x.sin(), LENGTH // 20)
        (gradient,) = torch.autograd.grad(end.sum(), start, create_graph=True)
        gradient.sum().backward()
        assert start.grad.shape == (2,)

    run_on_small_stack(work)
