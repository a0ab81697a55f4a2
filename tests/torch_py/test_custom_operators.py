"""Operators declared in Python are seen by everything that sees calls. The tests hold for PyTorch, too."""

from __future__ import annotations

import importlib
import itertools
from typing import Any

import pytest

from tests.subject import WITH_PEER, only_torch_py, torch

close_to = torch.testing.assert_close
FakeTensorMode = importlib.import_module(f"{torch.__name__}._subclasses.fake_tensor").FakeTensorMode
proxy_tensor = importlib.import_module(f"{torch.__name__}.fx.experimental.proxy_tensor")
_python_dispatch = importlib.import_module(f"{torch.__name__}.utils._python_dispatch")

library = torch.library
numbers = itertools.count()
X = torch.tensor([1.0, 2.0, 3.0])


def make_scale(**registered: Any) -> Any:
    """A new operator, x * factor + shift computed by NumPy."""
    name = f"tests_of_operators::scale_{next(numbers)}"

    @library.custom_op(name, mutates_args=())
    def scale(x: torch.Tensor, factor: float = 2.0, *, shift: int = 0) -> torch.Tensor:
        return torch.from_numpy(x.detach().numpy() * factor + shift).to(x.dtype)

    scale.register_fake(lambda x, factor=2.0, *, shift=0: torch.empty_like(x))
    return scale


def overload_of(op: Any) -> Any:
    return op._opoverload


def define(schema: str, **kernels: Any) -> Any:
    """A new operator in a library that lives on; the kernels are by dispatch key."""
    name = f"defined_{next(numbers)}"
    _library.define(f"{name}{schema}")
    for key, kernel in kernels.items():
        _library.impl(name, kernel, key)
    return getattr(torch.ops.tests_of_operators, name)


_library = library.Library("tests_of_operators", "FRAGMENT")


class Recorded(_python_dispatch.TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[Any] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.seen.append((func, args[1:], dict(kwargs or {})))
        return func(*args, **(kwargs or {}))


# What an operator is


def test_overloads_and_packets() -> None:
    scale = make_scale()
    packet = getattr(torch.ops.tests_of_operators, scale._name)
    overload = overload_of(scale)
    assert packet.default is overload and packet.overloads() == ["default"]
    assert overload.name() == scale._qualname and overload.namespace == "tests_of_operators"
    assert str(overload) == f"tests_of_operators.{scale._name}.default"
    assert repr(packet) == f"<OpOverloadPacket(op='tests_of_operators.{scale._name}')>"
    assert [argument.name for argument in overload._schema.arguments] == ["x", "factor", "shift"]
    assert torch.Tag.pt2_compliant_tag in overload.tags
    assert repr(scale) == f"<CustomOpDef({scale._qualname})>"


def test_overloads_with_names() -> None:
    name = f"several_{next(numbers)}"
    _library.define(f"{name}.one(Tensor x) -> Tensor")
    _library.define(f"{name}.two(Tensor x, int n) -> Tensor", tags=(torch.Tag.core,))
    _library.impl(f"{name}.one", lambda x: x + 1, "CPU")
    _library.impl(f"{name}.two", lambda x, n: x + n, "CPU")
    packet = getattr(torch.ops.tests_of_operators, name)
    close_to(packet(X), X + 1)
    close_to(packet(X, 5), X + 5)
    assert sorted(packet.overloads()) == ["one", "two"]
    assert torch.Tag.core in packet.two.tags and torch.Tag.core not in packet.one.tags


# Kernels


def test_the_device_chooses_the_kernel() -> None:
    op = define("(Tensor x) -> Tensor", CPU=lambda x: x + 1, Meta=lambda x: torch.empty_like(x))
    close_to(op(X), X + 1)
    assert op(X.to("meta")).device.type == "meta"
    with pytest.raises(NotImplementedError, match="Could not run"):
        define("(Tensor x) -> Tensor", CUDA=lambda x: x)(X)


def test_a_device_comes_before_all_devices() -> None:
    op = define("(Tensor x) -> Tensor", CPU=lambda x: x + 1, CompositeExplicitAutograd=lambda x: x + 2)
    close_to(op(X), X + 1)
    assert op(X.to("meta")).shape == X.shape


def test_without_a_kernel_for_autograd_the_kernel_is_recorded() -> None:
    op = define("(Tensor x) -> Tensor", CPU=lambda x: x * 3)
    x = X.clone().requires_grad_()
    op(x).sum().backward()
    close_to(x.grad, torch.full((3,), 3.0))


def test_a_composition_is_seen_as_what_it_calls() -> None:
    op = define("(Tensor x) -> Tensor", CompositeImplicitAutograd=lambda x: x.exp().sum())
    with Recorded() as mode:
        op(X)
    assert [func for func, *_ in mode.seen] == [torch.ops.aten.exp.default, torch.ops.aten.sum.default]
    x = X.clone().requires_grad_()
    op(x).backward()
    close_to(x.grad, X.exp())


def test_fallthrough() -> None:
    op = define("(Tensor x) -> Tensor", CPU=lambda x: x * 2, AutocastCPU=library.fallthrough_kernel)
    with torch.autocast("cpu"):
        close_to(op(X), X * 2)


def test_types_of_values() -> None:
    seen = []

    def kernel(*args: Any) -> Any:
        seen.append(args[1:])
        return args[0].clone()

    op = define(
        "(Tensor x, bool[] flags, str[] words, int?[] sizes, ScalarType? dtype=None, "
        "Device? device=None, Scalar alpha=1) -> Tensor",
        CompositeExplicitAutograd=kernel,
    )
    op(X, [False], ["a", "b"], [None, 3], torch.float64, "cpu", 2.5)
    assert seen[-1] == ([False], ["a", "b"], [None, 3], torch.float64, torch.device("cpu"), 2.5)
    if not WITH_PEER:  # PyTorch takes every number for a bool
        with pytest.raises(RuntimeError, match="flags"):
            op(X, [1.5], [], [])


def test_lists_of_tensors_and_several_results() -> None:
    op = define(
        "(Tensor[] xs, Tensor? y) -> (Tensor, Tensor[])", CPU=lambda xs, y: (sum(xs), [x + 1 for x in xs])
    )
    total, more = op([X, X], None)
    close_to(total, 2 * X)
    close_to(more[1], X + 1)


# Modes and fake tensors


def test_modes_see_the_operator() -> None:
    scale = make_scale()
    with Recorded() as mode:
        scale(X, 3.0, shift=1)
        scale(X)
    operators = [row for row in mode.seen if row[0] is overload_of(scale)]
    assert operators == [(overload_of(scale), (3.0,), {"shift": 1}), (overload_of(scale), (), {})]


def test_classes_of_tensors_see_the_operator() -> None:
    scale = make_scale()
    seen = []

    class Wrapper(torch.Tensor):
        @staticmethod
        def __new__(cls, inner: Any) -> Any:
            return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)

        def __init__(self, inner: Any) -> None:
            self.inner = inner

        @classmethod
        def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(func)
            return func(*(getattr(a, "inner", a) for a in args), **(kwargs or {}))

    close_to(scale(Wrapper(X), 4.0), X * 4)
    assert seen == [overload_of(scale)]


def test_fake_tensors_go_to_the_rule() -> None:
    scale = make_scale()
    with FakeTensorMode() as mode:
        fake = scale(mode.from_tensor(X))
    assert fake.shape == X.shape and fake.fake_mode is mode

    scale.register_fake(lambda x, factor=2.0, *, shift=0: torch.empty(7, dtype=torch.int32, device=x.device))
    with mode:
        assert (scale(mode.from_tensor(X)).shape, scale(torch.ones(1)).dtype) == ((7,), torch.int32)


def test_without_a_rule_fake_tensors_are_refused() -> None:
    @library.custom_op(f"tests_of_operators::plain_{next(numbers)}", mutates_args=())
    def plain(x: torch.Tensor) -> torch.Tensor:
        return x.clone()

    with FakeTensorMode() as mode, pytest.raises(RuntimeError, match="fake impl"):
        plain(mode.from_tensor(X))


def test_graphs_contain_the_operator() -> None:
    scale = make_scale()
    graph = proxy_tensor.make_fx(lambda x: scale(x, 3.0) + 1, tracing_mode="fake")(X)
    targets = [node.target for node in graph.graph.nodes if node.op == "call_function"]
    assert targets == [overload_of(scale), torch.ops.aten.add.Tensor]
    close_to(graph(X), X * 3 + 1)


@only_torch_py
def test_the_profiler_lists_the_operator() -> None:
    scale = make_scale()
    with torch.profiler.profile() as profile:
        scale(X)
    assert scale._qualname in [event.key for event in profile.key_averages()]


# Gradients


def test_gradients_of_lists() -> None:
    op = define("(Tensor[] xs, float a) -> Tensor[]", CPU=lambda xs, a: [x.detach() * a for x in xs])

    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        assert len(inputs[0]) == len(output) == 2
        ctx.a = inputs[1]

    library.register_autograd(
        op.default.name(), lambda ctx, grads: ([g * ctx.a for g in grads], None), setup_context=setup_context
    )
    x, y = X.clone().requires_grad_(), X.clone()
    first, second = op([x, y], 5.0)
    (first.sum() + second.sum()).backward()
    close_to(x.grad, torch.full((3,), 5.0))


def test_a_kernel_for_autograd() -> None:
    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 10

    op = define("(Tensor x) -> Tensor", CPU=lambda x: x * 2, Autograd=Doubled.apply)
    x = X.clone().requires_grad_()
    op(x).sum().backward()
    close_to(x.grad, torch.full((3,), 10.0))


def test_operators_that_write_have_no_gradient_formula() -> None:
    @library.custom_op(f"tests_of_operators::fill_{next(numbers)}", mutates_args={"x"})
    def fill(x: torch.Tensor) -> None:
        x.numpy()[:] = 7

    x = torch.zeros(2)
    before = x._version
    assert fill(x) is None
    assert x.tolist() == [7, 7] and x._version > before
    with pytest.raises(RuntimeError, match="non-functional"):
        fill.register_autograd(lambda ctx, grad: grad)


def test_results_may_not_be_arguments() -> None:
    @library.custom_op(f"tests_of_operators::same_{next(numbers)}", mutates_args=())
    def same(x: torch.Tensor) -> torch.Tensor:
        return x

    with pytest.raises(RuntimeError, match="must not also be an input"):
        same(X)


# Batches


def test_one_member_after_another() -> None:
    close_to(torch.vmap(make_scale())(torch.stack([X, X + 1])), torch.stack([X, X + 1]) * 2)


def test_a_rule_for_batches() -> None:
    scale = make_scale()
    seen = []

    @scale.register_vmap
    def rule(info: Any, in_dims: Any, x: Any, factor: float = 2.0, *, shift: int = 0) -> Any:
        seen.append((info.batch_size, in_dims[0]))
        return scale(x, factor, shift=shift), in_dims[0]

    batch = torch.stack([X, X + 1])
    close_to(torch.vmap(lambda x: scale(x, 3.0))(batch), batch * 3)
    assert seen == [(2, 0)]
    close_to(torch.vmap(torch.vmap(scale))(batch.expand(2, 2, 3)), batch.expand(2, 2, 3) * 2)


# Automatic dtypes


def test_autocast() -> None:
    scale = make_scale()

    @library.custom_op(f"tests_of_operators::dtype_{next(numbers)}", mutates_args=())
    def dtype_of(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.zeros(2, dtype=x.dtype) + (x.dtype is y.dtype)

    library.register_autocast(dtype_of._qualname, "cpu", torch.float16)
    with torch.autocast("cpu"):
        assert dtype_of(X, X.double()).dtype == torch.float16
        assert scale(X).dtype == torch.float32
    assert dtype_of(X, X).dtype == torch.float32
    with pytest.raises((ValueError, RuntimeError), match="device type"):
        library.register_autocast(dtype_of._qualname, "abacus", torch.float16)


# Registration


def test_a_library_takes_back_what_it_registered() -> None:
    op = define("(Tensor x) -> Tensor", CompositeExplicitAutograd=lambda x: x + 1)
    own = library.Library("tests_of_operators", "IMPL")
    own.impl(op.default._schema.name.partition("::")[2], lambda x: x + 2, "CPU")
    close_to(op(X), X + 2)
    own._destroy()
    close_to(op(X), X + 1)


@pytest.mark.parametrize("key", ["Nothing", "CPUx"])
def test_unknown_keys_are_refused(key: str) -> None:
    op = define("(Tensor x) -> Tensor")
    with pytest.raises(RuntimeError, match="could not parse dispatch key"):
        _library.impl(op.default._schema.name.partition("::")[2], lambda x: x, key)


def test_check() -> None:
    scale = make_scale()
    result = library.opcheck(scale, (X,), {"shift": 2})
    assert set(result.values()) == {"SUCCESS"} and len(result) == 4


def test_check_finds_writes() -> None:
    @library.custom_op(f"tests_of_operators::hidden_{next(numbers)}", mutates_args=())
    def hidden(x: torch.Tensor) -> torch.Tensor:
        x.add_(1)
        return x.clone()

    hidden.register_fake(lambda x: torch.empty_like(x))
    with pytest.raises(Exception, match="not defined as mutable"):
        library.opcheck(hidden, (X.clone(),))
