"""torch.autograd.Function: custom operations, dirty inputs, backward inside backward, gradcheck."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

from tests.subject import only_torch_py, torch

Function = torch.autograd.Function
grad = torch.autograd.grad


def leaf(*values: float) -> Any:
    return torch.tensor([float(value) for value in values], requires_grad=True)


def values(tensor: Any) -> Any:
    return tensor.detach().tolist()


class Cube(Function):
    @staticmethod
    def forward(ctx: Any, x: Any, scale: float = 1.0) -> Any:
        ctx.save_for_backward(x)
        ctx.scale = scale
        return x * x * x * scale

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        (x,) = ctx.saved_tensors
        return gradient * 3 * x * x * ctx.scale, None


class Exp(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        result = x.exp()
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        (result,) = ctx.saved_tensors
        return gradient * result


def returning(value: Any) -> Any:
    """A Function that doubles its input and whose backward returns `value`."""

    class Doubled(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            return value(gradient)

    return Doubled


# Custom operations
# ------------------------------------------------------------


def test_gradient_and_arguments() -> None:
    x = leaf(1, 2)
    y = Cube.apply(x, 2.0)
    assert "Cube" in y.grad_fn.name()
    y.sum().backward()
    assert values(x.grad) == [6, 24]


def test_higher_order() -> None:
    x = leaf(1, 2)
    (first,) = grad(Cube.apply(x).sum(), x, create_graph=True)
    (second,) = grad(first.sum(), x)
    assert values(second) == [6, 12]


def test_saved_result_has_its_history() -> None:
    x = leaf(0, 1)
    y = Exp.apply(x)
    for _ in range(2):
        (y,) = grad(y.sum(), x, create_graph=True)
    torch.testing.assert_close(y.detach(), x.detach().exp())


def test_nothing_is_recorded_for_constants() -> None:
    assert not Cube.apply(torch.ones(2)).requires_grad
    with torch.no_grad():
        assert not Cube.apply(leaf(1.0)).requires_grad


def test_saved_tensors_are_released_and_checked() -> None:
    x = leaf(1, 2)
    y = Cube.apply(x).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.backward()
    b = x * 1
    y = Cube.apply(b).sum()
    b.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_undefined_gradients() -> None:
    seen = []

    class Two(Function):
        @staticmethod
        def forward(ctx: Any, x: Any, materialize: bool) -> Any:
            ctx.set_materialize_grads(materialize)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx: Any, first: Any, second: Any) -> Any:
            seen.append(None if second is None else values(second))
            return first, None

    x = leaf(1, 2)
    Two.apply(x, True)[0].sum().backward()
    Two.apply(x, False)[0].sum().backward()
    assert seen == [[0, 0], None]


def test_non_differentiable_output() -> None:
    class Split(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            marked = x * 3
            ctx.mark_non_differentiable(marked)
            return x * 2, marked

        @staticmethod
        def backward(ctx: Any, first: Any, marked: Any) -> Any:
            return first * 2

    x = leaf(1, 2)
    first, marked = Split.apply(x)
    assert first.requires_grad and not marked.requires_grad
    first.sum().backward()
    assert values(x.grad) == [2, 2]


def test_needs_input_grad() -> None:
    seen = []

    class Product(Function):
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            ctx.save_for_backward(x, y)
            return x * y

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            seen.append(ctx.needs_input_grad)
            x, y = ctx.saved_tensors
            return gradient * y, None

    x = leaf(1, 2)
    Product.apply(x, torch.tensor([3.0, 4.0])).sum().backward()
    assert seen == [(True, False)] and values(x.grad) == [3, 4]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (
            lambda g: torch.ones(2),
            r"returned an invalid gradient at index 0 - got \[2\] but expected shape compatible with \[3\]",
        ),
        (
            lambda g: torch.ones(3, device="meta"),
            "returned an invalid gradient at index 0 - expected device cpu but got meta",
        ),
        (lambda g: (g, g), r"returned an incorrect number of gradients \(expected 1, got 2\)"),
    ],
)
def test_bad_gradients(value: Any, message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        returning(value).apply(leaf(1, 2, 3)).sum().backward()


def test_gradients_are_adapted() -> None:
    x = leaf(1, 2, 3)
    assert values(grad(returning(lambda g: torch.ones(5, 3)).apply(x).sum(), x)[0]) == [5, 5, 5]
    adapted = grad(returning(lambda g: torch.ones(3, dtype=torch.float64)).apply(x).sum(), x)[0]
    assert adapted.dtype == torch.float32
    assert grad(returning(lambda g: None).apply(x).sum(), x, allow_unused=True)[0] is None


def test_error_in_backward_leaves_a_clean_state() -> None:
    def fail(gradient: Any) -> Any:
        raise ZeroDivisionError("in backward")

    x = leaf(1, 2)
    with pytest.raises(ZeroDivisionError, match="in backward"):
        (returning(fail).apply(x) * x).sum().backward()
    assert torch.is_grad_enabled()
    x.grad = None
    (x * x).sum().backward()
    assert values(x.grad) == [2, 4]


# Inputs that are returned
# ------------------------------------------------------------


class AddOne(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.mark_dirty(x)
        return x.add_(1)

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        return gradient * 2


class Identity(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        return gradient * 2


def test_dirty_input() -> None:
    x = leaf(1, 2)
    b = x * 1
    c = AddOne.apply(b)
    assert c is b and "AddOne" in b.grad_fn.name()
    b.sum().backward()
    assert values(x.grad) == [2, 2]
    message = "a leaf Variable that requires grad has been used in an in-place operation."
    with pytest.raises(RuntimeError, match=message):
        AddOne.apply(leaf(1, 2))


def test_dirty_view() -> None:
    x = leaf(1, 2)
    b = x * 1
    AddOne.apply(b[:1])
    assert b.grad_fn.name().endswith("CopySlices")
    b.sum().backward()
    assert values(x.grad) == [2, 1]


def test_dirty_input_must_be_returned() -> None:
    class Forgotten(AddOne):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.mark_dirty(x)
            return x.add_(1) * 2

    with pytest.raises(
        RuntimeError,
        match="Some elements marked as dirty during the forward method were not returned as output",
    ):
        Forgotten.apply(leaf(1, 2) * 1)


def test_returned_input_becomes_a_view() -> None:
    x = leaf(1, 2)
    y = Identity.apply(x)
    assert y is not x and y._base is x
    y.sum().backward()
    assert values(x.grad) == [2, 2]
    with pytest.raises(
        RuntimeError,
        match="Output 0 of Identity is a view and is being modified inplace. This view was created inside a "
        "cus",
    ):
        Identity.apply(x * 1).mul_(2)


# Backward passes inside backward passes
# ------------------------------------------------------------


class Reentrant(Function):
    """Computes its gradient by a backward pass of its own, `depth` levels deep."""

    @staticmethod
    def forward(ctx: Any, x: Any, depth: int) -> Any:
        ctx.save_for_backward(x)
        ctx.depth = depth
        return x * x

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        (x,) = ctx.saved_tensors
        with torch.enable_grad():
            inner = x.detach().requires_grad_()
            loss = (inner * inner if ctx.depth == 0 else Reentrant.apply(inner, ctx.depth - 1)).sum()
        loss.backward()
        return gradient * inner.grad, None


@pytest.mark.parametrize("depth", [0, 1, 200])
def test_reentrant(depth: int) -> None:
    x = leaf(1, 2)
    Reentrant.apply(x, depth).sum().backward()
    assert values(x.grad) == [2, 4]


# gradcheck
# ------------------------------------------------------------


def test_gradcheck() -> None:
    x = torch.tensor([0.3, -0.7], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda t: Cube.apply(t).sum(), (x,))
    assert torch.autograd.gradgradcheck(lambda t: Cube.apply(t).sum(), (x,))
    with pytest.raises(RuntimeError, match="Jacobian mismatch"):
        torch.autograd.gradcheck(returning(lambda gradient: gradient * 3).apply, (x,))


def test_gradcheck_of_changes_in_place() -> None:
    def change(x: Any, w: Any) -> Any:
        b = x * 1
        b[1:].mul_(w)
        b[:2].exp_()
        return b

    x = torch.tensor([0.3, -0.7, 0.2], dtype=torch.float64, requires_grad=True)
    w = torch.tensor([1.5, 0.5], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(change, (x, w))
    assert torch.autograd.gradgradcheck(change, (x, w))


class AddToSecond(Function):
    @staticmethod
    def forward(ctx: Any, scale: Any, x: Any) -> Any:
        ctx.mark_dirty(x)
        return x.add_(1)

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        return None, gradient * 2


@only_torch_py  # PyTorch passes zeros to the rest of the base
def test_dirty_view_behind_other_arguments() -> None:
    x = leaf(1, 2)
    b = x * 1
    AddToSecond.apply(torch.ones(1), b[:1])
    b.sum().backward()
    assert values(x.grad) == [2, 1]


def test_dirty_inputs_count_as_changed() -> None:
    class Quiet(AddOne):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            x.data.add_(1)
            ctx.mark_dirty(x)
            return x

    plain = torch.ones(2)
    tracked = leaf(1, 2) * 1
    Quiet.apply(plain)
    assert plain._version == 1
    y = tracked * tracked
    Quiet.apply(tracked)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_complex_gradient_of_a_real_input_is_refused() -> None:
    class Wrong(Identity):
        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            return gradient * (1 + 2j)

    x = leaf(1, 2)
    with pytest.raises(RuntimeError):
        Wrong.apply(x).sum().backward()
    assert x.grad is None


def test_keyword_arguments() -> None:
    class Scaled(Function):
        @staticmethod
        def forward(ctx: Any, x: Any, scale: float = 2.0) -> Any:
            ctx.scale = scale
            return x * scale

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            return gradient * ctx.scale, None

    x = leaf(1, 2)
    Scaled.apply(x, scale=3.0).sum().backward()
    assert values(x.grad) == [3, 3]


def test_keyword_arguments_with_setup_context() -> None:
    class Scaled(Function):
        @staticmethod
        def forward(x: Any, scale: float = 2.0) -> Any:
            return x * scale

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.scale = inputs[1]

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            return gradient * ctx.scale, None

    for arguments, factor in (({}, 2), ({"scale": 3.0}, 3)):
        x = leaf(1, 2)
        Scaled.apply(x, **arguments).sum().backward()
        assert values(x.grad) == [factor, factor]
    x = leaf(1, 2)
    Scaled.apply(x=x).sum().backward()
    assert values(x.grad) == [2, 2]


@pytest.mark.parametrize("result", [5, None, [1, 2], "text"])
def test_results_that_are_not_tensors_pass_through(result: Any) -> None:
    class Other(Identity):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return result

    assert Other.apply(leaf(1)) == result


def test_result_kept_by_its_own_context_is_collected() -> None:
    class Keeps(Identity):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.result = x * 2
            return ctx.result

    y = Keeps.apply(leaf(1, 2))
    watched = weakref.ref(y)
    z = y * y
    z.sum().backward()
    del y, z
    gc.collect()
    assert watched() is None


def test_attributes_and_weak_references_survive_in_saved_tensors() -> None:
    class Own(torch.Tensor):
        __torch_function__ = torch._C._disabled_torch_function_impl

    for made in (leaf(1, 2) * 1, (leaf(1, 2) * 1).as_subclass(Own)):
        made.note = [1]
        kind = type(made)
        watched = weakref.ref(made)
        z = made * made
        del made
        gc.collect()
        saved = z.grad_fn._saved_self
        assert saved.note == [1] and type(saved) is kind and watched() is saved


def test_saved_attributes() -> None:
    a, b = leaf(1, 2), leaf(3, 4)
    product = a * b
    assert product.grad_fn._saved_self is a and product.grad_fn._saved_other is b
    assert "_saved_other" in dir(product.grad_fn)
    y = a.exp()
    assert y.grad_fn._saved_result.grad_fn is y.grad_fn
    with pytest.raises(AttributeError):
        y.grad_fn._saved_nothing  # noqa: B018
    y.sum().backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.grad_fn._saved_result  # noqa: B018


def test_gradcheck_ignores_detached_results() -> None:
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: (x * 2, x.detach()), (x,))
    with pytest.raises(RuntimeError, match="Numerical gradient for function expected to be zero"):
        torch.autograd.gradcheck(lambda x: x.detach(), (x,))
    with pytest.raises(ValueError, match="but none of them have requires_grad=True"):
        torch.autograd.gradcheck(lambda x: x, (x.detach(),))


def test_classes_may_be_decorated_with_a_warning() -> None:
    with pytest.warns(FutureWarning, match="Decorating classes is deprecated"):

        @torch.no_grad()
        class Model:
            def __init__(self) -> None:
                self.recorded = torch.is_grad_enabled()

    assert not Model().recorded


def test_arguments_may_have_any_attribute() -> None:
    class Answering:
        def __getattr__(self, name: str) -> Any:
            return lambda *arguments: "not asked"

    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, other: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            return gradient * 2, None

    assert Scale.apply(torch.ones(1, requires_grad=True), Answering()).tolist() == [2]


@pytest.mark.parametrize("split", ["chunk", "unbind", "split_with_sizes"])
def test_a_function_without_a_gradient_of_one_of_several_results(split: str) -> None:
    class Stop(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 1

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            return None

    x = leaf(1, 2, 3)
    pieces = {"chunk": [2], "unbind": [0], "split_with_sizes": [[1, 2]]}[split]
    Stop.apply(getattr(x, split)(*pieces)[0]).sum().backward()
    assert x.grad is None
