"""The gradient of an operator declared in Python: its kernel for autograd."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch_py._dispatch_keys import BELOW_AUTOGRAD, BelowAutograd
from torch_py._ops import OpOverload
from torch_py._tensor import Tensor
from torch_py.autograd.function import Function


@dataclass
class Call:
    """What a node needs to know of a call besides its tensors."""

    keys: int
    keywords: dict[str, Any]
    lengths: tuple[int | None, ...]  # of the arguments that are lists of tensors
    result_lengths: tuple[int | None, ...] | None = None  # set by forward if there are such results
    returns_tuple: bool = True


def autograd_kernel(
    operator: OpOverload,
    backward: Callable[..., Any] | None = None,
    setup_context: Callable[..., Any] | None = None,
) -> Callable[..., Any]:
    """A kernel that takes the keys of the call first: it runs the kernel of the device, and records a node
    whose backward is the given function. Without one, differentiating is an error.
    """
    node = _node_class(operator, backward, setup_context)

    def kernel(keys: int, *args: Any, **kwargs: Any) -> Any:
        call = Call(keys, kwargs, tuple(map(_length, args)))
        results = node.apply(*_flattened(args), call)
        if call.result_lengths is None:
            return results
        restored = _restored(results, call.result_lengths)
        return restored if call.returns_tuple else restored[0]

    return kernel


def _node_class(
    operator: OpOverload, backward: Callable[..., Any] | None, setup_context: Callable[..., Any] | None
) -> type[Function]:
    save = setup_context

    class Node(Function):
        @staticmethod
        def forward(ctx: Any, *values: Any) -> Any:
            *leaves, call = values
            args = _restored(leaves, call.lengths)
            with BelowAutograd():
                result = operator.redispatch(call.keys & BELOW_AUTOGRAD, *args, **call.keywords)

            ctx._call = call
            if save is not None:
                extra = {"keyword_only_inputs": call.keywords} if call.keywords else {}
                save(ctx=ctx, inputs=args, output=result, **extra)
            return _flat_results(result, call)

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> Any:
            if backward is None:
                raise RuntimeError(
                    f"Trying to backward through {operator} but no autograd formula was registered. Please "
                    "use register_autograd to add one."
                )
            call = ctx._call
            if call.result_lengths is not None:
                gradients = _restored(gradients, call.result_lengths)
            found = backward(ctx, *gradients)
            found = found if isinstance(found, tuple) else (found,)
            return *_flat_gradients(operator, found, call.lengths), None

    name = f"GeneratedBackwardFor_{operator.namespace}_{operator._opname}_{operator._overloadname}"
    Node.__name__ = Node.__qualname__ = name
    Node._node_class.__name__ = Node._node_class.__qualname__ = f"{name}Backward"
    return Node


# Lists of tensors: a Function sees their elements as arguments of their own.


def _length(value: Any) -> int | None:
    is_list = isinstance(value, (list, tuple)) and any(isinstance(item, Tensor) for item in value)
    return len(value) if is_list else None


def _flattened(values: Any) -> list[Any]:
    flat: list[Any] = []
    for value in values:
        flat.extend(value) if _length(value) is not None else flat.append(value)
    return flat


def _restored(flat: Any, lengths: Any) -> tuple[Any, ...]:
    items = iter(flat)
    return tuple(
        next(items) if length is None else [next(items) for _ in range(length)] for length in lengths
    )


def _flat_results(result: Any, call: Call) -> Any:
    """Results in a form that Function knows: one value, or a tuple of them."""
    call.returns_tuple = isinstance(result, tuple)
    results = result if call.returns_tuple else (result,)
    lengths = tuple(map(_length, results))
    if all(length is None for length in lengths):
        return result
    call.result_lengths = lengths
    return tuple(_flattened(results))


def _flat_gradients(operator: OpOverload, found: tuple[Any, ...], lengths: Any) -> list[Any]:
    if len(found) != len(lengths):
        raise RuntimeError(
            f"{operator}: the backward function returned {len(found)} gradients for {len(lengths)} arguments"
        )
    flat: list[Any] = []
    for gradient, length in zip(found, lengths):
        if length is None:
            flat.append(gradient)
        else:
            flat.extend([None] * length if gradient is None else gradient)
    return flat
