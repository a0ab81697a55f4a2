"""The package: exported names, import time, random state, settings, and functions composed in Python."""

from __future__ import annotations

import copy
import json
import subprocess
import sys

import pytest

from tests.subject import HAS_CUDA_LIBRARY, only_torch_py, torch


def run(program: str) -> str:
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout


@only_torch_py
def test_version() -> None:
    assert torch.__version__ == torch.version.__version__ == "0.1.0"


@only_torch_py
def test_import_leaves_rare_modules_out() -> None:
    loaded = json.loads(run("import sys, json, torch_py; print(json.dumps(sorted(sys.modules)))"))
    for name in (
        "numpy",
        "torch_py.nn",
        "torch_py.optim",
        "torch_py.testing",
        "torch_py.utils.data",
        "zipfile",
    ):
        assert name not in loaded, name


@only_torch_py
def test_a_name_that_is_not_there() -> None:
    with pytest.raises(AttributeError, match="module 'torch_py' has no attribute 'nothing'"):
        _ = torch.nothing


@only_torch_py
@pytest.mark.parametrize("order", ["torch, torch_py", "torch_py, torch"])
def test_both_libraries_in_one_process(order: str) -> None:
    pytest.importorskip("torch", reason="PyTorch is not installed")
    assert (
        run(f"import {order}; print(torch_py.ones(2).sum().item() + torch.ones(3).sum().item())").strip()
        == "5.0"
    )


@only_torch_py
@pytest.mark.skipif(HAS_CUDA_LIBRARY, reason="`make cuda` was run")
def test_cuda_is_absent() -> None:
    assert not torch.cuda.is_available() and torch.cuda.device_count() == 0 and torch.version.cuda is None
    torch.cuda.empty_cache()
    torch.cuda.manual_seed_all(1)
    with pytest.raises(AssertionError, match="no CUDA support"):
        torch.cuda.current_device()
    with pytest.raises(AssertionError, match="no CUDA support"):
        torch.ones(1).cuda()
    assert not torch.backends.mps.is_available() and not torch.backends.cudnn.is_available()


def test_dtype_aliases() -> None:
    assert (torch.float, torch.double, torch.half, torch.long, torch.int, torch.short) == (
        torch.float32,
        torch.float64,
        torch.float16,
        torch.int64,
        torch.int32,
        torch.int16,
    )
    assert str(torch.float32) == "torch.float32" and torch.inf == float("inf") and torch.pi > 3.14


def test_random_state() -> None:
    torch.manual_seed(5)
    assert torch.initial_seed() == 5

    state = torch.get_rng_state()
    first = torch.rand(3)
    torch.set_rng_state(state)
    assert torch.equal(torch.rand(3), first) and state.dtype == torch.uint8

    with torch.random.fork_rng():
        torch.rand(10)
        torch.manual_seed(1)

    second = torch.rand(3)
    torch.manual_seed(5)
    torch.rand(3)
    assert torch.equal(torch.rand(3), second)

    assert torch.initial_seed() != torch.seed()
    with pytest.raises(ValueError):
        torch.manual_seed(2**64)
    assert torch.manual_seed(-1).initial_seed() == 2**64 - 1


def test_default_dtype() -> None:
    with pytest.raises(TypeError):
        torch.set_default_dtype(torch.int64)
    torch.set_default_dtype(torch.float64)
    try:
        assert torch.get_default_dtype() == torch.float64
        assert torch.tensor(1.0).dtype == torch.float64
        assert torch.zeros(1).dtype == torch.float64
    finally:
        torch.set_default_dtype(torch.float32)


def test_legacy_constructors() -> None:
    assert torch.FloatTensor([1, 2]).dtype == torch.float32 and torch.LongTensor([1]).dtype == torch.int64
    assert torch.FloatTensor(2, 3).shape == (2, 3)
    assert isinstance(torch.ones(1), torch.FloatTensor) and not isinstance(torch.ones(1), torch.LongTensor)


def test_deepcopy() -> None:
    x = torch.arange(6.0).reshape(2, 3)
    row = x[1]
    both = copy.deepcopy([x, row])
    both[0][1, 0] = 100
    assert both[1][0].item() == 100 and x[1, 0].item() == 3.0
    leaf = torch.ones(2, requires_grad=True)
    leaf.grad = torch.ones(2)
    twin = copy.deepcopy(leaf)
    assert twin.requires_grad and twin.grad.tolist() == [1.0, 1.0] and twin.grad is not leaf.grad
    with pytest.raises(RuntimeError, match="deepcopy|deep-copied"):
        copy.deepcopy(leaf * 2)


def test_contains_and_reversed() -> None:
    x = torch.tensor([1, 2, 3])
    assert 2 in x and 5 not in x and torch.tensor(3) in x
    assert list(reversed(x)) == [3, 2, 1]
    with pytest.raises(RuntimeError):
        _ = "a" in x


def test_tensors_are_keys_by_identity() -> None:
    x, y = torch.ones(1), torch.ones(1)
    assert len({x, y, x}) == 2


def test_subclasses_keep_their_type() -> None:
    class Angle(torch.Tensor):
        pass

    x = torch.ones(2).as_subclass(Angle)
    assert type(x + 1) is Angle and type(x.sum()) is Angle and type(torch.cat([x, torch.ones(1)])) is Angle
    assert all(type(part) is Angle for part in x.unbind())


def test_torch_function_is_asked() -> None:
    class Loud(torch.Tensor):
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            return function.__name__

    x = torch.ones(2).as_subclass(Loud)
    assert torch.exp(x) == "exp"


@pytest.mark.parametrize(
    "equation, shapes",
    [
        ("ij,jk->ik", [(2, 3), (3, 4)]),
        ("bij,bjk->bik", [(2, 3, 4), (2, 4, 5)]),
        ("ij->ji", [(2, 3)]),
        ("ii->i", [(3, 3)]),
        ("ii", [(3, 3)]),
        ("ij->", [(2, 3)]),
        ("i,j->ij", [(2,), (3,)]),
        ("ij,ij->i", [(2, 3), (2, 3)]),
        ("...ij,...jk->...ik", [(2, 3, 4), (4, 5)]),
        ("bhid,bhjd->bhij", [(2, 2, 3, 4), (2, 2, 5, 4)]),
        ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 5)]),
        ("ba,cd", [(2, 3), (1, 2)]),
    ],
)
def test_einsum(equation: str, shapes: list[tuple[int, ...]]) -> None:
    import numpy

    operands = [torch.randn(shape, dtype=torch.float64) for shape in shapes]
    expected = numpy.einsum(equation, *(operand.numpy() for operand in operands))
    result = torch.einsum(equation, *operands)
    assert tuple(result.shape) == expected.shape and numpy.allclose(result.numpy(), expected)


def test_einsum_errors_and_gradient() -> None:
    for equation in ("ij,jk", "ijk->i", "ij->ik"):
        with pytest.raises(RuntimeError):
            torch.einsum(equation, torch.ones(2, 2))
    x = torch.randn(2, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: torch.einsum("ij,kj->ik", x, x), x)


def test_broadcasting_helpers() -> None:
    assert torch.broadcast_shapes((2, 1), (3,), ()) == (2, 3)
    with pytest.raises(RuntimeError):
        torch.broadcast_shapes((2,), (3,))
    a, b = torch.broadcast_tensors(torch.ones(2, 1), torch.ones(3))
    assert a.shape == b.shape == (2, 3)
    rows, columns = torch.meshgrid(torch.arange(2), torch.arange(3), indexing="ij")
    assert rows.tolist() == [[0, 0, 0], [1, 1, 1]] and columns.shape == (2, 3)


def test_norm() -> None:
    x = torch.tensor([[3.0, 4.0], [0.0, 5.0]])
    assert torch.norm(x).item() == pytest.approx(50**0.5)
    assert torch.norm(x, dim=1).tolist() == pytest.approx([5.0, 5.0])
    assert torch.norm(x, 1, dim=0, keepdim=True).tolist() == [[3.0, 9.0]]
    assert torch.norm(x, float("inf")).item() == 5.0
