"""`TorchDispatchMode`, `__torch_dispatch__` of subclasses, and kernels of our operators in Python."""

from __future__ import annotations

import copy
import operator
import pickle
from typing import Any

import pytest

from tests.subject import only_torch_py, torch

if torch.__name__ == "torch":
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_map
else:
    from torch_py.utils._python_dispatch import TorchDispatchMode
    from torch_py.utils._pytree import tree_map

aten = torch.ops.aten


class Recorder(TorchDispatchMode):
    """Notes the operators that it sees, and calls them."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.calls.append((func, args, kwargs or {}))
        return func(*args, **(kwargs or {}))

    @property
    def names(self) -> list[str]:
        return [func.overloadpacket.__name__ for func, _, _ in self.calls]


class Wrapper(torch.Tensor):
    """Holds a tensor and counts the calls on its instances."""

    inner: torch.Tensor
    calls: list[str] = []

    @staticmethod
    def __new__(cls, inner: torch.Tensor, requires_grad: bool = False) -> Wrapper:
        return torch.Tensor._make_wrapper_subclass(
            cls,
            inner.shape,
            strides=inner.stride(),
            dtype=inner.dtype,
            device=inner.device,
            requires_grad=requires_grad,
        )

    def __init__(self, inner: torch.Tensor, requires_grad: bool = False) -> None:
        self.inner = inner

    def __repr__(self, **_: Any) -> str:
        return f"Wrapper({self.inner})"

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        cls.calls.append(str(func))
        args, kwargs = tree_map(
            lambda leaf: leaf.inner if isinstance(leaf, Wrapper) else leaf, (args, kwargs or {})
        )
        result = func(*args, **kwargs)
        return tree_map(lambda leaf: Wrapper(leaf) if isinstance(leaf, torch.Tensor) else leaf, result)


@pytest.fixture(autouse=True)
def _fresh() -> None:
    Wrapper.calls.clear()


# Modes


def test_a_mode_sees_operators_with_their_arguments():
    x = torch.ones(2, 3)
    with Recorder() as seen:
        torch.add(x, x, alpha=2)
        x.sum(1)
    assert [func for func, _, _ in seen.calls][0] is aten.add.Tensor
    assert seen.calls[0][1][0] is x and seen.calls[0][2] == {"alpha": 2}
    assert seen.names == ["add", "sum"]


def test_defaults_are_left_out_and_numbers_stay_numbers():
    x = torch.ones(2)
    with Recorder() as seen:
        x + 2
    func, args, kwargs = seen.calls[0]
    assert func is aten.add.Tensor and args[1] == 2 and isinstance(args[1], int) and kwargs == {}


def test_a_mode_sees_what_composites_are_made_of():
    with Recorder() as seen:
        torch.nn.functional.mse_loss(torch.ones(3), torch.zeros(3))
        torch.nn.functional.silu(torch.ones(3))
    assert "mse_loss" in seen.names or "sub" in seen.names
    assert "silu" in seen.names


def test_a_mode_sees_backward():
    x = torch.ones(3, 3, requires_grad=True)
    with Recorder() as seen:
        loss = (x @ x).tanh().sum()
        forward = len(seen.calls)
        loss.backward()
    assert "tanh_backward" in seen.names[forward:] and "mm" in seen.names[forward:]
    assert x.grad is not None


def test_modes_nest_and_the_inner_one_is_first():
    order = []

    class Named(TorchDispatchMode):
        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            order.append(self.name)
            return func(*args, **(kwargs or {}))

    with Named("outer"), Named("inner"):
        torch.ones(2).neg()
    assert order == ["inner", "outer"] * 2  # ones (or fill_) and neg


def test_a_mode_may_change_the_result():
    class Zeros(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = func(*args, **(kwargs or {}))
            return result * 0 if func is aten.exp.default else result

    with Zeros():
        assert torch.ones(2).exp().tolist() == [0.0, 0.0]
    assert torch.zeros(2).exp().tolist() == [1.0, 1.0]


def test_exceptions_of_a_mode_leave_the_call_and_the_stack():
    class Refuses(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            raise KeyError("no")

    x = torch.ones(2)
    with pytest.raises(KeyError, match="no"), Refuses():
        x.neg()
    assert x.neg().tolist() == [-1.0, -1.0]


def test_a_wrong_result_is_an_error():
    class Text(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return "text"

    x = torch.ones(2)
    with pytest.raises((RuntimeError, TypeError)), Text():
        x.neg()


def test_in_place_and_out_return_the_argument():
    x, out = torch.ones(2), torch.empty(2)
    with Recorder() as seen:
        assert x.add_(1) is x
        assert torch.neg(x, out=out) is out
    assert seen.names == ["add_", "neg"]
    assert out.tolist() == [-2.0, -2.0]


# Subclasses


def test_operators_on_a_wrapper_go_to_its_class():
    x = Wrapper(torch.arange(4.0))
    y = (x + 1).exp()
    assert type(y) is Wrapper and torch.equal(y.inner, (torch.arange(4.0) + 1).exp())
    assert Wrapper.calls == ["aten.add.Tensor", "aten.exp.default"]


def test_a_wrapper_has_the_geometry_that_it_was_given():
    inner = torch.zeros(3, 4).t()
    x = Wrapper(inner)
    assert x.shape == (4, 3) and x.stride() == (1, 4) and x.dtype == torch.float32 and x.device.type == "cpu"


def test_autograd_runs_above_a_wrapper():
    x = Wrapper(torch.ones(3), requires_grad=True)
    (x * x).sum().backward()
    assert type(x.grad) is Wrapper and x.grad.inner.tolist() == [2.0, 2.0, 2.0]


def test_a_wrapper_survives_in_a_graph():
    x = torch.ones(3, requires_grad=True)
    y = Wrapper(torch.full((3,), 2.0))
    (x * y).sum().backward()
    assert x.grad.inner.tolist() == [2.0, 2.0, 2.0]


def test_asking_a_wrapper_for_its_memory_is_an_error():
    x = Wrapper(torch.ones(3))
    for ask in (lambda: x.numpy(), lambda: x.data_ptr(), lambda: memoryview(x)):
        with pytest.raises((RuntimeError, TypeError, BufferError)):
            ask()


@only_torch_py
@pytest.mark.parametrize(
    "ask",
    ["tolist", "__dlpack__", "untyped_storage", "storage", "__array__", "cpu", "item", "__bool__", "clone"],
)
def test_asking_a_wrapper_for_anything_never_crashes(ask: str):
    try:
        getattr(Wrapper(torch.ones(1)), ask)()
    except (RuntimeError, TypeError, NotImplementedError, BufferError, ValueError):
        pass


def test_a_declined_call_names_the_classes():
    class Declines(torch.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return NotImplemented

    x = torch.Tensor._make_subclass(Declines, torch.ones(2))
    with pytest.raises(TypeError, match="Multiple dispatch failed for"):
        x.neg()


def test_the_class_of_a_tensor_with_memory_may_handle_calls():
    class Loud(torch.Tensor):
        seen: list[Any] = []

        @classmethod
        def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            cls.seen.append(func)
            return NotImplemented if func is None else torch.zeros(2)

    x = torch.Tensor._make_subclass(Loud, torch.ones(2))
    assert x.exp().tolist() == [0.0, 0.0] and Loud.seen == [aten.exp.default]


def test_subclass_without_handler_cannot_be_a_wrapper():
    class Plain(torch.Tensor):
        pass

    with pytest.raises(RuntimeError):
        torch.Tensor._make_wrapper_subclass(Plain, (2,))


def test_reentrant_dispatch_records_and_goes_to_modes():
    from importlib import import_module

    reentrant = import_module(f"{torch.__name__}.overrides").enable_reentrant_dispatch
    seen = []

    class Traces(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if func is aten.neg.default:
                with reentrant(), torch.enable_grad():
                    x = torch.ones(2, requires_grad=True)
                    seen.append((x * 2).requires_grad)
                seen.append((torch.ones(2, requires_grad=True) * 2).requires_grad)
            return func(*args, **(kwargs or {}))

    with Traces():
        torch.ones(2).neg()
    assert seen == [True, False]


# Operators as objects


def test_there_is_one_object_for_each_overload():
    assert aten.add.Tensor is aten.add.Tensor
    assert aten.add.Tensor is not aten.mul.Tensor
    assert copy.deepcopy(aten.add.Tensor) is aten.add.Tensor
    assert str(aten.add.Tensor) == "aten.add.Tensor" and aten.add.Tensor.name() == "aten::add.Tensor"
    assert aten.add.Tensor.overloadpacket is aten.add and "Tensor" in aten.add.overloads()


@only_torch_py
def test_an_overload_can_be_pickled():
    assert pickle.loads(pickle.dumps(aten.add.Tensor)) is aten.add.Tensor


def test_the_schema_of_an_overload():
    schema = aten.add_.Tensor._schema
    self_, other, alpha = schema.arguments
    assert (self_.name, other.name, alpha.name) == ("self", "other", "alpha")
    assert self_.alias_info.is_write and other.alias_info is None and alpha.kwarg_only
    assert schema.is_mutable and not aten.add.Tensor._schema.is_mutable


def test_wrong_arguments_of_an_overload():
    x = torch.ones(2)
    for arguments in [(), (x,), (x, "text"), (x, x, x), ("text", x), (x, [x])]:
        with pytest.raises((RuntimeError, TypeError)):
            aten.mul.Tensor(*arguments)
    for keywords in [{"othr": x}, {"self": x}]:
        with pytest.raises((RuntimeError, TypeError)):
            aten.mul.Tensor(x, x, **keywords)


# Kernels in Python


@only_torch_py
def test_a_kernel_in_python_takes_the_place_of_ours():
    library = torch.library.Library("aten", "IMPL")
    library.impl("neg", lambda self: torch.zeros_like(self) + 5, "CPU")
    try:
        assert torch.ones(2).neg().tolist() == [5.0, 5.0]
        x = torch.ones(2, requires_grad=True)
        x.neg().sum().backward()
        assert x.grad.tolist() == [-1.0, -1.0] or x.grad.tolist() == [5.0, 5.0]
    finally:
        library._destroy()
    assert torch.ones(2).neg().tolist() == [-1.0, -1.0]


@only_torch_py  # PyTorch says that the operand types are not supported
@pytest.mark.parametrize(
    "function", [lambda x: x + 1, lambda x: 1 - x, lambda x: operator.iadd(x, 1), lambda x: x == x]
)
def test_type_errors_of_handlers_are_not_lost(function):
    class Fails(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            raise TypeError("a mistake in the mode")

    x = torch.ones(1)
    with pytest.raises(TypeError, match="a mistake in the mode"), Fails():
        function(x)
    assert torch.ones(1).__add__("text") is NotImplemented
