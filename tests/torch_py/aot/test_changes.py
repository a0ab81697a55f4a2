"""Arguments that are changed in place."""

from __future__ import annotations

from typing import Any

import pytest

import torch_py as torch
from tests.torch_py.aot.comparison import compare, computed, leaves, plain
from torch_py._functorch.aot import aot_function
from torch_py._functorch.aot.recipes import Unsupported
from torch_py._functorch.compilers import nop

F = torch.nn.functional
S = (3, 4)


def _on_view(take: Any, change: Any) -> Any:
    def function(x: Any, y: Any) -> Any:
        change(take(x), y)
        return x * 2 + y.sum()

    return function


VIEWS = {
    "itself": lambda x: x,
    "alias": lambda x: x.view_as(x),
    "row": lambda x: x[1],
    "column": lambda x: x[:, 2],
    "steps": lambda x: x[:, ::2],
    "last": lambda x: x[-1:],
    "reversed_slices": lambda x: x[1:][:, 1:],
    "transposed": lambda x: x.t(),
    "transposed_row": lambda x: x.t()[1],
    "flat": lambda x: x.view(-1),
    "flat_part": lambda x: x.view(-1)[2:9],
    "reshaped_part": lambda x: x.view(4, 3)[1:],
    "permuted": lambda x: x.view(3, 2, 2).permute(2, 0, 1)[0],
    "diagonal": lambda x: x.diagonal(),
    "second_diagonal": lambda x: x.diagonal(1),
    "row_of_expanded": lambda x: x.expand(2, *x.shape)[1, 2],
    "diagonal_of_expanded": lambda x: x.expand(2, *x.shape).diagonal(),
    "unsqueezed": lambda x: x.unsqueeze(1),
    "squeezed": lambda x: x[1:2].squeeze(0),
    "element": lambda x: x[1, 2],
    "chunk": lambda x: x.chunk(2, 1)[1],
    "split": lambda x: x.split([1, 2])[1],
    "unbound": lambda x: x.unbind(1)[3],
    "expanded_row": lambda x: x.unsqueeze(0).expand(2, 3, 4)[0],
    "strided": lambda x: x.as_strided((2, 2), (4, 1), 1),
    "strided_twice": lambda x: x[1:].as_strided((2, 2), (1, 4), 5),
    "unfolded": lambda x: x.unfold(1, 2, 2)[:, 1],
    "narrowed": lambda x: x.narrow(1, 1, 2),
    "detached": lambda x: x.detach()[0],
    "moved": lambda x: x.movedim(0, 1)[2],
    "swapped": lambda x: x.swapaxes(0, 1)[2:],
    "empty": lambda x: x[:0],
}
CHANGES = {
    "add": lambda v, y: v.add_(1),
    "mul": lambda v, y: v.mul_(y.sum()),
    "zero": lambda v, y: v.zero_(),
    "fill": lambda v, y: v.fill_(3),
    "copy": lambda v, y: v.copy_(y.sum()),
    "set": lambda v, y: v.__setitem__(Ellipsis, 2.5),
    "uniform": lambda v, y: v.uniform_(),
    "out": lambda v, y: torch.mul(v, 2, out=v) if not v.requires_grad else v.mul_(2),
}


@pytest.mark.parametrize("make", [plain(S, (2,)), computed(S, (2,))], ids=["plain", "computed"])
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("view", VIEWS)
def test_changes_through_views(view: str, change: str, make: Any):
    compare(_on_view(VIEWS[view], CHANGES[change]), make)


def _order(x: Any, y: Any) -> Any:
    before = x * 1
    x.add_(y)
    between = x.neg()
    x[0].mul_(2)
    return before, between, x.sum()


def _read_view_later(x: Any, y: Any) -> Any:
    row = x[0]
    x.mul_(2)
    return row + y[0]


def _two_views(x: Any, y: Any) -> Any:
    first, second = x[:2], x[1:]
    first.add_(1)
    second.mul_(y[1:])
    return first.sum() + second.sum()


def _into_fresh(x: Any, y: Any) -> Any:
    out = torch.empty(3, 4)
    out[0] = x[0]
    out[1:] = y[1:]
    return out


def _copied_into_fresh(x: Any, y: Any) -> Any:
    out = torch.zeros(3, 4)
    out.copy_(x)
    return out


def _other_dtype(x: Any, y: Any) -> Any:
    x.add_(y.double())
    x.copy_(y.to(torch.int32))
    return x


def _broadcast(x: Any, y: Any) -> Any:
    x.copy_(y[0])
    x.add_(y[:, :1])
    return None


def _comparison(x: Any, y: Any) -> Any:
    x.gt_(0.5)
    return x, y


def _masked(x: Any, y: Any) -> Any:
    x.masked_fill_(y > 0, 0.5)
    x[y < 0] = 0
    return x.clone()


def _indexed(x: Any, y: Any) -> Any:
    index = torch.tensor([0, 2])
    x.index_add_(0, index, y[:2])
    x[index] = y[1:]
    x.index_fill_(1, torch.tensor([1]), 9.0)
    x.scatter_(0, torch.zeros(1, 4, dtype=torch.int64), y)
    return x.sum()


def _swap(x: Any, y: Any) -> Any:
    saved = x.clone()
    x.copy_(y)
    y.copy_(saved)
    return 3, None, x


def _strided_anew(x: Any, y: Any) -> Any:
    part = x[:, 1:3]
    part.mul_(y[:, :2])
    part.as_strided((2, 2), (1, 2)).exp_()  # begins where `part` does in the memory of x
    return x.sum()


def _strided_numbers(x: Any, y: Any) -> Any:
    real = torch.complex(x, y).real
    real.mul_(2)
    return real.as_strided((2, 2), (1, 2))  # of imaginary parts, too


def _random_with_gaps(x: Any, y: Any) -> Any:
    wide = torch.zeros(8, 6)
    wide[:, ::2].normal_()
    return wide, x * y


def _without_grad(x: Any, y: Any) -> Any:
    with torch.no_grad():
        x.add_(1)
    return (x * y).sum()


def _detached(x: Any, y: Any) -> Any:
    x.detach().mul_(2)
    return (x * y).sum()


def _enabled(x: Any, y: Any) -> Any:
    with torch.no_grad():
        a = x * 2
        with torch.enable_grad():
            b = y * 3
    return a, b


def _takes_gradient(x: Any, y: Any) -> Any:
    out = torch.zeros(3, 4)
    out.add_(x)
    out.mul_(y)
    return out


def _random(x: Any, y: Any) -> Any:
    torch.rand(5)
    x.normal_()
    noise = torch.randn_like(y)
    return F.dropout(y, 0.5) + noise


def _outs(x: Any, y: Any) -> Any:
    result = torch.empty(3, 4)
    torch.add(x, y, out=result)
    return result


def _lists(x: Any, y: Any) -> Any:
    torch._foreach_add_([x, y], 2)
    torch._foreach_mul_([x, y], [y.clone(), x.clone()])
    return x.sum()


def _cumulated(x: Any, y: Any) -> Any:
    x.cumsum_(0)
    x.clamp_(min=0).sqrt_()
    return x.exp_().sum()


def _relu(x: Any, y: Any) -> Any:
    return F.relu(F.leaky_relu(x, inplace=True) + y, inplace=True)


def _own_number(x: Any, y: Any) -> Any:
    count = torch.tensor(0.5)
    count.add_(1)
    count[()] = count * 3
    return x + count, count


FUNCTIONS = [
    _order, _read_view_later, _two_views, _into_fresh, _copied_into_fresh, _other_dtype, _broadcast,
    _comparison, _masked, _indexed, _swap, _without_grad, _detached, _enabled, _takes_gradient, _random,
    _outs, _lists, _cumulated, _relu, _own_number, _strided_anew, _strided_numbers,
    _random_with_gaps,
]  # fmt: skip


@pytest.mark.parametrize(
    "make", [plain(S, S), computed(S, S), leaves(S, S)], ids=["plain", "computed", "leaves"]
)
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_functions_that_change_arguments(function: Any, make: Any):
    compare(function, make)


def _transposed_in_place(x: Any, y: Any) -> Any:
    x.t_()
    return x * 2


def _transposed_without_grad(x: Any, y: Any) -> Any:
    with torch.no_grad():
        x.t_()
        view = x[:2]
    return y * 2, view


def _changed_and_transposed(x: Any, y: Any) -> Any:
    x.add_(1)
    x.transpose_(0, 1)
    x.mul_(2)
    return x


def _squeezed_in_place(x: Any, y: Any) -> Any:
    x.unsqueeze_(0)
    x.squeeze_(0).unsqueeze_(-1)
    return x + 1, y


@pytest.mark.parametrize("make", [plain(S, S), computed(S, S)], ids=["plain", "computed"])
@pytest.mark.parametrize("function", [_transposed_in_place, _changed_and_transposed, _squeezed_in_place])
def test_shapes_that_change_in_place(function: Any, make: Any):
    compare(function, make)


def test_a_leaf_may_change_its_shape_without_grad():
    compare(_transposed_without_grad, leaves(S, S))


@pytest.mark.parametrize("shape", [(6,), (4, 4), (3, 4)])
def test_a_view_of_a_leaf_that_was_turned_without_grad(shape: Any):
    """Of one dimension, it has the same shape as before."""

    def function(x: Any) -> Any:
        with torch.no_grad():
            x.swapaxes_(0, -1)
        return x[:2]

    for call in (function, torch.compile(function, backend="aot_eager")):
        leaf = torch.rand(shape, requires_grad=True)
        call(leaf).sum().backward()
        assert leaf.grad is not None and leaf.grad.count_nonzero() == leaf[:2].numel()


def _real_parts() -> Any:
    leaf = torch.randn(6, 6, requires_grad=True)
    return [torch.fft.rfft(leaf).real, leaf], [leaf]


def _parts_of_real_ones() -> Any:
    leaf = torch.randn(6, 6, requires_grad=True)
    return [torch.view_as_real(torch.complex(leaf, leaf))[..., 0], leaf], [leaf]


def _strided_parts(w: Any, y: Any) -> Any:
    part = torch.fft.rfft(w).real
    part.as_strided((2, 2), (1, 2)).cumsum_(0)
    return part.sin()


@pytest.mark.parametrize("make", [_real_parts, _parts_of_real_ones])
def test_parts_of_complex_numbers(make: Any):
    """Backward starts from the changed argument alone: the other result is not differentiated."""

    def changed(part: Any, leaf: Any) -> Any:
        part[::2].mul_(2)
        return leaf.relu()

    expected, compiled = changed, aot_function(changed, fw_compiler=nop)
    found = []
    for function in (expected, compiled):
        torch.manual_seed(0)
        (part, leaf), _ = make()
        function(part, leaf)
        found.append(torch.autograd.grad((part * part).sum(), leaf)[0])
    torch.testing.assert_close(*found)


def test_what_is_taken_between_parts_of_complex_numbers():
    with pytest.raises(Unsupported, match="which as_strided takes"):
        aot_function(_strided_parts, fw_compiler=nop)(torch.rand(6, 6), torch.rand(2))


def test_an_error_of_backward_that_leads_to_no_leaf():
    def function(y: Any) -> Any:
        return y[-1].relu().exp_()

    compiled = aot_function(function, fw_compiler=nop)
    for call in (function, compiled):
        w = torch.rand(4, 4)
        y = w[:3]
        w.requires_grad_()
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            call(y).sum().backward()


@pytest.mark.parametrize("take", [lambda w: w[:], lambda w: w.chunk(2)[0], lambda w: w.t()])
def test_changes_of_what_leads_to_no_leaf(take: Any):
    """Views of inference mode receive no gradient, but backward looks at what was kept for one."""

    def function(x: Any, w: Any) -> Any:
        with torch.inference_mode():
            view = take(w)
        product = x @ view.t()
        x.mul_(2)
        return product

    compiled = aot_function(function, fw_compiler=nop)
    for call in (function, compiled):
        found = call(torch.rand(4, 4), torch.rand(4, 4, requires_grad=True))
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            found.sum().backward()


def _permuted() -> Any:
    return [torch.randn(4, 3).t(), torch.randn(3, 4)], []


def _with_gaps() -> Any:
    return [torch.randn(6, 8)[::2, ::2], torch.randn(3, 4)], []


def _with_start() -> Any:
    return [torch.randn(5, 4)[2:], torch.randn(3, 4)], []


def _expanded() -> Any:
    return [torch.randn(3, 4), torch.randn(4).expand(3, 4)], []


@pytest.mark.parametrize("make", [_permuted, _with_gaps, _with_start, _expanded])
@pytest.mark.parametrize("view", VIEWS)
def test_arguments_with_other_strides(view: str, make: Any):
    compare(_on_view(VIEWS[view], CHANGES["add"]), make)


@pytest.mark.parametrize("make", [_permuted, _with_gaps, _with_start, _expanded])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_functions_on_other_strides(function: Any, make: Any):
    compare(function, make)


# Changes through `.data`, which do not count
# ------------------------------------------------------------


class _Assign(torch.autograd.Function):
    """Writes to a part of a tensor behind the back of autograd, as solvers of differential equations do."""

    @staticmethod
    def forward(ctx: Any, scratch: Any, value: Any, index: Any) -> Any:
        ctx.index = index
        scratch.data[index] = value
        return scratch

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad, grad[ctx.index], None


def _steps(x: Any, scratch: Any) -> Any:
    scratch = _Assign.apply(scratch, x, (..., 0))
    first = (scratch[..., :1] * x.unsqueeze(-1)).sum(-1)
    scratch = _Assign.apply(scratch, first * 2, (..., 1))
    return (scratch[..., :2] * x.unsqueeze(-1)).sum(-1), scratch


def _parts(x: Any, scratch: Any) -> Any:
    """A graph break between: what the first part saves is an argument of the second."""
    scratch = _Assign.apply(scratch, x, (..., 0))
    first = (scratch[..., :1] * x.unsqueeze(-1)).sum(-1)
    torch._dynamo.graph_break()
    scratch = _Assign.apply(scratch, first * 2, (..., 1))
    return (scratch[..., :2] * x.unsqueeze(-1)).sum(-1), scratch


@pytest.mark.parametrize("program", [_steps, _parts])
@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_changes_of_data_do_not_count(program: Any, backend: str):
    def outcome(function: Any) -> Any:
        torch.manual_seed(0)
        x, scratch = torch.randn(4, 2, requires_grad=True), torch.zeros(4, 2, 3)
        result, changed = function(x, scratch)
        (result.sum() + changed.exp().sum()).backward()
        return result, changed, scratch, x.grad, scratch._version

    for expected, found in zip(outcome(program), outcome(torch.compile(program, backend=backend))):
        torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_changes_of_data_without_gradients(backend: str):
    @torch.compile(backend=backend)
    def function(x: Any, y: Any) -> None:
        x.data.add_(1)
        y.mul_(2)

    x, y = torch.ones(3), torch.ones(3)
    function(x, y)
    assert x.tolist() == y.tolist() == [2.0, 2.0, 2.0]
    assert (x._version, y._version) == (0, 1)


@pytest.mark.parametrize("size", [[3, 2], [2], []])
def test_results_get_another_size(size: list[int]):
    def function(x: Any) -> Any:
        return (x + 1).resize_(size)

    compare(function, lambda: ([torch.randn(2, 3)], []))


@pytest.mark.filterwarnings("ignore:An output with one or more")
def test_results_that_give_a_view_another_size():
    """`out` grows over the memory that other tensors read."""

    def function(x: Any, y: Any) -> Any:
        values = x.clone()
        torch.add(values, y, out=values[::2])
        return values

    x, y = torch.arange(12.0).view(3, 4), torch.ones(3, 4)
    with pytest.warns(UserWarning, match="another size whose memory others read"):
        found = torch.compile(function, backend="aot_eager")(x, y)
    assert found.tolist() == function(x, y).tolist()


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_views_from_before_a_break_get_a_history(backend: str):
    def function(x: Any, y: Any) -> Any:
        view = x.view_as(x)
        torch._dynamo.graph_break()
        try:
            view[..., 0] = y.sum()
        except RuntimeError:
            return None
        return x

    def outcome(call: Any) -> Any:
        x, y = torch.ones(2, 3), torch.ones(2, requires_grad=True)
        call(x, y).sum().backward()
        return x.tolist(), y.grad.tolist()

    assert outcome(torch.compile(function, backend=backend)) == outcome(function)


def test_views_made_without_grad_stay_so():
    def function(x: Any, view: Any, y: Any) -> Any:
        view.mul_(y)
        return x * 1

    def outcome(call: Any) -> str:
        x = torch.ones(2, 3)
        with torch.no_grad():
            view = x[0]
        with pytest.raises(RuntimeError, match="created in no_grad mode") as raised:
            call(x, view, torch.ones(3, requires_grad=True))
        return str(raised.value)

    assert outcome(torch.compile(function, backend="aot_eager")) == outcome(function)


@pytest.mark.parametrize(
    "expand", [lambda x: x, lambda x: (x + 1)[:1].expand(2, 3)], ids=["argument", "inside"]
)
def test_changes_of_expanded_tensors_are_refused(expand: Any):
    """What a functional graph computes for one element says nothing of the others in its place."""
    compiled = aot_function(lambda x: expand(x).index_put_((torch.tensor([0]),), torch.ones(3)), nop)
    with pytest.raises(NotImplementedError, match="expanded tensor"):
        compiled(torch.zeros(1, 3).expand(2, 3))


@pytest.mark.parametrize("change", [lambda y: y.zero_(), lambda y: y.fill_diagonal_(3.0)])
def test_changes_of_expanded_arguments_run_eagerly(change: Any):
    def function(x: Any, y: Any) -> Any:
        change(y)
        return x * 2 + y

    compiled = torch.compile(function, backend="aot_eager")
    compiled(torch.ones(3, 4), torch.ones(3, 4))
    memory, expected = torch.ones(2, 1, 4)
    result = compiled(torch.ones(3, 4), memory.expand(3, 4))
    assert torch.equal(result, function(torch.ones(3, 4), expected.expand(3, 4)))
    assert torch.equal(memory, expected)


def test_fills_of_expanded_arguments_are_refused():
    compiled = aot_function(lambda x: x.zero_(), nop)
    with pytest.raises(NotImplementedError, match="expanded tensor"):
        compiled(torch.zeros(1, 3).expand(2, 3))


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_a_view_that_changes_its_shape_counts_as_a_change_of_its_base(backend: str) -> None:
    def function(x: Any) -> Any:
        part = x.split(1)[0]
        with torch.no_grad():
            x.squeeze(0).swapaxes_(0, 1)
        return part

    compiled = torch.compile(function, backend=backend)
    for call in (function, compiled, compiled):
        x = torch.ones(3, 4)
        part = call(x)
        assert x._version == part._version == 1
        assert x.shape == (3, 4)


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
@pytest.mark.parametrize("take", [lambda x: x[0], lambda x: x.unbind()[1], lambda x: x.detach()[0]])
def test_views_of_what_is_made_of_numbers(take: Any, backend: str) -> None:
    """They require gradients as soon as what they are views of does."""

    def function() -> Any:
        made = torch.tensor([1.0, 2.0])
        return made, take(made)

    compiled = torch.compile(function, backend=backend)
    facts = []
    for call in (function, compiled, compiled):
        made, view = call()
        made.mul_(2)
        made.requires_grad_()
        facts.append([made._is_view(), view._base is made, view.requires_grad, view.tolist(), made.tolist()])
    assert facts[0] == facts[1] == facts[2]
