"""Modes of __torch_function__: the calls they see, how they nest, and how they are turned off."""

from __future__ import annotations

import threading
from typing import Any

import numpy
import pytest

from tests.subject import torch

overrides = __import__(f"{torch.__name__}.overrides", fromlist=["x"])
F = torch.nn.functional


class Names(overrides.TorchFunctionMode):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        assert isinstance(args, tuple) and isinstance(types, tuple)
        self.seen.append(overrides.resolve_name(func))
        return func(*args, **(kwargs or {}))


def test_every_kind_of_call_is_seen() -> None:
    with Names() as mode:
        x = torch.ones(2, 2)
        _ = x + x
        _ = x.shape
        x[0]
        torch.tensor([1.0])
        F.linear(x, x)
        x.sum()
        torch.linalg.inv(torch.eye(2))
        x += 1
        x.requires_grad = True
        torch.zeros(2, dtype=torch.int64)

    x.sum()
    assert mode.seen[:9] == [
        "torch.ones",
        "torch.Tensor.add",
        "torch.Tensor.shape.__get__",
        "torch.Tensor.__getitem__",
        "torch.tensor",
        "torch.nn.functional.linear",
        "torch.Tensor.sum",
        "torch.eye",
        "torch.linalg.inv",
    ]
    assert mode.seen[9] == "torch.Tensor.add_" and mode.seen[-1] == "torch.zeros" and len(mode.seen) == 12


def test_results_can_be_replaced() -> None:
    class Negated(overrides.TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = func(*args, **(kwargs or {}))
            return -result if func is torch.ones else result

    with Negated():
        assert torch.ones(2).tolist() == [-1, -1]
    assert torch.ones(2).tolist() == [1, 1]


def test_nested_modes_and_errors() -> None:
    with Names() as outer:
        with Names() as inner:
            torch.ones(1)
        torch.zeros(1)
    assert inner.seen == ["torch.ones"] and outer.seen == ["torch.ones", "torch.zeros"]

    class Fails(overrides.TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            raise ValueError("no")

    with outer, pytest.raises(ValueError, match="no"):
        with Fails():
            torch.ones(1)
    outer.seen.clear()
    torch.ones(1)
    assert not outer.seen and overrides._get_current_function_mode() is None

    class Declines(overrides.TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return NotImplemented

    with Declines(), pytest.raises(TypeError, match="returned NotImplemented"):
        torch.ones(1)
    with pytest.raises(NotImplementedError), overrides.TorchFunctionMode():
        torch.ones(1)


def test_a_mode_can_enter_itself_again() -> None:
    class Again(Names):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            self.seen.append(overrides.resolve_name(func))
            if func is torch.ones:
                with self:
                    return torch.zeros(*args)
            return func(*args, **(kwargs or {}))

    with Again() as mode:
        assert torch.ones(2).tolist() == [0, 0]
    assert mode.seen[:2] == ["torch.ones", "torch.zeros"]


def test_modes_come_before_types() -> None:
    order = []

    class Type(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            order.append("type")
            return super().__torch_function__(func, types, args, kwargs or {})

    class Mode(overrides.TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            order.append(("mode", types))
            return func(*args, **(kwargs or {}))

    x = torch.ones(2).as_subclass(Type)
    with Mode():
        x.add(1)
    assert order == [("mode", (Type,)), "type"]
    del order[:]
    with Mode(), torch._C.DisableTorchFunctionSubclass():
        x.add(1)
    assert [entry[0] for entry in order] == ["mode"]
    del order[:]
    with Mode(), torch._C.DisableTorchFunction():
        x.add(1)
        assert torch._C._is_torch_function_all_disabled()
    assert not order


def test_threads_have_their_own_modes() -> None:
    seen_elsewhere: list[Any] = []
    with Names() as mode:
        thread = threading.Thread(target=lambda: seen_elsewhere.append(torch.arange(3).sum().item()))
        thread.start()
        thread.join()
    assert seen_elsewhere == [3] and not mode.seen


def test_functions_in_python_ask_modes() -> None:
    def function(x: Any) -> Any:
        if overrides.has_torch_function_unary(x):
            return overrides.handle_torch_function(function, (x,), x)
        return x + 1

    class Mode(overrides.TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return "taken" if func is function else func(*args, **(kwargs or {}))

    with Mode():
        assert function(torch.ones(1)) == "taken"
    assert function(torch.ones(1)).item() == 2


def test_questions_about_functions() -> None:
    assert overrides.resolve_name(torch.Tensor.add) == "torch.Tensor.add"
    assert overrides.resolve_name(torch.Tensor.shape.__get__) == "torch.Tensor.shape.__get__"

    assert overrides.resolve_name(torch.add) == "torch.add"
    assert overrides.resolve_name(F.relu) == "torch.nn.functional.relu"
    assert overrides.is_tensor_method_or_property(
        torch.Tensor.add
    ) and overrides.is_tensor_method_or_property(torch.Tensor.shape.__get__)
    assert not overrides.is_tensor_method_or_property(torch.add)

    functions = overrides.get_overridable_functions()
    assert torch.add in functions[torch]
    assert torch.Tensor.add in functions[torch.Tensor]
    assert torch.add not in overrides.get_ignored_functions()

    assert torch.tensor in overrides.get_ignored_functions()
    assert torch.Tensor.grad.__get__ in overrides.get_default_nowrap_functions()


def test_torch_function_of_python_functions():
    class Array:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func.__name__, args, kwargs

    @torch.overrides.wrap_torch_function(lambda x: (x,))
    def mean(x):
        return x.mean()

    value = Array()
    assert mean(value) == ("mean", (value,), {}) and mean(torch.ones(2)) == 1
    assert torch.overrides.has_torch_function((1, value)) and not torch.overrides.has_torch_function(
        (torch.ones(1),)
    )
    assert torch.overrides.is_tensor_like(value) and not torch.overrides.is_tensor_like(3)


def test_elements_asked_for_are_seen() -> None:
    x = torch.ones(2)
    with Names() as mode:
        assert x.tolist() == [1, 1]
        assert numpy.asarray(x).sum() == 2
    assert mode.seen == ["torch.Tensor.tolist", "torch.Tensor.__array__"]
