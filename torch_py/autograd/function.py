"""`torch.autograd.Function`: an operation whose derivative is written in Python."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Any

from torch_py import _C


class _Context(_C.FunctionBase):
    """What `forward` and `backward` share: the `ctx` argument, and the node of the graph.

    The engine reads what was marked when `forward` returns. `saved_tensors` and `needs_input_grad` come from
    the native base.
    """

    _forward_class: Any

    def save_for_backward(self, *tensors: Any) -> None:
        """Keeps tensors (None allowed) for `ctx.saved_tensors` in backward, with checks that they were not
        changed since."""
        self.to_save = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        self.saved_for_forward = tensors

    def mark_dirty(self, *tensors: Any) -> None:
        """Declares inputs that `forward` changes in place; each must also be returned."""
        self.dirty_tensors = tensors

    def mark_non_differentiable(self, *tensors: Any) -> None:
        """Declares outputs that have no gradient; backward still receives a gradient of zeros for each."""
        self.non_differentiable = tensors

    def mark_shared_storage(self, *pairs: Any) -> None:
        """Does nothing: memory that tensors share is seen without it."""
        warnings.warn(
            "mark_shared_storage is deprecated: tensors that share storage are tracked automatically",
            FutureWarning,
            stacklevel=2,
        )

    def set_materialize_grads(self, value: bool) -> None:
        """Whether missing gradients reach `backward` as zeros (the default) or as None."""
        self.materialize_grads = value

    def apply(self, *gradients: Any) -> Any:
        """Called by the engine."""
        implementation = self._forward_class._own_backward()
        return implementation(self, *gradients)


FunctionCtx = BackwardCFunction = _Context


class FunctionMeta(type(_C.FunctionBase)):  # type: ignore[misc]
    """Gives every subclass of Function the class of its graph nodes, named after it."""

    def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> None:
        super().__init__(name, bases, namespace)
        cls._node_class = type(
            f"{name}Backward", (_Context,), {"_forward_class": cls, "__module__": cls.__module__}
        )
        *derived, _ = (base for base in cls.__mro__ if isinstance(base, FunctionMeta))
        cls._has_setup_context = any("setup_context" in vars(base) for base in derived)


class Function(_C.FunctionBase, metaclass=FunctionMeta):
    """Subclass with static methods `forward(ctx, *args)` and `backward(ctx, *gradients)`; call with
    `MyFunction.apply(*args)`.

    `backward` gets one gradient per output and returns one per argument of `forward`, None where there is
    none. Alternatively `forward` has no `ctx` and `setup_context(ctx, inputs, output)` does the marking.
    Instances are good for nothing; calling one raises RuntimeError.
    """

    generate_vmap_rule = False  # whether `vmap` runs the other methods on members of a batch
    _node_class: type
    _has_setup_context: bool

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        warnings.warn(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all static, so you "
            "should invoke them on the class "
            f"itself: call {type(self).__name__}.apply(...)",
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
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        raise NotImplementedError("setup_context is not implemented for custom autograd.Function.")

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function."
        )

    vjp = backward

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        """The tangents of the outputs from those of the arguments; `ctx.saved_tensors` are what
        `save_for_forward` kept."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
        )

    @staticmethod
    def vmap(info: Any, in_dims: Any, *arguments: Any) -> Any:
        """The outputs for a batch and where its dimension is in each: `in_dims` says where it is in the
        arguments, None where it is not.

        `info` has `batch_size` and `randomness`.
        """
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override the vmap staticmethod or set "
            "generate_vmap_rule=True."
        )

    @classmethod
    def apply(cls, *arguments: Any, **keywords: Any) -> Any:
        """The outputs of `forward`, recorded so that `backward` differentiates them."""
        if (
            cls._has_setup_context
        ):  # which sees the arguments that have defaults, too, in the order of `forward`
            bound = inspect.signature(cls.forward).bind(*arguments, **keywords)
            bound.apply_defaults()
            arguments = bound.args
            keywords = bound.kwargs
        for argument in arguments:
            in_transform = getattr(type(argument), "_apply_function", None)
            if in_transform is not None:
                return in_transform(cls, arguments)
        return super().apply(*arguments, **keywords)

    @classmethod
    def _own_backward(cls) -> Callable[..., Any]:
        """`backward`, or `vjp`, the other name it may have."""
        has_backward = cls.backward is not Function.backward
        has_vjp = cls.vjp is not Function.vjp
        if has_backward and has_vjp:
            raise RuntimeError(f"{cls.__name__}: expected one of backward and vjp, got both")
        return cls.vjp if has_vjp else cls.backward


def once_differentiable(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Decorates a `backward` that is not itself differentiable: differentiating its results raises
    RuntimeError."""

    @functools.wraps(fn)
    def wrapper(ctx: Any, *gradients: Any) -> Any:
        from torch_py.autograd.grad_mode import no_grad

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
    """A base class for operations that may be done in place; `inplace` says whether."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


class _SecondDerivativeBarrier(Function):
    """Ties a result to the gradients it was computed from, so that differentiating it is an error and not
    silently zero."""

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
