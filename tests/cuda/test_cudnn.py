"""Convolutions by cuDNN: dtypes, switches, graphs, threads, and what happens where it refuses."""

from __future__ import annotations

import importlib.util
import itertools
import re
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.cuda.emulated import emulated_library
from tests.subject import only_torch_py, torch

pytestmark = [
    only_torch_py,
    pytest.mark.skipif(not torch.backends.cudnn.is_available(), reason="needs cuDNN"),
]

cudnn = torch.backends.cudnn
conv2d = torch.nn.functional.conv2d

# The engines of the emulation, by their place in tests/emulation/cudnn.cpp.
TF32_NONDETERMINISTIC = 3
TF32 = 4
NONDETERMINISTIC = 5
EXACT = 7


@pytest.fixture(autouse=True)
def _switches() -> Any:
    with cudnn.flags(enabled=True, allow_tf32=False):
        yield


@pytest.fixture
def emulation() -> Any:
    """The emulation's functions for tests; skips on a GPU."""
    library = emulated_library()
    yield library
    library.torch_py_emulation_refuse_convolutions(0)


def whole_numbers(*sizes: int, dtype: Any = torch.float32) -> Any:
    """Few enough for sums of products to be exact in every dtype."""
    return torch.randint(-2, 3, sizes).to(dtype)


def passes(image: Any, weight: Any, **options: Any) -> list[Any]:
    """The result of a convolution and both gradients, on the CPU."""
    image, weight = (x.detach().requires_grad_() for x in (image, weight))
    result = conv2d(image, weight, **options)
    result.backward(torch.ones_like(result))
    return [x.cpu() for x in (result.detach(), image.grad, weight.grad)]


def assert_as_on_the_cpu(image: Any, weight: Any, **options: Any) -> None:
    found = passes(image.cuda(), weight.cuda(), **options)
    for a, b in zip(found, passes(image, weight, **options), strict=True):
        # Engines may transform operands; sums of whole numbers are exact otherwise.
        tolerance = {torch.float32: 1e-5, torch.float64: 1e-13}.get(b.dtype, 0)
        torch.testing.assert_close(a, b, rtol=0, atol=tolerance * b.abs().max().item())
        assert a.stride() == b.stride()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
@pytest.mark.parametrize("last", [False, True])
def test_dtypes(dtype: str, last: bool):
    kind = getattr(torch, dtype)
    image, weight = whole_numbers(2, 4, 5, 6, dtype=kind), whole_numbers(4, 2, 3, 3, dtype=kind)
    if last:
        image = image.to(memory_format=torch.channels_last)
    assert_as_on_the_cpu(image, weight, padding=1, groups=2)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("last", [False, True])
def test_a_bias_is_added_before_rounding(dtype: str, last: bool):
    kind = getattr(torch, dtype)
    image, weight = (torch.full(sizes, 1 + 2.0**-7).to(kind) for sizes in ((2, 3, 4, 5), (4, 3, 3, 3)))
    if last:
        image = image.to(memory_format=torch.channels_last)
    bias = torch.tensor([0.0, -27.0, -27.5, 3.0]).to(kind)
    with cudnn.flags(enabled=True, allow_tf32=True):
        found = conv2d(image.cuda(), weight.cuda(), bias.cuda()).cpu()
    tolerance = 1e-4 if dtype == "float32" else 1e-12
    torch.testing.assert_close(found, conv2d(image, weight, bias), rtol=0, atol=tolerance)


def test_operands_that_are_not_dense():
    image = whole_numbers(2, 4, 5, 12)[..., ::2]
    weight = whole_numbers(3, 3, 4, 4).permute(3, 2, 0, 1)
    assert_as_on_the_cpu(image, weight[:, :, :2], groups=1)
    assert_as_on_the_cpu(whole_numbers(3, 4, 5, 6)[1:], whole_numbers(5, 4, 2, 2)[1:])


def test_addresses_that_are_not_aligned():
    image = whole_numbers(2 * 4 * 5 * 6 + 1)[1:].view(2, 4, 5, 6)
    there = whole_numbers(2 * 4 * 5 * 6 + 1).cuda()[1:].view(2, 4, 5, 6)
    there.copy_(image)
    weight = whole_numbers(4, 4, 3, 3)
    torch.testing.assert_close(conv2d(there, weight.cuda()).cpu(), conv2d(image, weight))


def test_a_single_window():
    """Whose stride does not matter, however long it is."""
    assert_as_on_the_cpu(whole_numbers(2, 3, 4, 5), whole_numbers(2, 3, 2, 2), stride=1000)


def test_unused_gradients_are_not_computed():
    image, weight = whole_numbers(2, 3, 4, 5), whole_numbers(2, 3, 2, 2).requires_grad_()
    conv2d(image, weight).sum().backward()
    there, own = image.cuda(), weight.detach().cuda().requires_grad_()
    conv2d(there, own).sum().backward()
    assert there.grad is None and torch.equal(own.grad.cpu(), weight.grad)


def last_engine(emulation: Any, x: Any) -> int:
    conv2d(x, x)
    return int(emulation.torch_py_emulation_last_engine())


def test_switches_choose_engines(emulation: Any):
    x = torch.randn(2, 2, 3, 3).cuda()
    assert last_engine(emulation, x) == NONDETERMINISTIC
    with cudnn.flags(enabled=True, allow_tf32=True):
        assert last_engine(emulation, x) == TF32_NONDETERMINISTIC
    with cudnn.flags(enabled=True, allow_tf32=True, deterministic=True):
        assert last_engine(emulation, x) == TF32

    torch.use_deterministic_algorithms(True)
    try:
        assert last_engine(emulation, x) == EXACT
    finally:
        torch.use_deterministic_algorithms(False)
    assert last_engine(emulation, x.double()) == TF32_NONDETERMINISTIC  # of float32 alone


def test_switches_are_kept():
    with cudnn.flags(enabled=False, benchmark=True, benchmark_limit=3, deterministic=True):
        assert not cudnn.enabled and cudnn.benchmark and cudnn.deterministic and cudnn.benchmark_limit == 3
    assert cudnn.enabled and not cudnn.benchmark and not cudnn.deterministic
    assert cudnn.version() >= 90000
    x = torch.zeros(1).cuda()
    assert cudnn.is_acceptable(x) and not cudnn.is_acceptable(x.int()) and not cudnn.is_acceptable(x.cpu())


@pytest.mark.parametrize("limit", [1, 3, 0])
def test_benchmark(limit: int):
    with cudnn.flags(enabled=True, benchmark=True, benchmark_limit=limit, allow_tf32=False):
        assert_as_on_the_cpu(whole_numbers(2, 3, 4, 5), whole_numbers(4, 3, 2, 2), padding=limit)


@pytest.mark.parametrize("what, text", [(1, "0 engines"), (2, "refused for a test")])
def test_refusals_leave_the_work_to_products(emulation: Any, what: int, text: str):
    before = len(cudnn._refused())
    image, weight = whole_numbers(2, 3, 6, 4 + what), whole_numbers(5, 3, 2, 2)
    emulation.torch_py_emulation_refuse_convolutions(what)
    assert_as_on_the_cpu(image, weight)
    refused = cudnn._refused()[before:]
    assert len(refused) == 3 and all(text in why for _, why in refused)
    assert f"forward of Float, (2, 3, 6, {4 + what}) by (5, 3, 2, 2)" in refused[0][0]

    # It is remembered, and does not touch other problems.
    emulation.torch_py_emulation_refuse_convolutions(0)
    assert_as_on_the_cpu(image, weight)
    assert_as_on_the_cpu(image[1:], weight)
    assert len(cudnn._refused()) == before + 3


def recorded(x: Any, w: Any) -> tuple[Any, Any]:
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = conv2d(x, w)
    return graph, y


@pytest.mark.parametrize("warm", [True, False])
def test_graphs(warm: bool):
    """Also without a plan from an earlier call: then products are recorded."""
    w = whole_numbers(4, 3, 2, 2).cuda()
    x = whole_numbers(2, 3, 4, 5 + warm).cuda()
    with cudnn.flags(enabled=True, benchmark=True):
        if warm:
            conv2d(x, w)
        graph, y = recorded(x, w)
    x.add_(1)
    graph.replay()
    torch.testing.assert_close(y.cpu(), conv2d(x.cpu(), w.cpu()))


def test_a_step_is_recorded_with_the_plans_of_earlier_ones(emulation: Any):
    """All passes ask cuDNN while the graph is recorded: each of them is refused here."""
    x, w = (
        whole_numbers(2, 3, 5, 5).cuda().requires_grad_(),
        whole_numbers(4, 3, 2, 2).cuda().requires_grad_(),
    )

    def step() -> Any:
        return torch.autograd.grad(conv2d(x, w).sum(), (x, w))

    other = torch.cuda.Stream()
    other.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(other):
        expected = step()[1].cpu()
    torch.cuda.current_stream().wait_stream(other)

    before = len(cudnn._refused())
    emulation.torch_py_emulation_refuse_convolutions(2)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        found = step()[1]
    assert len(cudnn._refused()) == before + 3
    graph.replay()
    assert torch.equal(found.cpu(), expected)


def test_threads_have_plans_of_their_own():
    image, weight = whole_numbers(2, 3, 4, 5), whole_numbers(4, 3, 2, 2)
    expected = conv2d(image, weight)
    failed = []

    def work() -> None:
        with torch.cuda.stream(torch.cuda.Stream()):
            for _ in range(5):
                if not torch.equal(conv2d(image.cuda(), weight.cuda()).cpu(), expected):
                    failed.append(threading.get_ident())

    for _ in range(2):
        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not failed


# --- The declarations ---

_PREFIXES = {
    "Kind": ("CUDNN_BACKEND_", "_DESCRIPTOR"),
    "Type": ("CUDNN_TYPE_", ""),
    "PointwiseMode": ("CUDNN_POINTWISE_", ""),
    "DataType": ("CUDNN_DATA_", ""),
    "ConvolutionMode": ("CUDNN_", ""),
    "HeuristicMode": ("CUDNN_HEUR_MODE_", ""),
    "Note": ("CUDNN_NUMERICAL_NOTE_", ""),
}
_OTHER_NAMES = {
    "Kind.EngineConfiguration": "ENGINECFG",
    "Kind.EngineHeuristic": "ENGINEHEUR",
    "Kind.Plan": "EXECUTION_PLAN",
    "Kind.Forward": "OPERATION_CONVOLUTION_FORWARD",
    "Kind.BackwardFilter": "OPERATION_CONVOLUTION_BACKWARD_FILTER",
    "Kind.BackwardData": "OPERATION_CONVOLUTION_BACKWARD_DATA",
    "Kind.PointwiseOperation": "OPERATION_POINTWISE",
    "Kind.Graph": "OPERATIONGRAPH",
    "Type.Pointer": "VOID_PTR",
    "Type.HeuristicMode": "HEUR_MODE",
    "Type.Descriptor": "BACKEND_DESCRIPTOR",
    "DataType.BFloat16": "BFLOAT16",
    "Note.WinogradTile4x4": "WINOGRAD_TILE_4x4",
    "Note.WinogradTile6x6": "WINOGRAD_TILE_6x6",
    "Note.WinogradTile13x13": "WINOGRAD_TILE_13x13",
}
_ATTRIBUTES = {
    "Convolution": "CONVOLUTION",
    "Heuristic": "ENGINEHEUR",
    "Configuration": "ENGINECFG",
    "Plan": "EXECUTION_PLAN",
    "Forward": "OPERATION_CONVOLUTION_FORWARD",
    "BackwardData": "OPERATION_CONVOLUTION_BWD_DATA",
    "BackwardFilter": "OPERATION_CONVOLUTION_BWD_FILTER",
    "Pointwise": "POINTWISE",
    "PointwiseOperation": "OPERATION_POINTWISE",
    "Graph": "OPERATIONGRAPH",
    "Tensor": "TENSOR",
    "Pack": "VARIANT_PACK",
    "Engine": "ENGINE",
}
_OTHER_ATTRIBUTES = {
    "ConvolutionComputeType": "COMP_TYPE",
    "ConvolutionMode": "CONV_MODE",
    "ConvolutionStrides": "FILTER_STRIDES",
    "ConvolutionPaddingsAfter": "POST_PADDINGS",
    "ConvolutionPaddingsBefore": "PRE_PADDINGS",
    "PointwisePrecision": "MATH_PREC",
    "PointwiseOperationPointwise": "PW_DESCRIPTOR",
    **{f"PointwiseOperation{tensor}": f"{tensor}DESC" for tensor in "XBY"},
    "HeuristicGraph": "OPERATION_GRAPH",
    "PlanConfiguration": "ENGINE_CONFIG",
    "GraphOperations": "OPS",
    "TensorAlignment": "BYTE_ALIGNMENT",
    "PackPointers": "DATA_POINTERS",
    "EngineIndex": "GLOBAL_INDEX",
    "EngineNumericalNotes": "NUMERICAL_NOTE",
} | {f"{kind}Convolution": "CONV_DESC" for kind in ("Forward", "BackwardData", "BackwardFilter")}


def upper(name: str) -> str:
    """`WorkspaceSize` as WORKSPACE_SIZE."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).upper()


def name_in_header(kind: str, key: str) -> str:
    if kind != "Attribute":
        before, after = _PREFIXES[kind]
        return before + _OTHER_NAMES.get(f"{kind}.{key}", upper(key)) + after

    group = max((group for group in _ATTRIBUTES if key.startswith(group)), key=len)
    rest = _OTHER_ATTRIBUTES.get(key, upper(key.removeprefix(group)))
    return f"CUDNN_ATTR_{_ATTRIBUTES[group]}_{rest}"


def test_declared_numbers_are_those_of_the_headers():
    package = importlib.util.find_spec("nvidia")
    roots = list(package.submodule_search_locations or ()) if package is not None else []
    headers = [path for root in roots for path in Path(root).glob("*/include/cudnn_graph*.h")]
    if not headers:
        pytest.skip("needs the headers of cuDNN (pip install nvidia-cudnn-cu13)")
    compare_with_header(headers[0])


def compare_with_header(header: Path) -> None:
    values = r"\b(CUDNN_\w+)(?: CUDNN_DEPRECATED_ENUM)?\s*=\s*(\d+)"
    theirs = {name: int(value) for name, value in re.findall(values, header.read_text(errors="replace"))}
    ours = Path("c10/cuda/libraries/Cudnn.h").read_text()
    for kind, body in re.findall(r"enum class (\w+) : int \{(.*?)\};", ours, re.S):
        for key, value in itertools.chain(re.findall(r"(\w+) = (\d+)", body)):
            assert theirs[name_in_header(kind, key)] == int(value), (kind, key)
