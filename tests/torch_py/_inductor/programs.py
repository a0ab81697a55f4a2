"""Programs that tests compile, and their graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch_py as torch
import torch_py.nn.functional as F
from torch_py._inductor.stages import CompiledGraph, compile_graph
from torch_py.fx.experimental.proxy_tensor import make_fx


def graph_of(function: Callable[..., Any], *args: Any) -> Any:
    """The operators of a call."""
    return make_fx(function, tracing_mode="fake")(*args)


def compiled(function: Callable[..., Any], *args: Any) -> CompiledGraph:
    return compile_graph(graph_of(function, *args))


def layer_norm_of_sum(x: Any, y: Any, weight: Any, bias: Any) -> Any:
    return F.layer_norm(x + y, (x.shape[-1],), weight, bias)


def gelu_with_bias(x: Any, bias: Any) -> Any:
    return F.gelu(x + bias)


def chain(x: Any, y: Any) -> Any:
    z = torch.relu(x * y + 1.0)
    return torch.maximum(z * z - x, y) / (1.0 + torch.abs(y))


def softmax(x: Any) -> Any:
    return torch.softmax(x, -1)


def cross_entropy_parts(x: Any) -> Any:
    return torch.log_softmax(x, -1), x.argmax(-1)


def sums(x: Any) -> Any:
    return x.sum(0), x.sum(1), x.mean(), x.amax(1), x.prod(0)


def variance(x: Any) -> Any:
    return x.var(-1)


def joined(x: Any, y: Any) -> Any:
    return torch.cat([x + 1, y * 2], 1)


def shifted(x: Any) -> Any:
    return torch.roll(x, 1, 0) + F.pad(x[:, 1:], (1, 0)) * torch.flip(x, [1])


def backwards(x: Any) -> Any:
    return torch.where(x == 0, x * 3, torch.flip(x.cumsum(1), [1]) / x)


def heads(x: Any) -> Any:
    rows, columns = x.shape
    return (x.view(rows, 4, columns // 4).transpose(0, 1) * 2).contiguous()


def masked(x: Any, y: Any) -> Any:
    return torch.where(x > 0, y, -1.0).masked_fill(y > 1, 0.0).tril()


def short_floats(x: Any, y: Any) -> Any:
    return torch.tanh(x.bfloat16() + y.bfloat16())


def integers(x: Any) -> Any:
    n = (x * 10).to(torch.int32)
    return n * n + 3, n > 4, (n & 7).to(torch.float32)


def make(*sizes: int) -> Any:
    torch.manual_seed(0)
    return torch.randn(sizes)


# name -> the function and its arguments.
PROGRAMS: dict[str, tuple[Callable[..., Any], Callable[[], tuple[Any, ...]]]] = {
    "layer_norm_of_sum": (
        layer_norm_of_sum,
        lambda: (make(8, 96), make(8, 96) + 1, make(96), make(96) * 2),
    ),
    "gelu_with_bias": (gelu_with_bias, lambda: (make(8, 96), make(96))),
    "chain": (chain, lambda: (make(16, 33), make(16, 33) + 1)),
    "softmax": (softmax, lambda: (make(8, 50),)),
    "cross_entropy_parts": (cross_entropy_parts, lambda: (make(8, 50),)),
    "sums": (sums, lambda: (make(12, 40),)),
    "variance": (variance, lambda: (make(12, 64),)),
    "joined": (joined, lambda: (make(6, 4), make(6, 5))),
    "shifted": (shifted, lambda: (make(6, 9),)),
    # Compilers have mixed up loops of this form.
    "backwards": (backwards, lambda: (make(9, 4) + 3,)),
    "heads": (heads, lambda: (make(8, 32),)),
    "masked": (masked, lambda: (make(7, 7), make(7, 7) + 1)),
    "short_floats": (short_floats, lambda: (make(4, 40), make(4, 40) + 1)),
    "integers": (integers, lambda: (make(5, 8),)),
}
