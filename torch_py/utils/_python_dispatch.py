"""`__torch_dispatch__`, which torch_py does not have.

The names exist for packages that import them; using them raises errors.

PyTorch calls `__torch_dispatch__` below autograd, for every operator that another operator calls. The
dispatcher here is a table of C++ functions that never call Python. Python sees only the calls that it makes
itself, with `TorchFunctionMode`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, NoReturn

from torch_py._tensor import Tensor

_WHY = (
    "torch_py does not call Python from below autograd; torch.overrides.TorchFunctionMode sees the calls "
    "that Python makes"
)


class TorchDispatchMode:
    """A mode that can be subclassed and created, but not entered: `with mode:` raises NotImplementedError."""

    supports_higher_order_operators = False
    ignore_compile_internals = False

    def __init__(self, _dispatch_key: Any = None) -> None:
        self._dispatch_key = _dispatch_key

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise NotImplementedError

    def __enter__(self) -> NoReturn:
        raise NotImplementedError(f"{type(self).__name__}: {_WHY}")

    def __exit__(self, exc_type: Any, exc_val: Any, exc_tb: Any) -> None:
        pass

    @classmethod
    def is_infra_mode(cls) -> bool:
        """Always False."""
        return False


class BaseTorchDispatchMode(TorchDispatchMode):
    """A mode that calls every operator unchanged."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


# A mode can never be entered, so the functions below have constant results.


def _get_current_dispatch_mode() -> None:
    return None


def _get_current_dispatch_mode_stack() -> list[Any]:
    return []


def _len_torch_dispatch_stack() -> int:
    return 0


def is_in_torch_dispatch_mode(include_infra_modes: bool = True) -> bool:
    """Always False."""
    return False


def is_in_any_mode_without_ignore_compile_internals() -> bool:
    """Always False."""
    return False


@contextlib.contextmanager
def _disable_current_modes() -> Iterator[list[Any]]:
    yield []


# Types that consist of other tensors


def is_traceable_wrapper_subclass(t: Any) -> bool:
    """Whether `t` is a tensor that `__tensor_flatten__` takes apart
    and `__tensor_unflatten__` puts together."""
    return isinstance(t, Tensor) and type(t) is not Tensor and is_traceable_wrapper_subclass_type(type(t))


def is_traceable_wrapper_subclass_type(t: type) -> bool:
    """Whether `t` is such a class of tensors."""
    return (
        issubclass(t, Tensor)
        and t is not Tensor
        and hasattr(t, "__tensor_flatten__")
        and hasattr(t, "__tensor_unflatten__")
    )


def transform_subclass(t: Any, callback: Any, outer_size: Any = None, outer_stride: Any = None) -> Any:
    """`t` with its inner tensors replaced by `callback(name, tensor)`."""
    names, context = t.__tensor_flatten__()
    inner = {name: callback(name, getattr(t, name)) for name in names}
    size = t.size() if outer_size is None else outer_size
    return type(t).__tensor_unflatten__(
        inner, context, size, t.stride() if outer_stride is None else outer_stride
    )


def return_and_correct_aliasing(func: Any, args: Any, kwargs: Any, out: Any) -> NoReturn:
    """Raises NotImplementedError."""
    raise NotImplementedError(f"return_and_correct_aliasing: {_WHY}")
