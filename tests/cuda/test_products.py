"""Products of matrices on CUDA: every layout, dtype and way to add, without the host's help."""

from __future__ import annotations

import importlib.util
import itertools
import re
from pathlib import Path
from typing import Any

import pytest

from tests.subject import only_torch_py, torch

pytestmark = [only_torch_py]

_DTYPES = ["float32", "float64", "float16", "bfloat16", "complex64", "complex128", "int64", "uint8"]
_TOLERANCES = {"float16": 2e-3, "bfloat16": 2e-2}


def numbers(*sizes: int, dtype: str = "float32") -> Any:
    """Whole numbers, whose sums of products are exact in every dtype here."""
    return torch.randint(0, 4, sizes).to(getattr(torch, dtype))


def assert_on_device(found: Any, expected: Any) -> None:
    assert found.device.type == "cuda"
    tolerance = _TOLERANCES.get(str(expected.dtype).removeprefix("torch_py."), 1e-6)
    torch.testing.assert_close(found.cpu(), expected, rtol=tolerance, atol=tolerance)


@pytest.fixture(autouse=True)
def _without_the_host() -> Any:
    before = dict(torch.cuda.host_fallbacks())
    yield
    assert dict(torch.cuda.host_fallbacks()) == before


@pytest.mark.parametrize("dtype", _DTYPES)
@pytest.mark.parametrize(
    "m, k, n", [(1, 1, 1), (3, 5, 7), (16, 16, 16), (65, 33, 17), (1, 40, 9), (9, 40, 1)]
)
def test_sizes(dtype: str, m: int, k: int, n: int):
    a, b = numbers(m, k, dtype=dtype), numbers(k, n, dtype=dtype)
    assert_on_device(a.cuda() @ b.cuda(), a @ b)
    assert_on_device(a.cuda() @ b[:, 0].cuda(), a @ b[:, 0])
    assert_on_device(torch.dot(a[0].cuda(), b[:, 0].cuda()), torch.dot(a[0], b[:, 0]))


_LAYOUTS = {
    "as it is": lambda x: x,
    "transposed": lambda x: x.mT.contiguous().mT,
    "rows apart": lambda x: torch.cat([x, x], -1)[..., : x.shape[-1]],
    "steps of two": lambda x: x.repeat_interleave(2, -1)[..., ::2],
    "expanded": lambda x: x[..., :1, :].expand(x.shape),
    "at an odd address": lambda x: torch.cat([x.flatten()[:1], x.flatten()])[1:].view(x.shape),
}


@pytest.mark.parametrize("left, right", list(itertools.product(_LAYOUTS, _LAYOUTS)))
def test_layouts(left: str, right: str):
    for batch in [(), (3,)]:
        a = _LAYOUTS[left](numbers(*batch, 6, 5))
        b = _LAYOUTS[right](numbers(*batch, 5, 4))
        there = [_LAYOUTS[left](a.cuda()), _LAYOUTS[right](b.cuda())]
        assert_on_device(there[0] @ there[1], _LAYOUTS[left](a) @ _LAYOUTS[right](b))


@pytest.mark.parametrize("dtype", _DTYPES)
def test_batches(dtype: str):
    a, b = numbers(4, 3, 5, dtype=dtype), numbers(4, 5, 2, dtype=dtype)
    assert_on_device(torch.bmm(a.cuda(), b.cuda()), torch.bmm(a, b))
    shared = b[:1].expand(4, 5, 2)
    assert_on_device(torch.bmm(a.cuda(), shared.cuda()), torch.bmm(a, shared))


_ADDED = {
    "matrix": (3, 4),
    "row": (4,),
    "row of a matrix": (1, 4),
    "column": (3, 1),
    "number": (),
}


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "complex64", "int32"])
@pytest.mark.parametrize("added", _ADDED)
@pytest.mark.parametrize("beta, alpha", [(1, 1), (1, 2), (2, 1), (0, 1), (0, 0)])
def test_added(dtype: str, added: str, beta: int, alpha: int):
    kind = getattr(torch, dtype)
    c, a, b = (numbers(*sizes).to(kind) for sizes in [_ADDED[added], (3, 5), (5, 4)])
    if beta == 0 and kind.is_floating_point:
        c = torch.full_like(c, float("nan"))  # not read
    found = torch.addmm(c.cuda(), a.cuda(), b.cuda(), beta=beta, alpha=alpha)
    assert_on_device(found, torch.addmm(c, a, b, beta=beta, alpha=alpha))


def test_in_place():
    c, a, b = (numbers(*sizes) for sizes in [(3, 4), (3, 5), (5, 4)])
    there = c.cuda()
    there.addmm_(a.cuda(), b.cuda(), beta=2)
    assert_on_device(there, torch.addmm(c, a, b, beta=2))


def test_a_bias_at_an_odd_address():
    bias, a, w = (numbers(*sizes) for sizes in [(8,), (3, 5), (7, 5)])
    found = torch.nn.functional.linear(a.cuda(), w.cuda(), bias.cuda()[1:])
    assert_on_device(found, torch.nn.functional.linear(a, w, bias[1:]))


def test_nothing_to_sum():
    assert_on_device(torch.ones(2, 0).cuda() @ torch.ones(0, 3).cuda(), torch.zeros(2, 3))
    added = torch.addmm(torch.ones(3).cuda(), torch.ones(2, 0).cuda(), torch.ones(0, 3).cuda(), beta=2)
    assert_on_device(added, torch.full((2, 3), 2.0))
    assert (torch.ones(0, 2).cuda() @ torch.ones(2, 3).cuda()).shape == (0, 3)


def test_graph():
    a, b = numbers(8, 8).cuda(), numbers(8, 8).cuda()
    a @ b  # an algorithm is looked for before the capture
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        c = a @ b
    a.add_(1)
    graph.replay()
    assert_on_device(c, a.cpu() @ b.cpu())


def convolved(a: Any) -> float:
    """An element of the product of `a` with itself, as a convolution."""
    return float(torch.nn.functional.conv1d(a[None], a[:, :, None])[0, 0, 0].item())


def test_tf32_is_asked_for():
    assert not torch.backends.cuda.matmul.allow_tf32
    a = torch.full((16, 16), 1 + 2.0**-12).cuda()  # TF32 loses the last bit
    exact = 16 * (1 + 2.0**-12) ** 2
    assert (a @ a)[0, 0].item() == pytest.approx(exact, rel=1e-6)

    try:
        torch.backends.cuda.matmul.allow_tf32 = True
        assert torch.get_float32_matmul_precision() == "high"
        assert (a @ a)[0, 0].item() == 16
        with torch.backends.cudnn.flags(allow_tf32=False):
            assert convolved(a) == pytest.approx(exact, rel=1e-6)
    finally:
        torch.set_float32_matmul_precision("highest")

    assert not torch.backends.cuda.matmul.allow_tf32
    assert (a @ a)[0, 0].item() == pytest.approx(exact, rel=1e-6)
    assert torch.backends.cudnn.allow_tf32 and convolved(a) == 16


def _declared() -> dict[str, int]:
    """The enumerators of CublasLt.h."""
    text = Path("c10/cuda/libraries/CublasLt.h").read_text()
    values = {}
    for name, body in re.findall(r"enum class (\w+) : \w+ \{(.*?)\};", text, re.S):
        for key, value in re.findall(r"(\w+) = (\d+)", body):
            values[f"{name}.{key}"] = int(value)
    return values


_NAMES = {
    "Compute.Float": "CUBLAS_COMPUTE_32F",
    "Compute.Double": "CUBLAS_COMPUTE_64F",
    "Compute.FloatFromTf32": "CUBLAS_COMPUTE_32F_FAST_TF32",
    "Transposition.None": "CUBLAS_OP_N",
    "Transposition.Transpose": "CUBLAS_OP_T",
    "Epilogue.None": "CUBLASLT_EPILOGUE_DEFAULT",
    "Epilogue.Bias": "CUBLASLT_EPILOGUE_BIAS",
    "DescriptionAttribute.TransposeA": "CUBLASLT_MATMUL_DESC_TRANSA",
    "DescriptionAttribute.TransposeB": "CUBLASLT_MATMUL_DESC_TRANSB",
    "DescriptionAttribute.Epilogue": "CUBLASLT_MATMUL_DESC_EPILOGUE",
    "DescriptionAttribute.BiasPointer": "CUBLASLT_MATMUL_DESC_BIAS_POINTER",
    "LayoutAttribute.BatchCount": "CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT",
    "LayoutAttribute.BatchStride": "CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET",
    "PreferenceAttribute.MostWorkspace": "CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES",
    "PreferenceAttribute.Reductions": "CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK",
    "PreferenceAttribute.AlignmentA": "CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES",
    "PreferenceAttribute.AlignmentB": "CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES",
    "PreferenceAttribute.AlignmentC": "CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES",
    "PreferenceAttribute.AlignmentD": "CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES",
}


def test_declared_numbers_are_those_of_the_headers():
    package = importlib.util.find_spec("nvidia")
    roots = list(package.submodule_search_locations or ()) if package is not None else []
    headers = [path for root in roots for path in Path(root).glob("*/include/cublas*.h")]
    if not headers:
        pytest.skip("needs the headers of cuBLAS (pip install nvidia-cublas)")

    text = "\n".join(path.read_text(errors="replace") for path in headers)
    theirs = {name: int(value) for name, value in re.findall(r"\b(CUBLAS\w+) = (\d+)\s*[,}/]", text)}
    declared = _declared()
    for ours, name in _NAMES.items():
        assert declared[ours] == theirs[name], name
    assert not {name for name in declared if not name.startswith("Type.")} - set(_NAMES)
