"""Backends made of compilers for the graphs of ahead-of-time autograd."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch_py._functorch.aot import aot_module_simplified
from torch_py._pytorch_names.packages import lacking as _lacking


def aot_autograd(**kwargs: Any) -> Callable[..., Any]:
    """A backend of torch.compile that compiles the forward and the backward graph.

    Args:
        kwargs: `fw_compiler` and the other arguments of `torch._functorch.aot_autograd.aot_module_simplified`

    Example:
        >>> def show(graph, inputs):
        ...     print(graph.code.strip())
        ...     return graph
        >>> f = torch.compile(lambda x: x.sin(), backend=aot_autograd(fw_compiler=show))
        >>> f(torch.zeros(2))
        def forward(self, x):
            sin = torch.ops.aten.sin.default(x);  x = None
            return [sin]
        tensor([0., 0.])
    """

    def backend(module: Any, example_inputs: Sequence[Any], **options: Any) -> Callable[..., Any]:
        return aot_module_simplified(module, list(example_inputs), **{**kwargs, **options})

    return backend


__getattr__ = _lacking(__name__)
