"""In-place operators write only to self, at the named places, and nowhere if an argument is wrong."""

from __future__ import annotations

import numpy
import pytest

from tests.subject import WITH_PEER, only_torch_py, torch

ROWS = torch.tensor([2, 0, 2])
CALLS = {
    "index_add_": lambda x: x.index_add_(0, ROWS, torch.ones(3, 4), alpha=2),
    "index_copy_": lambda x: x.index_copy_(0, ROWS, torch.ones(3, 4)),
    "index_fill_": lambda x: x.index_fill_(1, ROWS, 7.0),
    "index_reduce_": lambda x: x.index_reduce_(0, ROWS, torch.ones(3, 4), "amax"),
    "scatter_": lambda x: x.scatter_(0, ROWS[:, None].expand(3, 4), torch.ones(3, 4)),
    "scatter_value": lambda x: x.scatter_(0, ROWS[:, None].expand(3, 4), 5.0),
    "scatter_add_": lambda x: x.scatter_add_(0, ROWS[:, None].expand(3, 4), torch.ones(3, 4)),
    "scatter_reduce_": lambda x: x.scatter_reduce_(0, ROWS[:, None].expand(3, 4), torch.ones(3, 4), "prod"),
    "put_": lambda x: x.put_(torch.tensor([0, -1]), torch.ones(2)),
    "put_accumulate": lambda x: x.put_(torch.tensor([0, -1]), torch.ones(2), accumulate=True),
    "clamp_": lambda x: x.clamp_(-0.5, 0.5),
    "clamp_min_": lambda x: x.clamp_min_(0),
    "clamp_max_": lambda x: x.clamp_max_(0),
    "tril_": lambda x: x.tril_(),
    "triu_": lambda x: x.triu_(-1),
    "addmm_": lambda x: x.addmm_(torch.ones(5, 2), torch.ones(2, 4), beta=0.5),
    "baddbmm_": lambda x: x[None].baddbmm_(torch.ones(1, 5, 2), torch.ones(1, 2, 4)),
}


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


def on_a_copy(name, x):
    """The result in dense memory, which tests/ops compares with the functional form."""
    copy = x.clone()
    CALLS[name](copy)
    return copy


@pytest.mark.parametrize("name", list(CALLS))
@pytest.mark.parametrize("layout", ["dense", "transposed", "strided"])
def test_every_layout_is_written_where_it_lies(name, layout):
    values = torch.randn(5, 4)
    base = {
        "dense": values.clone(),
        "transposed": values.t().clone(),
        "strided": torch.stack([values, values], -1),
    }[layout]
    x = {"dense": base, "transposed": base.transpose(0, 1), "strided": base[..., 0]}[layout]

    address = x.data_ptr()
    version = x._version
    CALLS[name](x)

    assert x.data_ptr() == address and x._version > version
    torch.testing.assert_close(x, on_a_copy(name, values))
    if layout == "strided":
        assert torch.equal(base[..., 1], values)


@pytest.mark.parametrize("name", list(CALLS))
def test_gradients_pass(name):
    values = torch.randn(5, 4, dtype=torch.float64)
    if name == "index_reduce_":
        values = values.abs() + 2  # ties have no derivative

    if name.startswith(("clamp", "tril", "triu", "index_fill", "scatter_value")):
        leaf = values.clone().requires_grad_()
        CALLS[name](leaf.clone()).sum().backward()
        changed = on_a_copy(name, values) != values
        assert torch.equal(leaf.grad, (~changed).double())
    else:
        leaf = values.float().requires_grad_()
        CALLS[name](leaf.clone()).sum().backward()
        assert leaf.grad is not None and bool(torch.isfinite(leaf.grad).all())


WRONG = {
    "index_add_": lambda x: x.index_add_(0, torch.tensor([0, 9]), torch.ones(2, 4)),
    "index_copy_": lambda x: x.index_copy_(0, torch.tensor([0, 9]), torch.ones(2, 4)),
    "index_fill_": lambda x: x.index_fill_(0, torch.tensor([0, 9]), 1.0),
    "index_reduce_": lambda x: x.index_reduce_(0, torch.tensor([0, 9]), torch.ones(2, 4), "amax"),
    "scatter_": lambda x: x.scatter_(0, torch.tensor([[0], [9]]), torch.ones(2, 1)),
    "scatter_add_": lambda x: x.scatter_add_(0, torch.tensor([[0], [9]]), torch.ones(2, 1)),
    "scatter_reduce_": lambda x: x.scatter_reduce_(0, torch.tensor([[0], [9]]), torch.ones(2, 1), "sum"),
    "put_": lambda x: x.put_(torch.tensor([0, 99]), torch.ones(2)),
    "clamp_": lambda x: x.long().clamp_(0.5, 1),
}


@only_torch_py  # PyTorch writes until it finds the wrong index
@pytest.mark.parametrize("name", list(WRONG))
def test_nothing_is_written_when_an_argument_is_wrong(name):
    x = torch.randn(5, 4)
    before = x.clone()
    with pytest.raises((IndexError, RuntimeError)):
        WRONG[name](x)
    assert torch.equal(x, before)


def test_clamp_keeps_the_dtype_of_self():
    assert torch.tensor([1, 5, 9]).clamp_(2, 6).tolist() == [2, 5, 6]
    with pytest.raises(RuntimeError, match="can't be cast"):
        torch.tensor([1, 5, 9]).clamp_(2.5)


def test_many_more_elements_than_are_named_cost_nothing():
    """Writing 16 bytes of 64 MB takes less than a millisecond; a copy would take ten."""
    import time

    x = torch.zeros(4_000_000, 4)
    index = torch.tensor([7])
    calls = [
        lambda: x.index_add_(0, index, torch.ones(1, 4)),
        lambda: x.index_copy_(0, index, torch.ones(1, 4)),
        lambda: x.scatter_add_(0, index[:, None], torch.ones(1, 1)),
        lambda: x.index_fill_(0, index, 1.0),
    ]
    for call in calls:
        times = []
        for _ in range(5):
            start = time.perf_counter()
            call()
            times.append(time.perf_counter() - start)
        assert min(times) < 0.002


# index_fill_ warns; PyTorch writes in the others.
@pytest.mark.parametrize(
    "name",
    [
        name
        for name in CALLS
        if name != "index_fill_" and not (WITH_PEER and name in ("tril_", "triu_", "baddbmm_"))
    ],
)
def test_elements_in_one_place_are_not_written_to(name):
    row = torch.zeros(1, 4)
    with pytest.raises(RuntimeError, match="single memory location"):
        CALLS[name](row.expand(5, 4))
    assert row.tolist() == [[0.0] * 4]


@only_torch_py  # PyTorch writes over the index before it has read all of it
@pytest.mark.parametrize(
    "change",
    [
        lambda x, index, source: x.scatter_(0, index, source),
        lambda x, index, source: x.scatter_add_(0, index, source),
        lambda x, index, source: x.scatter_reduce_(0, index, source, "amax"),
        lambda x, index, source: x.index_add_(0, index, source),
        lambda x, index, source: x.index_reduce_(0, index, source, "amax"),
        lambda x, index, source: x.index_copy_(0, index, source),
    ],
)
def test_an_index_in_the_same_memory_is_read_first(change):
    """Two tensors on one NumPy array share memory, but not a storage."""
    array = numpy.arange(6000)[::-1].copy()
    x = torch.from_numpy(array)
    index = torch.from_numpy(array)
    source = torch.full((6000,), 10**12)
    expected = x.clone()
    change(expected, index.clone(), source)
    change(x, index, source)
    assert torch.equal(x, expected)


@pytest.mark.parametrize(
    "call",
    [
        lambda a, b: a.clamp_(b),
        lambda a, b: a.clamp_max_(b),
        lambda a, b: a.clamp_min_(b),
        lambda a, b: a.div_(b, rounding_mode=None),
        lambda a, b: a.put_(torch.tensor([1]), b[:1]),
        lambda a, b: a.index_copy_(0, torch.tensor([1]), b[:1]),
    ],
)
def test_other_arguments_have_gradients_where_self_has_none(call):
    """The old value of self is kept for the gradients of others, even if self requires none."""
    b = torch.tensor([0.5, 4.0], requires_grad=True)
    call(torch.tensor([1.0, -2.0]), b).sum().backward()
    assert b.grad is not None and bool(torch.isfinite(b.grad).all())


# The version of what is written to
# ------------------------------------------------------------

_PLACE = torch.tensor([9])
REFUSED = {
    "index_put_": lambda x: x.index_put_((_PLACE,), torch.ones(1)),
    "index_put_ of a part": lambda x: x.index_put_((torch.tensor([0]),), x[:1], accumulate=True),
    "put_": lambda x: x.put_(_PLACE, torch.ones(1)),
    "index_fill_": lambda x: x.index_fill_(0, _PLACE, 1.0),
    "index_copy_": lambda x: x.index_copy_(0, _PLACE, torch.ones(1)),
    "scatter_reduce_": lambda x: x.scatter_reduce_(0, _PLACE, torch.ones(1), "amax"),
    "masked_fill_": lambda x: x.masked_fill_(torch.ones(5, dtype=torch.bool), 1.0),
    "bernoulli_": lambda x: x.bernoulli_(torch.full((4,), 2.0)),
    "assignment": lambda x: x.__setitem__(_PLACE, 1.0),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_call_that_fails_changes_nothing_that_backward_needs(name: str):
    x = torch.linspace(0.5, 2, 4, requires_grad=True)
    y = x.exp()
    with pytest.raises((RuntimeError, IndexError)):
        REFUSED[name](y)
    assert y._version == 0
    y.sum().backward()
    assert torch.equal(x.grad, y)


@pytest.mark.parametrize(
    "write",
    [
        lambda x: x.masked_fill_(x > 1, 2.0),
        lambda x: x.index_fill_(0, torch.tensor([0]), 2.0),
        lambda x: x.log_normal_(),
        lambda x: x.geometric_(0.5),
        lambda x: torch._foreach_add_([x], 1),
        lambda x: torch.add(torch.ones(4), 1, out=x),
    ],
)
def test_a_call_counts_as_one_change(write):
    x = torch.linspace(0.5, 2, 4)
    write(x)
    assert x._version == 1


_ONES = torch.ones(2, 3)
_ROW = torch.ones(1, 3)
_FIRST = torch.tensor([0])
OF_INFERENCE = {
    "mul_": lambda x: x.mul_(3),
    "add_ of a row": lambda x: x.add_(torch.ones(3)),
    "add_ to columns": lambda x: x.t().add_(1),
    "copy_": lambda x: x.copy_(_ONES),
    "fill_": lambda x: x.fill_(9.0),
    "scatter_": lambda x: x.scatter_(0, torch.zeros(1, 3, dtype=torch.int64), 9.0),
    "assignment": lambda x: x.__setitem__(0, 9.0),
    "index_put_": lambda x: x.index_put_((_FIRST,), torch.tensor(9.0)),
    "index_add_": lambda x: x.index_add_(0, _FIRST, _ROW),
    "masked_fill_": lambda x: x.masked_fill_(x > 2, 9.0),
    "cumsum_": lambda x: x.cumsum_(0),
    "normal_": lambda x: x.normal_(),
    "addmm_": lambda x: x.addmm_(torch.ones(2, 2), _ONES),
    "renorm_": lambda x: x.renorm_(2, 0, 0.1),
    "foreach": lambda x: torch._foreach_add_([x], 1),
    "add out": lambda x: torch.add(_ONES, 1, out=x),
    "mm out": lambda x: torch.mm(torch.ones(2, 2), _ONES, out=x),
    "sum out": lambda x: torch.sum(torch.ones(4, 2, 3), 0, out=x),
    "cat out": lambda x: torch.cat([_ROW, _ROW], out=x),
    "sort out": lambda x: torch.sort(_ONES, out=(x, torch.empty(2, 3, dtype=torch.int64))),
    "statistics": lambda x: torch.nn.functional.batch_norm(torch.ones(4, 3), x[0], x[1], training=True),
    "detached": lambda x: x.detach().mul_(2),
}


@pytest.mark.parametrize("name", OF_INFERENCE)
def test_tensors_of_inference_mode_are_not_written_to_outside_of_it(name: str):
    with torch.inference_mode():
        x = torch.arange(6.0).reshape(2, 3) + 0
    before = x.tolist()
    with pytest.raises(RuntimeError, match="(?i)inplace update to inference tensor"):
        OF_INFERENCE[name](x)
    assert x.tolist() == before
