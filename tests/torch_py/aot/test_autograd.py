"""Autograd around compiled functions, and inside of them."""

from __future__ import annotations

import weakref
from typing import Any

import pytest

import torch_py as torch
from tests.torch_py.aot.comparison import compare, computed, leaves, plain
from torch_py._functorch.aot import aot_function
from torch_py._functorch.compilers import nop
from torch_py.utils.checkpoint import checkpoint

S = (3, 4)


def compiled(function: Any) -> Any:
    return aot_function(function, nop)


# Around
# ------------------------------------------------------------


def test_second_derivatives_raise_with_advice():
    x = torch.randn(3, requires_grad=True)
    (gradient,) = torch.autograd.grad(compiled(torch.sin)(x).sum(), x, create_graph=True)
    assert torch.equal(gradient, x.cos())
    with pytest.raises(RuntimeError, match="double backward.*torch.compile"):
        gradient.sum().backward()


def test_backward_twice_needs_retain_graph():
    x = torch.randn(3, requires_grad=True)
    y = compiled(torch.sin)(x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert torch.allclose(x.grad, 2 * x.cos())
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.backward()


@pytest.mark.parametrize("call", [torch.exp, compiled(torch.exp)])
def test_steps_whose_gradients_lead_nowhere_check_what_they_have_saved(call: Any):
    """A view from before its base required gradients has no edge to it."""
    base = torch.zeros(3)
    view = base[:]
    base.requires_grad_()
    result = call(view)
    result.sum().backward(retain_graph=True)
    assert base.grad is None

    with torch.no_grad():
        result.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        result.sum().backward()


def _passes(function: Any, numbers: list[int]) -> list[Any]:
    """One backward after another, from the results with these numbers: the gradients, or an error."""
    x = torch.linspace(0.5, 2, 4).requires_grad_()
    results = function(x)
    found: list[Any] = []
    for number in numbers:
        try:
            found += torch.autograd.grad(results[number].sum(), x)
        except RuntimeError as error:
            found.append(str(error).partition("(")[0])
    return found


def _two_parts(x: Any) -> Any:
    return x.sin(), x.log() / x


def _a_common_part(x: Any) -> Any:
    y = x.exp()
    return y.sin(), y.log(), y + x, x.gather(0, x.argsort())


@pytest.mark.parametrize("numbers", [[0, 1], [1, 0, 1], [2, 3, 0], [3, 0, 3]])
@pytest.mark.parametrize("function", [_two_parts, _a_common_part])
def test_parts_of_a_graph_have_their_own_passes(function: Any, numbers: list[int]):
    numbers = [number % len(function(torch.ones(4))) for number in numbers]
    expected = _passes(function, numbers)
    found = _passes(compiled(function), numbers)
    for one, other in zip(expected, found):
        assert isinstance(one, str) == isinstance(other, str), (one, other)
        assert one == other if isinstance(one, str) else torch.allclose(one, other)


def test_values_are_kept_until_no_pass_can_come():
    released = []

    class Mark:
        pass

    def pack(tensor: Any) -> Any:
        mark = Mark()
        weakref.finalize(mark, released.append, tensor.shape)
        return mark, tensor

    def results(function: Any) -> Any:
        released.clear()
        x, y = torch.rand(4, requires_grad=True), torch.rand(3, requires_grad=True)
        with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed[1]):
            return compiled(function)(x, y)

    first, second = results(lambda x, y: (x.exp(), y.exp()))
    first.sum().backward()
    assert released == []
    second.sum().backward()
    assert sorted(released) == [(3,), (4,)]

    def with_loss(x: Any, y: Any) -> Any:
        logits = x.exp() * 2
        return logits, logits.sum() * y

    # A pass through the other result alone would now be an error.
    logits, loss = results(with_loss)
    loss.sum().backward()
    assert released
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        logits.sum().backward()


def test_a_later_pass_has_the_values_of_an_earlier_part():
    """Zeros are multiplied by them: with other numbers in their place, 0 / 0 came out of the division."""

    def program(x: Any, k: Any) -> Any:
        return x / k, x * x

    k = torch.tensor([1, 2, 3, 4])
    for function in (program, torch.compile(program, backend="inductor"), compiled(program)):
        x = torch.linspace(0.5, 2, 4).requires_grad_()
        first, second = function(x, k)
        first.sum().backward()
        second.sum().backward()
        assert torch.allclose(x.grad, 1 / k + 2 * x)


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_changes_of_saved_values_that_a_pass_does_not_use(backend: str):
    def program(x: Any, y: Any) -> Any:
        return x * y, x.sin()

    for function in (program, torch.compile(program, backend=backend)):
        x, y = torch.randn(4, requires_grad=True), torch.randn(4)
        product, sine = function(x, y)
        y.add_(1)
        sine.sum().backward()
        assert torch.allclose(x.grad, x.cos())
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            product.sum().backward()


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_changes_of_saved_values_that_no_gradient_needs(backend: str):
    """The derivative of bernoulli is zero; eager mode runs that of cdist all the same."""

    def program(x: Any, y: Any) -> Any:
        drawn = x.bernoulli(0.5)
        return drawn, torch.cdist(drawn, y)

    for function in (program, torch.compile(program, backend=backend)):
        for changed in (0, 1):
            x, y = torch.rand(3, 4, requires_grad=True), torch.rand(2, 4)
            drawn, distances = function(x, y)
            with torch.no_grad():
                (drawn, y)[changed].add_(1)
            drawn.sum().backward(retain_graph=True)
            assert not x.grad.any()
            with pytest.raises(RuntimeError, match="modified by an inplace operation"):
                distances.sum().backward()


@pytest.mark.parametrize("backend", [None, "aot_eager", "inductor"])
def test_changes_of_an_argument_of_which_the_program_has_changed_a_part(backend: str | None):
    def program(x: Any, w: Any) -> Any:
        part = x[:2]
        part.mul_(2)
        return w @ part.t()

    function = program if backend is None else torch.compile(program, backend=backend)
    for changes in (False, True):
        x, w = torch.ones(4, 3), torch.ones(3, 3, requires_grad=True)
        result = function(x, w)
        if not changes:
            result.sum().backward()
            continue
        x[3].add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            result.sum().backward()


@pytest.mark.parametrize("backend", [None, "aot_eager"])
def test_changes_of_the_element_of_a_product(backend: str | None):
    def program(x: Any) -> Any:
        total = x.sum()
        return total, total.prod(-1)

    function = program if backend is None else torch.compile(program, backend=backend)
    total, product = function(torch.randn(4, requires_grad=True))
    with torch.no_grad():
        total.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.backward()


def test_results_that_do_not_fit_their_history():
    def program(x: Any) -> Any:
        y = x.sin()
        with torch.no_grad():
            y.t_()
        return y

    def message(function: Any) -> str:
        with pytest.raises(RuntimeError) as raised:
            function(torch.randn(2, 3, requires_grad=True)).sum().backward()
        return str(raised.value)

    expected = message(program)
    with pytest.warns(UserWarning, match="runs eagerly.* changes the shape of a result in place"):
        assert message(torch.compile(program, backend="aot_eager")) == expected


def test_saved_values_that_change_raise():
    x = torch.randn(3, requires_grad=True)
    w = torch.randn(3)
    y = compiled(lambda x, w: x * w)(x, w)
    w.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def _changes_input(x: Any, y: Any) -> Any:
    y.relu_()
    return (x @ y,)


# What is computed again, or kept in a tensor of its own, is one that eager mode keeps.
CHANGED_LATER = {
    "recomputed": (lambda x, y: (torch.relu(x * 2 + 1), y), lambda y, result: result.add_(1)),
    "view": (lambda x, y: ((x * 3).sigmoid().view(2, 8), y), lambda y, result: result.add_(1)),
    "detached": (lambda x, y: ((x * 3).sigmoid(), y), lambda y, result: result.detach().add_(1)),
    "changed input": (_changes_input, lambda y, result: y.t_()),
    "changed again": (_changes_input, lambda y, result: y.mul_(2)),
    "not needed": (lambda x, y: (x + y,), lambda y, result: result.mul_(2)),
    "input not needed": (lambda x, y: (x + y,), lambda y, result: y.mul_(2)),
    "other output": (lambda x, y: (x.sin(), torch.relu(x * 2)), lambda y, result: None),
    "no change": (_changes_input, lambda y, result: None),
}


@pytest.mark.parametrize("name", CHANGED_LATER)
@pytest.mark.parametrize("backend", ["aot_eager", "aot_eager_decomp_partition", "inductor"])
def test_changes_after_the_call_raise_where_eager_mode_does(name: str, backend: str):
    program, change = CHANGED_LATER[name]

    def outcome(function: Any) -> Any:
        torch.manual_seed(0)
        x, y = torch.randn(4, 4, requires_grad=True), torch.randn(4, 4)
        result = function(x, y)[0]
        change(y, result)
        try:
            result.sum().backward()
        except RuntimeError as error:
            return str(error).partition(": [")[0]
        return x.grad

    expected, found = outcome(program), outcome(torch.compile(program, backend=backend))
    assert type(found) is type(expected)
    assert found == expected if isinstance(expected, str) else torch.allclose(found, expected)


def test_changes_of_what_another_output_needs_do_not_raise():
    def program(x: Any) -> Any:
        y = x * 2 + 1
        return y.sin(), torch.relu(y)

    x = torch.randn(4, requires_grad=True)
    sine, other = torch.compile(program)(x)
    other.add_(1)
    sine.sum().backward()
    assert torch.allclose(x.grad, (x * 2 + 1).cos() * 2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        sine, other = torch.compile(program)(x)
        other.add_(1)
        other.sum().backward()


def test_inputs_without_gradient_have_none():
    x = torch.randn(3, requires_grad=True)
    w = torch.randn(3, requires_grad=True)
    first, _ = compiled(lambda x, w: (x.sin(), w.cos()))(x, w)
    first.sum().backward()
    assert w.grad is None and torch.equal(x.grad, x.cos())


def test_gradients_of_any_strides():
    x = torch.randn(3, 4, requires_grad=True)
    y = compiled(lambda x: x.reshape(4, 3) * 2)(x)
    y.backward(torch.ones(1, 1).expand(4, 3))
    z = compiled(lambda x: x.reshape(4, 3) * 2)(x)
    z.backward(torch.ones(3, 4).t())
    assert torch.equal(x.grad, torch.full((3, 4), 4.0))


def test_hooks_of_results_and_arguments():
    seen: list[Any] = []
    leaf = torch.randn(3, requires_grad=True)
    x = leaf.exp()
    x.register_hook(lambda gradient: seen.append(gradient) or gradient * 2)
    y = compiled(torch.sin)(x)
    y.register_hook(lambda gradient: gradient * 3)
    y.sum().backward()
    assert torch.allclose(seen[0], 3 * x.cos()) and torch.allclose(leaf.grad, 6 * x.cos() * x)


def test_saved_tensor_hooks_around():
    packed: list[Any] = []
    x = torch.randn(3, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: packed.append(t) or t, lambda t: t):
        y = compiled(lambda x: x.exp().sin())(x)
    y.sum().backward()
    assert packed and torch.allclose(x.grad, x.exp().cos() * x.exp())


def test_without_grad_nothing_is_kept():
    x = torch.randn(3, requires_grad=True)
    f = compiled(lambda x: x.sin())
    assert f(x).requires_grad
    with torch.no_grad():
        assert not f(x).requires_grad
    with torch.inference_mode():
        assert f(x).is_inference()


def test_errors_of_the_program_are_its_own():
    def wrong(x: Any) -> Any:
        return x @ x

    with pytest.raises(RuntimeError, match="mat1 and mat2 shapes|size mismatch"):
        compiled(wrong)(torch.randn(3, 4))
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        compiled(lambda x: x.add_(1))(torch.randn(3, requires_grad=True))


# Inside
# ------------------------------------------------------------


class _Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        square = x * x
        ctx.save_for_backward(square)
        return square * x

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        (square,) = ctx.saved_tensors
        return gradient * square * 5  # not the derivative, so that one sees who computes it


class _ViewOf(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x.view(-1)

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        return gradient.view(3, 4) * 7


def _function(x: Any, y: Any) -> Any:
    return _Cube.apply(x * y)


def _view_function(x: Any, y: Any) -> Any:
    return _ViewOf.apply(x), y * 2


def _hook_inside(x: Any, y: Any) -> Any:
    z = x * y
    if z.requires_grad:
        z.register_hook(lambda gradient: gradient * 3)
    return z.sin()


def _saved_hooks_inside(x: Any, y: Any) -> Any:
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t * 2, lambda t: t / 2):
        return (x * y).exp()


def _inner_gradient(x: Any, y: Any) -> Any:
    with torch.enable_grad():
        z = x.detach().requires_grad_()
        (gradient,) = torch.autograd.grad((z**3).sum(), z)
    return gradient * y


def _checkpointed(x: Any, y: Any) -> Any:
    return checkpoint(lambda a, b: (a * b).sin().exp(), x, y, use_reentrant=False)


def _autocast(x: Any, y: Any) -> Any:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return x @ y.t()


def _transformed(x: Any, y: Any) -> Any:
    return torch.func.vmap(lambda a, b: a.dot(b))(x, y), torch.func.grad(lambda a: (a**2).sum())(x)


def _retained(x: Any, y: Any) -> Any:
    z = x * y
    return z.exp(), z


def _double(x: Any, y: Any) -> Any:
    z = (x * y).sum()
    if not z.requires_grad:
        return z
    (first,) = torch.autograd.grad((x**3 * y).sum(), x, create_graph=True)
    return first * y


FUNCTIONS = [
    _function, _view_function, _hook_inside, _saved_hooks_inside, _inner_gradient, _checkpointed, _autocast,
    _transformed, _retained, _double,
]  # fmt: skip


@pytest.mark.parametrize(
    "make", [plain(S, S), leaves(S, S), computed(S, S)], ids=["plain", "leaves", "computed"]
)
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_autograd_inside(function: Any, make: Any):
    compare(function, make)


def _dropout_checkpointed(x: Any, y: Any) -> Any:
    return checkpoint(lambda a: torch.nn.functional.dropout(a, 0.5) * y, x, use_reentrant=False)


@pytest.mark.parametrize("make", [plain(S, S), leaves(S, S)], ids=["plain", "leaves"])
def test_dropout_under_checkpoint_drops_the_same(make: Any):
    compare(_dropout_checkpointed, make)


def test_errors_of_backward_come_in_backward():
    def wrong(x: Any) -> Any:
        y = x.exp()
        z = y * 2
        y.add_(1)
        return z + y

    x = torch.randn(3, requires_grad=True)
    expected = wrong(x)
    found = compiled(wrong)(x)
    assert torch.equal(found, expected)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        found.sum().backward()


@pytest.mark.parametrize("position", [0, 1, 2])
def test_gradients_of_zero_are_those_that_arrive(position: int):
    """The derivative of round is zero, whatever arrives; the third result does not depend on x."""

    def gradients(call: Any) -> Any:
        x, y = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
        result = call(x, y)[position]
        return torch.autograd.grad(result.sum(), [x, y], allow_unused=True)

    def function(x: Any, y: Any) -> Any:
        return (x * y).round(), x * 2, y.exp()

    assert str(gradients(compiled(function))) == str(gradients(function))


@pytest.mark.parametrize(
    "function",
    [
        lambda w, y: (y.data, w * y.data),
        lambda w, y: ((data := y.data), w * data),
        lambda w, y: ((data := w.data).t(), data * w),
        lambda w, y: ((value := w * 2), (data := value.data), w * data)[1:],
        lambda w, y: (w.data, w * w),
    ],
)
def test_changes_of_data(function: Any) -> None:
    """`.data` has a version of its own: who keeps it in a graph notices its changes, and no one else does."""
    compiled = torch.compile(function, backend="aot_eager")
    errors = []
    for call in (function, compiled):
        data, product = call(torch.ones(4, 4, requires_grad=True), torch.ones(4, 4))
        data.add_(1)
        try:
            product.sum().backward()
            errors.append("")
        except RuntimeError as error:
            errors.append(str(error)[:60])
    assert errors[0] == errors[1]


def test_backward_of_results_beside_one_that_raises() -> None:
    def function(w: Any, y: Any) -> Any:
        product = w * y
        y.add_(1)
        return product, w**2

    compiled = torch.compile(function, backend="aot_eager")
    for call in (function, compiled):
        w = torch.ones(4, requires_grad=True)
        product, square = call(w, torch.ones(4))
        square.sum().backward(retain_graph=True)
        assert w.grad.tolist() == [2.0] * 4
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            product.sum().backward()


def _unsqueezed(y: Any, w: Any) -> Any:
    y.unsqueeze_(0)
    return y * w


def _transposed(y: Any, w: Any) -> Any:
    y.t_()
    y.t_().t_()
    return y @ w


@pytest.mark.parametrize("function", [_unsqueezed, _transposed])
@pytest.mark.parametrize(
    "make",
    [lambda w: torch.rand(4, 4), lambda w: w * 2, lambda w: torch.rand(5, 4)[1:], lambda w: (w * 2)[:]],
    ids=["plain", "computed", "view", "view of computed"],
)
@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_backward_keeps_arguments_that_the_program_has_reshaped(
    function: Any, make: Any, backend: str
) -> None:
    compiled = torch.compile(function, backend=backend)
    found = []
    for call in (function, compiled):
        torch.manual_seed(0)
        w = torch.rand(4, 4, requires_grad=True)
        y = make(w)
        call(y, w).sum().backward()
        found.append(w.grad)

        w = torch.rand(4, 4, requires_grad=True)
        y = make(w)
        result = call(y, w).sum()
        with torch.no_grad():
            y.mul_(2)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            result.backward()
    torch.testing.assert_close(found[0], found[1])


def test_an_argument_reshaped_after_its_use_is_an_error_of_backward() -> None:
    def function(y: Any, w: Any) -> Any:
        product = y * w
        y.unsqueeze_(0)
        return product

    for call in (function, torch.compile(function, backend="aot_eager")):
        product = call(torch.rand(4), torch.rand(4, requires_grad=True))
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            product.sum().backward()


def test_an_argument_that_shares_its_version_with_one_reshaped_later() -> None:
    def function(first: Any, second: Any, w: Any) -> Any:
        product = second * w
        first.unsqueeze_(0)
        return product

    for call in (function, torch.compile(function, backend="aot_eager")):
        both = torch.ones(6)
        product = call(both[:3], both[3:], torch.ones(3, requires_grad=True))
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            product.sum().backward()


@pytest.mark.parametrize("first", [0, 1])
def test_results_that_lead_to_what_takes_no_gradient(first: int) -> None:
    """A view from before its base required gradients leads nowhere."""

    def function(view: Any, w: Any) -> Any:
        return view * 2, w.exp()

    base = torch.ones(3)
    view = base.view(3)
    base.requires_grad_()
    results = torch.compile(function, backend="aot_eager")(view, torch.ones(3, requires_grad=True))
    for result in (results[first], results[1 - first]):
        result.sum().backward()


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_a_change_of_another_view_of_one_base_before_an_argument_is_kept(backend: str) -> None:
    """Their version is one, but what backward keeps has not changed since."""

    def function(first: Any, second: Any, w: Any) -> Any:
        first.mul_(2)
        return second * w

    found = []
    for call in (function, torch.compile(function, backend=backend)):
        both, w = torch.arange(6.0), torch.ones(3, requires_grad=True)
        call(both[:3], both[3:], w).sum().backward()
        found.append([both, w.grad])
    torch.testing.assert_close(*found)


def test_a_change_of_another_view_of_one_base_after_an_argument_is_kept() -> None:
    def function(first: Any, second: Any, w: Any) -> Any:
        product = second * w
        first.mul_(2)
        return product

    for call in (function, torch.compile(function, backend="aot_eager")):
        both = torch.arange(6.0)
        product = call(both[:3], both[3:], torch.ones(3, requires_grad=True))
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            product.sum().backward()


@pytest.mark.filterwarnings("ignore:torch.compile")  # it runs eagerly, and says so
@pytest.mark.parametrize("detach", [torch.Tensor.detach_, torch.detach_])
def test_arguments_that_are_detached_in_place(detach: Any) -> None:
    def function(x: Any, w: Any) -> Any:
        product = x * w
        detach(x)
        return product

    for call in (function, torch.compile(function, backend="aot_eager")):
        leaf = torch.ones(3, requires_grad=True)
        x = leaf * 2
        product = call(x, leaf)
        assert not x.requires_grad
        product.sum().backward()
        assert leaf.grad.tolist() == [4.0] * 3


@pytest.mark.filterwarnings("ignore:torch.compile")  # it runs eagerly, and says so
def test_leaves_that_the_program_makes_or_detaches() -> None:
    def function(x: Any) -> Any:
        doubled = x.detach_() * 2
        return torch.ones(2, requires_grad=True), torch.tensor([1.0], requires_grad=True), doubled

    for call in (function, torch.compile(function, backend="aot_eager")):
        x = torch.ones(2, requires_grad=True)
        results = call(x)
        assert [x.requires_grad, *(result.requires_grad for result in results)] == [False, True, True, False]


@pytest.mark.filterwarnings("error")  # which tell of what runs eagerly
def test_steps_on_leaves_that_are_views_of_one_tensor() -> None:
    def step(x: Any) -> Any:
        optimizer.zero_grad()
        loss = (x * leaves[0]).sum() + (leaves[1] * x).pow(2).sum()
        loss.backward()
        optimizer.step()
        return loss.detach()

    found = []
    for call in (step, torch.compile(step, backend="aot_eager")):
        memory = torch.ones(6)
        leaves = [memory[:3].requires_grad_(), memory[3:].requires_grad_()]
        optimizer = torch.optim.SGD(leaves, lr=0.1)
        found.append([*(call(torch.ones(3) * i) for i in range(3)), memory])
    torch.testing.assert_close(*found)


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_results_that_the_program_has_reshaped_are_their_own_bases(backend: str) -> None:
    def program(x: Any) -> Any:
        y = x * 2
        y.unsqueeze_(0)
        return y

    result = torch.compile(program, backend=backend)(torch.ones(2, 3))
    view = result.expand(4, 2, 3)
    result.requires_grad_()
    assert not result._is_view() and view._base is result and view.requires_grad


def test_a_view_by_strides_of_a_detached_view_that_has_a_history() -> None:
    def program(x: Any) -> Any:
        part = x[:2, :2].detach()
        part[..., 0] = x[:2, :2].sum()
        return part.as_strided((2, 2), (1, 2))

    found = []
    for call in (program, torch.compile(program, backend="aot_eager")):
        x = torch.arange(36.0).view(6, 6).requires_grad_()
        result = call(x)
        (result * torch.tensor([[1.0, 2.0], [3.0, 4.0]])).sum().backward()
        found.append((result, x.grad, x.detach()))
    torch.testing.assert_close(*found)


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.filterwarnings("ignore:Anomaly Detection")
def test_transforms_in_anomaly_mode(backend: str) -> None:
    """It looks for NaN in gradients, which those of a capture do not have."""
    compiled = torch.compile(torch.func.grad(lambda x: (x * x).sum()), backend=backend)
    with torch.autograd.detect_anomaly():
        assert torch.equal(compiled(torch.ones(3)), torch.full((3,), 2.0))
