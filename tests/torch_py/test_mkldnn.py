"""Tensors with the mkldnn layout: the same values as strided tensors and as PyTorch, and clear refusals."""

from __future__ import annotations

import copy
import io
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.subject import only_torch_py, torch
from tests.torch_py.outcomes import outcome

F = torch.nn.functional


@pytest.fixture
def peer() -> Any:
    return pytest.importorskip("torch", reason="compares with PyTorch")


def numbers(*shape: int) -> Any:
    values = np.random.default_rng(sum(shape)).standard_normal(shape, dtype=np.float32)
    return torch.from_numpy(values)


# --- Values ---

OPERATORS: dict[str, tuple[Callable[..., Any], tuple[tuple[int, ...], ...]]] = {
    "relu": (lambda x: torch.relu(x), ((2, 3, 5, 5),)),
    "sigmoid": (lambda x: torch.sigmoid(x), ((2, 3, 5, 5),)),
    "tanh": (lambda x: torch.tanh(x), ((7,),)),
    "gelu": (lambda x: F.gelu(x), ((2, 3, 4),)),
    "prelu": (lambda x, w: F.prelu(x, w), ((2, 3, 4), (3,))),
    "add": (lambda x, y: torch.add(x, y, alpha=0.5), ((2, 3, 4, 4), (2, 3, 4, 4))),
    "mul": (lambda x, y: x * y, ((2, 3, 4, 4), (2, 3, 4, 4))),
    "scaled": (lambda x: 2 * x * 0.5, ((2, 3),)),
    "softmax": (lambda x: torch.softmax(x, 1), ((2, 3, 4, 4),)),
    "max_pool2d": (lambda x: F.max_pool2d(x, 3, 2, 1), ((2, 3, 9, 8),)),
    "max_pool3d": (lambda x: F.max_pool3d(x, 2, ceil_mode=True), ((1, 3, 5, 4, 4),)),
    "avg_pool2d": (lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False), ((2, 3, 9, 8),)),
    "avg_pool3d": (lambda x: F.avg_pool3d(x, 2), ((1, 3, 4, 4, 6),)),
    "adaptive_avg_pool2d": (lambda x: F.adaptive_avg_pool2d(x, (2, 4)), ((2, 3, 4, 8),)),
    "reshape": (lambda x: x.reshape(4, -1), ((2, 3, 4, 4),)),
    "flatten": (lambda x: torch.flatten(x, 1), ((2, 3, 4, 4),)),
    "transpose": (lambda x: x.transpose(0, 1), ((2, 3, 4, 4),)),
    "clone": (lambda x: x.clone(), ((2, 3, 4, 4),)),
    "linear": (lambda x, w, b: F.linear(x, w, b), ((2, 5, 3), (4, 3), (4,))),
    "conv1d": (lambda x, w, b: F.conv1d(x, w, b, padding=1), ((2, 3, 8), (4, 3, 3), (4,))),
    "conv2d": (
        lambda x, w, b: F.conv2d(x, w, b, 2, 1, groups=2),
        ((2, 4, 8, 9), (6, 2, 3, 3), (6,)),
    ),
    "conv3d": (lambda x, w: F.conv3d(x, w), ((1, 3, 4, 5, 4), (5, 3, 2, 3, 2))),
    "conv_transpose2d": (lambda x, w: F.conv_transpose2d(x, w, stride=2), ((2, 3, 4, 4), (3, 5, 3, 3))),
    "batch_norm": (
        lambda x, w, b, m, v: F.batch_norm(x, m, v * v, w, b),
        ((2, 3, 4, 4), (3,), (3,), (3,), (3,)),
    ),
}
DIFFERENTIABLE = sorted(OPERATORS.keys() - {"batch_norm"})
# PyTorch has no gradients of these for the layout.
ONLY_OURS = ("sigmoid", "tanh", "softmax")


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", OPERATORS)
def test_results_are_those_of_strided_tensors(name, dtype):
    function, shapes = OPERATORS[name]
    first, *others = (numbers(*shape).to(dtype) for shape in shapes)
    if name in ("add", "mul"):
        got = function(first.to_mkldnn(), others[0].to_mkldnn())
    else:
        got = function(first.to_mkldnn(), *others)

    assert got.is_mkldnn and got.layout == torch._mkldnn and got.dtype == dtype
    expected = function(first, *others)
    assert got.shape == expected.shape
    tolerance = 1e-5 if dtype == torch.float32 else 0.05
    torch.testing.assert_close(got.to_dense(), expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", OPERATORS)
def test_parameters_may_have_the_layout(name):
    function, shapes = OPERATORS[name]
    tensors = [numbers(*shape) for shape in shapes]
    got = function(*(tensor.to_mkldnn() for tensor in tensors))
    torch.testing.assert_close(got.to_dense(), function(*tensors), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=only_torch_py if n in ONLY_OURS else ()) for n in DIFFERENTIABLE]
)
def test_gradients_are_those_of_strided_tensors(name):
    function, shapes = OPERATORS[name]

    def gradients(convert: Callable[[Any], Any]) -> list[Any]:
        leaves = [numbers(*shape).requires_grad_() for shape in shapes]
        both = name in ("add", "mul")
        given = [convert(leaf) if i == 0 or both else leaf for i, leaf in enumerate(leaves)]
        result = function(*given).to_dense()
        (result * numbers(*result.shape)).sum().backward()
        return [leaf.grad for leaf in leaves]

    for got, expected in zip(gradients(lambda x: x.to_mkldnn()), gradients(lambda x: x)):
        assert got.layout == torch.strided
        torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-5)


@only_torch_py
def test_a_weight_of_the_layout_has_a_gradient_of_it():
    x, weight = numbers(2, 3, 4).requires_grad_(), numbers(3).to_mkldnn().requires_grad_()
    F.prelu(x.to_mkldnn(), weight).to_dense().sum().backward()
    assert weight.grad.is_mkldnn
    expected = torch.where(x > 0, 0, x).sum((0, 2))
    torch.testing.assert_close(weight.grad.to_dense(), expected.detach())


def test_the_approximation_of_gelu_is_refused():
    with pytest.raises(RuntimeError, match="mkldnn_gelu: fast, approximate gelu is not supported"):
        F.gelu(numbers(2, 3).to_mkldnn(), approximate="tanh")


@pytest.mark.parametrize("training", [False, True])
def test_batch_norm_has_gradients(training):
    def gradients(convert: Callable[[Any], Any]) -> list[Any]:
        x, w, b = (numbers(*shape).requires_grad_() for shape in ((4, 3, 5, 5), (3,), (3,)))
        mean, var = torch.zeros(3), torch.ones(3)
        result = F.batch_norm(convert(x), mean, var, w, b, training).to_dense()
        (result * numbers(*result.shape)).sum().backward()
        return [x.grad, w.grad, b.grad, mean, var]

    for got, expected in zip(gradients(lambda x: x.to_mkldnn()), gradients(lambda x: x)):
        torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-4)


def test_leaves_of_the_layout_have_gradients_of_it():
    leaf = numbers(2, 3).to_mkldnn().requires_grad_()
    (leaf * leaf).to_dense().sum().backward()
    (leaf * leaf).to_dense().sum().backward()
    assert leaf.grad.is_mkldnn
    torch.testing.assert_close(leaf.grad.to_dense(), 4 * numbers(2, 3))


def test_a_gradient_of_a_gradient_is_refused():
    x = numbers(2, 3).requires_grad_()
    weight = numbers(4, 3).requires_grad_()
    result = F.linear(x.to_mkldnn(), weight).to_dense().pow(2).sum()
    with pytest.raises(NotImplementedError, match="derivative of a gradient"):
        torch.autograd.grad(result, x, create_graph=True)


# --- Conversions ---


@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.bfloat16, torch.float16, torch.uint8, torch.int8], ids=str
)
@pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 3, 4), (2, 3, 4, 5), (1, 2, 3, 4, 5), (0, 3)], ids=str)
def test_round_trip(shape, dtype):
    x = (numbers(*shape) * 9).abs().to(dtype)
    dense = x.to_mkldnn().to_dense()
    assert dense.is_contiguous() and dense.layout == torch.strided
    assert torch.equal(dense, x)
    assert x.to_mkldnn(torch.bfloat16).dtype == torch.bfloat16


def test_a_conversion_copies():
    x = torch.ones(2, 3, 4, 4)
    converted = x.to_mkldnn()
    x.zero_()
    assert converted.to_dense().sum() == 96
    converted.to_dense().zero_()
    assert converted.to_dense().sum() == 96


def test_strided_tensors_of_any_order_convert():
    x = numbers(2, 3, 4, 4).transpose(0, 1)
    assert torch.equal(x.to_mkldnn().to_dense(), x)


def test_factories():
    assert torch.empty(2, 3, layout=torch._mkldnn).is_mkldnn
    zeros = torch.zeros(2, 3, dtype=torch.bfloat16, layout=torch._mkldnn)
    assert zeros.is_mkldnn and zeros.dtype == torch.bfloat16 and zeros.to_dense().eq(0).all()
    with pytest.raises(RuntimeError, match="unsupported data type"):
        torch.empty(2, layout=torch._mkldnn, dtype=torch.float64)
    with pytest.raises(NotImplementedError, match="MkldnnCPU"):
        torch.empty_strided((2,), (1,), layout=torch._mkldnn)
    with pytest.raises(NotImplementedError):
        torch.empty(2, layout=torch._mkldnn, device="meta")


# --- In place and out ---


@pytest.mark.parametrize("name", ["relu_", "sigmoid_", "tanh_"])
def test_in_place(name):
    x = numbers(2, 3, 4, 4)
    converted = x.to_mkldnn()
    shared = converted.detach()
    version = converted._version
    assert getattr(torch, name)(converted) is converted and converted._version > version
    expected = getattr(torch, name)(x.clone())
    torch.testing.assert_close(converted.to_dense(), expected)
    torch.testing.assert_close(shared.to_dense(), expected)


def test_sums_and_products_in_place_and_out():
    x, y = numbers(2, 3), numbers(3, 2).t()
    first, second = x.to_mkldnn(), y.to_mkldnn()
    torch.testing.assert_close(first.clone().add_(second, alpha=2).to_dense(), x + 2 * y)
    torch.testing.assert_close(first.clone().mul_(second).to_dense(), x * y)
    out = torch.empty(5, layout=torch._mkldnn)
    assert torch.add(first, second, out=out) is out and out.shape == (2, 3)
    torch.testing.assert_close(out.to_dense(), x + y)
    with pytest.raises(RuntimeError, match="layout"):
        torch.add(first, second, out=torch.empty(2, 3))


def test_copy_and_zero():
    x = numbers(2, 3, 4, 4).to_mkldnn()
    target = torch.empty(2, 3, 4, 4, layout=torch._mkldnn).copy_(x)
    assert torch.equal(target.to_dense(), x.to_dense())
    assert target.zero_().to_dense().eq(0).all() and x.to_dense().ne(0).any()
    with pytest.raises(RuntimeError, match="dense"):
        target.copy_(numbers(2, 3, 4, 4))


def test_an_in_place_change_is_noticed_by_backward():
    x = numbers(2, 3).requires_grad_()
    result = torch.relu(x.to_mkldnn())
    loss = torch.relu(result).to_dense().sum()
    with torch.no_grad():
        result.zero_()
    with pytest.raises(RuntimeError, match="inplace"):
        loss.backward()


# --- Refusals ---

REFUSED: dict[str, Callable[[Any, Any], Any]] = {
    "sin": lambda m, x: m.sin(),
    "sum": lambda m, x: m.sum(),
    "add a number": lambda m, x: m + 1,
    "add strided": lambda m, x: m + x,
    "strided add": lambda m, x: x + m,
    "strided mul": lambda m, x: x * m,
    "index": lambda m, x: m[0],
    "assign": lambda m, x: m.__setitem__(0, 1),
    "iterate": lambda m, x: list(m),
    "view": lambda m, x: m.view(-1),
    "permute": lambda m, x: m.permute(0, 2, 3, 1),
    "unsqueeze": lambda m, x: m.unsqueeze(0),
    "item": lambda m, x: m.reshape(-1).item(),
    "tolist": lambda m, x: m.tolist(),
    "numpy": lambda m, x: m.numpy(),
    "array": lambda m, x: np.asarray(m),
    "dlpack": lambda m, x: m.__dlpack__(),
    "data_ptr": lambda m, x: m.data_ptr(),
    "storage": lambda m, x: m.untyped_storage(),
    "share": lambda m, x: m.share_memory_(),
    "pinned": lambda m, x: m.is_pinned(),
    "pickle": lambda m, x: pickle.dumps(m),
    "deepcopy": lambda m, x: copy.deepcopy(m),
    "set data": lambda m, x: setattr(x, "data", m),
    "other dtype": lambda m, x: m.to(dtype=x.double().dtype),
    "twice": lambda m, x: m.to_mkldnn(),
    "equal": lambda m, x: m == m,
    "cat": lambda m, x: type(x).cat([m, m]) if hasattr(type(x), "cat") else m.cat([m]),
    "double": lambda m, x: x.double().to_mkldnn(),
    "integers": lambda m, x: x.int().to_mkldnn(),
    "six dimensions": lambda m, x: x.reshape(1, 1, 2, 3, 4, 4).to_mkldnn(),
    "fill": lambda m, x: m.fill_(2),
    "resize": lambda m, x: m.resize_(2),
    "broadcast": lambda m, x: m * x[:1].to_mkldnn(),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_layout_lacks_is_an_error_of_pytorchs_type(name, peer):
    def call(module: Any) -> Any:
        x = module.arange(96.0).reshape(2, 3, 4, 4)
        return REFUSED[name](x.to_mkldnn(), x.clone())

    ours = outcome(call, torch)
    assert isinstance(ours, type) and issubclass(ours, Exception)
    theirs = outcome(call, peer)
    assert isinstance(theirs, type) and issubclass(ours, theirs)  # NotImplementedError is a RuntimeError


@only_torch_py
def test_every_operator_without_a_kernel_is_refused_for_any_argument():
    x = numbers(2, 3).requires_grad_()
    converted = numbers(2, 3).to_mkldnn()
    for call in (
        lambda: torch.atan2(x, converted),
        lambda: torch.cat([x, converted]),
        lambda: torch.where(x > 0, x, converted),
        lambda: torch.nn.functional.layer_norm(converted, (3,), x[0]),
        lambda: torch.index_select(x, 0, converted),
        lambda: torch.einsum("ij,kj->ik", x, converted),
        lambda: x.expand_as(converted),
    ):
        for enabled in (True, False):
            with torch.set_grad_enabled(enabled), pytest.raises(NotImplementedError, match="MkldnnCPU"):
                call()


@only_torch_py
def test_strides_are_refused():
    converted = torch.ones(2, 3).to_mkldnn()
    for call in (converted.stride, lambda: converted.stride(0), lambda: memoryview(converted)):
        with pytest.raises((RuntimeError, BufferError), match="strid"):
            call()


def test_saving_is_refused():
    with pytest.raises(NotImplementedError, match="OpaqueTensorImpl"):
        torch.save(torch.ones(2).to_mkldnn(), io.BytesIO())


# --- Properties and text ---


def test_properties():
    converted = numbers(2, 3).to_mkldnn()
    assert converted.is_mkldnn and not torch.ones(2).is_mkldnn
    assert str(converted.layout) == "torch._mkldnn" and converted.device.type == "cpu"
    assert converted.is_contiguous() and converted.contiguous() is converted
    assert converted.size() == (2, 3) and converted.nbytes == 24 and len(converted) == 2
    assert converted.cpu() is converted and converted.detach().is_mkldnn and converted.data.is_mkldnn


def test_text_is_pytorchs(peer):
    for make in (
        lambda module: module.arange(4.0).to_mkldnn(),
        lambda module: module.arange(4.0).requires_grad_().to_mkldnn(),
        lambda module: module.empty(0).to_mkldnn(),
        lambda module: module.arange(2000.0).reshape(20, 100).bfloat16().to_mkldnn(),
    ):
        assert repr(make(torch)) == repr(make(peer))


# --- Modules ---


class Block(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Conv2d(8, 8, 3, padding=1, bias=False)
        self.norm = torch.nn.BatchNorm2d(8)
        self.second = torch.nn.Conv2d(8, 8, 1)

    def forward(self, x):
        return torch.relu(x + self.second(torch.relu(self.norm(self.first(x)))))


def small_resnet() -> Any:
    torch.manual_seed(3)
    layers = [torch.nn.Conv2d(3, 8, 3, 2, 1), torch.nn.BatchNorm2d(8), torch.nn.ReLU(), torch.nn.MaxPool2d(2)]
    layers += [
        Block(),
        torch.nn.PReLU(),
        torch.nn.AdaptiveAvgPool2d(1),
        torch.nn.Flatten(),
        torch.nn.Linear(8, 5),
    ]
    net = torch.nn.Sequential(*layers)
    with torch.no_grad():
        net(numbers(4, 3, 16, 16))
    return net.eval()


@pytest.fixture
def converted_resnet() -> tuple[Any, Any]:
    from torch_py.utils import mkldnn

    net = small_resnet()
    return net, mkldnn.to_mkldnn(net)


@only_torch_py
def test_a_converted_network_gives_the_same_numbers(converted_resnet):
    net, converted = converted_resnet
    x = numbers(2, 3, 16, 16)
    with torch.no_grad():
        got = converted(x.to_mkldnn())
        torch.testing.assert_close(got.to_dense(), net(x), rtol=1e-4, atol=1e-5)
    assert got.is_mkldnn and not list(converted.parameters()) and list(net.parameters())


@only_torch_py
def test_a_converted_network_is_pickled_and_copied(converted_resnet):
    _, converted = converted_resnet
    x = numbers(2, 3, 16, 16).to_mkldnn()
    for twin in (pickle.loads(pickle.dumps(converted)), copy.deepcopy(converted)):
        assert torch.equal(twin(x).to_dense(), converted(x).to_dense())
        assert all(buffer.is_mkldnn for buffer in twin.buffers())


@only_torch_py
def test_layers_of_other_dtypes_and_dimensions():
    from torch_py.utils import mkldnn

    half = mkldnn.to_mkldnn(small_resnet(), torch.bfloat16)
    assert half(numbers(2, 3, 16, 16).to_mkldnn(torch.bfloat16)).dtype == torch.bfloat16
    for layer, shape in ((torch.nn.Conv1d(3, 4, 2), (2, 3, 5)), (torch.nn.Conv3d(3, 4, 2), (2, 3, 4, 4, 4))):
        x = numbers(*shape)
        torch.testing.assert_close(mkldnn.to_mkldnn(layer)(x.to_mkldnn()).to_dense(), layer(x).detach())
    linear = torch.nn.Linear(3, 4, bias=False)
    torch.testing.assert_close(mkldnn.to_mkldnn(linear)(numbers(2, 3)), linear(numbers(2, 3)).detach())
    with pytest.raises(AssertionError, match="eval"):
        mkldnn.to_mkldnn(torch.nn.BatchNorm2d(3))
    with pytest.raises(AssertionError):
        mkldnn.to_mkldnn(linear, torch.float64)


@only_torch_py
def test_reordered_weights_are_weights():
    weight, x = numbers(5, 3, 3, 3), numbers(2, 3, 6, 6).to_mkldnn()
    reordered = torch._C._nn.mkldnn_reorder_conv2d_weight(weight.to_mkldnn())
    assert reordered.is_mkldnn
    assert torch.equal(F.conv2d(x, reordered).to_dense(), F.conv2d(x, weight).to_dense())
    with pytest.raises(NotImplementedError, match="CPU"):
        torch._C._nn.mkldnn_reorder_conv2d_weight(weight)


@only_torch_py
def test_the_backend_says_what_there_is():
    backend = torch.backends.mkldnn
    assert backend.is_available() and not backend.deterministic
    with backend.flags(enabled=False):
        assert not backend.enabled
    with backend.verbose(backend.VERBOSE_OFF):
        pass
    with pytest.warns(UserWarning, match="oneDNN"), backend.verbose(backend.VERBOSE_ON):
        pass
