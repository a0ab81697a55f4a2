"""Results that are arguments, views of them or of one another, or no tensors."""

from __future__ import annotations

from typing import Any

import pytest

import torch_py as torch
from tests.torch_py.aot.comparison import compare, computed, leaves, plain
from torch_py._functorch.aot import aot_function
from torch_py._functorch.compilers import nop

S = (3, 4)
MAKERS = pytest.mark.parametrize(
    "make", [plain(S, S), leaves(S, S), computed(S, S)], ids=["plain", "leaves", "computed"]
)


def _argument(x: Any, y: Any) -> Any:
    return x, y.exp(), x


def _views_of_argument(x: Any, y: Any) -> Any:
    return x.view(-1), x[0], y.t()[1:], y.detach(), x.split(2, 1)


def _view_of_changed(x: Any, y: Any) -> Any:
    row = x[0]
    x.mul_(2)
    return row, x.t(), y * row


def _changed_view(x: Any, y: Any) -> Any:
    row = x[0]
    row.mul_(y[0])
    return row, x[1]


def _several_of_one(x: Any, y: Any) -> Any:
    z = x * y
    return z, z, z.view(-1), z[0], z.detach()


def _views_without_base(x: Any, y: Any) -> Any:
    z = (x * y).view(-1)
    return z[2:], z[:5]


def _single_view(x: Any, y: Any) -> Any:
    return (x * y).t()


def _parts(x: Any, y: Any) -> Any:
    return (x * y).unbind(0)


def _expanded(x: Any, y: Any) -> Any:
    return (x.sum() * y.sum()).expand(2, 3)


def _others(x: Any, y: Any) -> Any:
    return {"a": 3, "b": None, "c": [x + y, "text", 2.5], "d": x.shape}


def _nothing(x: Any, y: Any) -> Any:
    return None


def _not_differentiable(x: Any, y: Any) -> Any:
    return x * y, (x > y), x.argmax(), y.detach() * 2, (x * 2).long()


def _partly_differentiable(x: Any, y: Any) -> Any:
    with torch.no_grad():
        a = x * 2
    return a, y * 2, a[0]


def _views_without_grad(x: Any, y: Any) -> Any:
    with torch.no_grad():
        a = x.view(-1)
        b = y[0]
    return a, b, a * 2


def _topk(x: Any, y: Any) -> Any:
    values, indices = x.topk(2)
    return values, indices, y.sort()[1]


def _constants(x: Any, y: Any) -> Any:
    c = torch.tensor(3.0)
    return c, torch.ones(3), x + c


def _changed_constant(x: Any, y: Any) -> Any:
    c = torch.tensor([1.0, 2.0])
    c.add_(1)
    return c, c[0] * x, torch.tensor([1.0, 2.0])


def _views_of_constants(x: Any, y: Any) -> Any:
    c = torch.tensor([1.0, 2.0, 3.0])
    return c.expand(2, 3), c[::2], torch.tensor([[1.0, 2.0]]).t().expand(2, 4), x + 1


def _fresh_copy(x: Any, y: Any) -> Any:
    return x.clone(), y.contiguous(), x.to(torch.float32), y.reshape(4, 3)


def _complex_views(x: Any, y: Any) -> Any:
    z = torch.complex(x, y)
    z.real.mul_(2)
    return z.real, z.imag, torch.view_as_real(z)


def _transposed_result(x: Any, y: Any) -> Any:
    z = x * y
    z.t_()
    return z, z[0]


def _view_of_reshaped(x: Any, y: Any) -> Any:
    z = x * y
    row, column = z[1:], z.detach()[:, 0]
    z.t_()
    return z, row, column, z[2]


def _changed_view_of_reshaped(x: Any, y: Any) -> Any:
    z = x * y
    row = z[1:]
    z.t_()
    row.diagonal().zero_()
    return row, z


def _same_argument_twice(x: Any, y: Any) -> Any:
    z = x if y is None else y
    return x * z, z


def _unused(x: Any, y: Any) -> Any:
    return x.sum()


def _independent(x: Any, y: Any) -> Any:
    return x.sin(), y.cos(), torch.arange(3)


def _empty(x: Any, y: Any) -> Any:
    return x[:0], (x * y)[:, :0]


FUNCTIONS = [
    _argument, _views_of_argument, _view_of_changed, _changed_view, _several_of_one, _views_without_base,
    _single_view, _parts, _expanded, _others, _nothing, _not_differentiable, _partly_differentiable,
    _views_without_grad, _topk, _constants, _changed_constant, _views_of_constants, _fresh_copy,
    _complex_views, _transposed_result, _view_of_reshaped, _changed_view_of_reshaped, _same_argument_twice,
    _unused, _independent, _empty,
]  # fmt: skip


@MAKERS
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_results(function: Any, make: Any):
    compare(function, make)


def _twice() -> Any:
    x = torch.randn(S, requires_grad=True)
    y = x.exp()
    return [y, y], [x]


@pytest.mark.parametrize("function", [*FUNCTIONS], ids=lambda function: function.__name__)
def test_one_tensor_as_two_arguments(function: Any):
    compare(function, _twice)


# Arguments that share memory
# ------------------------------------------------------------


def _view_and_base() -> Any:
    x = torch.randn(6, 4)
    return [x[1:4], x], []


def _overlapping() -> Any:
    x = torch.randn(6, 4)
    return [x[1:4], x[2:5]], []


def _disjoint() -> Any:
    x = torch.randn(6, 4)
    return [x[:3], x[3:]], []


def _interleaved() -> Any:
    x = torch.randn(3, 8)
    return [x[:, :4], x[:, 4:]], []


def _view_and_base_with_gradient() -> Any:
    leaf = torch.randn(3, 4, requires_grad=True)
    x = leaf.exp()
    return [x.view(3, 4), x], [leaf]


def _overlapping_with_gradient() -> Any:
    leaf = torch.randn(6, 4, requires_grad=True)
    x = leaf.exp()
    return [x[1:4], x[2:5]], [leaf]


def _leaf_and_detached() -> Any:
    leaf = torch.randn(3, 4, requires_grad=True)
    return [leaf.detach(), leaf], [leaf]


def _view_that_is_a_leaf() -> Any:
    x = torch.randn(4, 4)
    leaf = x[1:].requires_grad_()
    return [x, leaf], [leaf]


def _leaf_view_of_a_leaf() -> Any:
    x = torch.randn(3, 4, requires_grad=True)
    with torch.no_grad():
        view = x.view(3, 4)
    view.requires_grad_()
    return [view, x], [x, view]


def _other_dtype() -> Any:
    x = torch.randn(3, 4)
    return [x, x.view(torch.int32)], []


SHARING = [
    _view_and_base, _overlapping, _disjoint, _interleaved, _view_and_base_with_gradient,
    _overlapping_with_gradient, _leaf_and_detached, _view_that_is_a_leaf, _leaf_view_of_a_leaf, _other_dtype,
]  # fmt: skip


def _change_first(x: Any, y: Any) -> Any:
    x.mul_(2)
    return x + 1, y * 2


def _change_second(x: Any, y: Any) -> Any:
    y.add_(1)
    return x * 3, y[0]


def _change_both(x: Any, y: Any) -> Any:
    before = x * 1
    x.mul_(2)
    y[0].add_(1)
    return before, x, y.sum()


def _change_none(x: Any, y: Any) -> Any:
    return x * y.sum(), x.t(), y


@pytest.mark.parametrize("make", SHARING, ids=lambda make: make.__name__)
@pytest.mark.parametrize(
    "function", [_change_first, _change_second, _change_both, _change_none], ids=lambda f: f.__name__
)
def test_arguments_that_share_memory(function: Any, make: Any):
    compare(function, make)


@pytest.mark.parametrize("returns_base", [False, True])
def test_one_of_several_views_stays_one(returns_base: bool):
    def function(x: Any) -> Any:
        base = x - 2
        view = base.unbind()[0]
        torch._C._set_grad_enabled(False)
        return (view, base) if returns_base else (view,)

    def changed(function: Any) -> str:
        view = function(torch.rand(3, 3, requires_grad=True))[0]
        with torch.no_grad():
            view.zero_()
        with pytest.raises(RuntimeError, match="Output 0 of Unbind is a view and its base") as found:
            view.grad_fn  # noqa: B018
        return str(found.value)

    with torch.enable_grad():
        expected = changed(function)
    with torch.enable_grad():
        assert changed(aot_function(function, nop)) == expected


@pytest.mark.parametrize("make", [plain(S), leaves(S)], ids=["plain", "leaf"])
def test_a_view_without_gradient_can_be_changed_by_what_has_one(make: Any):
    weight = torch.ones(S[1], requires_grad=True)
    compiled = aot_function(lambda x: (x.detach() * 2)[None], fw_compiler=nop)
    (x,), _ = make()

    result = compiled(x)
    result.mul_(weight)
    result.sum().backward()

    assert torch.equal(weight.grad, (x.detach() * 2).sum(0))


def test_views_of_a_detached_result_are_views_of_it():
    def function(x: Any) -> Any:
        detached = x.detach()
        flat = x.exp().data
        return detached[1:], detached, detached.split(1)[0], flat, flat[0]

    first, detached, row, flat, part = aot_function(function, nop)(torch.ones(S, requires_grad=True))
    assert not any(view.requires_grad for view in (first, row, part))
    for view, base in ((first, detached), (row, detached), (part, flat)):
        assert view._base is base
        assert base.requires_grad_() is base and view.requires_grad


def test_a_detached_view_of_a_reshaped_argument_stays_detached():
    def function(x: Any) -> Any:
        row = x[:1].detach()
        kept = x[1:]
        x.t_()
        return row, row[0], kept, kept.detach()[0]

    def outcome(call: Any) -> Any:
        x = torch.arange(12.0).view(S)
        row, part, kept, last = call(x)
        x.requires_grad_()
        made = [row, part, kept, last]
        return [(t.tolist(), t.requires_grad, t._is_view()) for t in made], part._base is row

    assert outcome(aot_function(function, nop)) == outcome(function)


@pytest.mark.parametrize("requires_grad", [False, True])
def test_views_of_a_changed_result_are_its_views(requires_grad: bool):
    def function(x: Any) -> Any:
        rows = x[[0, -1]]
        view = rows.squeeze()
        view.diagonal().zero_()
        return rows, view

    x = torch.randn(4, 6, requires_grad=requires_grad)
    rows, view = torch.compile(function, backend="aot_eager")(x)
    assert view._base is rows and not rows._is_view()
    if not requires_grad:
        rows.requires_grad_()
        assert view.requires_grad


@pytest.mark.parametrize("program", [
    lambda x: (x, x.data),
    lambda x: (x, x[1:].data.view(-1)),
    lambda x: (base := x * 2, base.data[0]),
    lambda x: (x, x.chunk(2)[0].data),
])  # fmt: skip
def test_changes_of_data_do_not_count(program: Any):
    compiled = torch.compile(program, backend="aot_eager")
    for function in (program, compiled):
        tensor, data = function(torch.ones(4, 3, requires_grad=True))
        data.mul_(2)
        assert (tensor._version, data._version) == (0, 1)
        assert tensor.max() > 1 and not data.requires_grad


def test_views_by_strides_of_views_of_changed_memory():
    """The gradient stays within the view that the last one was taken of."""

    def program(x: Any) -> Any:
        columns = x[:, 1:3]
        columns.detach().add_(1)
        return columns.as_strided((2, 2), (1, 2))

    gradients = []
    for function in (program, torch.compile(program, backend="aot_eager")):
        x = torch.ones(3, 6, requires_grad=True)
        function(x).sum().backward()
        gradients.append(x.grad)
    assert torch.equal(*gradients)
