"""Arguments that share memory which a program writes to: compiled once for each way in which they do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import torch_py as torch

SIZE = 3


def _places(*starts: int) -> Callable[[], list[Any]]:
    """Arguments that begin at these places of one tensor; -1 for another tensor."""

    def make() -> list[Any]:
        memory = torch.arange(12.0)
        return [torch.ones(SIZE) if start < 0 else memory[start : start + SIZE].view(-1) for start in starts]

    return make


def _same() -> list[Any]:
    x = torch.arange(3.0)
    return [x, x, x.view(-1)]


CASES = [
    _places(0, 0, 3),
    _places(0, 1, 3),
    _places(0, 3, 3),
    _places(0, 3, 6),
    _places(0, 0, -1),
    _places(0, -1, 0),
    _places(2, 2, -1),
    _places(2, 3, -1),
    _places(-1, -1, -1),
    _same,
]


def _program(x: Any, y: Any, z: Any) -> Any:
    x.add_(z)
    y.sub_(1)
    return z * 2


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
@pytest.mark.parametrize("cases", [CASES, CASES[::-1]], ids=["forward", "backward"])
def test_memory_that_is_shared_in_another_way(cases: list[Any], backend: str) -> None:
    with torch._dynamo.config.patch(recompile_limit=20):
        compiled = torch.compile(_program, backend=backend)
        for _ in range(2):
            for make in cases:
                given, expected = make(), make()
                assert torch.equal(compiled(*given), _program(*expected))
                assert all(map(torch.equal, given, expected))
            graphs = torch._dynamo.utils.counters["stats"]["unique_graphs"]
    assert graphs <= len(cases)


def test_calls_with_shared_memory_run_the_same_code() -> None:
    def program(x: Any) -> Any:
        row = x.view(-1)
        torch._dynamo.graph_break()
        row.mul_(2)
        return x + 1

    compiled = torch.compile(program, backend=(counter := torch._dynamo.testing.CompileCounter()))
    for _ in range(4):
        assert compiled(torch.ones(2)).tolist() == [3, 3]
    assert counter.frame_count == 2


def _reshaping(x: Any, y: Any) -> Any:
    x.t_()
    y.mul_(3)
    return x + 1


@pytest.mark.parametrize("part", [lambda x: x[1:], lambda x: x.view(-1)[:2], lambda x: x])
@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
@pytest.mark.parametrize("rows", [3, 4])
def test_shared_memory_of_a_tensor_that_is_reshaped(part: Any, backend: str, rows: int) -> None:
    compiled = torch.compile(_reshaping, backend=backend)
    for _ in range(2):
        runs = []
        for function in (_reshaping, compiled):
            x = torch.arange(4.0 * rows).view(rows, 4)
            y = part(x)
            runs.append([function(x, y), x, y])
        assert all(map(torch.equal, *runs)) and runs[0][1].stride() == runs[1][1].stride()


def test_changes_of_detached_arguments_are_changes_of_what_autograd_has_saved() -> None:
    def program(x: Any) -> Any:
        norm = x.norm()
        detached = x.detach()
        torch._dynamo.graph_break()
        detached.add_(1)
        return norm

    x = torch.ones(3, requires_grad=True)
    for function in (program, torch.compile(program, backend="aot_eager")):
        with pytest.raises(RuntimeError, match="has been modified"):
            function(x * 1).backward()


def _views() -> list[Any]:
    x = torch.arange(4.0).view(2, 2)
    return [x, x.view(2, 2)]


def _twice_the_same() -> list[Any]:
    x = torch.arange(4.0).view(2, 2)
    return [x, x]


def _transposed(x: Any, y: Any) -> Any:
    x.add_(1)
    x.t_()
    return y * 1


@pytest.mark.parametrize("program", [
    _transposed,
    lambda x, y: x * (2 if x is y else 3),
    lambda x, y: x * len({x, y}),
])  # fmt: skip
@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_another_object_with_the_same_memory(program: Any, backend: str) -> None:
    compiled = torch.compile(program, backend=backend)
    for make in (_views, _twice_the_same, _views, _twice_the_same):
        assert torch.equal(compiled(*make()), program(*make()))
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == 2
