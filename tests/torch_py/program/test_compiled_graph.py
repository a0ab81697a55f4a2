"""CompiledGraph: forward and backward of a compiled graph as one step of autograd."""

from __future__ import annotations

import gc
import warnings
import weakref
from typing import Any

import pytest
from torch_py._C._compiler import CompiledGraph, Program, Slot

import torch_py as torch

from .facts import facts

aten = torch.ops.aten


def product(**changed: Any) -> CompiledGraph:
    """x * y, by Python functions; x and y are saved."""
    metadata = {"num_outputs": 1, "tangents": (0,), "differentiated": (0, 1)} | changed
    return CompiledGraph(lambda x, y: [x * y, x, y], lambda x, y, grad: [grad * y, grad * x], metadata)


def squares(size: int = 4) -> CompiledGraph:
    """exp(x), whose output is saved, by programs."""
    forward = Program(1, [facts(size)] * 2, [("extern", aten.exp.default, (Slot(0),), {}, (1,))], [1, 1])
    backward = Program(2, [facts(size)] * 3, [("extern", aten.mul.Tensor, (Slot(0), Slot(1)), {}, (2,))], [2])
    return CompiledGraph(forward, backward, {"num_outputs": 1, "tangents": [0], "differentiated": [0]})


def test_gradients() -> None:
    x, y = torch.randn(4, requires_grad=True), torch.randn(4, requires_grad=True)

    (result,) = product()(x, y)
    result.backward(torch.arange(4.0))

    assert torch.equal(result, x * y)
    assert torch.equal(x.grad, torch.arange(4.0) * y)
    assert torch.equal(y.grad, torch.arange(4.0) * x)


def test_programs_are_differentiated() -> None:
    x = torch.randn(4, requires_grad=True)

    (result,) = squares()(x)
    result.sum().backward()

    assert torch.equal(result, x.exp())
    assert torch.equal(x.grad, x.exp())


def test_the_history_is_one_node() -> None:
    x, y = torch.randn(4, requires_grad=True), torch.randn(4)

    (result,) = product()(x, y)

    assert result.grad_fn.name() == "CompiledFunctionBackward"
    assert [edge[0] is None for edge in result.grad_fn.next_functions] == [False, True]
    assert product(name="MineBackward")(x, y)[0].grad_fn.name() == "MineBackward"


def test_nothing_is_recorded_without_need() -> None:
    x, y = torch.randn(4), torch.randn(4, requires_grad=True)
    assert not product()(x, x)[0].requires_grad
    with torch.no_grad():
        assert not product()(x, y)[0].requires_grad
    assert product()(x, y)[0].requires_grad


def test_functions_are_not_recorded() -> None:
    modes = []

    def forward(x: torch.Tensor) -> list[torch.Tensor]:
        modes.append(torch.is_grad_enabled())
        return [x * 2]

    def backward(grad: torch.Tensor) -> list[torch.Tensor]:
        modes.append(torch.is_grad_enabled())
        return [grad * 2]

    graph = CompiledGraph(forward, backward, {"num_outputs": 1, "tangents": [0], "differentiated": [0]})
    x = torch.ones(3, requires_grad=True)
    torch.autograd.grad(graph(x)[0].sum(), x, create_graph=True)
    assert modes == [False, False]


def several(**changed: Any) -> CompiledGraph:
    """x + 1, the indices of a sort, and x * y."""
    metadata = {"num_outputs": 3, "tangents": (0, 2), "differentiated": (0, 1), "reached": [(0, 1), (1,)]}

    def backward(x: Any, y: Any, first: Any, second: Any) -> list[Any]:
        seen.append((first, second))
        first = torch.zeros(4) if first is None else first
        return [first + second * y, second * x] if second is not None else [first, torch.zeros(4)]

    seen: list[Any] = []
    graph = CompiledGraph(lambda x, y: [x + 1, x.argsort(), x * y, x, y], backward, metadata | changed)
    several.seen = seen  # type: ignore[attr-defined]
    return graph


def test_outputs_without_gradient() -> None:
    x, y = torch.randn(4, requires_grad=True), torch.randn(4, requires_grad=True)

    first, order, second = several()(x, y)
    assert first.requires_grad and second.requires_grad
    assert not order.requires_grad

    torch.autograd.backward([first, second], [torch.ones(4), torch.ones(4)])
    assert torch.equal(x.grad, 1 + y)
    assert torch.equal(y.grad, x)


def test_absent_gradients_are_zeros() -> None:
    x, y = torch.randn(4, requires_grad=True), torch.randn(4, requires_grad=True)

    several()(x, y)[0].sum().backward()

    assert several.seen[0][1].tolist() == [0.0] * 4  # type: ignore[attr-defined]
    assert torch.equal(x.grad, torch.ones(4))
    assert y.grad is None  # it depends on the second output only


def test_absent_gradients_may_be_none() -> None:
    x, y = torch.randn(4, requires_grad=True), torch.randn(4, requires_grad=True)

    several(materialize=False)(x, y)[0].sum().backward()

    assert several.seen[0][1] is None  # type: ignore[attr-defined]
    assert torch.equal(x.grad, torch.ones(4))


def test_gradients_get_the_strides_of_their_output() -> None:
    strides = []

    def backward(grad: torch.Tensor) -> list[torch.Tensor]:
        strides.append(grad.stride())
        return [grad.t()]

    graph = CompiledGraph(
        lambda x: [x.t()], backward, {"num_outputs": 1, "tangents": [0], "differentiated": [0]}
    )
    x = torch.randn(3, 4, requires_grad=True)
    given = torch.randn(4, 3)
    for grad in (given, given.t().contiguous().t(), torch.ones(()).expand(4, 3)):
        x.grad = None
        graph(x)[0].backward(grad)
        assert torch.equal(x.grad, grad.t())
    assert strides == [(1, 4)] * 3


def test_saved_values_are_checked_and_released() -> None:
    x, y = torch.randn(4, requires_grad=True), torch.randn(4)

    (result,) = product()(x, y)
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        result.sum().backward()

    (result,) = product()(x, y)
    result.sum().backward(retain_graph=True)
    result.sum().backward()
    assert torch.equal(x.grad, 2 * y)
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        result.sum().backward()


def test_watched_tensors_may_not_change() -> None:
    x, y = torch.randn(4, requires_grad=True), torch.randn(4)
    (result,) = product(watches=[(False, 0, 0, (0,))])(x, y)
    result.sum().backward(retain_graph=True)
    result.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation.*FloatTensor .4.. is at"):
        result.sum().backward()
    with pytest.raises(RuntimeError, match="input 7 is to be watched, but there are 2"):
        product(watches=[(True, 7, 0, (0,))])(x, y)


def test_unknown_saved_values_in_uses() -> None:
    x = torch.randn(4, requires_grad=True)
    (result,) = product(uses=[((7,), (0,), (1,)), ((1,), (0,), (0,))])(x, torch.randn(4))
    with pytest.raises(RuntimeError, match="uses name saved value 7, but there are 2"):
        result.sum().backward()


def test_a_saved_output_is_checked() -> None:
    x = torch.randn(4, requires_grad=True)
    (result,) = squares()(x)
    with torch.no_grad():
        result.mul_(2)
    with pytest.raises(RuntimeError, match="output 0 of CompiledFunction"):
        result.sum().backward()


def test_graphs_are_freed_with_their_outputs() -> None:
    """An output that is saved does not keep itself alive."""
    x = torch.randn(4, requires_grad=True)
    (result,) = squares()(x)
    reference = weakref.ref(result)
    del result
    gc.collect()
    assert reference() is None


def test_saved_tensor_hooks() -> None:
    x, y = torch.randn(4, requires_grad=True), torch.randn(4, requires_grad=True)
    packed = []

    def pack(tensor: torch.Tensor) -> Any:
        packed.append(tensor)
        return tensor.numpy() if not tensor.requires_grad else tensor.detach().numpy()

    with torch.autograd.graph.saved_tensors_hooks(pack, torch.from_numpy):
        (result,) = product()(x, y)
    result.sum().backward()

    assert len(packed) == 2
    assert torch.equal(x.grad, y)


def test_integers_are_saved() -> None:
    graph = CompiledGraph(
        lambda x, n: [x * n, n],
        lambda n, grad: [grad * n],
        {"num_outputs": 1, "tangents": [0], "differentiated": [0]},
    )
    x = torch.ones(3, requires_grad=True)
    graph(x, 5)[0].sum().backward()
    assert x.grad.tolist() == [5.0] * 3


def test_programs_return_integers() -> None:
    n = ("s0",)
    vector = (torch.float32, (n,), (1,), torch.device("cpu"))
    program = Program(1, [vector], [], [0, ("s0", 2, "*")], symbols=[(0, 0)])
    x = torch.ones(3)
    assert program(x) == [x, 6]
    assert "return t0, s0*2" in program.debug()


def test_programs_return_none() -> None:
    forward = Program(2, [facts(3)] * 3, [("extern", aten.neg.default, (Slot(0),), {}, (2,))], [2])
    backward = Program(1, [facts(3)] * 2, [("extern", aten.neg.default, (Slot(0),), {}, (1,))], [1, None])
    graph = CompiledGraph(forward, backward, {"num_outputs": 1, "tangents": [0], "differentiated": [0, 1]})
    x, y = (torch.ones(3, requires_grad=True) for _ in range(2))

    graph(x, y)[0].sum().backward()

    assert x.grad.tolist() == [-1.0] * 3
    assert y.grad is None
    assert "return t1, None" in backward.debug()


def test_second_derivatives_raise_with_advice() -> None:
    x, y = torch.randn(4, requires_grad=True), torch.randn(4, requires_grad=True)
    (first,) = torch.autograd.grad(product()(x, y)[0].sum(), x, create_graph=True)
    assert first.requires_grad
    with pytest.raises(
        RuntimeError, match="does not currently support double backward.*torch.compiler.disable"
    ):
        first.sum().backward()


def test_second_derivatives_through_the_gradient_raise() -> None:
    x, y = torch.randn(4, requires_grad=True), torch.randn(4)
    given = torch.ones(4).t().requires_grad_()
    (first,) = torch.autograd.grad(product()(x, y)[0], x, given, create_graph=True)
    with pytest.raises(RuntimeError, match="double backward"):
        torch.autograd.grad(first.sum(), given)


def test_create_graph_without_second_derivatives() -> None:
    x, y = torch.randn(4, requires_grad=True), torch.randn(4)
    (first,) = torch.autograd.grad(product()(x, y)[0].sum(), x, create_graph=True)
    assert torch.equal(first, y)


def test_hooks_and_inputs_of_a_pass() -> None:
    x, y = torch.randn(4, requires_grad=True), torch.randn(4, requires_grad=True)
    middle = x * 2
    seen = []
    middle.register_hook(seen.append)

    (result,) = product()(middle, y)
    (grad,) = torch.autograd.grad(result.sum(), [y])

    assert torch.equal(grad, middle)
    assert seen == []
    product()(middle, y)[0].sum().backward()
    assert torch.equal(x.grad, 2 * y)
    assert torch.equal(seen[0], y)


def test_anomaly_mode_names_the_node() -> None:
    graph = CompiledGraph(
        lambda x: [x * 1],
        lambda grad: [grad * float("nan")],
        {"num_outputs": 1, "tangents": [0], "differentiated": [0]},
    )
    x = torch.ones(3, requires_grad=True)
    with warnings.catch_warnings(), torch.autograd.set_detect_anomaly(True):
        warnings.simplefilter("ignore")
        with pytest.raises(
            RuntimeError, match="'CompiledFunctionBackward' returned nan values in its 0th output"
        ):
            graph(x)[0].sum().backward()


def test_backward_of_the_wrong_form() -> None:
    x = torch.ones(3, requires_grad=True)
    metadata = {"num_outputs": 1, "tangents": [0], "differentiated": [0]}
    with pytest.raises(RuntimeError, match="backward returned 2 gradients, expected 1"):
        CompiledGraph(lambda x: [x * 1], lambda grad: [grad, grad], metadata)(x)[0].sum().backward()
    with pytest.raises(TypeError, match="must return a list or tuple, got Tensor"):
        CompiledGraph(lambda x: [x * 1], lambda grad: grad, metadata)(x)[0].sum().backward()
    with pytest.raises(RuntimeError, match="returned 0 results"):
        CompiledGraph(lambda x: [], lambda grad: [grad], metadata)(x)
    with pytest.raises(RuntimeError, match="output 0 of forward has a gradient but is not a tensor"):
        CompiledGraph(lambda x: [None], lambda grad: [grad], metadata)(x)
    with pytest.raises(RuntimeError, match="input 3 is to be differentiated, but there are 1"):
        CompiledGraph(lambda x: [x * 1], lambda grad: [grad], metadata | {"differentiated": [3]})(x)
    with pytest.raises(KeyError):
        CompiledGraph(lambda x: [x * 1], lambda grad: {}["a"], metadata)(x)[0].sum().backward()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"tangents": [3]}, "tangents name output 3, but there are 1"),
        ({"differentiated": [-1]}, "must not be negative"),
        ({"differentiated": 0}, "differentiated must be a list or tuple"),
        ({"reached": [(0,)]}, "there are 2 gradients, but reached has 1"),
        ({"reached": [(0,), (4,)]}, "reached names tangent 4"),
        ({"uses": [((0,), (4,), (0,))]}, "uses name tangent 4"),
        ({"uses": [((0,), (0,), (4,))]}, "uses name gradient 4"),
        ({"uses": [(0,)]}, "each of uses must be a tuple"),
        ({"watches": [(False, 4, 0, (0,))]}, "watches name output 4"),
        ({"watches": [(True, 4, 0, (4,))]}, "watches name tangent 4"),
        ({"watches": [(0,)]}, "each of watches must be a tuple"),
        ({"num_outputs": "one"}, "num_outputs must be integers"),
        ({"other": 1}, "unknown metadata 'other'"),
    ],
)
def test_wrong_metadata(changed: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        product(**changed)


def test_graphs_must_be_callable() -> None:
    with pytest.raises(TypeError, match="expected a Program or another callable, got int"):
        CompiledGraph(1, lambda: [], {})


def test_cycles_through_functions_are_collected() -> None:
    class Owner:
        def forward(self, x: torch.Tensor) -> list[torch.Tensor]:
            return [x * 2]

        def backward(self, grad: torch.Tensor) -> list[torch.Tensor]:
            return [grad * 2]

    owner = Owner()
    owner.graph = CompiledGraph(  # type: ignore[attr-defined]
        owner.forward, owner.backward, {"num_outputs": 1, "tangents": [0], "differentiated": [0]}
    )
    x = torch.ones(3, requires_grad=True)
    owner.graph(x)[0].sum().backward()  # type: ignore[attr-defined]
    reference = weakref.ref(owner)
    del owner
    gc.collect()
    assert reference() is None


def test_saved_values_end_with_their_last_use(kernels: str) -> None:
    """Backward of 2 * (2 * x): the first step is done with the saved tensor when the second runs."""
    alive: list[bool] = []
    references: list[Any] = []

    def look(x: torch.Tensor) -> torch.Tensor:
        alive.append(references[0]() is not None)
        return x * 1

    def forward(x: torch.Tensor) -> list[torch.Tensor]:
        kept = x * 2
        references.append(weakref.ref(kept))
        return [kept * 2, kept]

    steps = [
        ("extern", aten.mul.Tensor, (Slot(0), Slot(1)), {}, (2,)),
        ("extern", look, (Slot(2),), {}, (3,)),
    ]
    backward = Program(2, [facts(3)] * 4, steps, [3])
    graph = CompiledGraph(forward, backward, {"num_outputs": 1, "tangents": [0], "differentiated": [0]})
    x = torch.ones(3, requires_grad=True)

    (result,) = graph(x)
    result.sum().backward(retain_graph=True)
    result.sum().backward()

    assert alive == [True, False]


def test_boxed_functions_may_release_their_arguments() -> None:
    def backward(arguments: list[Any]) -> list[Any]:
        saved, grad = arguments
        arguments.clear()
        return [grad * saved]

    backward._boxed_call = True  # type: ignore[attr-defined]
    metadata = {"num_outputs": 1, "tangents": [0], "differentiated": [0]}
    graph = CompiledGraph(lambda x: [x * x, 2 * x], backward, metadata)
    x = torch.ones(3, requires_grad=True)
    graph(x)[0].sum().backward()
    assert x.grad.tolist() == [2.0] * 3


def test_threads_run_one_graph() -> None:
    import threading

    graph = squares(5000)
    failures = []

    def work(seed: int) -> None:
        for _ in range(30):
            x = torch.full((5000,), seed / 10, requires_grad=True)
            graph(x)[0].sum().backward()
            if not torch.equal(x.grad, x.exp()):
                failures.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
