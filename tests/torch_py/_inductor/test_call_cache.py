"""Compiled calls that are kept on disk, by the captured graphs that they were compiled from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import torch_py as torch
from torch_py._functorch.aot import compile as aot
from torch_py._inductor import config, graph_cache
from torch_py._inductor.cache import Cache

nn = torch.nn


@pytest.fixture
def traces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The programs that ahead-of-time autograd records, with an empty cache."""
    found: list[Any] = []
    original = aot.trace

    def counting(program: Any, *arguments: Any) -> Any:
        found.append(program)
        return original(program, *arguments)

    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "kernels"))
    monkeypatch.setattr(Cache, "_opened", None)
    monkeypatch.setattr(aot, "trace", counting)
    return found


def _outcome(make: Callable[[], tuple[Any, tuple[Any, ...]]], **options: Any) -> list[Any]:
    """Results, gradients and changed arguments, in a process that knows nothing of earlier ones."""
    torch._dynamo.reset()
    torch.manual_seed(0)
    function, arguments = make()
    results = torch.compile(function, **options)(*arguments)
    results = list(results) if isinstance(results, (tuple, list)) else [results]

    differentiable = [r for r in results if isinstance(r, torch.Tensor) and r.requires_grad]
    if differentiable:
        sum(result.sum() for result in differentiable).backward()
    leaves = [*arguments, *(function.parameters() if isinstance(function, nn.Module) else ())]
    gradients = [x.grad for x in leaves if isinstance(x, torch.Tensor) and x.is_leaf]
    return [*results, *arguments, *gradients]


def _assert_same(first: list[Any], second: list[Any]) -> None:
    assert len(first) == len(second)
    for one, other in zip(first, second):
        if not isinstance(one, torch.Tensor):
            assert one == other and type(one) is type(other)
            continue
        assert torch.equal(one, other) and one.stride() == other.stride()
        assert one.requires_grad == other.requires_grad and one._is_view() == other._is_view()
        assert (one.grad_fn is None) == (other.grad_fn is None)


def _normalized() -> Any:
    return nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.GELU(), nn.Linear(8, 2)), (torch.randn(3, 4),)


def _of_leaf(function: Callable[..., Any], *shape: int) -> Callable[[], Any]:
    return lambda: (function, (torch.randn(shape, requires_grad=True),))


def _of_tensors(function: Callable[..., Any], *shape: int) -> Callable[[], Any]:
    return lambda: (function, (torch.randn(shape), torch.randn(shape)))


def _changed(x: Any, y: Any) -> Any:
    x.add_(y)
    y[0].mul_(2)
    return x.t(), y


PROGRAMS = {
    "training": _normalized,
    "inference": _of_tensors(lambda x, y: torch.softmax(x * y, -1), 3, 5),
    "changed arguments": _of_tensors(_changed, 3, 3),
    "reshaped argument": _of_tensors(lambda x, y: x.t_() + y, 3, 3),
    "view of a reshaped argument": _of_tensors(lambda x, y: x.t_()[1:], 3, 4),
    "views": _of_tensors(lambda x, y: (x[1:], x.view(-1), y * 2, (y * 2).t()), 4, 6),
    "same results": _of_tensors(lambda x, y: [z := x + y, z, y, 3, None, "text"], 2),
    "views of leaves": _of_leaf(lambda x: (x.t(), (x * 2).view(-1), x.detach()), 2, 3),
    "without grad": _of_leaf(torch.no_grad()(lambda x: x.exp() + 1), 2, 3),
    "random numbers": _of_leaf(lambda x: torch.dropout(x, 0.5, True), 50),
    "indices": _of_leaf(lambda x: x[1:, ::2] * x[0, 1], 3, 3),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_second_compilations_record_nothing(name: str, traces: list[Any]):
    first = _outcome(PROGRAMS[name])
    count = len(traces)
    second = _outcome(PROGRAMS[name])
    assert len(traces) == count > 0
    _assert_same(first, second)


def test_results_share_memory_as_before(traces: list[Any]):
    def views(x: Any) -> Any:
        y = x * 2
        return y, y[1:], x[1:]

    for _ in range(2):
        torch._dynamo.reset()
        x = torch.ones(3)
        y, part, own = torch.compile(views)(x)
        y.zero_()
        x.zero_()
        assert part.tolist() == own.tolist() == [0, 0]
    assert len(traces) == 1


def test_what_makes_other_keys(traces: list[Any]):
    def count(function: Any, *arguments: Any) -> int:
        torch._dynamo.reset()
        result = torch.compile(function)(*arguments)
        torch.testing.assert_close(result, function(*arguments))
        return len(traces)

    x = torch.arange(6.0).view(2, 3)
    y = x.clone()
    assert count(lambda x: x + 1, y) == 1
    assert count(lambda x: x + 1, y) == 1
    assert count(lambda x: x + 1.0, y) == 2
    assert count(lambda x: x.add(1), y) == 3
    assert count(lambda x: x + 1, y.double()) == 4
    assert count(lambda x: x + 1, x.clone().t().contiguous()) == 5
    assert count(lambda x: x + 1, x.clone().requires_grad_()) == 6
    assert count(lambda x: x + 1, nn.Parameter(x.clone())) == 7
    assert count(lambda x: x + 1, x.clone()[:, :2]) == 8
    with torch.no_grad():
        assert count(lambda x: x + 1, y.clone().requires_grad_()) == 9
    with torch.inference_mode():
        assert count(lambda x: x + 1, y) == 10
    with config.patch({"cpp.simdlen": 256}):
        assert count(lambda x: x + 1, y) == 11
    assert count(lambda x: x[0, 1], y) == 12
    assert count(lambda x: x[[0, 1]], y) == 13
    assert count(lambda x: x + 1, y) == 13
    with torch.inference_mode():
        assert count(lambda x: x + 1, y.clone()) == 14


def test_arguments_in_shared_memory_make_other_keys(traces: list[Any]):
    def add(x: Any, y: Any) -> Any:
        x.add_(1)
        return y * 2

    memory = torch.ones(6)
    for make in (
        lambda: (torch.ones(4), torch.ones(4)),
        lambda: (memory[:4], memory[2:]),
        lambda: (memory[:4], memory[1:5]),
    ):
        x, y = make()
        memory.fill_(1)
        torch._dynamo.reset()
        result = torch.compile(add)(x, y)
        assert torch.equal(result, y * 2)


class _Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 2

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad * 2


NOT_KEPT: dict[str, Any] = {
    "custom functions": (_of_leaf(_Twice.apply, 3), {}),
    "constants": (_of_leaf(lambda x: x * torch.tensor([1.0, 2.0, 3.0]), 3), {}),
    "constant indices": (_of_leaf(lambda x: x[[0, 2]], 3), {}),
    "sizes that vary": (_of_leaf(lambda x: x * x.shape[0], 3), {"dynamic": True}),
    "passes": (_of_leaf(lambda x: x + 1, 3), {"options": {"joint_custom_post_pass": lambda graph: None}}),
}


@pytest.mark.parametrize("name", NOT_KEPT)
def test_calls_that_are_not_kept(name: str, traces: list[Any], tmp_path: Path):
    make, options = NOT_KEPT[name]
    first = _outcome(make, **options)
    count = len(traces)
    _assert_same(first, _outcome(make, **options))
    assert len(traces) == 2 * count
    assert not list(tmp_path.glob("kernels/*/*.call"))


def test_kernels_of_programs(traces: list[Any]):
    def run() -> Any:
        torch._dynamo.reset()
        return torch.compile(lambda x: torch.sin(x))(torch.ones(3))

    expected = run()
    library = torch.library.Library("aten", "IMPL")
    library.impl("sin", lambda x: torch.ops.aten.cos.default(x), "CPU")
    try:
        run()
        assert len(traces) == 2
    finally:
        library._destroy()
    assert torch.equal(run(), expected)
    assert len(traces) == 2


@pytest.mark.parametrize("damage", ["cut", "changed", "no program", "no library"])
def test_damaged_entries_are_made_anew(damage: str, traces: list[Any], tmp_path: Path):
    def run() -> Any:
        torch._dynamo.reset()
        x = torch.ones(3, requires_grad=True)
        result = torch.compile(lambda x: torch.sin(x) + 1)(x)
        result.sum().backward()
        return torch.stack([result.detach(), x.grad])

    expected = run()
    (entry,) = tmp_path.glob("kernels/*/*.call")
    content = entry.read_bytes()
    if damage == "cut":
        entry.write_bytes(content[: len(content) // 2])
    elif damage == "changed":
        entry.write_bytes(content.replace(b"Computed", b"InputOfGraph"))
    else:
        for other in tmp_path.glob("kernels/*/*.graph" if damage == "no program" else "kernels/*/*.so"):
            other.unlink()

    assert torch.equal(run(), expected)
    assert len(traces) == 2
    assert entry.read_bytes() == content


def test_stages_that_users_want_to_see(traces: list[Any], monkeypatch: pytest.MonkeyPatch):
    def run() -> int:
        torch._dynamo.reset()
        torch.compile(lambda x: x * 3)(torch.ones(3))
        return len(traces)

    assert run() == run() == 1
    monkeypatch.setattr(graph_cache._logging, "is_on", lambda name: name == "aot_graphs")
    assert run() == 2
