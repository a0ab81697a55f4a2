"""Linear algebra beyond the samples: large and many matrices, phases of vectors, singular ones, einsum."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

from tests.subject import WITH_PEER, only_torch_py, torch


def matrices(*shape: int, dtype: str = "float64", seed: int = 0) -> object:
    random = np.random.default_rng(seed)
    values = random.standard_normal(shape)
    if dtype.startswith("complex"):
        values = values + 1j * random.standard_normal(shape)
    return torch.from_numpy(np.asarray(values)).to(getattr(torch, dtype))


def adjoint(a):
    return a.transpose(-2, -1).conj()


DTYPES = ("float32", "float64", "complex64", "complex128")


def close(a, b, dtype: str, factor: float = 1.0) -> bool:
    tolerance = factor * (1e-3 if dtype in ("float32", "complex64") else 1e-9)
    return bool((a - b).abs().max() < tolerance)


# Large matrices and batches, for which threads and blocked algorithms are used


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(150, 150), (300, 6, 6), (2, 3, 40, 40)], ids=str)
def test_factors_multiply_to_the_matrix(shape: tuple[int, ...], dtype: str):
    a = matrices(*shape, dtype=dtype)
    n = shape[-1]
    identity = torch.eye(n, dtype=a.dtype)

    p, lower, upper = torch.linalg.lu(a)
    assert close(p @ lower @ upper, a, dtype)

    q, r = torch.linalg.qr(a)
    assert close(q @ r, a, dtype) and close(adjoint(q) @ q, identity, dtype)

    u, s, vh = torch.linalg.svd(a)
    assert close((u * s.unsqueeze(-2)) @ vh, a, dtype) and bool((s[..., :-1] >= s[..., 1:]).all())

    hermitian = a + adjoint(a)
    values, vectors = torch.linalg.eigh(hermitian)
    assert close((vectors * values.unsqueeze(-2)) @ adjoint(vectors), hermitian, dtype)

    positive = a @ adjoint(a) + n * identity
    factor = torch.linalg.cholesky(positive)
    assert close(factor @ adjoint(factor), positive, dtype)

    b = matrices(*shape[:-1], 3, dtype=dtype, seed=1)
    assert close(positive @ torch.linalg.solve(positive, b), b, dtype)
    assert close(positive @ torch.cholesky_solve(b, factor), b, dtype)
    assert close(positive @ torch.linalg.inv(positive), identity, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_eigenvectors_of_general_matrices(dtype: str):
    a = matrices(20, 7, 7, dtype=dtype)
    values, vectors = torch.linalg.eig(a)
    assert close(a.to(vectors.dtype) @ vectors, vectors * values.unsqueeze(-2), dtype)
    assert close(torch.linalg.vector_norm(vectors, dim=-2), torch.ones(20, 7), dtype)


def test_results_do_not_depend_on_threads():
    a = matrices(64, 12, 12)
    threads = torch.get_num_threads()
    try:
        found = []
        for count in (1, 2):
            torch.set_num_threads(count)
            found.append((torch.linalg.inv(a), torch.linalg.svd(a), torch.linalg.det(a)))
    finally:
        torch.set_num_threads(threads)

    (inverse, svd, det), (inverse2, svd2, det2) = found
    assert torch.equal(inverse, inverse2)
    assert torch.equal(det, det2)
    assert all(torch.equal(x, y) for x, y in zip(svd, svd2))


# Gradients of vectors that are determined up to a phase


@pytest.mark.parametrize("function", ["eigh", "svd", "eig"])
def test_losses_that_depend_on_the_phase_are_refused(function: str):
    a = matrices(3, 3, dtype="complex128").requires_grad_()
    hermitian = a + adjoint(a) if function == "eigh" else a
    vectors = (
        torch.linalg.svd(hermitian).U if function == "svd" else getattr(torch.linalg, function)(hermitian)[1]
    )
    with pytest.raises(RuntimeError, match="phi"):
        (vectors * vectors).sum().abs().backward()


def projector_of_largest(a):
    _, vectors = torch.linalg.eigh(a + adjoint(a))
    v = vectors[..., :, -1:]
    return (v @ adjoint(v)).abs()


def low_rank_of(a):
    u, s, vh = torch.linalg.svd(a, full_matrices=False)
    return (u[..., :1] * s[..., :1].unsqueeze(-2)) @ vh[..., :1, :]


def function_of_eig(a):
    values, vectors = torch.linalg.eig(a)
    return (vectors * values.exp().unsqueeze(-2)) @ torch.linalg.inv(vectors)


@pytest.mark.parametrize("function", [projector_of_largest, low_rank_of, function_of_eig])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_gradients_of_what_has_no_phase(function, dtype: str):
    a = matrices(2, 3, 3, dtype=dtype, seed=3).requires_grad_()
    assert torch.autograd.gradcheck(function, [a])
    small = matrices(3, 3, dtype=dtype, seed=4).requires_grad_()
    assert torch.autograd.gradgradcheck(function, [small])


@pytest.mark.parametrize("upper", [False, True])
def test_gradient_of_the_inverse_by_a_complex_factor(upper: bool):
    def inverse(a):
        return torch.cholesky_inverse(torch.linalg.cholesky(a + adjoint(a), upper=upper), upper=upper)

    a = (matrices(3, 3, dtype="complex128") + 4 * torch.eye(3)).requires_grad_()
    assert torch.autograd.gradcheck(inverse, [a]) and torch.autograd.gradgradcheck(inverse, [a])


def test_matrix_exponential_agrees_with_eigenvalues():
    a = matrices(4, 5, 5, seed=2)
    assert close(function_of_eig(a).real, torch.linalg.matrix_exp(a), "float64", 100.0)
    nilpotent = torch.tensor([[0.0, 1000.0], [0.0, 0.0]], dtype=torch.float64)
    assert close(torch.linalg.matrix_exp(nilpotent), torch.eye(2, dtype=torch.float64) + nilpotent, "float64")
    assert bool(torch.linalg.matrix_exp(torch.full((2, 2), math.nan)).isnan().all())


# Singular matrices


@pytest.mark.parametrize("rank", [0, 1, 2])
def test_gradient_of_a_singular_determinant_is_the_cofactors(rank: int):
    random = np.random.default_rng(rank)
    values = random.standard_normal((3, rank)) @ random.standard_normal((rank, 3))
    a = torch.from_numpy(values).requires_grad_()
    cofactors = np.array(
        [
            [(-1) ** (i + j) * np.linalg.det(np.delete(np.delete(values, i, 0), j, 1)) for j in range(3)]
            for i in range(3)
        ]
    )
    (gradient,) = torch.autograd.grad(torch.linalg.det(a), a)
    assert np.allclose(gradient.numpy(), cofactors, atol=1e-9)


@only_torch_py
def test_singular_determinants_have_second_derivatives():
    a = torch.tensor(
        [[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [3.0, 6.0, 9.0]], dtype=torch.float64
    ).requires_grad_()  # rank 1
    assert torch.autograd.gradgradcheck(torch.linalg.det, [a])


def test_singular_systems_are_errors_that_name_the_matrix():
    batch = torch.stack([torch.eye(2), torch.zeros(2, 2)])
    with pytest.raises(torch.linalg.LinAlgError, match=r"Batch element 1.*singular"):
        torch.linalg.solve(batch, torch.ones(2, 2, 1))
    with pytest.raises(torch.linalg.LinAlgError, match=r"Batch element 1"):
        torch.linalg.inv(batch)
    _, info = torch.linalg.inv_ex(batch)
    assert info.tolist() == [0, 1]
    assert issubclass(torch.linalg.LinAlgError, RuntimeError)


@only_torch_py
@pytest.mark.parametrize("driver", ["gels", "gelsy", "gelsd", "gelss"])
def test_least_squares_of_nan_are_nan(driver: str):
    a = torch.stack([torch.eye(2), torch.full((2, 2), math.nan)])
    solution = torch.linalg.lstsq(a, torch.ones(2, 2, 1), driver=driver).solution
    assert torch.equal(solution[0], torch.ones(2, 1)) and bool(solution[1].isnan().all())


def test_log_determinants_of_large_matrices_do_not_overflow():
    a = 1e6 * torch.eye(200)
    assert torch.linalg.det(a).item() == math.inf
    sign, logarithm = torch.linalg.slogdet(a)
    assert sign.item() == 1 and logarithm.item() == pytest.approx(200 * math.log(1e6), rel=1e-5)
    assert torch.logdet(torch.diag(torch.tensor([1.0, -1.0]))).isnan()


# Functions in Python


def test_tensordot():
    a, b = matrices(2, 3, 4), matrices(3, 4, 5, seed=1)
    expected = np.tensordot(a.numpy(), b.numpy(), 2)
    assert np.allclose(torch.tensordot(a, b).numpy(), expected)
    assert np.allclose(torch.tensordot(a, b, dims=([1, 2], [0, 1])).numpy(), expected)
    assert torch.tensordot(a, b, 0).shape == (2, 3, 4, 3, 4, 5)
    with pytest.raises(RuntimeError, match="same length"):
        torch.tensordot(a, b, ([0], [0, 1]))
    with pytest.raises(RuntimeError, match="dims >= 0"):
        torch.tensordot(a, b, -1)
    with pytest.raises(RuntimeError, match="expects dims to be int or tuple.*got dims=None"):
        torch.tensordot(a, b, None)


def test_cdist_modes():
    a, b = matrices(40, 5), matrices(30, 5, seed=1)
    expected = np.sqrt(((a.numpy()[:, None] - b.numpy()) ** 2).sum(-1))
    for mode in (
        "use_mm_for_euclid_dist_if_necessary",
        "use_mm_for_euclid_dist",
        "donot_use_mm_for_euclid_dist",
    ):
        assert np.allclose(torch.cdist(a, b, compute_mode=mode).numpy(), expected)
    with pytest.raises(ValueError, match="compute_mode"):
        torch.cdist(a, b, compute_mode="fast")


def test_gradient_of_distances_of_equal_rows_is_zero():
    a = torch.ones(3, 2, dtype=torch.float64).requires_grad_()
    torch.cdist(a, a.detach()).sum().backward()
    assert torch.equal(a.grad, torch.zeros(3, 2, dtype=torch.float64))


def test_norm_by_name():
    a = matrices(3, 4)
    values = np.linalg.svd(a.numpy(), compute_uv=False)
    assert torch.norm(a, "nuc").item() == pytest.approx(values.sum())
    assert torch.norm(a, "fro").item() == pytest.approx(np.linalg.norm(a.numpy()))
    assert a.norm(p="fro", dim=(0, 1)).item() == pytest.approx(np.linalg.norm(a.numpy()))
    assert a.norm().item() == pytest.approx(np.linalg.norm(a.numpy()))
    assert a.norm(1, 0).shape == (4,)
    assert torch.norm(a, p=math.inf, dim=1, keepdim=True).shape == (3, 1)


@pytest.mark.parametrize("name", ["solve", "symeig", "eig", "lstsq", "matrix_rank"])
def test_removed_functions_name_their_replacement(name: str):
    with pytest.raises(RuntimeError, match="removed"):
        getattr(torch, name)(torch.eye(2), torch.eye(2))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_norms_of_long_vectors(dtype: str):
    a = matrices(3, 100001).to(getattr(torch, dtype))
    exact = a.double().numpy()
    tolerance = {"float16": 1e-3, "bfloat16": 8e-3, "float32": 1e-4 if WITH_PEER else 2e-7, "float64": 1e-14}[
        dtype
    ]

    for found, expected in (
        (torch.linalg.vector_norm(a), np.linalg.norm(exact)),
        (torch.linalg.vector_norm(a, dim=1), np.linalg.norm(exact, axis=1)),
        (torch.linalg.vector_norm(a, dim=0), np.linalg.norm(exact, axis=0)),
        (torch.linalg.vector_norm(a.transpose(0, 1)), np.linalg.norm(exact)),
        (
            torch.linalg.vector_norm(a[:, ::2], dim=1, keepdim=True),
            np.linalg.norm(exact[:, ::2], axis=1, keepdims=True),
        ),
    ):
        assert found.dtype == a.dtype
        assert np.allclose(found.double().numpy(), expected, rtol=tolerance, atol=0)


def test_chain_matmul():
    a = matrices(2, 3)
    b = matrices(3, 4, seed=1)
    c = matrices(4, 2, seed=2)
    assert np.allclose(torch.chain_matmul(a, b, c).numpy(), (a @ b @ c).numpy())


def test_low_rank_approximations_are_exact_for_low_rank():
    a = matrices(30, 4) @ matrices(4, 20, seed=1)
    for matrix in (a, a.transpose(0, 1)):
        u, s, v = torch.svd_lowrank(matrix, q=6)
        assert close((u * s) @ v.transpose(0, 1), matrix, "float64")
    u, s, v = torch.pca_lowrank(a, q=5)
    assert u.shape == (30, 5) and v.shape == (20, 5)
    assert close((u * s) @ v.transpose(0, 1), a - a.mean(0, keepdim=True), "float64")
    with pytest.raises(ValueError, match="q"):
        torch.pca_lowrank(a, q=21)
    assert torch.pca_lowrank(a.to(torch.complex128), q=5)[1].shape == s.shape


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("generalised", [True, False])
def test_lobpcg(largest: bool, generalised: bool):
    torch.manual_seed(0)
    a = matrices(40, 40)
    a = a + a.transpose(0, 1)
    b = matrices(40, 40, seed=1)
    b = b @ b.transpose(0, 1) + 40 * torch.eye(40, dtype=torch.float64)

    values, vectors = torch.lobpcg(a, 3, B=b if generalised else None, niter=500, tol=1e-8, largest=largest)

    inverse = (
        torch.linalg.inv(torch.linalg.cholesky(b)) if generalised else torch.eye(40, dtype=torch.float64)
    )
    expected = torch.linalg.eigvalsh(inverse @ a @ inverse.transpose(0, 1))
    expected = expected.flip(0)[:3] if largest else expected[:3]

    assert torch.allclose(values, expected, atol=1e-6) and vectors.shape == (40, 3)
    with pytest.raises(ValueError, match="3 x"):
        torch.lobpcg(a, 20)


def test_lu_of_python():
    a = matrices(3, 3)
    packed, pivots = torch.lu(a)
    p, lower, upper = torch.lu_unpack(packed, pivots)
    assert close(p @ lower @ upper, a, "float64")
    assert len(torch.lu(a, get_infos=True)) == 3 and len(a.lu()) == 2


# Einstein summation


@pytest.mark.parametrize(
    "equation, shapes",
    [
        ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 5)]),
        ("bij,bjk->bik", [(2, 3, 4), (2, 4, 2)]),
        ("ii->i", [(3, 3)]),
        ("ii", [(3, 3)]),
        ("ij->ji", [(2, 3)]),
        ("i,j->ij", [(2,), (3,)]),
        ("...ij,...jk->...ik", [(2, 1, 3, 4), (5, 4, 2)]),
        ("abc,cd,def,fa->be", [(2, 3, 4), (4, 5), (5, 2, 3), (3, 2)]),
        (" a b , b -> a ", [(2, 3), (3,)]),
        ("ij,ij->", [(2, 3), (2, 3)]),
        ("...,...->...", [(2, 3), (3,)]),
        ("Ab,bA", [(2, 3), (3, 2)]),
        ("a,b,c,d,e,f,g,h,i,j->", [(2,)] * 10),
    ],
)
def test_einsum_equals_numpy(equation: str, shapes: list[tuple[int, ...]]):
    operands = [matrices(*shape, seed=index) for index, shape in enumerate(shapes)]
    expected = np.einsum(equation, *(operand.numpy() for operand in operands))
    assert np.allclose(torch.einsum(equation, *operands).numpy(), expected)
    assert np.allclose(torch.einsum(equation, operands).numpy(), expected)


def test_einsum_of_lists():
    a, b = matrices(2, 3), matrices(3, 4)
    assert close(torch.einsum(a, [0, 1], b, [1, 2], [0, 2]), a @ b, "float64")
    assert close(torch.einsum(a, [Ellipsis, 1], [1, Ellipsis]), a.transpose(0, 1), "float64")
    with pytest.raises(ValueError, match="valid range"):
        torch.einsum(a, [0, 52])


@pytest.mark.parametrize(
    "equation, message",
    [
        ("ij,jk", "fewer operands"),
        ("ij->k", "does not appear"),
        ("ij->ii", "more than once"),
        ("i->", "number of subscripts"),
        ("i1->", "invalid subscript"),
        ("..ij->ij", "not part of any ellipsis"),
        ("...i...j->ij", "already found"),
        ("ii->i", "repeated"),
    ],
)
def test_einsum_errors(equation: str, message: str):
    with pytest.raises(RuntimeError, match=message):
        torch.einsum(equation, torch.ones(2, 3))


def test_einsum_sizes_that_do_not_fit():
    with pytest.raises(RuntimeError, match="subscript j has size 2"):
        torch.einsum("ij,jk->ik", torch.ones(3, 3), torch.ones(2, 3))
    assert torch.einsum("ij,jk->ik", torch.ones(3, 3), torch.ones(1, 3)).shape == (3, 3)


def test_einsum_is_differentiable():
    operands = [
        matrices(2, 3).requires_grad_(),
        matrices(3, 2, 2, seed=1).requires_grad_(),
        matrices(2, seed=2).requires_grad_(),
    ]
    assert torch.autograd.gradcheck(lambda *tensors: torch.einsum("ab,bcd,d->ac", *tensors), operands)


@only_torch_py
def test_einsum_from_left_to_right(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(torch.backends.opt_einsum, "enabled", False)
    operands = [matrices(2, 3), matrices(3, 4, seed=1), matrices(4, 5, seed=2), matrices(5, 2, seed=3)]
    expected = np.einsum("ab,bc,cd,de->ae", *(operand.numpy() for operand in operands))
    assert np.allclose(torch.einsum("ab,bc,cd,de->ae", *operands).numpy(), expected)


@only_torch_py
def test_einsum_takes_the_cheapest_order():
    from torch_py._functional._einsum import _order

    sizes = {"a": 1000, "b": 2, "c": 1000, "d": 2, "e": 1000}
    # (bc, cd) first gives a 2 x 2 matrix; from left to right there would be a 1000 x 1000 one.
    assert next(iter(_order(["ab", "bc", "cd", "de"], "ae", sizes))) == (1, 2)


def test_named_results_have_qualified_names():
    assert type(torch.linalg.svd(torch.eye(2))).__name__ == "linalg_svd"
    assert repr(torch.linalg.slogdet(torch.eye(2))).startswith("torch.return_types.linalg_slogdet(\nsign=")
    assert type(torch.slogdet(torch.eye(2))).__name__ == "slogdet"


def test_adjoint_of_a_scalar_tensor() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch prefers conj()
        assert torch.tensor(1 + 2j).adjoint().item() == 1 - 2j
    with pytest.raises(RuntimeError, match="1-D tensor"):
        torch.ones(2).adjoint()


def test_vandermonde_matrix_of_a_scalar_tensor() -> None:
    assert torch.linalg.vander(torch.tensor(2), N=3).tolist() == [[1, 2, 4]]


def test_permutation_of_integer_factors() -> None:
    P, L, _ = torch.lu_unpack(torch.ones(2, 2, dtype=torch.int32), torch.tensor([2, 2], dtype=torch.int32))
    assert P.tolist() == [[0, 1], [1, 0]] and P.dtype == L.dtype == torch.int32


def test_sign_of_the_determinant_of_nan() -> None:
    sign, logarithm = torch.linalg.slogdet(torch.full((2, 2), math.nan))
    assert sign.item() == 0 and math.isnan(logarithm.item())
    assert torch.linalg.slogdet(torch.tensor([[0.0, 1.0], [-2.0, 0.0]]))[0].item() == 1


def test_factors_of_integer_products_lose_their_fraction():
    matrix = torch.full((2, 2), 3)
    vector = torch.tensor([1, 2])
    assert torch.addmv(vector, matrix, vector, beta=2.5, alpha=1.9).tolist() == [11, 13]
    assert torch.addmv(vector, matrix, vector, beta=0.5).dtype == torch.int64

    with pytest.raises(RuntimeError, match="argument beta"):
        torch.addr(matrix, vector, vector, beta=0.5)
    assert torch.addr(matrix.double(), vector, vector, beta=0.5).tolist() == [[2.5, 3.5], [3.5, 5.5]]


def test_sums_of_truth_values():
    some = torch.tensor([True, False])
    added = torch.addr(torch.ones(2, 2, dtype=torch.bool), some, some, beta=3, alpha=-3)
    assert added.dtype == torch.bool
    assert added.all()

    number = torch.tensor(True)
    assert number.sum_to_size(()).dtype == torch.int64
    assert some.sum_to_size((2,)).dtype == torch.bool


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("layout", ["rows", "columns", "every second row", "one for all"])
@pytest.mark.parametrize("dtype", ["float32", "complex128", "int64"])
def test_products_of_a_batch_with_one_matrix(dtype: str, layout: str, rows: int) -> None:
    """The matrix is expanded; numbers are small integers, so that sums are exact."""
    values = torch.arange(4 * 2 * rows * 5).reshape(4, 2 * rows, 5) % 7 - 3
    left = values.to(getattr(torch, dtype))
    left = {
        "rows": left[:, :rows],
        "columns": left[:, :rows].transpose(1, 2).contiguous().transpose(1, 2),
        "every second row": left[:, ::2],
        "one for all": left[:1, :rows].expand(4, rows, 5),
    }[layout]
    matrix = (torch.arange(15).reshape(5, 3) % 5 - 2).to(left.dtype)
    many = matrix.expand(4, 5, 3)

    expected = torch.stack([member @ matrix for member in left])
    assert torch.equal(torch.bmm(left, many), expected)
    assert torch.equal(torch.bmm(many.mT, left.mT), expected.mT)
    assert torch.equal(torch.baddbmm(expected, left, many, beta=2, alpha=3), 5 * expected)
    assert torch.equal(torch.empty_like(expected).baddbmm_(left, many, beta=0), expected)
