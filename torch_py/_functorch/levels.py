"""Tensors that a transform has wrapped, and how operators reach the transform.

Note [Levels]
A running transform (`vmap`, `jvp`) has a level, one above that of the transform around it. It wraps its
arguments in tensors of that level; what they hold may be wrapped at lower levels. An operator goes to the
highest level among its arguments, whose transform calls operators on what is inside, which may go to a lower
level, and in the end to plain tensors. The wrapper itself is a tensor with the shape, dtype and device that
the function under transform is to see; its elements mean nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from torch_py import _C
from torch_py._functorch.lists import writes_lists, written_lists
from torch_py._tensor import Tensor
from torch_py._torch_function import DisableTorchFunctionSubclass
from torch_py.autograd import grad
from torch_py.utils._pytree import tree_leaves

Gradients = list[Tensor | None]
_STATE = threading.local()


def _running() -> list[int | None]:
    """The size of the batch of each running `vmap` of this thread,
    None for other transforms; outermost first."""
    if not hasattr(_STATE, "running"):
        _STATE.running = []
    return _STATE.running


def current_level() -> int:
    """The level of the innermost running transform; 0 outside of all."""
    return len(_running())


def running_batches() -> list[tuple[int, int]]:
    """(level, size of the batch) of every running `vmap`."""
    return [(level, size) for level, size in enumerate(_running(), 1) if size is not None]


@contextmanager
def new_level(batch_size: int | None = None) -> Iterator[int]:
    _running().append(batch_size)
    try:
        yield current_level()
    finally:
        _running().pop()


class WrappedTensor(Tensor):
    """A tensor of one level; subclasses define what operators do to it."""

    level: int
    value: Tensor

    @classmethod
    def __torch_function__(cls, func: Any, types: Sequence[type], args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if writes_lists(func):
            return written_lists(func, args, kwargs)
        if func is grad:
            return WrappedTensor._autograd_grad(*args, **kwargs)
        wrapped = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, WrappedTensor)]
        innermost = max(wrapped, key=lambda tensor: tensor.level)
        return innermost.transform(innermost.level, func, args, kwargs)

    @staticmethod
    def transform(level: int, func: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Calls an operator with arguments some of which are at `level`."""
        raise NotImplementedError

    @staticmethod
    def _apply_function(function: Any, args: Sequence[Any]) -> Any:
        """`function.apply(*args)` for a `torch.autograd.Function`; some of the arguments are wrapped.
        custom_functions.py replaces it."""
        raise NotImplementedError

    @staticmethod
    def _autograd_grad(*args: Any, **kwargs: Any) -> Any:
        """`torch.autograd.grad`; some of the tensors are wrapped. engine.py replaces it."""
        raise NotImplementedError

    @staticmethod
    def gradients(
        outputs: Sequence[Tensor],
        inputs: Sequence[Tensor],
        weights: Sequence[Tensor],
        create_graph: bool,
        level: int,
    ) -> Gradients:
        """As engine.gradients, for tensors some of which are at `level`."""
        raise NotImplementedError

    def with_value(self, value: Tensor) -> WrappedTensor:
        """A tensor of the same kind and level with `value` inside."""
        raise NotImplementedError

    def detached(self) -> WrappedTensor:
        """This tensor with everything inside detached."""
        raise NotImplementedError

    def parts(self) -> list[Tensor]:
        """The tensors inside."""
        return [self.value]

    def as_number(self, kind: type) -> Any:
        """`kind(tensor)`, for bool, int, float and complex."""
        return kind(self.value)

    def __bool__(self) -> bool:
        return bool(self.as_number(bool))

    def __int__(self) -> int:
        return int(self.as_number(int))

    __index__ = __int__

    def __float__(self) -> float:
        return float(self.as_number(float))

    def __complex__(self) -> complex:
        return complex(self.as_number(complex))

    def __repr__(self, **_: Any) -> str:
        return f"{type(self).__name__}(level={self.level}, value={self.value!r})"

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise RuntimeError(
            f"a tensor inside of a function transform cannot be pickled: {type(self).__name__} of level "
            f"{self.level}"
        )


def wrap(kind: type[WrappedTensor], shell: Tensor, value: Tensor, level: int) -> Any:
    """`value` as a tensor of `level` that looks like `shell`."""
    with DisableTorchFunctionSubclass():
        result = _C.TensorBase._make_subclass(kind, shell.detach(), False)
    result.value = value
    result.level = level
    return result


def is_at(tensor: object, level: int) -> bool:
    return isinstance(tensor, WrappedTensor) and tensor.level == level


def highest_level(trees: Any) -> int:
    return max((leaf.level for leaf in tree_leaves(trees) if isinstance(leaf, WrappedTensor)), default=0)


def shell_of(tensor: Tensor) -> Tensor:
    """A plain tensor with the geometry of `tensor`, for queries."""
    with DisableTorchFunctionSubclass():
        return tensor.detach().as_subclass(Tensor) if isinstance(tensor, WrappedTensor) else tensor.detach()
