"""Writes to views of arguments that begin elsewhere in their memory than those of the first call."""

import pytest

import torch_py as torch


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
@pytest.mark.parametrize(
    "written",
    [
        lambda x: x.unfold(0, 2, 2)[1],
        lambda x: x[::2].unfold(0, 2, 2)[1],
        lambda x: x.as_strided((2, 2), (2, 1)),
        lambda x: x[1:].as_strided((2, 2), (2, 1)),
    ],
)
def test_writes_count_from_where_an_argument_begins(written, backend):
    def function(x):
        return written(x).mul_(2) + 1

    compiled = torch.compile(function, backend=backend)
    for start in range(3):
        memory, expected = torch.arange(12.0), torch.arange(12.0)
        result = compiled(memory[start : start + 8])
        assert torch.equal(result, function(expected[start : start + 8]))
        assert torch.equal(memory, expected)


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_arguments_with_gaps_begin_elsewhere(backend):
    def function(x):
        return x.unfold(1, 2, 2)[:, 1].mul_(2) + 1

    compiled = torch.compile(function, backend=backend)
    for start in range(3):
        memory, expected = torch.arange(60.0).view(6, 10), torch.arange(60.0).view(6, 10)
        result = compiled(memory[::2, start : start + 8 : 2])
        assert torch.equal(result, function(expected[::2, start : start + 8 : 2]))
        assert torch.equal(memory, expected)
