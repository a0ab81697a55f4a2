"""Grad modes: how they nest, decorate functions and belong to a thread; multithreading as a setting."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from tests.subject import torch
from tests.torch_py.outcomes import outcome

SETTINGS_CALLS = {"multithreading": lambda t: t.autograd.set_multithreading_enabled(True).prev}


@pytest.mark.parametrize("call", SETTINGS_CALLS.values(), ids=SETTINGS_CALLS)
def test_multithreading_agrees_with_pytorch(call):
    peer = pytest.importorskip("torch")
    assert outcome(call, torch) == outcome(call, peer)


def test_backward_works_without_multithreading() -> None:
    assert (
        torch.autograd.is_multithreading_enabled()
        if hasattr(torch.autograd, "is_multithreading_enabled")
        else True
    )
    with torch.autograd.set_multithreading_enabled(False):
        x = torch.ones(1, requires_grad=True)
        (x * 2).backward()
        assert x.grad.item() == 2


def test_modes_nest_and_come_back() -> None:
    assert torch.is_grad_enabled()
    with torch.no_grad():
        assert not torch.is_grad_enabled()
        with torch.enable_grad():
            assert torch.is_grad_enabled()
        assert not torch.is_grad_enabled()
    with pytest.raises(KeyError), torch.no_grad():
        raise KeyError
    assert torch.is_grad_enabled()


def test_mode_can_be_entered_twice() -> None:
    mode = torch.no_grad()
    for _ in range(2):
        with mode:
            assert not torch.is_grad_enabled()
        assert torch.is_grad_enabled()


@pytest.mark.parametrize(
    "decorate", ["no_grad()", "no_grad", "inference_mode()", "inference_mode", "set_grad_enabled(False)"]
)
def test_modes_decorate_functions(decorate: str) -> None:
    @eval(f"torch.{decorate}", {"torch": torch})
    def mode(value: int = 1) -> Any:
        """What it says."""
        return torch.is_grad_enabled(), value

    assert mode(value=2) == (False, 2) and mode.__doc__ == "What it says." and torch.is_grad_enabled()


def test_modes_decorate_generators() -> None:
    @torch.no_grad()
    def values() -> Any:
        received = yield torch.is_grad_enabled()
        try:
            yield torch.is_grad_enabled(), received
        except KeyError:
            yield "caught", torch.is_grad_enabled()
        return "end"

    generator = values()
    assert next(generator) is False and torch.is_grad_enabled()
    assert generator.send("sent") == (False, "sent") and torch.is_grad_enabled()
    assert generator.throw(KeyError()) == ("caught", False)
    with pytest.raises(StopIteration) as stopped:
        next(generator)
    assert stopped.value.value == "end"


def test_set_grad_enabled_as_function_and_context() -> None:
    torch.set_grad_enabled(False)
    assert not torch.is_grad_enabled()
    torch.set_grad_enabled(True)
    with torch.set_grad_enabled(False):
        assert not torch.is_grad_enabled()
    assert torch.is_grad_enabled()


def test_modes_belong_to_a_thread() -> None:
    seen: list[bool] = []
    with torch.no_grad():
        thread = threading.Thread(target=lambda: seen.append(torch.is_grad_enabled()))
        thread.start()
        thread.join()
    assert seen == [True]
