"""`torch.autograd.Function`, the base class of operations with a derivative written in Python."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Any

from torch_py import _C
from torch_py.autograd.grad_mode import no_grad


class _Context(_C.FunctionBase):
    """The `ctx` argument that `forward` and `backward` share. It is also the node of the graph.

    The engine reads what was marked when `forward` returns. The native base class provides `saved_tensors`
    and `needs_input_grad`.
    """

    _forward_class: Any

    def save_for_backward(self, *tensors: _C.TensorBase | None) -> None:
        """Saves tensors, which backward reads as `ctx.saved_tensors`.

        It is an error if they have changed by then.
        """
        self.to_save = tensors

    def save_for_forward(self, *tensors: _C.TensorBase | None) -> None:
        """Saves tensors, which `jvp` reads as `ctx.saved_tensors`."""
        self.saved_for_forward = tensors

    def mark_dirty(self, *tensors: _C.TensorBase) -> None:
        """Declares inputs that `forward` changes in place; it must also return them."""
        self.dirty_tensors = tensors

    def mark_non_differentiable(self, *tensors: _C.TensorBase) -> None:
        """Declares outputs without a gradient; backward still receives zeros for each."""
        self.non_differentiable = tensors

    def mark_shared_storage(self, *pairs: tuple[_C.TensorBase, _C.TensorBase]) -> None:
        """Deprecated and without effect: shared memory is recognized without it."""
        warnings.warn(
            "mark_shared_storage is deprecated: tensors that share storage are tracked automatically",
            FutureWarning,
            stacklevel=2,
        )

    def set_materialize_grads(self, value: bool) -> None:
        """Sets whether missing gradients reach `backward` as zeros (the default) or as None."""
        self.materialize_grads = value

    def apply(self, *gradients: _C.TensorBase | None) -> Any:
        """Calls the `backward` of the Function; the engine uses it."""
        implementation = self._forward_class._own_backward()
        return implementation(self, *gradients)


FunctionCtx = BackwardCFunction = _Context


class FunctionMeta(type(_C.FunctionBase)):  # type: ignore[misc]
    """Gives every subclass of Function a class for its graph nodes, named after it."""

    def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> None:
        super().__init__(name, bases, namespace)
        cls._node_class = type(
            f"{name}Backward", (_Context,), {"_forward_class": cls, "__module__": cls.__module__}
        )

        *derived, _ = (base for base in cls.__mro__ if isinstance(base, FunctionMeta))
        cls._has_setup_context = any("setup_context" in vars(base) for base in derived)


class Function(_C.FunctionBase, metaclass=FunctionMeta):
    """An operation with its own derivative: subclass it with static methods `forward(ctx, *args)` and
    `backward(ctx, *gradients)`, and call it with `MyFunction.apply(*args)`.

    `backward` receives one gradient per output and returns one per argument of `forward`, or None for
    arguments without a gradient. Alternatively `forward` has no `ctx`, and
    `setup_context(ctx, inputs, output)` saves and marks tensors. The class is not meant to be instantiated;
    calling an instance raises RuntimeError.

    Example:
        >>> class Cube(torch.autograd.Function):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         ctx.save_for_backward(x)
        ...         return x**3
        ...     @staticmethod
        ...     def backward(ctx, gradient):
        ...         (x,) = ctx.saved_tensors
        ...         return gradient * 3 * x**2
        >>> x = torch.tensor(2.0, requires_grad=True)
        >>> Cube.apply(x).backward()
        >>> x.grad
        tensor(12.)
    """

    generate_vmap_rule = False  # whether `vmap` runs the other methods on each member of a batch
    _node_class: type
    _has_setup_context: bool
    # apply() inside of function transforms, which are made of Functions and set it.
    _apply_in_transform: Callable[..., Any]

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        warnings.warn(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all static, so you "
            f"should invoke them on the class itself: call {type(self).__name__}.apply(...)",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        name = type(self).__name__
        raise RuntimeError(
            f"{name}: autograd functions with a forward that is not static are not supported; call "
            f"{name}.apply(...)"
        )

    @staticmethod
    def forward(*arguments: Any, **keywords: Any) -> Any:
        """Computes the outputs from the arguments."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """Saves in `ctx` what `backward` needs, for a `forward` without `ctx`."""
        raise NotImplementedError("setup_context is not implemented for custom autograd.Function.")

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        """Computes the gradients of the arguments from the gradients of the outputs."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function."
        )

    vjp = backward

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        """Computes the tangents of the outputs from the tangents of the arguments.

        `ctx.saved_tensors` are the tensors that `save_for_forward` saved.
        """
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
        )

    @staticmethod
    def vmap(info: Any, in_dims: Any, *arguments: Any) -> Any:
        """Computes the outputs for a batch. Returns them and the position of the batch dimension in each.

        `in_dims` has the position of the batch dimension in each argument, or None for an argument without
        it. `info` has `batch_size` and `randomness`.
        """
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override the vmap staticmethod or set "
            "generate_vmap_rule=True."
        )

    @classmethod
    def apply(cls, *arguments: Any, **keywords: Any) -> Any:
        """Computes the outputs of `forward` and records them, so that `backward` differentiates them."""
        # setup_context also receives the arguments that have defaults, in the order of `forward`.
        if cls._has_setup_context:
            bound = inspect.signature(cls.forward).bind(*arguments, **keywords)
            bound.apply_defaults()
            arguments = bound.args
            keywords = bound.kwargs

        if any(map(_C._level_of, arguments)):
            return cls._apply_in_transform(cls, arguments)

        return super().apply(*arguments, **keywords)

    @classmethod
    def _own_backward(cls) -> Callable[..., Any]:
        """`backward`, or `vjp`, which is another name for it."""
        has_backward = cls.backward is not Function.backward
        has_vjp = cls.vjp is not Function.vjp
        if has_backward and has_vjp:
            raise RuntimeError(f"{cls.__name__}: expected one of backward and vjp, got both")
        return cls.vjp if has_vjp else cls.backward


def once_differentiable(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Decorates a `backward` that is not itself differentiable: differentiating its results raises
    RuntimeError instead of giving a wrong gradient."""

    @functools.wraps(fn)
    def wrapper(ctx: Any, *gradients: Any) -> Any:
        with no_grad():
            results = fn(ctx, *gradients)

        recorded = _C.is_grad_enabled() and any(
            isinstance(item, _C.TensorBase) and item.requires_grad for item in gradients
        )
        if not recorded:
            return results

        items = results if isinstance(results, tuple) else (results,)
        sealed = tuple(
            _SecondDerivativeBarrier.apply(item, *gradients) if isinstance(item, _C.TensorBase) else item
            for item in items
        )
        return sealed if isinstance(results, tuple) else sealed[0]

    return wrapper


class InplaceFunction(Function):
    """A base class for operations that can work in place; `inplace` says whether they do."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


class _SecondDerivativeBarrier(Function):
    """Connects a result to the gradients from which it was computed, so that differentiating it raises an
    error instead of giving zero."""

    generate_vmap_rule = True

    @staticmethod
    def forward(result: Any, *gradients: Any) -> Any:
        return result.clone()

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        raise RuntimeError(
            "trying to differentiate twice a function that was marked with @once_differentiable"
        )
