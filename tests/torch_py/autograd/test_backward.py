"""Backward passes: gradients, accumulation, arguments of backward and grad, and errors."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import Any

import pytest

from tests.subject import only_torch_py, torch

grad = torch.autograd.grad


def leaf(*values: float) -> Any:
    return torch.tensor([float(value) for value in values], requires_grad=True)


def values(tensor: Any) -> Any:
    return tensor.detach().tolist()


# Gradients
# ------------------------------------------------------------


def test_gradients_of_a_product() -> None:
    x, w = leaf(1, 2, 3), leaf(4, 5, 6)
    (x * w).sum().backward()
    assert values(x.grad) == [4, 5, 6]
    assert values(w.grad) == [1, 2, 3]


def test_broadcast_gradients_are_summed() -> None:
    row = torch.ones(3, requires_grad=True)
    column = torch.ones(2, 1, requires_grad=True)
    scalar = torch.ones((), requires_grad=True)
    (row * column * scalar).sum().backward()
    assert values(row.grad) == [2, 2, 2]
    assert values(column.grad) == [[3], [3]]
    assert values(scalar.grad) == 6


def test_diamond_runs_each_node_once() -> None:
    x = leaf(2.0)
    y = x * x
    (y * y + y).sum().backward()
    assert values(x.grad) == [4 * 8 + 4]


def test_gradients_accumulate_in_the_same_tensor() -> None:
    x = leaf(1, 2)
    (x * 3).sum().backward()
    first = x.grad
    (x * x).sum().backward()
    assert x.grad is first
    assert values(x.grad) == [5, 7]


def test_gradients_of_two_leaves_do_not_share_memory() -> None:
    x, y = leaf(1, 2), leaf(1, 2)
    (x + y).sum().backward()
    x.grad += 1
    assert values(y.grad) == [1, 1]


@only_torch_py
def test_gradient_of_a_view_is_not_the_callers_tensor() -> None:
    x = leaf(1, 2)
    given = torch.ones(2)
    x.view(2).backward(given)
    x.grad += 1
    assert values(given) == [1, 1]


def test_gradient_has_strides_of_the_parameter() -> None:
    x = torch.ones(2, 3).t().requires_grad_()
    (x * x).sum().backward()
    assert x.grad.stride() == x.stride() == (1, 3)


def test_gradient_has_dtype_of_the_input() -> None:
    x, y = torch.ones(2, requires_grad=True), torch.ones(2, dtype=torch.float64, requires_grad=True)
    (x * y).sum().backward()
    assert (x.grad.dtype, y.grad.dtype) == (torch.float32, torch.float64)


def test_given_gradient_is_cast_to_the_dtype_of_the_output() -> None:
    x = leaf(1, 2)
    (x * x).backward(torch.ones(2, dtype=torch.float64))
    assert x.grad.dtype == torch.float32


def test_integer_factors_and_comparisons_have_no_gradient() -> None:
    x = leaf(1, 2)
    y = x * torch.tensor([1, 0])
    y.sum().backward()
    assert values(x.grad) == [1, 0]
    assert not (x > 0).requires_grad


def test_complex_gradient_of_real_input_is_real() -> None:
    x = leaf(1, 2)
    z = x * torch.tensor(1j)
    torch.view_as_real(z).sum().backward()
    assert x.grad.dtype == torch.float32
    assert values(x.grad) == [1, 1]


def test_gradient_of_an_unused_output_is_zero() -> None:
    x = leaf(3, 1, 2)
    first, _ = (x * 2).split([1, 2])
    first.sum().backward()
    assert values(x.grad) == [2, 0, 0]


# Higher order
# ------------------------------------------------------------


def test_derivatives_of_a_cube() -> None:
    x = leaf(1, 2)
    (first,) = grad((x * x * x).sum(), x, create_graph=True)
    (second,) = grad(first.sum(), x, create_graph=True)
    (third,) = grad(second.sum(), x)
    assert [values(g) for g in (first, second, third)] == [[3, 12], [6, 12], [6, 6]]
    assert first.requires_grad and not third.requires_grad


def test_higher_derivatives_through_a_saved_result() -> None:
    x = leaf(0, 1)
    y = x.exp()
    for _ in range(3):
        (y,) = grad(y.sum(), x, create_graph=True)
    torch.testing.assert_close(y.detach(), x.detach().exp())


def test_create_graph_accumulates_out_of_place() -> None:
    x = leaf(1, 2)
    (x * x).sum().backward(create_graph=True)
    first = x.grad
    (x * x).sum().backward(create_graph=True)
    assert x.grad is not first
    assert values(first) == [2, 4] and values(x.grad) == [4, 8]
    x.grad = None  # break the cycle


# retain_graph
# ------------------------------------------------------------


def test_second_backward_needs_retain_graph() -> None:
    x = leaf(1, 2)
    loss = (x * x).sum()
    loss.backward(retain_graph=True)
    loss.backward()
    assert values(x.grad) == [4, 8]

    message = r"Trying to backward through the graph a second time .*Specify retain_graph=True"
    with pytest.raises(RuntimeError, match=message):
        loss.backward()


def test_graph_without_saved_tensors_may_be_used_again() -> None:
    x = leaf(1, 2)
    loss = (x + x).sum()
    loss.backward()
    loss.backward()
    assert values(x.grad) == [4, 4]


def test_graph_is_freed_with_its_output() -> None:
    x = leaf(1, 2)

    class Token:
        pass

    # The hook, and with it the token, lives as long as the graph of y.
    token = Token()
    y = x * 2
    y.register_hook(lambda gradient, kept=token: None)
    alive = weakref.ref(token)
    del token
    loss = (y * y).sum()
    del y
    assert alive() is not None
    del loss
    gc.collect()
    assert alive() is None


# grad() and inputs=
# ------------------------------------------------------------


def test_grad_does_not_set_grad_of_leaves() -> None:
    x, w = leaf(1, 2), leaf(3, 4)
    (gradient,) = grad((x * w).sum(), [x])
    assert values(gradient) == [3, 4]
    assert x.grad is None and w.grad is None


def test_grad_of_non_leaves_and_duplicates() -> None:
    x = leaf(1, 2)
    y = x * 3
    loss = (y * y).sum()
    gradients = grad(loss, [y, x, y])
    assert [values(g) for g in gradients] == [[6, 12], [18, 36], [6, 12]]


def test_grad_of_a_tensor_with_respect_to_itself_is_one() -> None:
    x = leaf(1, 2)
    y = (x * 2).sum()
    assert values(grad(y, y)[0]) == 1


def test_grad_of_unused_input_raises_or_is_none_or_zeros() -> None:
    x, unused = leaf(1, 2), leaf(1)

    message = "at index 1 appears to not have been used in the graph. Set allow_unused=True"
    with pytest.raises(RuntimeError, match=message):
        grad((x * 2).sum(), [x, unused])

    of_used, of_unused = grad((x * 2).sum(), [x, unused], allow_unused=True)
    assert values(of_used) == [2, 2] and of_unused is None

    _, zeros = grad((x * 2).sum(), [x, unused], materialize_grads=True)
    assert values(zeros) == [0]


def test_grad_runs_only_what_leads_to_the_inputs() -> None:
    seen = []
    x = leaf(1.0)
    y = x * 2
    y.register_hook(lambda gradient: seen.append("y"))
    z = y * 3
    grad((z * z).sum(), z)
    assert seen == []


def test_backward_into_inputs_only() -> None:
    x, w = leaf(1, 2), leaf(3, 4)
    y = x * w
    (y * y).sum().backward(inputs=[x, y])
    assert values(x.grad) == [18, 64] and values(y.grad) == [6, 16]
    assert w.grad is None


def test_roots_that_depend_on_each_other() -> None:
    x = leaf(1, 2)
    inner = (x * x).sum()
    torch.autograd.backward([inner, inner * 3, inner])
    assert values(x.grad) == [10, 20]


def test_backward_from_a_leaf_sets_its_grad() -> None:
    x = leaf(1, 2)
    x.backward(torch.tensor([3.0, 4.0]))
    assert values(x.grad) == [3, 4]


@pytest.mark.parametrize(
    ("run", "message"),
    [
        (
            lambda x: torch.ones(1).backward(),
            "element 0 of tensors does not require grad and does not have a grad_fn",
        ),
        (lambda x: (x * x).backward(), "grad can be implicitly created only for scalar outputs"),
        (
            lambda x: (x * x).backward(torch.ones(2)),
            r"Mismatch in shape: grad_output\[0\] has a shape of torch.Size\(\[2\]\)",
        ),
        (lambda x: (x * x).backward(torch.ones(3, device="meta")), "expected device cpu but got meta"),
        (
            lambda x: torch.autograd.backward([x.sum(), x.sum()], [torch.ones(())]),
            "got 2 tensors and 1 gradients",
        ),
        (lambda x: grad(x.sum(), torch.ones(1)), "One of the differentiated Tensors does not require grad"),
        (lambda x: x.sum().backward(inputs=[]), "cannot be empty"),
    ],
)
def test_invalid_backward_raises(run: Any, message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        run(leaf(1, 2, 3))


# Flags
# ------------------------------------------------------------


def test_flags_of_leaves_and_of_results() -> None:
    x = leaf(1, 2)
    y = x * 2
    assert x.is_leaf and x.requires_grad and x.grad_fn is None
    assert not y.is_leaf and y.requires_grad and y.grad_fn.name() == "MulBackward0"
    with pytest.raises(RuntimeError, match="you can only change requires_grad flags of leaf variables"):
        y.requires_grad_(False)
    x.requires_grad = False
    assert not (x * 2).requires_grad


def test_only_floating_point_requires_grad() -> None:
    with pytest.raises(RuntimeError, match=r"(?i)only Tensors of floating point"):
        torch.ones(2, dtype=torch.int64).requires_grad_()


def test_leaf_frozen_after_forward_gets_no_gradient() -> None:
    x, w = leaf(1, 2), leaf(3, 4)
    loss = (x * w).sum()
    w.requires_grad_(False)
    loss.backward()
    assert values(x.grad) == [3, 4] and w.grad is None


def test_grad_modes() -> None:
    x = leaf(1, 2)
    with torch.no_grad():
        assert not (x * 2).requires_grad
        with torch.enable_grad():
            assert (x * 2).requires_grad
        assert not torch.is_grad_enabled()
    with torch.set_grad_enabled(False):
        assert not (x * 2).requires_grad
    assert (x * 2).requires_grad


def test_detach_shares_memory_and_version() -> None:
    x = leaf(1, 2)
    y = x * 1
    detached = y.detach()
    assert not detached.requires_grad and detached.is_leaf and detached.grad_fn is None
    detached.add_(1)
    assert values(y) == [2, 3] and y._version == detached._version == 1


def test_detach_in_place() -> None:
    y = leaf(1, 2) * 2
    assert y.detach_() is y
    assert y.is_leaf and not y.requires_grad
    with pytest.raises(RuntimeError, match=r"Can't detach views in-place. Use detach\(\) instead"):
        torch.zeros(3)[0].detach_()


def test_data_has_its_own_version() -> None:
    x = leaf(1, 2)
    x.data.add_(1)
    assert values(x) == [2, 3] and x._version == 0
    assert not x.data.requires_grad
    x.data = torch.ones(4)
    assert x.shape == (4,) and x.requires_grad


@pytest.mark.parametrize(
    ("assign", "message"),
    [
        (lambda x: setattr(x, "grad", torch.ones(2)), "size"),
        (lambda x: setattr(x, "grad", torch.ones(3, dtype=torch.float64)), "dtype"),
        (lambda x: setattr(x, "grad", x), "can't assign Variable as its own grad"),
        (
            lambda x: setattr(x, "data", torch.ones(3, dtype=torch.int64)),
            "must be floating point or complex dtype",
        ),
        (lambda x: setattr(x, "data", torch.ones(3, device="meta")), "incompatible tensor type"),
    ],
)
def test_invalid_assignment_raises(assign: Any, message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        assign(leaf(1, 2, 3))


def test_assigned_grad_is_added_to() -> None:
    x = leaf(1, 2)
    x.grad = torch.tensor([10.0, 20.0])
    (x * 2).sum().backward()
    assert values(x.grad) == [12, 22]
    x.grad = None
    assert x.grad is None


# Size and threads
# ------------------------------------------------------------


@pytest.mark.parametrize("backward", [True, False], ids=["with backward", "only freed"])
def test_long_graph_does_not_overflow_the_stack(backward: bool) -> None:
    x = leaf(1.0)
    y = x
    for _ in range(200_000):
        y = y * 1.0
    if backward:
        y.backward()
        assert values(x.grad) == [1]
    del y


def test_long_graph_with_saved_tensors() -> None:
    x = leaf(1.0)
    y = x
    for _ in range(50_000):
        y = y * x
    y.backward()
    assert values(x.grad) == [50_001]
    del y


def test_threads_add_to_the_gradient_of_a_common_leaf() -> None:
    x = leaf(1, 2)

    def work() -> None:
        for _ in range(200):
            (x * 2).sum().backward()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert values(x.grad) == [1600, 1600]


def test_leaves_that_changed_their_shape_since():
    """Their gradients have the new shape, if they can be broadcast to it."""
    w = torch.rand(4, 6, requires_grad=True)
    wide, turned = w * 2, w * 3
    with torch.no_grad():
        w.unsqueeze_(0)
    wide.sum().backward()
    assert w.grad is not None and w.grad.shape == (1, 4, 6)
    assert torch.equal(w.grad, torch.full((1, 4, 6), 2.0))

    w.grad = None
    with torch.no_grad():
        w.squeeze_(0).t_()
    with pytest.raises(RuntimeError, match="must match the size"):
        turned.sum().backward()
