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
