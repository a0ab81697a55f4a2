"""Graphs for sizes that vary: recorded with primes, right for all sizes."""

import pytest

import torch_py as torch
from torch_py._functorch.aot.varying import Size, trace_varying
from torch_py._shapes.arguments import Arguments, NotFollowed, geometry_of
from torch_py._shapes.sizes import Sizes

F = torch.nn.functional


def traced(function, *tensors, dims):
    """`dims` are those that vary, by the position of the tensor."""
    sizes = Sizes()
    geometries = {
        position: geometry_of(
            tensors[position], {dim: sizes.new(tensors[position].shape[dim]).term for dim in found}
        )
        for position, found in dims.items()
    }
    names = [f"primals_{number}" for number in range(1, len(tensors) + 1)]
    arguments = Arguments(tensors, geometries)
    return trace_varying(lambda recorder, given: list(function(*given)), arguments, sizes, names, None)


def results(found, *tensors):
    return found.module(*(source.of(tensors) for source in found.inputs))


PROGRAMS = {
    "attention": lambda x: [F.scaled_dot_product_attention(x, x, x).sum(-1)],
    "merged": lambda x: [x.view(x.shape[0] * x.shape[1], -1).softmax(0), x.flatten().cumsum(0)],
    "halves": lambda x: [x[:, : x.shape[1] // 2] * x.shape[0], x[:, x.shape[1] // 2 :] + 1],
    "pooled": lambda x: [F.avg_pool1d(F.pad(x.transpose(1, 2), (1, 2)), 3, 2)],
    "joined": lambda x: [torch.cat([x, x[:, :1], x], 1), torch.zeros(2 * x.shape[0] + x.shape[1])],
    "masked": lambda x: [x.masked_fill(torch.ones(x.shape[1], x.shape[1]).tril()[None, :, :1] == 0, 2.0)],
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_one_graph_for_all_sizes(name):
    function = PROGRAMS[name]
    found = traced(function, torch.randn(4, 6, 8), dims={0: [0, 1]})
    assert found.inputs[1:] == [Size(0, 0), Size(0, 1)]
    for batch, length in ((2, 3), (5, 7), (4, 6), (3, 64)):
        x = torch.randn(batch, length, 8)
        for computed, expected in zip(results(found, x), function(x)):
            torch.testing.assert_close(computed, expected)


def test_sizes_of_convolutions():
    def function(x, w):
        return [F.max_pool2d(F.conv2d(x, w, None, 2, 1).relu(), 3, 2, 1)]

    w = torch.randn(4, 3, 3, 3)
    found = traced(function, torch.randn(2, 3, 32, 48), w, dims={0: [0, 2, 3]})
    last = next(iter(found.module.graph.output_node().all_input_nodes))
    assert list(map(str, last.meta["sizes"])) == ["s0", "4", "(s1 + 3)//4", "(s2 + 3)//4"]
    for shape in ((1, 3, 9, 30), (3, 3, 65, 64)):
        x = torch.randn(shape)
        torch.testing.assert_close(results(found, x, w)[0], function(x, w)[0])


def test_the_graph_has_backward():
    x, w = torch.randn(4, 6, 8, requires_grad=True), torch.randn(8, 5, requires_grad=True)
    found = traced(lambda x, w: [(x @ w).sum(1)], x, w, dims={0: [0, 1]})
    assert found.tangents == [0] and found.differentiated == [0, 1]
    x, w = torch.randn(3, 7, 8, requires_grad=True), w
    computed = found.module(*(source.of((x, w)) for source in found.inputs), torch.ones(3, 5))
    expected = torch.autograd.grad((x @ w).sum(1).sum(), (x, w))
    for one, other in zip(computed[1:], expected):
        torch.testing.assert_close(one, other)


def test_what_depends_on_sizes_in_other_ways_is_refused():
    def branches(x):
        return [x.sin() if x.shape[0] % 2 == 1 else x.cos()]

    with pytest.raises(NotFollowed, match=r"calls `aten\.\w+\.default` for some inputs"):
        traced(branches, torch.randn(4, 6), dims={0: [0]})
    with pytest.raises(NotFollowed, match="no formula"):
        traced(lambda x: [torch.zeros(bin(x.shape[0]).count("1"))], torch.randn(4, 6), dims={0: [0]})
