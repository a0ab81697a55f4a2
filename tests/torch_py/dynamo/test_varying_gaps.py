"""Sizes that vary of tensors with gaps between their rows, such as ``tokens[:, :-1]``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import torch_py as torch
from torch_py._dynamo.testing import CompileCounterWithBackend

SLICES: dict[str, Callable[[Any], Any]] = {
    "but the last": lambda x: x[:, :-1],
    "but the first": lambda x: x[:, 1:],
    "but three": lambda x: x[:, 2:-1],
    "of one row": lambda x: x[:1, :-1],
    "of two dimensions": lambda x: x[:-1, :-2],
    "turned": lambda x: x[:, :-1].t(),
    "channels": lambda x: x[:, :, None].expand(-1, -1, 2).contiguous()[:-1, 1:, 1:],
}
# Of rows of the same length in all calls.
FIXED: dict[str, Callable[[Any], Any]] = {
    "columns": lambda x: x[:, :3],
    "steps": lambda x: x[:, :6][:, ::2],
    "blocks": lambda x: x.unfold(1, 4, 4)[:-1, :, :-1],
    "a column": lambda x: x[:, 5],
}


def _pointwise(x: Any) -> Any:
    return x.exp() * x.shape[-1], x


def _rows(x: Any) -> Any:
    return x.softmax(-1), x.sum(0), x.flatten(), x.clone(), x.transpose(0, -1)[..., 1:]


def _changed(x: Any) -> Any:
    x.mul_(2)
    x[..., :1].add_(1)
    return x.sum(), x + 1


def _strides(x: Any) -> Any:
    return x.stride(), x.storage_offset(), x.is_contiguous(), torch.empty_like(x).stride(), x.view(x.shape)


FUNCTIONS = [_pointwise, _rows, _changed, _strides]


def _seen(function: Any, take: Callable[[Any], Any], size: int) -> list[Any]:
    torch.manual_seed(size)
    leaf = torch.rand(size, 12 if take in FIXED.values() else size + 4, requires_grad=True)
    base = leaf * 1
    found = function(take(base))
    results = [one for one in found if isinstance(one, torch.Tensor)]
    loss = sum((one.double() * torch.rand(one.shape)).sum() for one in results if one.requires_grad)
    gradients = torch.autograd.grad(loss, leaf) if isinstance(loss, torch.Tensor) else ()
    rest = [one for one in found if not isinstance(one, torch.Tensor)]
    return [*results, [one.stride() for one in results], base.detach().clone(), *gradients, rest]


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("name", [*SLICES, *FIXED])
def test_gaps(name: str, function: Any, backend: str):
    torch.compiler.reset()
    take = {**SLICES, **FIXED}[name]
    counter = CompileCounterWithBackend(backend)
    compiled = torch.compile(function, backend=counter)

    for size in (6, 7, 8, 11, 23):
        expected = _seen(function, take, size)
        for actual, wanted in zip(_seen(compiled, take, size), expected, strict=True):
            if isinstance(wanted, torch.Tensor):
                torch.testing.assert_close(actual, wanted)
            else:
                assert actual == wanted
    assert counter.frame_count <= (3 if function is _strides else 2)


def test_a_part_of_a_buffer_is_compiled_for_its_size():
    """Rows that grow within memory of a fixed size have a gap of another length in each call."""
    buffer = torch.rand(3, 100)
    compiled = torch.compile(lambda x: x.cumsum(-1), backend="aot_eager")
    for size in range(4, 20):
        torch.testing.assert_close(compiled(buffer[:, :size]), buffer[:, :size].cumsum(-1))


def test_rows_of_one_dimension_that_is_read_twice():
    compiled = torch.compile(lambda x: x * 2 + x.stride(0), backend="aot_eager", dynamic=True)
    for size in (4, 6, 9):
        for x in (torch.rand(3).expand(size, 3), torch.rand(size * 4).as_strided((size, 4), (2, 1))):
            torch.testing.assert_close(compiled(x), x * 2 + x.stride(0))


EXPANDED: dict[str, Any] = {
    "rows": lambda n: torch.arange(4.0).expand(n, 4),
    "columns": lambda n: torch.arange(4.0)[:, None].expand(4, n),
    "all": lambda n: torch.arange(1.0).expand(n, n + 1),
    "in the middle": lambda n: torch.arange(4.0 * n).view(n, 1, 4).expand(n, 3, 4),
    "of rows that vary": lambda n: torch.arange(4.0 * n).view(n, 4).expand(n, n, 4),
}


def _uses_of_expanded(x: Any) -> Any:
    copies = x.reshape(-1), x.contiguous()
    return x.sin(), x.sum(0), *copies, x.transpose(0, 1), x[1:] * 2, x.expand(2, *x.shape)


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
@pytest.mark.parametrize("name", EXPANDED)
def test_expanded_tensors_are_compiled_twice(name: str, backend: str):
    counter = CompileCounterWithBackend(backend)
    compiled = torch.compile(_uses_of_expanded, backend=counter)
    for count in (3, 4, 5, 9, 33, 64):
        x = EXPANDED[name](count).requires_grad_()
        results, expected = compiled(x), _uses_of_expanded(x)
        torch.testing.assert_close(results, expected)
        assert [r.stride() for r in results] == [e.stride() for e in expected]
        sums = [sum(one.cos().sum() for one in found) for found in (results, expected)]
        torch.testing.assert_close(*(torch.autograd.grad(total, x) for total in sums))
    assert counter.frame_count == 2


def test_expanded_results_of_graphs_whose_shapes_change():
    """They have a history, and the stand-ins of these have the same strides."""

    def program(x):
        x.swapaxes_(0, -1)
        return x.detach()

    def given(rows: int, copies: int) -> Any:
        x = torch.ones(rows, 6, requires_grad=True)
        return torch.compile(lambda: x.exp().expand(copies, rows, 6), backend="aot_eager")()

    compiled = torch.compile(program, backend="aot_eager")
    for rows, copies in ((6, 2), (5, 3), (4, 7)):
        found, expected = compiled(given(rows, copies)), program(given(rows, copies))
        assert found.stride() == expected.stride() and torch.equal(found, expected)
