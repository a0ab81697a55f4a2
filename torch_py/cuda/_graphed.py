"""Functions and modules whose forward and backward are graphs: `torch.cuda.make_graphed_callables`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from torch_py import _C
from torch_py._C import _torch
from torch_py._tensor import Tensor
from torch_py.autograd import Function, grad
from torch_py.autograd.function import once_differentiable
from torch_py.cuda._devices import synchronize
from torch_py.cuda.graphs import CUDAGraph, graph, graph_pool_handle
from torch_py.cuda.streams import Stream, StreamContext
from torch_py.nn import Module
from torch_py.utils._pytree import tree_flatten, tree_unflatten


@dataclass
class _Captured:
    """One callable with the tensors that its graphs read and write."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]  # as the function takes them
    inputs: tuple[Tensor, ...]  # the tensors among them
    parameters: tuple[Tensor, ...]
    forward: CUDAGraph = field(default_factory=CUDAGraph)
    backward: CUDAGraph = field(default_factory=CUDAGraph)
    outputs: tuple[Tensor, ...] = ()
    structure: Any = None  # of the function's result
    gradients_in: tuple[Tensor | None, ...] = ()  # of the outputs; None without a gradient
    gradients_out: tuple[Tensor | None, ...] = ()  # of inputs and parameters

    @property
    def surface(self) -> tuple[Tensor, ...]:
        return self.inputs + self.parameters

    @property
    def differentiable(self) -> tuple[Tensor, ...]:
        return tuple(tensor for tensor in self.surface if tensor.requires_grad)


def make(
    callables: Any, sample_args: Any, warmups: int, allow_unused: bool, pool: tuple[int, int] | None
) -> Any:
    """See `torch.cuda.make_graphed_callables`."""
    if _C.is_autocast_enabled() and _C.is_autocast_cache_enabled():
        raise RuntimeError(
            "make_graphed_callables does not support the autocast caching. Please set `cache_enabled=False`."
        )

    is_one = not isinstance(callables, tuple)
    functions = (callables,) if is_one else callables
    arguments = (sample_args,) if is_one else sample_args
    parts = [_prepare(function, given) for function, given in zip(functions, arguments)]

    # In the order in which they will run, so that memory which the pool gives again is free then.
    memory = graph_pool_handle() if pool is None else pool
    _warm_up(parts, warmups, allow_unused)
    for part in parts:
        _capture_forward(part, memory)
    for part in reversed(parts):
        _capture_backward(part, memory, allow_unused)

    made = tuple(_finished(part) for part in parts)
    return made[0] if is_one else made


def _prepare(function: Any, arguments: tuple[Any, ...]) -> _Captured:
    """Checks a callable and its arguments."""
    parameters: tuple[Tensor, ...] = ()
    if isinstance(function, Module):
        if function._backward_hooks or function._forward_hooks or function._forward_pre_hooks:
            raise AssertionError(
                "make_graphed_callables: expected a module without hooks; register them afterwards"
            )
        if any(buffer.requires_grad for buffer in function.buffers()):
            raise AssertionError(
                "make_graphed_callables: expected buffers that do not require grad; only parameters may be "
                "trained"
            )
        parameters = tuple(function.parameters())

    inputs = tree_flatten(arguments)[0]
    if not all(isinstance(each, Tensor) for each in inputs):
        raise AssertionError("make_graphed_callables: expected sample_args with tensors only")
    return _Captured(function, tuple(arguments), tuple(inputs), parameters)


def _gradients(part: _Captured, outputs: Any, weights: Any, allow_unused: bool) -> tuple[Any, ...]:
    return grad(
        outputs=outputs,
        inputs=part.differentiable,
        grad_outputs=weights,
        only_inputs=True,
        allow_unused=allow_unused,
    )


def _warm_up(parts: list[_Captured], times: int, allow_unused: bool) -> None:
    """Runs all callables outside of graphs: what happens once only must not be captured."""
    synchronize()
    with StreamContext(Stream()):
        for part in parts:
            for _ in range(times):
                results = tree_flatten(part.function(*part.arguments))[0]
                outputs = tuple(each for each in results if each.requires_grad)
                if outputs:
                    weights = tuple(_torch.empty_like(each) for each in outputs)
                    _gradients(part, outputs, weights, allow_unused)
    synchronize()


def _capture_forward(part: _Captured, pool: tuple[int, int]) -> None:
    with graph(part.forward, pool=pool):
        result = part.function(*part.arguments)
    outputs, part.structure = tree_flatten(result)
    part.outputs = tuple(outputs)


def _capture_backward(part: _Captured, pool: tuple[int, int], allow_unused: bool) -> None:
    part.gradients_in = tuple(
        _torch.empty_like(each) if each.requires_grad else None for each in part.outputs
    )
    outputs = tuple(each for each in part.outputs if each.requires_grad)

    found: list[Any] = []
    if outputs:
        weights = tuple(each for each in part.gradients_in if each is not None)
        with graph(part.backward, pool=pool):
            found = list(_gradients(part, outputs, weights, allow_unused))

    left = iter(found)
    part.gradients_out = tuple(next(left) if found and each.requires_grad else None for each in part.surface)


def _move(to: Tensor, value: Tensor) -> None:
    """Copies a value to where a graph reads it, unless it is there."""
    if to.data_ptr() != value.data_ptr():
        to.copy_(value)


def _replayed(part: _Captured) -> Callable[..., Any]:
    """The function that replays a callable's graphs."""

    class Graphed(Function):
        @staticmethod
        def forward(context: Any, *inputs: Tensor) -> tuple[Tensor, ...]:
            for place, value in zip(part.inputs, inputs):
                _move(place.detach(), value)
            part.forward.replay()
            return tuple(each.detach() for each in part.outputs)

        @staticmethod
        @once_differentiable
        def backward(context: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
            for place, value in zip(part.gradients_in, gradients):
                if place is not None:
                    _move(place, value)
            part.backward.replay()
            return tuple(None if each is None else each.detach() for each in part.gradients_out)

    def call(*arguments: Any) -> Any:
        inputs = tree_flatten(arguments)[0]
        results = Graphed.apply(*inputs, *part.parameters)
        return tree_unflatten(list(results), part.structure)

    return call


def _finished(part: _Captured) -> Any:
    """The graphed callable: a module replays while it is in the mode in which it was captured."""
    graphed = _replayed(part)
    if not isinstance(part.function, Module):
        return graphed

    module = part.function
    eager = module.forward
    training = module.training

    def forward(*arguments: Any, **keywords: Any) -> Any:
        if module.training == training:
            return graphed(*arguments, **keywords)
        return eager(*arguments, **keywords)

    module.forward = forward
    return module
