"""Tracing: what programs do with proxies, what is refused, and what tracers decide."""

from __future__ import annotations

import collections
import dataclasses
import functools
import importlib
import inspect
import math
import operator
import threading
from typing import Any

import pytest

from tests.subject import only_torch_py, torch

functional = torch.nn.functional
fx = torch.fx
TraceError = fx.proxy.TraceError


def body(traced: Any) -> list[str]:
    """The statements of the printed code, without those that drop values."""
    lines = traced.code.strip().split("\n")[1:]
    return [line.split(";")[0].strip() for line in lines if line.strip()]


def traced_body(function: Any, **options: Any) -> list[str]:
    return body(fx.symbolic_trace(function, **options))


class Buffered(torch.nn.Module):
    """A module whose forward the tests choose."""

    def __init__(self, forward: Any) -> None:
        super().__init__()
        self.register_buffer("buffer", torch.ones(2))
        self.weight = torch.nn.Parameter(torch.ones(2))
        self.constant = torch.ones(2)
        self.run = forward

    def forward(self, x: Any) -> Any:
        return self.run(self, x)


# What is recorded
# ------------------------------------------------------------


def test_operators() -> None:
    def function(x: Any) -> Any:
        return 2 + x, x - 2, 2 * x, x / 2, 2 // x, 2**x, x @ x, x & 1, 2 << x, -x, ~x, x < 2, 2 < x, abs(x)

    assert traced_body(function)[:-1] == [
        "add = 2 + x", "sub = x - 2", "mul = 2 * x", "truediv = x / 2", "floordiv = 2 // x", "pow_1 = 2 ** x",
        "matmul = x @ x", "and_ = x & 1", "lshift = 2 << x", "neg = -x", "invert = ~x", "lt = x < 2",
        "gt = x > 2", "abs_1 = _operator_abs(x)",
    ]  # fmt: skip


def test_methods_attributes_and_items() -> None:
    def function(x: Any) -> Any:
        y = x.view(x.shape[0], -1)
        y += 1
        return y.relu().a.b(1)[..., 1:2], x.shape

    assert traced_body(function) == [
        "getattr_1 = x.shape",
        "getitem = getattr_1[0]",
        "view = x.view(getitem, -1)",
        "add = view + 1",
        "relu = add.relu()",
        "getattr_2 = relu.a",
        "b = getattr_2.b(1)",
        "getitem_1 = b[(Ellipsis, slice(1, 2, None))]",
        "getattr_3 = x.shape",
        "return (getitem_1, getattr_3)",
    ]


def test_functions_are_single_nodes() -> None:
    targets = [
        torch.relu, functional.relu, functional.softmax, functional.dropout, functional.mse_loss,
        torch.einsum, functional.max_pool2d, functional.interpolate, torch.cat, functional.conv2d,
        functional.normalize, functional.group_norm, torch.tensordot,
    ]  # fmt: skip
    arguments: dict[Any, Any] = {
        functional.softmax: lambda x: (x, 0),
        functional.mse_loss: lambda x: (x, x),
        torch.einsum: lambda x: ("ij->ji", x),
        functional.max_pool2d: lambda x: (x, 2),
        functional.interpolate: lambda x: (x, 4),
        torch.cat: lambda x: ([x, x],),
        functional.conv2d: lambda x: (x, x),
        functional.group_norm: lambda x: (x, 2),
        torch.tensordot: lambda x: (x, x),
    }

    def program(target: Any) -> Any:
        make = arguments.get(target, lambda x: (x,))
        return lambda x: target(*make(x))

    for target in targets:
        traced = fx.symbolic_trace(program(target))
        calls = [node.target for node in traced.graph.nodes if node.op == "call_function"]
        assert calls == [target]


def test_functions_that_take_numbers_are_recorded() -> None:
    assert traced_body(lambda x: torch.zeros(2, x.size(0)))[1] == "zeros = torch.zeros(2, size)"
    assert traced_body(lambda x: torch.full((x, 3), 1.0))[0] == "full = torch.full((x, 3), 1.0)"
    assert traced_body(lambda x: torch.arange(x, device=x.device))[1] == (
        "arange = torch.arange(x, device = getattr_1)"
    )
    assert traced_body(lambda x: torch.dropout(torch.ones(2), x, True))[1] == (
        "dropout = torch.dropout(_tensor_constant0, x, True)"
    )


def test_signatures_are_the_same_while_proxies_exist() -> None:
    before = inspect.signature(functional.softmax)
    proxy = fx.Proxy(fx.Graph().placeholder("x"))
    assert inspect.signature(functional.softmax) == before
    del proxy


def test_functions_are_as_before_after_a_trace() -> None:
    before = functional.relu.__code__, torch.nn.Module.__call__, math.sqrt
    with pytest.raises(TraceError):
        fx.symbolic_trace(lambda x: functional.relu(x) if x else x)
    assert before == (functional.relu.__code__, torch.nn.Module.__call__, math.sqrt)


def test_tensors_and_parameters() -> None:
    module = Buffered(lambda self, x: self.weight + self.buffer + self.constant + x + torch.ones(2) * 2)
    traced = fx.symbolic_trace(module)
    targets = [node.target for node in traced.graph.find_nodes(op="get_attr")]
    assert targets == ["weight", "buffer", "constant", "_tensor_constant0"]
    x = torch.rand(2)
    assert torch.equal(traced(x), module(x))
    assert [name for name, _ in traced.named_parameters()] == ["weight"]
    with pytest.raises(NameError, match="not a member"):
        fx.symbolic_trace(lambda x: x + torch.nn.Parameter(torch.ones(1)))


def test_methods_of_tensors() -> None:
    module = Buffered(lambda self, x: self.buffer.mul_(x)[x])
    assert body(fx.symbolic_trace(module)) == [
        "buffer = self.buffer",
        "mul_ = buffer.mul_(x)",
        "getitem = mul_[x]",
        "return getitem",
    ]


def test_containers_are_arguments() -> None:
    Pair = collections.namedtuple("Pair", "a b")

    @dataclasses.dataclass
    class Item:
        a: Any

    traced = fx.symbolic_trace(lambda x: {"a": [x, (x, 1)], "b": Pair(x, None), "c": Item(x)})
    result = traced(1)
    assert result == {"a": [1, (1, 1)], "b": Pair(1, None), "c": Item(1)}
    assert type(result["b"]) is Pair


@pytest.mark.parametrize("value", [object(), {1, 2}, int, torch.nn.ReLU(), b"text"])
def test_other_values_are_not(value: Any) -> None:
    with pytest.raises(NotImplementedError, match="argument of type"):
        fx.symbolic_trace(lambda x: (x, value))


def test_keys_of_dictionaries_are_known() -> None:
    with pytest.raises(RuntimeError, match="[Kk]eys for dictionaries"):
        fx.symbolic_trace(lambda x: {x: 1})


# What is refused
# ------------------------------------------------------------


@pytest.mark.parametrize(
    "function",
    [
        lambda x: 1 if x.sum() > 0 else 2,
        lambda x: [y for y in x],
        lambda x: not x,
        lambda x: x in [1, 2],
        lambda x: dict(**x),
        lambda x: torch.cat([*x]),
        lambda x: x and 1,
        lambda x: max(x, 2),
    ],
)
def test_control_flow_is_refused(function: Any) -> None:
    with pytest.raises(TraceError, match="control flow|cannot be iterated"):
        fx.symbolic_trace(function)


def test_numbers_are_not_known() -> None:
    with pytest.raises(RuntimeError, match="'len' is not supported"):
        fx.symbolic_trace(lambda x: len(x))
    for function in (lambda x: int(x), lambda x: float(x), lambda x: range(x)):
        with pytest.raises(TypeError):
            fx.symbolic_trace(function)


def test_unpacking_is_recorded() -> None:
    def function(x: Any) -> Any:
        (a, b), c = x
        return a + b + c

    traced = fx.symbolic_trace(function)
    assert traced(((1, 2), 3)) == 6

    def starred(x: Any) -> Any:
        a, *rest = x
        return a

    with pytest.raises(TraceError):
        fx.symbolic_trace(starred)


@pytest.mark.parametrize("root", [3, "x", torch.relu, math.sqrt])
def test_only_functions_and_modules_are_traced(root: Any) -> None:
    with pytest.raises(AssertionError, match="Expected FunctionType"):
        fx.symbolic_trace(root)


# Parameters of functions
# ------------------------------------------------------------


def test_variable_and_keyword_parameters() -> None:
    def function(x: Any, *args: Any, k: int = 2, **kwargs: Any) -> Any:
        return x + args[0] * k + kwargs["a"]

    traced = fx.symbolic_trace(function)
    assert traced(1, 2, 3, a=4) == 11  # keyword-only parameters come before `*args`
    kinds = [node.target for node in traced.graph.find_nodes(op="placeholder")]
    assert kinds == ["x", "k", "*args", "**kwargs"]


def test_concrete_arguments() -> None:
    def function(x: Any, flag: bool = True, other: Any = None) -> Any:
        return x + 1 if flag else x - 1

    traced = fx.symbolic_trace(function, concrete_args={"flag": False})
    assert traced(1, False) == 0
    with pytest.raises(AssertionError, match="flag has been specialized to have value False"):
        traced(1)
    traced = fx.symbolic_trace(function, concrete_args={"flag": True, "other": None})
    with pytest.raises(AssertionError, match="other has been specialized to have value None"):
        traced(1, True, 3)
    with pytest.warns(UserWarning, match="Was not able to add assertion"):
        fx.symbolic_trace(function, concrete_args={"flag": object()})


def test_nested_concrete_arguments() -> None:
    def function(x: Any, d: Any) -> Any:
        return {"sum": d["a"] + d["b"][0] + x, "x": (x,)}

    traced = fx.symbolic_trace(function, concrete_args={"d": {"a": fx.PH, "b": [fx.PH, 3]}})
    assert traced(1, {"a": 2, "b": [3, 3]}) == {"sum": 6, "x": (1,)}
    assert "fx_pytree.tree_flatten_spec([x, d], self._in_spec)" in traced.code
    assert fx.Interpreter(traced).run(1, {"a": 2, "b": [3, 3]}) == {"sum": 6, "x": (1,)}
    with pytest.raises(AssertionError):
        traced(1, {"a": 2, "b": [3, 4]})
    with pytest.raises(KeyError):
        traced(1, {"a": 2})


# Modules
# ------------------------------------------------------------


class Block(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(2, 2)

    def forward(self, x: Any) -> Any:
        return torch.relu(self.linear(x))


class Twice(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.blocks = torch.nn.ModuleList([Block(), torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Tanh())])
        self.block = Block()

    def forward(self, x: Any) -> Any:
        for block in self.blocks:
            x = block(x)
        return self.block(self.block(x))


def test_modules() -> None:
    module = Twice()
    traced = fx.symbolic_trace(module)
    calls = [node.target for node in traced.graph.find_nodes(op="call_module")]
    assert calls == ["blocks.0.linear", "blocks.1.0", "blocks.1.1", "block.linear", "block.linear"]
    x = torch.rand(3, 2)
    assert torch.equal(traced(x), module(x))
    stacks = [list(node.meta["nn_module_stack"]) for node in traced.graph.find_nodes(op="call_module")]
    assert stacks[0] == ["blocks.0", "blocks.0.linear"] and stacks[-1][0] == "block@1"


def test_leaf_modules_and_scopes() -> None:
    class Tracer(fx.Tracer):
        def is_leaf_module(self, m: Any, name: str) -> bool:
            return isinstance(m, Block)

    tracer = Tracer()
    graph = tracer.trace(Twice())
    assert [node.target for node in graph.find_nodes(op="call_module")] == ["blocks.0", "block", "block"]
    assert tracer.node_name_to_scope["block"][0] == "block"


def test_shared_modules_have_their_first_name() -> None:
    class Shared(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = self.second = torch.nn.Linear(2, 2)

        def forward(self, x: Any) -> Any:
            return self.second(self.first(x))

    calls = fx.symbolic_trace(Shared()).graph.find_nodes(op="call_module")
    assert [node.target for node in calls] == ["first", "first"]


def test_hooks_of_modules_are_traced() -> None:
    module = torch.nn.Sequential(torch.nn.Sequential(torch.nn.ReLU()))
    module[0].register_forward_hook(lambda module, inputs, result: result * 2)
    assert body(fx.symbolic_trace(module))[-2:] == ["mul = _0_0 * 2", "return mul"]


def test_decorated_functions() -> None:
    def decorate(function: Any) -> Any:
        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs) + 1

        return wrapped

    traced = fx.symbolic_trace(decorate(lambda x, y: x * y))
    assert traced(2, 3) == 7


def test_constant_shapes_of_parameters() -> None:
    module = Buffered(lambda self, x: x.view(self.weight.shape) if self.weight.shape[0] == 2 else x)
    with pytest.raises(TraceError):
        fx.symbolic_trace(module)
    graph = fx.Tracer(param_shapes_constant=True).trace(module)
    assert graph.find_nodes(op="call_method", target="view")[0].args[1] == (2,)


def test_buffers_as_proxies() -> None:
    class Tracer(fx.Tracer):
        proxy_buffer_attributes = True

    seen = []
    module = Buffered(lambda self, x: seen.append(type(self.buffer)) or self.buffer + x)
    Tracer().trace(module)
    fx.symbolic_trace(module)
    assert issubclass(seen[0], fx.Proxy) and not issubclass(seen[1], fx.Proxy)


def test_modules_of_others_are_refused() -> None:
    other = torch.nn.Linear(2, 2)
    with pytest.raises(NameError, match="not installed as a submodule"):
        fx.symbolic_trace(Buffered(lambda self, x: other(x)))


# Tracers
# ------------------------------------------------------------


def test_wrap() -> None:
    traced = fx.symbolic_trace(lambda x: (count(x), noticed(x, 1), count([1, 2])))
    targets = [node.target for node in traced.graph.nodes if node.op == "call_function"]
    assert targets == [len, noticed]
    assert traced([1, 2, 3]) == (3, [1, 2, 3, 1], 2)
    again = fx.symbolic_trace(traced)
    assert [node.target for node in again.graph.nodes if node.op == "call_function"] == [len, noticed]
    with pytest.raises(NotImplementedError, match="top level"):
        fx.wrap("len")
    with pytest.raises(RuntimeError, match="Unsupported type"):
        fx.wrap(3)


count = len
fx.wrap("count")


@fx.wrap
def noticed(items: Any, item: Any) -> Any:
    return [*items, item]


def test_autowrap() -> None:
    traced = fx.symbolic_trace(lambda x: math.sqrt(x) + math.floor(2.5))
    assert traced(9.0) == 5.0 and traced.graph.find_nodes(op="call_function", target=math.sqrt)
    graph = fx.Tracer(autowrap_functions=(helper,)).trace(lambda x: helper(x))
    assert graph.find_nodes(op="call_function", target=helper)


def helper(x: Any) -> Any:
    return x if x else 0


def test_decisions_of_tracers() -> None:
    class Optimist(fx.Tracer):
        def to_bool(self, obj: Any) -> bool:
            return True

        def iter(self, obj: Any) -> Any:
            return (obj[position] for position in range(2))

        def create_arg(self, a: Any) -> Any:
            return "set" if isinstance(a, set) else super().create_arg(a)

    tracer = Optimist()
    graph = tracer.trace(lambda x: (sum(y for y in x), {1} if x else 0))
    assert graph.output_node().args[0][1] == "set"


@only_torch_py  # PyTorch does not recognise the instructions of Python 3.11
def test_asserts_are_recorded_if_wanted() -> None:
    class Tracer(fx.Tracer):
        trace_asserts = True

    # Compiled here: pytest rewrites the assertions in this file.
    names: dict[str, Any] = {}
    exec("def function(x):\n    assert x > 0, 'must be positive'\n    return x", names)
    function = names["function"]
    tracer = Tracer()
    graph = tracer.trace(function)
    traced = fx.GraphModule(tracer.root, graph)
    assert traced(1) == 1
    with pytest.raises(AssertionError, match="must be positive"):
        traced(-1)
    with pytest.raises(TraceError):
        fx.symbolic_trace(function)


def test_stack_traces() -> None:
    class Tracer(fx.Tracer):
        record_stack_traces = True

    graph = Tracer().trace(Block())
    assert "test_tracing.py" in graph.find_nodes(op="call_module")[0].stack_trace
    assert (
        "torch.relu(self.linear(x))" in graph.find_nodes(op="call_function", target=torch.relu)[0].stack_trace
    )


def test_mutation_is_refused_if_wanted() -> None:
    class Tracer(fx.Tracer):
        check_mutable_operations = True

    with pytest.raises(RuntimeError, match="Tried to trace mutable operation"):
        Tracer().trace(lambda x: torch.relu_(x))
    Tracer().trace(lambda x: torch.relu(x))


def test_proxyable_classes() -> None:
    traced = fx.symbolic_trace(lambda x: Wrapped(x, 1).total())
    assert traced(2) == 3
    assert Wrapped(1, 2).total() == 3


class Wrapped(metaclass=fx.ProxyableClassMeta):
    def __init__(self, a: Any, b: Any) -> None:
        self.a = a
        self.b = b

    def total(self) -> Any:
        return self.a + self.b


def test_proxies_append_to_graphs() -> None:
    graph = fx.Graph()
    x = fx.Proxy(graph.placeholder("x"))
    y = torch.einsum("ij,jk->ik", x, torch.relu(x))
    graph.output(functional.softmax(y, 0).node)
    names = [node.name for node in graph.nodes]
    assert names == ["x", "relu", "einsum", "softmax", "output"]
    del x, y
    assert torch.equal(functional.softmax(torch.zeros(2), 0), torch.full((2,), 0.5))


def test_tracers_do_not_mix() -> None:
    one = fx.Proxy(fx.Graph().placeholder("x"))
    other = fx.Proxy(fx.Graph().placeholder("x"))
    with pytest.raises(RuntimeError, match="multiple different tracers"):
        torch.add(one, other)


def test_tracing_is_noticed() -> None:
    seen = []
    fx.symbolic_trace(lambda x: seen.append(fx._symbolic_trace.is_fx_symbolic_tracing()) or x)
    assert seen == [True] and not fx._symbolic_trace.is_fx_symbolic_tracing()


@only_torch_py
def test_other_threads_are_not_traced() -> None:
    module = torch.nn.Linear(2, 2)
    results = []

    def function(x: Any) -> Any:
        worker = threading.Thread(target=lambda: results.append(module(functional.relu(torch.ones(2)))))
        worker.start()
        worker.join()
        return x + operator.index(1)

    fx.symbolic_trace(function)
    assert torch.equal(results[0], module(torch.ones(2)))


def test_annotations() -> None:
    annotate = importlib.import_module(f"{torch.__name__}.fx.annotate").annotate
    traced = fx.symbolic_trace(lambda x: annotate(x + 1, torch.Tensor) * 2)
    assert traced.graph.find_nodes(op="call_function", target=operator.add)[0].type is torch.Tensor
