"""vmap takes a whole batch at once where members have indices, matrices or random numbers of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.subject import only_torch_py, torch
from torch_py.utils._python_dispatch import TorchDispatchMode

F = torch.nn.functional
vmap = torch.func.vmap


def numbers(*shape: int) -> Any:
    return torch.linspace(-2, 2, torch.Size(shape).numel()).reshape(shape)


def places(*rows: list[int]) -> Any:
    return torch.tensor(rows)


X = numbers(3, 4, 5)
OWN = places([0, 2], [3, 1], [1, 1])  # of each member
HEADS = numbers(3, 2, 2, 3, 4)
SPD = torch.stack([torch.eye(4) * k + 0.1 for k in (1, 2, 3)])

# A function of the members of each tensor.
CASES: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "index_select": (lambda x, i: x.index_select(0, i), (X, OWN)),
    "index_add": (lambda x, i: x.index_add(-2, i, x[:2], alpha=2), (X, OWN)),
    "index_copy": (lambda x, i: x.index_copy(0, i, x[2:]), (X, places([0, 2], [3, 1], [1, 2]))),
    "index_fill": (lambda x, i: x.index_fill(1, i - 2, 7.0), (X, OWN)),
    "index_fill_tensor": (lambda x, i: x.index_fill(1, i, x.sum()), (X, OWN)),
    "index_fill_": (lambda x, i: x.clone().index_fill_(1, i, 7.0), (X, OWN)),
    "put": (lambda x, i: x.put(i, x[0, :2], accumulate=True), (X, OWN)),
    "set_rows": (lambda x, i: x.index_put((i,), x[:2]), (X, places([0, 2], [3, 1], [1, 2]))),
    "set_columns": (lambda x, i: x.index_put((None, i), x[:, :2]), (X, places([0, 2], [3, 1], [1, 2]))),
    "set_apart": (
        lambda x, i: x.expand(2, 4, 5).index_put((i % 2, None, i), x[:2, :4]),
        (X, places([0, 3], [3, 2], [1, 2])),
    ),
    "embedding": (lambda w, i: F.embedding(i, w), (X, OWN)),
    "searchsorted": (lambda x, v: torch.searchsorted(x[0], v), (X, X)),
    "searchsorted_rows": (lambda x, v: torch.searchsorted(x, v), (X, X)),
    "bucketize": (lambda x: torch.bucketize(x, torch.tensor([-1.0, 0, 1])), (X,)),
    "isin": (lambda i: torch.isin(i, torch.tensor([1, 3])), (OWN,)),
    "select_scatter": (lambda x, y: x.select_scatter(y, -1, 2), (X, numbers(3, 4))),
    "diag_embed": (lambda x: torch.diag_embed(x, 1), (X,)),
    "diagflat": (lambda x: torch.diagflat(x[0]), (X,)),
    "one_hot": (lambda i: F.one_hot(i, 5), (OWN,)),
    "matrix_rank": (torch.linalg.matrix_rank, (SPD,)),
    "pinv": (lambda a, tol: torch.linalg.pinv(a, rtol=tol), (SPD, torch.tensor([1e-3, 0.5, 1e-5]))),
    "cholesky_solve": (lambda a, x: torch.cholesky_solve(x, torch.linalg.cholesky(a)), (SPD, X)),
    "lu_solve": (lambda a, x: torch.linalg.lu_solve(*torch.linalg.lu_factor(a), x), (SPD, X)),
    "solve": (torch.linalg.solve, (SPD, X)),
    "solve_vectors": (torch.linalg.solve, (SPD, X[:, :, 0])),
    "solve_with_one_matrix": (lambda x: torch.linalg.solve(SPD[0], x), (X,)),
    "cdist": (torch.cdist, (X, X * 2)),
    "unfold": (lambda x: F.unfold(x[None], (2, 2)), (X,)),
    "grid_sample": (
        lambda x, g: F.grid_sample(x[None, None], g[None], align_corners=False),
        (X, numbers(3, 2, 2, 2) / 2),
    ),
    "attention": (F.scaled_dot_product_attention, (HEADS, HEADS + 1, HEADS * 2)),
    "attention_with_masks": (
        lambda x, mask: F.scaled_dot_product_attention(x, x, x, attn_mask=mask),
        (HEADS, numbers(3, 3, 3)),
    ),
    "batch_norm": (lambda x, w: F.batch_norm(x, None, None, w, w, training=True), (X, numbers(3, 5))),
    "batch_norm_of_statistics": (lambda x, m: F.batch_norm(x, m, m * m + 1), (X, numbers(3, 5))),
    "unpool": (
        lambda x: F.max_unpool2d(*F.max_pool2d(x[None, :, :4], 2, return_indices=True), 2),
        (X,),
    ),
}


class Counted(TorchDispatchMode):
    calls = 0

    def __torch_dispatch__(self, operator: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.calls += 1
        return operator(*args, **(kwargs or {}))


@pytest.mark.parametrize("name", CASES)
@only_torch_py
def test_the_batch_at_once(name: str) -> None:
    """A batch of twice the size has the same results, and takes as many calls."""
    function, batches = CASES[name]
    expected = torch.stack([function(*members) for members in zip(*batches)])
    counts = []
    for given in (batches, [torch.cat([b, b]) for b in batches]):
        with Counted() as counted:
            result = vmap(function)(*given)
        counts.append(counted.calls)
        torch.testing.assert_close(result[: len(expected)], expected)
    assert counts[0] == counts[1]


PLANES: dict[str, Callable[..., Any]] = {
    "convolution": lambda x, w: F.conv2d(x, w, padding=1),
    "convolution of one image": lambda x, w: F.conv2d(x[0], w),
    "avg_pool": lambda x, w: F.avg_pool2d(x, 2),
    "max_pool": lambda x, w: F.max_pool2d(x, 2),
    "interpolate": lambda x, w: F.interpolate(x, scale_factor=2, mode="bilinear"),
    "pad": lambda x, w: F.pad(x, (1, 1, 0, 2), mode="reflect"),
    "pad of one image": lambda x, w: F.pad(x[0], (1, 1, 0, 2), mode="replicate"),
}


@pytest.mark.parametrize("name", PLANES)
@only_torch_py
def test_batched_gradients_at_once(name: str) -> None:
    """The members are weights of a graph that was recorded outside."""
    x, w = numbers(2, 2, 4, 5).requires_grad_(), numbers(3, 2, 2, 2).requires_grad_()
    output = PLANES[name](x, w)
    weights = torch.stack([output.detach() * k for k in (1, -1, 0.5)])

    def gradients(rows: Any) -> tuple[list[Any], int]:
        with Counted() as counted:
            found = torch.autograd.grad(
                output, (x, w), rows, retain_graph=True, allow_unused=True, is_grads_batched=True
            )
        return [g for g in found if g is not None], counted.calls

    found, calls = gradients(weights)
    expected = torch.autograd.grad(output, (x, w), output.detach(), retain_graph=True, allow_unused=True)
    for gradient, row in zip(found, expected):
        torch.testing.assert_close(gradient, torch.stack([row, -row, row / 2]))
    assert calls == gradients(torch.cat([weights, weights]))[1]


@pytest.mark.parametrize(
    "draw",
    [
        torch.bernoulli,
        torch.poisson,
        lambda p: torch.normal(p, 1.0),
        lambda p: torch.normal(p, torch.tensor([0.5, 1, 2])),
        lambda p: torch.binomial(torch.tensor([5.0, 6, 7]), p),
        lambda p: torch.multinomial(p, 2),
        lambda p: torch.zeros_like(p).bernoulli_(p),
        lambda p: p.clone().exponential_(),
        torch.rand_like,
        lambda p: torch.distributions.Gamma(p, 1.0, validate_args=False).sample(),
    ],
)
@only_torch_py
def test_random_numbers_of_the_batch_at_once(draw: Callable[[Any], Any]) -> None:
    """They are those of the batch outside of vmap."""
    batch = torch.tensor([[0.2, 0.5, 0.9], [0.4, 0.3, 0.1]])
    torch.manual_seed(3)
    expected = draw(batch)
    torch.manual_seed(3)
    assert torch.equal(vmap(draw, randomness="different")(batch), expected)


@only_torch_py
def test_no_row_of_another_member() -> None:
    tables = torch.arange(12.0).reshape(2, 3, 2)
    for wrong in (3, -1):
        with pytest.raises(IndexError):
            vmap(lambda table, i: F.embedding(i, table))(tables, torch.tensor([[0, wrong], [0, 1]]))
    with pytest.raises((IndexError, RuntimeError)):
        vmap(lambda table, i: table.index_select(0, i))(tables, torch.tensor([[0, 3], [0, 1]]))


def test_members_written_into_what_they_share() -> None:
    shared = torch.zeros(3)
    rows = torch.tensor([[1.0, 2, 3], [4, 5, 6]])
    index = torch.tensor([2])
    result = vmap(lambda row: shared.index_copy(0, index, row[:1]))(rows)
    assert result.tolist() == [[0, 0, 1], [0, 0, 4]]
    result = vmap(lambda row: shared.index_put((index,), row[:1]))(rows)
    assert result.tolist() == [[0, 0, 1], [0, 0, 4]] and not shared.any()


def test_products_that_do_not_depend_on_the_batch() -> None:
    added = torch.ones(2, 3, 3)
    left, right = torch.ones(3, 3), torch.eye(3)
    assert vmap(lambda a: torch.addmm(a, left, right, beta=0))(added).shape == (2, 3, 3)


def test_a_tangent_written_into_new_memory() -> None:
    def function(x: Any) -> Any:
        result = torch.zeros_like(x)
        result[1:] = x[1:] * 2
        return result

    value, tangent = torch.func.jvp(function, (torch.arange(3.0),), (torch.ones(3),))
    assert value.tolist() == [0, 2, 4] and tangent.tolist() == [0, 2, 2]
