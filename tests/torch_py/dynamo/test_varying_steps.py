"""Calls that take a step for each element of a size that varies, and tensors with many dimensions."""

import pytest

import torch_py as torch
from torch_py import nn
from torch_py._dynamo.testing import CompileCounter


@pytest.mark.parametrize("layer", [nn.RNN, nn.GRU, nn.LSTM])
def test_recurrent_layers_take_sequences_of_any_length(layer):
    torch.manual_seed(0)
    module = layer(8, 3, batch_first=True)
    counter = CompileCounter()
    compiled = torch.compile(module, backend=counter)

    for batch, length in ((2, 4), (3, 5), (4, 5), (5, 5)):  # the length is fixed, and the batch is not
        x = torch.randn(batch, length, 8)
        assert torch.equal(compiled(x)[0], module(x)[0])
    assert counter.frame_count == 2


def test_volumes_have_sizes_that_vary():
    torch.manual_seed(0)
    module = nn.Conv3d(2, 3, 2)
    counter = CompileCounter()
    compiled = torch.compile(module, backend=counter, dynamic=True)
    for batch, side in ((3, 5), (4, 5), (6, 5), (6, 7), (3, 7)):
        x = torch.randn(batch, 2, side, side + 1, 9)
        assert torch.equal(compiled(x), module(x))
    assert counter.frame_count == 1


def _pooled(x):
    halved = torch.nn.functional.max_pool2d(x, 2)
    return halved.view(halved.shape[0], -1, halved.shape[-1]) * halved.shape[-2]


def test_quotients_of_sizes_vary():
    counter = CompileCounter()
    compiled = torch.compile(_pooled, backend=counter, dynamic=True)
    for batch, height, width in ((2, 12, 14), (3, 12, 14), (4, 17, 10), (2, 9, 31)):
        x = torch.randn(batch, 3, height, width)
        assert torch.equal(compiled(x), _pooled(x))
    assert counter.frame_count == 1


def test_a_loop_over_half_of_the_rows_has_a_step_for_each_of_the_example():
    def program(x):
        return sum(row.sin() for row in x[::2])

    graphs = []

    def backend(module, examples):
        graphs.append(module)
        return module

    compiled = torch.compile(program, backend=backend, dynamic=True)
    for rows in (4, 7):
        x = torch.randn(rows, 3)
        assert torch.equal(compiled(x), program(x))
    assert [str(graph.code).count("sin()") for graph in graphs] == [2, 4]
