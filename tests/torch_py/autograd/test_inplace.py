"""In-place changes: which are allowed, how they alter the history, and how saved tensors detect them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.subject import WITH_PEER, torch

graph = torch.autograd.graph

grad = torch.autograd.grad


def leaf(*values: float) -> Any:
    return torch.tensor([float(value) for value in values], requires_grad=True)


def values(tensor: Any) -> Any:
    return tensor.detach().tolist()


# Saved tensors
# ------------------------------------------------------------


def test_changed_result_is_named() -> None:
    y = leaf(1, 2, 3).exp()
    y.add_(1)
    with pytest.raises(
        RuntimeError,
        match=r"has been modified by an inplace operation: \[torch.FloatTensor \[3\]\], which is output 0 "
        r"of Exp(Backward0)?, "
        r"is at version 1; expected version 0 instead. Hint: enable anomaly detection",
    ):
        y.sum().backward()


def test_changed_input_is_named() -> None:
    b = leaf(1, 2, 3) * 1
    c = b * b
    b.add_(1)
    b.add_(1)
    with pytest.raises(
        RuntimeError,
        match=r"which is output 0 of Add(Backward0)?, is at version 2; expected version 0 instead",
    ):
        c.sum().backward()


def test_changed_leaf_is_noticed() -> None:
    x = torch.ones(2, 3, dtype=torch.float64, requires_grad=True)
    loss = (x * x).sum()
    with torch.no_grad():
        x.add_(1)
    message = r"\[torch.DoubleTensor \[2, 3\]\] is at version 1; expected version 0 instead"
    with pytest.raises(RuntimeError, match=message):
        loss.backward()


def test_changes_by_views_and_detached_tensors_are_noticed() -> None:
    for change in (lambda b: b[0].zero_(), lambda b: b.detach().zero_()):
        b = leaf(1, 2) * 1
        loss = (b * b).sum()
        change(b)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            loss.backward()


def test_changed_tensor_that_is_not_needed_is_allowed() -> None:
    x = leaf(1, 2)
    y = x + 1
    z = y * 2
    y.add_(1)
    z.sum().backward()
    assert values(x.grad) == [2, 2]


# Leaves
# ------------------------------------------------------------


def test_leaves_must_not_be_changed() -> None:
    x = leaf(1, 2)

    message = "a leaf Variable that requires grad is being used in an in-place operation."
    with pytest.raises(RuntimeError, match=message):
        x.mul_(2)
    with pytest.raises(
        RuntimeError,
        match="a view of a leaf Variable that requires grad is being used in an in-place operation.",
    ):
        x[0].mul_(2)

    with torch.no_grad():
        x.mul_(2)
    assert values(x) == [2, 4] and x.requires_grad and x.is_leaf


def test_refused_change_changes_nothing() -> None:
    x = leaf(1, 2)
    with pytest.raises(RuntimeError):
        x.add_(1)
    assert values(x) == [1, 2] and x._version == 0


def test_view_of_what_became_a_leaf() -> None:
    b = torch.zeros(3)
    v = b[0]
    b.requires_grad_()
    assert v.requires_grad and v.is_leaf and v.grad_fn is None
    with pytest.raises(RuntimeError, match="a view of a leaf Variable"):
        v.add_(1)


def test_view_that_is_a_leaf_itself() -> None:
    b = torch.zeros(3)
    v = b[0].requires_grad_()
    assert not b.requires_grad and v.is_leaf
    with pytest.raises(RuntimeError, match="a view of a leaf Variable|a leaf Variable"):
        v.add_(1)


def test_out_refuses_gradients() -> None:
    message = r"functions with out=... arguments don't support automatic differentiation"
    with pytest.raises(RuntimeError, match=message):
        torch.mul(leaf(1, 2), leaf(3, 4), out=torch.zeros(2))


# Tensors without views
# ------------------------------------------------------------


def test_chain_of_changes() -> None:
    x = leaf(1, 2)
    y = x * 1
    y.mul_(3).add_(x).exp_()
    y.sum().backward()
    torch.testing.assert_close(x.grad, 4 * (4 * x.detach()).exp())


def test_change_that_needs_the_old_value() -> None:
    x, w = leaf(1, 2), leaf(3, 4)
    y = x * 1
    y.mul_(w)
    y.sum().backward()
    assert values(w.grad) == [1, 2] and values(x.grad) == [3, 4]


def test_constant_becomes_differentiable() -> None:
    x = leaf(1, 2)
    y = torch.zeros(2)
    y.add_(x)
    assert y.requires_grad and not y.is_leaf
    y.sum().backward()
    assert values(x.grad) == [1, 1]


def test_overwritten_history_is_cut() -> None:
    x = leaf(1, 2)
    y = x * 2
    y.zero_()
    y.add_(3)
    y.sum().backward()
    assert values(x.grad) == [0, 0]


# Views
# ------------------------------------------------------------


def test_change_of_a_view_reaches_its_base() -> None:
    x, w = leaf(1, 2, 3), leaf(5.0)
    b = x * 1
    b[1].mul_(w[0])
    assert b.grad_fn.name().endswith("CopySlices")
    (b * torch.tensor([1.0, 10.0, 100.0])).sum().backward()
    assert values(x.grad) == [1, 50, 100]
    assert values(w.grad) == [20]


def test_change_of_a_constants_view() -> None:
    x = leaf(5.0)
    b = torch.tensor([1.0, 2.0, 3.0])
    v = b[1]
    v.mul_(x[0])
    assert b.requires_grad and v.requires_grad
    assert v.grad_fn.name() == "AsStridedBackward0"
    b.sum().backward()
    assert values(x.grad) == [2]


def test_other_views_follow() -> None:
    x = leaf(1, 2, 3)
    b = x * 1
    before = b.view(3)
    after = b[0:2]
    b[0].mul_(7)
    ((before * before).sum() + after.sum()).backward()
    assert values(x.grad) == [2 * 49 + 7, 5, 6]


def test_view_follows_its_base() -> None:
    x = leaf(2, 2, 2)
    b = torch.tensor([1.0, 2.0, 3.0])
    v = b[1:]
    b.mul_(x)
    assert v.requires_grad and not v.is_leaf
    v.sum().backward()
    assert values(x.grad) == [0, 2, 3]


def test_expanded_view_follows_its_base() -> None:
    x = leaf(2, 2, 2)
    b = torch.tensor([1.0, 2.0, 3.0])
    rows = b.expand(4, 3)
    b.mul_(x)
    (rows * rows).sum().backward()
    assert values(x.grad) == [4 * 2 * 2 * v * v for v in (1, 2, 3)]


def test_overlapping_view_follows_its_base() -> None:
    x = leaf(1, 2, 3, 4, 5)
    b = torch.zeros(5)
    windows = b.as_strided((3, 3), (1, 1))
    b.copy_(x * x)
    windows.sum().backward()
    assert values(x.grad) == [2 * v * n for v, n in zip((1, 2, 3, 4, 5), (1, 2, 3, 2, 1))]


def test_view_of_a_view_and_transposition() -> None:
    x = torch.arange(6.0).requires_grad_()
    b = x * 1
    b.view(2, 3).t()[1].mul_(10)
    weights = torch.arange(1.0, 7.0)
    (b * weights).sum().backward()
    assert values(x.grad) == [1, 20, 3, 4, 50, 6]


def test_assignment_by_index() -> None:
    x, w = leaf(1, 2, 3), leaf(7, 8)
    b = x * 2
    b[1:] = w
    (b * b).sum().backward()
    assert values(x.grad) == [8, 0, 0]
    assert values(w.grad) == [14, 16]


def test_changes_of_views_twice_differentiable() -> None:
    x = leaf(1, 2, 3)
    b = x * 1
    b[1:].mul_(x[:2])
    b[0].exp_()  # last, as its saved result shares the version counter of b
    loss = (b * b).sum()  # (e^x0)^2 + (x1 x0)^2 + (x2 x1)^2
    (first,) = grad(loss, x, create_graph=True)
    (second,) = grad(first.sum(), x)
    square = torch.tensor(2.0).exp().item()
    torch.testing.assert_close(first.detach(), torch.tensor([2 * square + 8, 4 + 36, 24.0]))
    torch.testing.assert_close(second, torch.tensor([4 * square + 8 + 8, 8 + 2 + 18 + 24, 24 + 8.0]))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_complex_and_real_views_of_the_same_memory(dtype: str) -> None:
    x = torch.arange(1.0, 5.0, dtype=getattr(torch, dtype)).requires_grad_()
    b = x * 1
    torch.view_as_complex(b.view(2, 2))[0].mul_(2)
    b.sum().backward()
    assert values(x.grad) == [2, 2, 1, 1]


def test_many_changes_of_views() -> None:
    x = leaf(1, 1)
    b = x * 1
    for _ in range(2000):
        b[0].mul_(1.0)
    b.sum().backward()
    assert values(x.grad) == [1, 1]


def test_change_of_a_view_without_grad_mode_is_not_recorded() -> None:
    x = leaf(1, 2)
    b = x * 1
    with torch.no_grad():
        b[0].mul_(5)
    assert b.grad_fn.name() == "MulBackward0"
    b.sum().backward()
    assert values(x.grad) == [1, 1]


# Views that must not be changed
# ------------------------------------------------------------

SEVERAL = (
    "This view is the output of a function that returns multiple views. Such functions do not allow "
    "the output views to be modified"
)
NO_GRAD = "A view was created in no_grad mode and is being modified inplace with grad mode enabled"


@pytest.mark.parametrize(
    "make",
    [lambda b: b.unbind(), lambda b: b.split(1), lambda b: b.chunk(3)],
    ids=["unbind", "split", "chunk"],
)
def test_one_of_several_views(make: Any) -> None:
    b = leaf(1, 2, 3) * 1
    views = make(b)
    with pytest.raises(
        RuntimeError, match=r"Output 1 of \w+ is a view and is being modified inplace. " + SEVERAL
    ):
        views[1].mul_(2)


def test_a_view_of_one_of_several_views() -> None:
    b = leaf(1, 2, 3) * 1
    with pytest.raises(RuntimeError, match=SEVERAL):
        b.chunk(2)[0][0] = 2

    plain = torch.zeros(4)
    with pytest.raises(RuntimeError, match=SEVERAL):
        plain.chunk(2)[0][:1] = leaf(2.0)


def test_one_of_several_views_whose_base_changed() -> None:
    b = leaf(1, 2, 3) * 1
    views = b.unbind()
    b.mul_(2)
    with pytest.raises(
        RuntimeError,
        match="Output 0 of Unbind is a view and its base or another view of its base has been modified "
        "inplace",
    ):
        views[0] * 2


@pytest.mark.parametrize("make_base", [lambda: leaf(1, 2), lambda: leaf(1, 2) * 1], ids=["leaf", "non-leaf"])
def test_view_made_without_grad_mode(make_base: Any) -> None:
    b = make_base()
    with torch.no_grad():
        v = b[0]
    assert v.requires_grad and v.is_leaf and v.grad_fn is None
    with pytest.raises(RuntimeError, match=NO_GRAD):
        v.mul_(2)
    with torch.no_grad():
        v.mul_(2)


def test_constant_view_made_without_grad_mode() -> None:
    b = torch.zeros(3)
    with torch.no_grad():
        v = b[0]
    with pytest.raises(RuntimeError, match=NO_GRAD):
        v.mul_(leaf(2.0)[0])
    v.mul_(2)  # nothing to record


# Inputs that are not saved
# ------------------------------------------------------------


@pytest.mark.parametrize("join", [torch.cat, torch.stack, torch.hstack, torch.vstack])
def test_joined_tensors_may_change(join: Any) -> None:
    x = leaf(1, 2)
    a = x * 1
    y = join([a, a])
    a.add_(1)
    y.sum().backward()
    assert values(x.grad) == [2, 2]


def test_gradients_of_joined_tensors_keep_shape_and_dtype() -> None:
    empty = torch.empty(0, requires_grad=True)
    row = torch.ones(1, 2, requires_grad=True)
    torch.cat([empty, row, row], 1).sum().backward()
    assert empty.grad.shape == (0,) and values(row.grad) == [[2, 2]]
    real = leaf(1, 2)
    joined = torch.cat([real, torch.ones(1, dtype=torch.complex64)])
    (joined * 1j).abs().sum().backward()
    assert real.grad.dtype == torch.float32 and values(real.grad) == [1, 1]


def test_linear_saves_what_the_other_gradient_needs() -> None:
    x = torch.ones(2, 3, requires_grad=True)
    a = x * 1
    y = torch.nn.functional.linear(a, torch.ones(4, 3), torch.ones(4, requires_grad=True))
    a.add_(1)
    y.sum().backward()
    assert values(x.grad) == [[4] * 3] * 2

    w = torch.ones(4, 3, requires_grad=True)
    b = w * 1
    y = torch.nn.functional.linear(torch.ones(2, 3), b)
    b.add_(1)
    y.sum().backward()
    assert values(w.grad) == [[2] * 3] * 4


@pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 2, 3), (0, 3)])
@pytest.mark.parametrize("weight", [(4, 3), (3,)])
def test_gradients_of_linear(shape: Any, weight: Any) -> None:
    if WITH_PEER and len(weight) == 1 and len(shape) == 2:
        pytest.skip("PyTorch adds no bias to what a vector gives for a matrix")
    x = torch.randn(shape, dtype=torch.float64, requires_grad=True)
    w = torch.randn(weight, dtype=torch.float64, requires_grad=True)
    b = torch.randn(weight[:-1], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(torch.nn.functional.linear, (x, w, b))
    assert torch.autograd.gradgradcheck(torch.nn.functional.linear, (x, w, b))


def test_division_does_not_save_its_result() -> None:
    x = leaf(1, 1)
    (x * 1).div_(4).add_(1).sum().backward()
    assert values(x.grad) == [0.25, 0.25]

    for divide in (
        lambda a: 3 / a,
        lambda a: torch.div(torch.full((2,), 3.0), a),
        lambda a: torch.full((2,), 3.0).div_(a),
    ):
        a = leaf(1, 2)
        y = divide(a)
        y.add_(1)
        y.sum().backward()
        assert values(a.grad) == [-3, -0.75]


# Results are not hidden views
# ------------------------------------------------------------


def test_embeddings_may_be_changed() -> None:
    weight = torch.ones(5, 2, requires_grad=True)
    y = torch.nn.functional.embedding(torch.tensor([[0, 1]]), weight)
    assert not y._is_view()
    y.mul_(2.0)
    y.sum().backward()
    assert values(weight.grad) == [[2, 2], [2, 2], [0, 0], [0, 0], [0, 0]]


# Edges of domains
# ------------------------------------------------------------


def test_gradients_at_edges() -> None:
    y, x = leaf(0, 0, 1), leaf(0, 2, 0)
    torch.atan2(y, x).sum().backward()
    assert values(y.grad) == [0, 0.5, 0] and values(x.grad) == [0, 0, -1]
    z = leaf(-1, 1, 0, 2)
    torch.nn.functional.hardtanh(z).sum().backward()
    assert values(z.grad) == [0, 0, 1, 0]
    z = leaf(0, 6, 3)
    torch.nn.functional.relu6(z).sum().backward()
    assert values(z.grad) == [0, 0, 1]


def test_maximum_overwritten_behind_autograds_back() -> None:
    x = leaf(-1, 1, 0)
    y = x * 1
    top = y.max()
    y.data.fill_(7)
    top.backward()
    assert values(x.grad) == [0, 0, 0]


def test_saved_tensors_may_change_where_mutation_is_allowed() -> None:
    with graph.allow_mutation_on_saved_tensors() as context:
        x = torch.tensor([0.0, 1.0], requires_grad=True)
        y = x.exp()
        squared = y * y
        factor = torch.tensor([2.0, 3.0])
        product = x * factor

        y.zero_()
        factor[0] = 7
        factor += 1
        squared.sum().backward()
        torch.testing.assert_close(x.grad, 2 * torch.exp(2 * x.detach()))

        x.grad = None
        product.sum().backward()
        assert x.grad.tolist() == [2, 3]

        out = torch.ones(2)
        total = (x * out).sum()
        torch.add(out, 1, out=out)
        with pytest.raises(RuntimeError, match="nested"), graph.allow_mutation_on_saved_tensors():
            pass
        total.backward()
        assert x.grad.tolist() == [3, 4]

        forgotten = (x * factor).sum()
        context.clear()
        with pytest.raises(AssertionError, match="outside of the 'allow_mutation_on_saved_tensors' context"):
            forgotten.backward()
        assert x.grad.tolist() == [3, 4]

        late = (x * factor).sum()
    with pytest.raises(AssertionError, match="outside of the 'allow_mutation_on_saved_tensors' context"):
        late.backward()


def test_increment_version_invalidates_saved_tensors() -> None:
    x, y = torch.ones(2), torch.ones(2)
    before = x._version
    graph.increment_version(x)
    graph.increment_version([x, y])
    assert x._version == before + 2
    a = torch.ones(2, requires_grad=True)
    b = a * y
    graph.increment_version(y)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        b.sum().backward()
