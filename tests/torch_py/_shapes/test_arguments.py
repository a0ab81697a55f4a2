"""Tensors without memory in the place of arguments whose sizes vary."""

import pytest

import torch_py as torch
from torch_py._shapes.arguments import Arguments, NotFollowed, geometry_of, stand_in
from torch_py._shapes.formulas import Symbol, product
from torch_py._subclasses.fake_tensor import FakeTensorMode

N, T = Symbol("n"), Symbol("t")


def texts(geometry):
    return [list(map(str, geometry.sizes)), list(map(str, geometry.strides))]


def test_strides_follow_from_sizes():
    x = torch.ones(4, 6, 5)
    assert texts(geometry_of(x, {0: N, 1: T})) == [["n", "t", "5"], ["5*t", "5", "1"]]
    images = torch.ones(2, 3, 8, 8).contiguous(memory_format=torch.channels_last)
    assert texts(geometry_of(images, {0: N, 2: T})) == [["n", "3", "t", "8"], ["24*t", "1", "24", "3"]]


def test_gaps_stay_as_long():
    assert texts(geometry_of(torch.ones(4, 6)[:, :-1], {0: N, 1: T})) == [["n", "t"], ["t + 1", "1"]]
    assert texts(geometry_of(torch.ones(4, 6)[:, :3], {0: N})) == [["n", "3"], ["6", "1"]]
    blocks = torch.ones(4, 6, 5)[:, :-2]
    assert texts(geometry_of(blocks, {0: N, 1: T})) == [["n", "t", "5"], ["5*(t + 2)", "5", "1"]]


@pytest.mark.parametrize(
    "tensor",
    [
        torch.ones(20).as_strided((4, 4), (3, 1)),
        torch.ones(40).as_strided((4, 4), (9, 2)),
    ],
    ids=["rows that overlap", "half a gap"],
)
def test_other_strides_are_refused(tensor):
    with pytest.raises(NotFollowed, match="strides that do not follow"):
        geometry_of(tensor, {0: N, 1: T})


def test_expanded_dimensions_do_not_count():
    assert texts(geometry_of(torch.ones(3).expand(4, 3), {0: N, 1: T})) == [["n", "t"], ["0", "1"]]
    inside = torch.ones(4, 1, 5).expand(4, 6, 5)
    assert texts(geometry_of(inside, {0: N, 1: T, 2: N})) == [["n", "t", "n"], ["n", "0", "1"]]


@pytest.mark.parametrize("requires_grad", [False, True])
def test_stand_ins_are_like_the_tensor(requires_grad):
    x = torch.ones(4, 6, dtype=torch.float64, requires_grad=requires_grad)
    mode = FakeTensorMode()
    for tensor in (x, x.t()):
        fake = stand_in(mode, tensor, geometry_of(tensor, {0: N}), {N: 20011})
        assert fake.shape == (20011, tensor.shape[1]) and fake.dtype == torch.float64
        assert fake.requires_grad == tensor.requires_grad and fake.is_leaf == tensor.is_leaf
    assert stand_in(mode, x.t(), geometry_of(x.t(), {0: N}), {N: 7}).stride() == (1, 7)


def test_arguments():
    x, y = torch.ones(4, 6), torch.ones(4)
    arguments = Arguments([x, 2, y], {0: geometry_of(x, {0: N, 1: T}), 2: geometry_of(y, {0: N})})
    made = arguments.for_sizes(FakeTensorMode(), {N: 11, T: 13})
    assert made[0].shape == (11, 13) and made[1] == 2 and made[2].shape == (11,)
    assert arguments.sources() == {N: (0, 0, 1), T: (0, 1, 1)}
    halved = Arguments([x], {0: geometry_of(x, {0: product(2, N)})})
    assert halved.for_sizes(FakeTensorMode(), {N: 11})[0].shape == (22, 6)
    assert halved.sources() == {N: (0, 0, 2)}
    with pytest.raises(NotFollowed, match="share memory"):
        Arguments([x, x[:2]], {0: geometry_of(x, {0: N})})
