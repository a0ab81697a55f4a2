"""The transforms that differentiate a function by the autograd engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch_py import _C
from torch_py._functorch.batching import spread
from torch_py._functorch.engine import (
    depends_on_others,
    detached,
    differentiable_alias,
    gradients,
    released,
    requires_grad,
)
from torch_py._functorch.levels import new_level
from torch_py._tensor import Tensor
from torch_py.autograd import enable_grad
from torch_py.utils._pytree import tree_flatten, tree_map


def argument_numbers(argnums: Any, count: int, caller: str) -> tuple[int, ...]:
    numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums)
    if not numbers:
        raise RuntimeError(f"{caller}: argnums must be non-empty")

    wrapped = []
    for number in numbers:
        if not isinstance(number, int):
            raise RuntimeError(f"{caller}: argnums must be int or Tuple[int, ...], got {argnums!r}")
        if not -count <= number < count:
            raise RuntimeError(f"Got argnum={number}, but only {count} positional inputs")
        wrapped.append(number % count)

    if len(set(wrapped)) != len(wrapped):
        raise RuntimeError(f"argnums elements must be unique, got {argnums}")
    return tuple(wrapped)


def _check_differentiable(leaves: Sequence[Any], caller: str) -> None:
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise ValueError(
                f"{caller}: Thing passed to transform API must be Tensor, got {type(leaf)} among what is "
                "differentiated by"
            )
        if not (leaf.is_floating_point() or leaf.is_complex()):
            raise RuntimeError(
                f"{caller}: only floating point and complex tensors have gradients, got {leaf.dtype}"
            )


def split_aux(result: Any, caller: str) -> tuple[Any, Any]:
    """The two values that a function returns where `has_aux` is true."""
    if not isinstance(result, tuple) or len(result) != 2:
        raise RuntimeError(
            f"{caller}: output of function f should be a tuple: (output, aux) if has_aux is True"
        )
    return result


class _Recorded:
    """`func` run on aliases of some of its arguments, with what is needed to differentiate it."""

    def __init__(
        self,
        func: Callable[..., Any],
        args: Sequence[Any],
        kwargs: Any,
        numbers: Sequence[int],
        has_aux: bool,
        caller: str,
    ):
        self.caller = caller
        self.outer_grad = _C.is_grad_enabled()

        leaves, self.spec = tree_flatten([args[n] for n in numbers])
        _check_differentiable(leaves, caller)

        with enable_grad():
            leaves = [spread(leaf if self.outer_grad else detached(leaf)) for leaf in leaves]
            self.sources = [differentiable_alias(leaf) for leaf in leaves]
            aliased = list(args)
            for number, value in zip(numbers, self.spec.unflatten(self.sources)):
                aliased[number] = value
            self.own = [t for t, leaf in zip(self.sources, leaves) if not requires_grad(leaf)]
            result = func(*aliased, **kwargs)

        self.result, self.aux = split_aux(result, caller) if has_aux else (result, None)

    def released(self, results: Any) -> Any:
        """`results`, with their graphs only if these lead to what `func` was called with, or found outside,
        while gradients were recorded there."""
        if self.outer_grad:
            return released(results, self.own)
        return tree_map(lambda leaf: detached(leaf) if isinstance(leaf, Tensor) else leaf, results)

    def gradients(
        self, outputs: Sequence[Tensor], weights: Sequence[Tensor], keep: bool = False
    ) -> list[Tensor]:
        others = _C.is_grad_enabled() and (
            self.outer_grad and (keep or depends_on_others([list(outputs), list(weights)], self.own))
        )
        with enable_grad():
            found = gradients(outputs, self.sources, weights, others)
            full = [_C._torch.zeros_like(s) if g is None else g for g, s in zip(found, self.sources)]
        return released(full, self.own) if others else [detached(g) for g in full]


def grad_and_value(func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Callable[..., Any]:
    """A function that returns `(gradient, func(...))`; with `has_aux`, `(gradient, (value, aux))`.

    `func` returns a tensor of one element (with `has_aux` and something else). The gradient has the structure
    of the arguments that `argnums` names. Raises RuntimeError unless the result is a real scalar tensor.

    Args:
        func: a function that returns one element; with `has_aux`, a pair of it and anything
        argnums: with respect to which arguments: a number or a tuple; default 0
        has_aux: whether `func` returns something else too; default False

    Example:
        >>> torch.func.grad_and_value(torch.sin)(torch.tensor(0.0))
        (tensor(1.), tensor(0.))
    """

    def transformed(*args: Any, **kwargs: Any) -> Any:
        numbers = argument_numbers(argnums, len(args), "grad")
        with new_level():
            recorded = _Recorded(func, args, kwargs, numbers, has_aux, "grad")
            output = recorded.result

            if not isinstance(output, Tensor):
                raise RuntimeError(
                    "grad_and_value(f)(*args): Expected f(*args) to return a single tensor, "
                    f"got {type(output).__name__}"
                )
            if output.dim() != 0:
                raise RuntimeError(
                    "grad_and_value(f)(*args): Expected f(*args) to return a scalar tensor, got tensor with "
                    f"{output.dim()} dims. Maybe you wanted to use the vjp or jacrev APIs instead?"
                )

            found = recorded.gradients([output], [_C._torch.ones_like(output)])
            by_argument = recorded.spec.unflatten(found)
            gradient = by_argument[0] if isinstance(argnums, int) else tuple(by_argument)
            value = recorded.released(output)
            return gradient, ((value, recorded.released(recorded.aux)) if has_aux else value)

    return transformed


def grad(func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Callable[..., Any]:
    """The function that computes the gradient of `func`; see `grad_and_value`.

    With `has_aux` it returns `(gradient, aux)`.

    Args:
        func: a function that returns one element; with `has_aux`, a pair of it and anything
        argnums: with respect to which arguments: a number or a tuple; default 0
        has_aux: whether `func` returns something else too; default False

    Example:
        >>> torch.func.grad(torch.sin)(torch.tensor(0.0))
        tensor(1.)
    """
    both = grad_and_value(func, argnums, has_aux)

    def transformed(*args: Any, **kwargs: Any) -> Any:
        gradient, value = both(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return transformed


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """`func(*primals)` and a function from cotangents, in the structure of that result, to the products with
    the Jacobian.

    The second function returns a tuple of one product per primal. With `has_aux` a third value is what `func`
    returned in addition to its result.

    Args:
        func: a function of tensors, or trees of them
        primals: the point
        has_aux: whether `func` returns something else too; default False

    Example:
        >>> value, product = torch.func.vjp(torch.sin, torch.tensor([0.0, 1.0]))
        >>> product(torch.ones(2))
        (tensor([1.0000, 0.5403]),)
    """
    with new_level():
        recorded = _Recorded(func, primals, {}, range(len(primals)), has_aux, "vjp")
    outputs, output_spec = tree_flatten(recorded.result)
    for output in outputs:
        if not isinstance(output, Tensor):
            raise RuntimeError(
                "vjp(f, *primals): Expected f(*primals) to only return tensors, got unsupported type "
                f"{type(output)}"
            )
        if not (output.is_floating_point() or output.is_complex()):
            raise RuntimeError(
                "vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got Tensor with "
                f"dtype {output.dtype}"
            )

    def product(
        cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None
    ) -> tuple[Any, ...]:
        weights, spec = tree_flatten(cotangents)
        if spec != output_spec:
            raise RuntimeError(
                "Expected pytree structure of cotangents to be the same as pytree structure of outputs to "
                "the function. "
                f"cotangents: {spec}, primal output: {output_spec}"
            )

        for weight, output in zip(weights, outputs):
            if tuple(weight.shape) != tuple(output.shape):
                raise RuntimeError(
                    f"vjp: a cotangent has the shape {tuple(weight.shape)}, its output {tuple(output.shape)}"
                )

        found = recorded.gradients(outputs, weights)
        by_primal = recorded.spec.unflatten(found)
        return tuple(by_primal)

    value = recorded.released(recorded.result)
    return (value, product, recorded.released(recorded.aux)) if has_aux else (value, product)
