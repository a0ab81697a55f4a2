"""What tools.device.figures measures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

_MANY = 1 << 26
_SIDE = 8192

Call = Callable[[], Any]


@dataclass(frozen=True)
class Case:
    name: str
    make: Callable[[Any], Call]  # of the module `torch` or `torch_py`
    bytes: float = 0  # that a call has to read and write, where these say what it should take


def _flat(
    name: str,
    function: Callable[..., Any],
    operands: int = 1,
    dtype: str = "float32",
    moved: int | None = None,
) -> Case:
    """A function of the elements of large vectors; `moved` counts how often the bytes of one are moved."""

    def make(torch: Any) -> Call:
        kind = getattr(torch, dtype)
        tensors = [torch.rand(_MANY, device="cuda").to(kind) for _ in range(operands)]
        return lambda: function(torch, *tensors)

    itemsize = {"float32": 4, "bfloat16": 2, "int64": 8, "complex64": 8}[dtype]
    return Case(name, make, (operands + 1 if moved is None else moved) * itemsize * _MANY)


def _square(name: str, function: Callable[..., Any], moved: float) -> Case:
    """A function of a large matrix; `moved` counts how often its bytes are moved."""

    def make(torch: Any) -> Call:
        x = torch.randn(_SIDE, _SIDE, device="cuda")
        return lambda: function(torch, x)

    return Case(name, make, moved * 4 * _SIDE * _SIDE)


def _with_gradient(name: str, function: Callable[..., Any], moved: float) -> Case:
    """The backward pass of a function of a large matrix."""

    def make(torch: Any) -> Call:
        x = torch.randn(_SIDE, _SIDE, device="cuda", requires_grad=True)
        y = function(torch, x)
        grad = torch.ones_like(y)
        return lambda: torch.autograd.grad(y, x, grad, retain_graph=True)

    return Case(name, make, moved * 4 * _SIDE * _SIDE)


def _copy(torch: Any, x: Any) -> Any:
    return x.clone()


def _rows(torch: Any) -> Call:
    x, row = torch.randn(_SIDE, _SIDE, device="cuda"), torch.randn(_SIDE, device="cuda")
    return lambda: x + row


def _columns(torch: Any) -> Call:
    x, column = torch.randn(_SIDE, _SIDE, device="cuda"), torch.randn(_SIDE, 1, device="cuda")
    return lambda: x + column


def _layer_norm(torch: Any) -> Call:
    x = torch.randn(_SIDE, 4096, device="cuda")
    weight, bias = torch.randn(4096, device="cuda"), torch.randn(4096, device="cuda")
    return lambda: torch.nn.functional.layer_norm(x, (4096,), weight, bias)


def _batch_norm(torch: Any) -> Call:
    x = torch.randn(64, 256, 56, 56, device="cuda")
    mean, var = torch.zeros(256, device="cuda"), torch.ones(256, device="cuda")
    return lambda: torch.nn.functional.batch_norm(x, mean, var, training=True)


def _cross_entropy(torch: Any) -> Call:
    x = torch.randn(4096, 32000, device="cuda")
    labels = torch.randint(32000, (4096,), device="cuda")
    return lambda: torch.nn.functional.cross_entropy(x, labels)


def _dropout_in_training(torch: Any) -> Call:
    x = torch.randn(_SIDE, _SIDE, device="cuda", requires_grad=True)
    grad = torch.ones(_SIDE, _SIDE, device="cuda")
    return lambda: torch.autograd.grad(torch.nn.functional.dropout(x, 0.1), x, grad)


def _embedding(torch: Any) -> Call:
    table, index = torch.randn(50000, 768, device="cuda"), torch.randint(50000, (65536,), device="cuda")
    return lambda: torch.nn.functional.embedding(index, table)


def _embedding_backward(torch: Any) -> Call:
    table = torch.randn(50000, 768, device="cuda", requires_grad=True)
    y = torch.nn.functional.embedding(torch.randint(50000, (65536,), device="cuda"), table)
    grad = torch.ones_like(y)
    return lambda: torch.autograd.grad(y, table, grad, retain_graph=True)


def _gather(torch: Any) -> Call:
    x = torch.randn(4096, 4096, device="cuda")
    index = torch.randint(4096, (4096, 4096), device="cuda")
    return lambda: x.gather(1, index)


def _scatter_add(torch: Any) -> Call:
    x = torch.randn(4096, 4096, device="cuda")
    index = torch.randint(4096, (4096, 4096), device="cuda")
    out = torch.zeros(4096, 4096, device="cuda")
    return lambda: out.scatter_add_(1, index, x)


def _scatter_add_sorted(torch: Any) -> Call:
    """Sums of segments of about 1000 elements."""
    x, out = torch.randn(_MANY // 4, device="cuda"), torch.zeros(_MANY // 4096, device="cuda")
    index = torch.arange(_MANY // 4, device="cuda") // 1024
    return lambda: out.scatter_add_(0, index, x)


def _index_add(torch: Any) -> Call:
    x, out = torch.randn(65536, 512, device="cuda"), torch.zeros(10000, 512, device="cuda")
    index = torch.randint(10000, (65536,), device="cuda")
    return lambda: out.index_add_(0, index, x)


def _max_pool(torch: Any) -> Call:
    x = torch.randn(64, 64, 112, 112, device="cuda")
    return lambda: torch.nn.functional.max_pool2d(x, 3, 2, 1)


def _images(torch: Any, *sizes: int, dtype: str, last: bool) -> Any:
    x = torch.randn(*sizes, device="cuda").to(getattr(torch, dtype))
    return x.to(memory_format=torch.channels_last) if last else x


def _convolution(
    name: str,
    channels: int,
    kernel: int,
    stride: int = 1,
    groups: int = 1,
    dtype: str = "float32",
    last: bool = False,
) -> Case:
    """A convolution of 32 images of 56 x 56 that keeps the number of channels."""

    def make(torch: Any) -> Call:
        x = _images(torch, 32, channels, 56, 56, dtype=dtype, last=last)
        weight = _images(torch, channels, channels // groups, kernel, kernel, dtype=dtype, last=last)
        return lambda: torch.nn.functional.conv2d(x, weight, None, stride, kernel // 2, 1, groups)

    return Case(name, make)


def _convolution_backward(
    name: str, channels: int, groups: int = 1, dtype: str = "float32", last: bool = False
) -> Case:
    """Both gradients of a convolution 3 x 3 of 32 images of 56 x 56."""

    def make(torch: Any) -> Call:
        x = _images(torch, 32, channels, 56, 56, dtype=dtype, last=last).requires_grad_()
        weight = _images(torch, channels, channels // groups, 3, 3, dtype=dtype, last=last).requires_grad_()
        y = torch.nn.functional.conv2d(x, weight, padding=1, groups=groups)
        grad = torch.ones_like(y)
        return lambda: torch.autograd.grad(y, (x, weight), grad, retain_graph=True)

    return Case(name, make)


def _attention(torch: Any) -> Call:
    q, k, v = (torch.randn(4, 12, 2048, 64, device="cuda").bfloat16() for _ in range(3))
    return lambda: torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)


def _adam(torch: Any) -> Call:
    parameters = [torch.zeros(n, device="cuda", requires_grad=True) for n in (1 << 20, 768, 3072) * 40]
    for parameter in parameters:
        parameter.grad = torch.ones_like(parameter)
    return torch.optim.AdamW(parameters, foreach=True).step  # type: ignore[no-any-return]


def _tiny(name: str, function: Callable[..., Any]) -> Case:
    """A call whose work is nothing compared with its launch."""

    def make(torch: Any) -> Call:
        x, y = torch.ones(16, device="cuda"), torch.ones(16, device="cuda")
        return lambda: function(torch, x, y)

    return Case(name, make)


def _tiny_backward(torch: Any) -> Call:
    x = torch.ones(16, device="cuda", requires_grad=True)

    def call() -> Any:
        y = x
        for _ in range(100):
            y = y * 1.01
        return torch.autograd.grad(y.sum(), x)

    return call


def _product(name: str, size: int, dtype: str) -> Case:
    def make(torch: Any) -> Call:
        kind = getattr(torch, dtype)
        x = torch.randn(size, size, device="cuda").to(kind)
        y = torch.randn(size, size, device="cuda").to(kind)
        return lambda: x @ y

    return Case(name, make)


CASES = (
    _flat("copy", _copy),
    _flat("add", lambda torch, x, y: x + y, 2),
    _flat("add bfloat16", lambda torch, x, y: x + y, 2, "bfloat16"),
    _flat("times a number", lambda torch, x: x * 2.5),
    _flat("sigmoid", lambda torch, x: torch.sigmoid(x)),
    _flat("exp bfloat16", lambda torch, x: torch.exp(x), 1, "bfloat16"),
    _flat("gelu", lambda torch, x: torch.nn.functional.gelu(x)),
    _flat("pow", lambda torch, x, y: torch.pow(x, y), 2),
    _flat("addcmul", lambda torch, x, y, z: torch.addcmul(x, y, z), 3),
    _flat("mul complex64", lambda torch, x, y: x * y, 2, "complex64"),
    Case("add a row", _rows, 8 * _SIDE * _SIDE),
    Case("add a column", _columns, 8 * _SIDE * _SIDE),
    _square("transposed copy", lambda torch, x: x.t().contiguous(), 2),
    _square("add of a transposed matrix", lambda torch, x: x + x.t(), 3),
    _square("cat", lambda torch, x: torch.cat([x, x], 1), 4),
    _square("sum of all", lambda torch, x: x.sum(), 1),
    _square("sum of rows", lambda torch, x: x.sum(1), 1),
    _square("sum of columns", lambda torch, x: x.sum(0), 1),
    _square("mean and variance", lambda torch, x: torch.var_mean(x, 1), 1),
    _square("mean and variance of columns", lambda torch, x: torch.var_mean(x, 0), 1),
    _square("variance of all", lambda torch, x: x.var(), 1),
    _square("largest of rows", lambda torch, x: x.max(1), 1),
    _square("argmax of all", lambda torch, x: x.argmax(), 1),
    _square("norm", lambda torch, x: x.norm(), 1),
    _square("softmax", lambda torch, x: torch.softmax(x, 1), 2),
    _with_gradient("softmax backward", lambda torch, x: torch.softmax(x, 1), 3),
    Case("layer_norm", _layer_norm, 8 * _SIDE * 4096),
    Case("batch_norm", _batch_norm),
    Case("cross_entropy", _cross_entropy, 4 * 4096 * 32000),
    Case("embedding", _embedding, 8 * 65536 * 768),
    Case("embedding backward", _embedding_backward),
    Case("gather", _gather),
    Case("scatter_add", _scatter_add),
    Case("scatter_add of sorted indices", _scatter_add_sorted),
    Case("index_add", _index_add),
    _square("cumsum of rows", lambda torch, x: x.cumsum(1), 2),
    _square("cumsum of columns", lambda torch, x: x.cumsum(0), 2),
    _square("cumsum of all", lambda torch, x: x.view(-1).cumsum(0), 2),
    _square("sort of rows", lambda torch, x: x.sort(1), 0),
    _flat("sort of all", lambda torch, x: x.sort(), moved=0),
    _square("topk of rows", lambda torch, x: x.topk(20, 1), 0),
    _square("nonzero", lambda torch, x: (x > 2).nonzero(), 0),
    _square("where", lambda torch, x: torch.where(x > 0, x, 0.0), 0),
    _flat("random numbers", lambda torch, x: x.normal_(), moved=1),
    Case("dropout in training", _dropout_in_training),
    _square("dropout", lambda torch, x: torch.nn.functional.dropout(x, 0.1), 0),
    Case("max_pool2d", _max_pool),
    Case("AdamW", _adam),
    _tiny("tiny add", lambda torch, x, y: x + y),
    _tiny("tiny add in place", lambda torch, x, y: x.add_(y)),
    _tiny("tiny softmax", lambda torch, x, y: torch.softmax(x, 0)),
    _tiny("tiny sum", lambda torch, x, y: x.sum()),
    Case("100 tiny steps and backward", _tiny_backward),
    _convolution("convolution 3 x 3, 128", 128, 3),
    _convolution("convolution 1 x 1, 256", 256, 1),
    _convolution("convolution 3 x 3, stride 2, 128", 128, 3, 2),
    _convolution("depthwise convolution 3 x 3, 256", 256, 3, 1, 256),
    _convolution_backward("convolution 3 x 3 backward, 128", 128),
    _convolution_backward("depthwise convolution backward, 256", 256, 256),
    _convolution("convolution 3 x 3, bfloat16", 128, 3, dtype="bfloat16"),
    _convolution("convolution 3 x 3, bfloat16, channels_last", 128, 3, dtype="bfloat16", last=True),
    _convolution("depthwise 3 x 3, bfloat16, channels_last", 256, 3, 1, 256, "bfloat16", True),
    _convolution_backward("convolution 3 x 3 backward, bfloat16", 128, dtype="bfloat16"),
    _convolution_backward("convolution backward, bfloat16, channels_last", 128, 1, "bfloat16", True),
    Case("attention of 2048, bfloat16", _attention),
    _product("product of 1024 float32", 1024, "float32"),
    _product("product of 8192 bfloat16", 8192, "bfloat16"),
)
