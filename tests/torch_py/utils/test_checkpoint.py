"""torch.utils.checkpoint: the same gradients with less memory, for every kind of function."""

from __future__ import annotations

import gc
import importlib
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import pytest

from tests.subject import only_torch_py, torch

nn = torch.nn
module = importlib.import_module(f"{torch.__name__}.utils.checkpoint")
checkpoint, checkpoint_sequential = module.checkpoint, module.checkpoint_sequential


@pytest.fixture
def net() -> Any:
    torch.manual_seed(1)
    return nn.Sequential(*[nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Dropout(0.3)) for _ in range(4)])


def gradients(net: Any, x: Any, run: Callable[[], Any]) -> list[Any]:
    net.zero_grad()
    x.grad = None
    torch.manual_seed(3)
    run().pow(2).sum().backward()
    return [parameter.grad.clone() for parameter in net.parameters()] + (
        [x.grad.clone()] if x.requires_grad else []
    )


def nested(net: Any, x: Any) -> Any:
    def outer(value: Any) -> Any:
        return checkpoint(net[1], checkpoint(net[0], value, use_reentrant=False), use_reentrant=False)

    return net[3](net[2](checkpoint(outer, x, use_reentrant=False)))


WAYS = {
    "reentrant": lambda net, x: checkpoint(net, x, use_reentrant=True),
    "not reentrant": lambda net, x: checkpoint(net, x, use_reentrant=False),
    "to the end": lambda net, x: checkpoint(net, x, use_reentrant=False, early_stop=False),
    "sequential": lambda net, x: checkpoint_sequential(net, 2, x, use_reentrant=False),
    "sequential, reentrant": lambda net, x: checkpoint_sequential(net, 3, x, use_reentrant=True),
    "nested": nested,
    "keywords": lambda net, x: checkpoint(lambda a, *, b: net(a) * b, x, use_reentrant=False, b=1.0),
}


@pytest.mark.parametrize("way", WAYS)
def test_gradients_are_those_without(net: Any, way: str) -> None:
    x = torch.randn(4, 8, requires_grad=True)
    expected = gradients(net, x, lambda: net(x))
    state = torch.get_rng_state()
    for one, other in zip(gradients(net, x, lambda: WAYS[way](net, x)), expected):
        assert torch.equal(one, other)
    assert torch.equal(torch.get_rng_state(), state)  # the second run does not advance the generator


def test_inputs_that_need_no_gradient(net: Any) -> None:
    x = torch.randn(4, 8)
    expected = gradients(net, x, lambda: net(x))
    for one, other in zip(gradients(net, x, lambda: checkpoint(net, x, use_reentrant=False)), expected):
        assert torch.equal(one, other)
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True"):
        assert not checkpoint(net, x, use_reentrant=True).requires_grad


def test_grad_and_second_derivatives() -> None:
    x = torch.randn(5, requires_grad=True, dtype=torch.float64)
    f = lambda v: v.exp() * v  # noqa: E731
    (g,) = torch.autograd.grad(checkpoint(f, x, use_reentrant=False).sum(), x, create_graph=True)
    (gg,) = torch.autograd.grad(g.sum(), x)
    torch.testing.assert_close(gg, (x + 2) * x.exp())
    with pytest.raises(RuntimeError, match="incompatible with .grad"):
        torch.autograd.grad(checkpoint(f, x, use_reentrant=True).sum(), x)
    with pytest.raises(RuntimeError, match="incompatible with .grad"):
        checkpoint(f, x, use_reentrant=True).sum().backward(inputs=[x])


def test_backward_twice() -> None:
    x = torch.randn(5, requires_grad=True)
    y = checkpoint(lambda v: v.exp() * v, x, use_reentrant=False).sum()
    y.backward(retain_graph=True)
    once = x.grad.clone()
    y.backward()
    torch.testing.assert_close(x.grad, 2 * once)
    with pytest.raises(RuntimeError, match="second time|freed"):
        y.backward()


def test_intermediate_results_are_not_kept() -> None:
    alive: list[Any] = []

    def f(v: Any) -> Any:
        middle = v.exp()
        alive.append(weakref.ref(middle))
        return middle.sin()

    x = torch.randn(5, requires_grad=True)
    for reentrant in (True, False):
        alive.clear()
        y = checkpoint(f, x, use_reentrant=reentrant)
        gc.collect()
        assert alive[0]() is None
        y.sum().backward()
        assert len(alive) == 2
        gc.collect()
        assert alive[1]() is None


def test_second_run_stops_early() -> None:
    runs = []

    def f(v: Any) -> Any:
        result = v.exp().sin()
        runs.append(1)
        return result + 1

    x = torch.randn(5, requires_grad=True)
    checkpoint(f, x, use_reentrant=False).sum().backward()
    assert len(runs) == 1
    with module.set_checkpoint_early_stop(False):
        checkpoint(f, x, use_reentrant=False).sum().backward()
    assert len(runs) == 3


def test_runs_that_differ() -> None:
    x = torch.randn(5, requires_grad=True)

    def changing(second: Callable[[Any], Any]) -> Callable[[Any], Any]:
        runs = []

        def f(v: Any) -> Any:
            runs.append(1)
            return v.exp().sin() if len(runs) == 1 else second(v)

        return f

    with pytest.raises(module.CheckpointError, match="have different metadata than during the forward pass"):
        checkpoint(changing(lambda v: v[:2].exp().sin()), x, use_reentrant=False).sum().backward()
    with pytest.raises(module.CheckpointError, match="A different number of tensors was saved"):
        checkpoint(changing(lambda v: v.exp()), x, use_reentrant=False).sum().backward()


def test_errors_inside_reach_the_caller() -> None:
    def f(v: Any) -> Any:
        raise KeyError("mine")

    x = torch.randn(5, requires_grad=True)
    for reentrant in (True, False):
        with pytest.raises(KeyError, match="mine"):
            checkpoint(f, x, use_reentrant=reentrant)
    (x * 2).sum().backward()  # the hooks of the failed call are gone
    assert x.grad is not None


def test_context_of_each_run() -> None:
    seen: list[str] = []

    class Note:
        def __init__(self, name: str) -> None:
            self.name = name

        def __enter__(self) -> None:
            seen.append(self.name)

        def __exit__(self, *exception: object) -> None:
            pass

    x = torch.randn(5, requires_grad=True)
    y = checkpoint(torch.exp, x, use_reentrant=False, context_fn=lambda: (Note("first"), Note("second")))
    assert seen == ["first"]
    y.sum().backward()
    assert seen == ["first", "second"]


@pytest.mark.parametrize(
    "call, error, message",
    [
        (
            lambda x: checkpoint(torch.exp, x, use_reentrant=True, foo=1),
            ValueError,
            "Unexpected keyword arguments: foo",
        ),
        (
            lambda x: checkpoint(torch.exp, x, use_reentrant=False, determinism_check="no"),
            ValueError,
            "determinism_check should be one of",
        ),
        (
            lambda x: checkpoint(torch.exp, x, use_reentrant=True, context_fn=lambda: 0),
            ValueError,
            "only supported when use_reentrant=False",
        ),
        (lambda x: module.detach_variable([x]), RuntimeError, "Only tuple of tensors is supported"),
    ],
)
def test_bad_arguments(call: Any, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        call(torch.randn(3, requires_grad=True))


def test_way_not_given_warns() -> None:
    with pytest.warns(UserWarning, match="the use_reentrant parameter should be passed explicitly"):
        checkpoint(torch.exp, torch.randn(3, requires_grad=True))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with torch.no_grad():
            checkpoint(torch.exp, torch.randn(3), use_reentrant=False)


# Inspection of graphs
# ------------------------------------------------------------


def test_multi_grad_hook() -> None:
    a, b, c = (torch.ones(2, requires_grad=True) for _ in range(3))
    seen: list[Any] = []
    handle = torch.autograd.graph.register_multi_grad_hook(
        (a, b, c), lambda grads: seen.append([None if g is None else g.tolist() for g in grads])
    )

    (a * 2 + b * 3).sum().backward()
    assert seen == [[[2, 2], [3, 3], None]]
    (c * 4).sum().backward()
    assert seen[1] == [None, None, [4, 4]]

    handle.remove()
    (a * 2).sum().backward()
    assert len(seen) == 2

    first: list[Any] = []
    torch.autograd.graph.register_multi_grad_hook(
        (a, b), lambda grad: first.append(grad.tolist()), mode="any"
    )
    (a * 5 + b * 5).sum().backward()
    assert first == [[5, 5]]

    with pytest.raises(ValueError, match="Expects mode to be one of"):
        torch.autograd.graph.register_multi_grad_hook((a,), print, mode="some")


def test_hooks_on_saved_tensors_can_be_disabled() -> None:
    with torch.autograd.graph.disable_saved_tensors_hooks("not here"):
        with pytest.raises(RuntimeError, match="not here"):
            with torch.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x):
                pass
    with torch.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x):
        pass


def test_nodes_know_what_they_take() -> None:
    y = (torch.ones(2, 3, requires_grad=True) * 2).sum(1)
    assert isinstance(y.grad_fn, torch.autograd.graph.Node) and not isinstance(y, torch.autograd.graph.Node)
    (metadata,) = y.grad_fn._input_metadata
    assert tuple(metadata.shape) == (2,) and metadata.dtype == torch.float32 and metadata.device.type == "cpu"


# Pictures
# ------------------------------------------------------------


@only_torch_py
def test_picture_of_a_model(tmp_path: Any) -> None:
    from xml.etree import ElementTree

    from torch_py.utils import viz

    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    path = tmp_path / "model.svg"
    graph = viz.save_graph(model(torch.ones(5, 3)), path, model)
    kinds = [node.kind for node in graph.nodes]
    assert kinds.count("parameter") == 4 and kinds.count("result") == 1
    titles = {node.title: node for node in graph.nodes}
    assert titles["0.weight"].detail == "4×3 float32" and titles["result"].detail == "5×2 float32"
    relu = graph.nodes.index(titles["Relu"])
    assert graph.labels[[edge[0] for edge in graph.edges].index(relu)] == "5×4"
    root = ElementTree.parse(path).getroot()
    boxes = [each for each in root.iter("{http://www.w3.org/2000/svg}rect") if each.get("rx")]
    assert len(boxes) == len(graph.nodes)
    _no_overlap(boxes)


def _no_overlap(boxes: list[Any]) -> None:
    placed = [tuple(float(box.get(name)) for name in ("x", "y", "width", "height")) for box in boxes]
    for position, (x, y, width, height) in enumerate(placed):
        for other_x, other_y, other_width, other_height in placed[:position]:
            assert (
                x >= other_x + other_width
                or other_x >= x + width
                or y >= other_y + other_height
                or other_y >= y + height
            )


@only_torch_py
def test_pictures_of_long_and_shared_graphs() -> None:
    from torch_py.utils import viz

    x = torch.ones(2, requires_grad=True)
    y = x
    for _ in range(1500):
        y = y * x
    graph = viz.graph_of({"y": y, "x": x})
    assert len(graph.nodes) == 1500 + 1 + 1 + 1 and viz.to_svg(graph).endswith("</svg>\n")
    with pytest.raises(ValueError, match="none of the results requires grad"):
        viz.graph_of(torch.ones(2))
    with pytest.raises(TypeError, match="expected tensors as results"):
        viz.graph_of(3)


@only_torch_py
def test_names_are_escaped() -> None:
    from torch_py.utils import viz

    x = torch.ones(2, requires_grad=True)
    svg = viz.to_svg(viz.graph_of(x * 2, [("<script>", x)]))
    assert "<script>" not in svg and "&lt;script&gt;" in svg


def test_early_stop_is_chosen_in_forward() -> None:
    ends: list[str] = []

    def run(x: Any) -> Any:
        y = x.exp().sin()
        ends.append("end")
        return y

    x = torch.ones(3, requires_grad=True)
    with torch.utils.checkpoint.set_checkpoint_early_stop(False):
        inside = checkpoint(run, x, use_reentrant=False)
    inside.sum().backward()
    assert ends == ["end", "end"]
    outside = checkpoint(run, x, use_reentrant=False)
    with torch.utils.checkpoint.set_checkpoint_early_stop(False):
        outside.sum().backward()
    assert ends == ["end"] * 3


@only_torch_py  # PyTorch's refuses hooks of saved tensors there
def test_inside_of_transforms() -> None:
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])

    def run(x: Any) -> Any:
        return checkpoint(lambda x: x.exp().sin(), x, use_reentrant=False).sum()

    expected = torch.cos(x.exp()) * x.exp()
    torch.testing.assert_close(torch.func.grad(run)(x), expected)
    torch.testing.assert_close(torch.func.vmap(torch.func.grad(run))(x), expected)
