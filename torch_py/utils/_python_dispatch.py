"""`__torch_dispatch__`, which torch_py does not have: names for packages that import them, errors for
programs that use them.

PyTorch asks it below autograd, about every call that an operator makes of another one. The dispatcher here is
a table of functions with the C++ types of each operator; none of them leads back to Python. What Python sees
are the calls it makes: `TorchFunctionMode`.
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
    """Can be subclassed and made, not entered: `with mode:` raises NotImplementedError."""

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
        return False


class BaseTorchDispatchMode(TorchDispatchMode):
    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


# No mode is ever entered.


def _get_current_dispatch_mode() -> None:
    return None


def _get_current_dispatch_mode_stack() -> list[Any]:
    return []


def _len_torch_dispatch_stack() -> int:
    return 0


def is_in_torch_dispatch_mode(include_infra_modes: bool = True) -> bool:
    return False


def is_in_any_mode_without_ignore_compile_internals() -> bool:
    return False


@contextlib.contextmanager
def _disable_current_modes() -> Iterator[list[Any]]:
    yield []


# Types that are made of other tensors


def is_traceable_wrapper_subclass(t: Any) -> bool:
    """Whether it is a tensor that can be taken apart by `__tensor_flatten__` and put together by
    `__tensor_unflatten__`."""
    return isinstance(t, Tensor) and type(t) is not Tensor and is_traceable_wrapper_subclass_type(type(t))


def is_traceable_wrapper_subclass_type(t: type) -> bool:
    return (
        issubclass(t, Tensor)
        and t is not Tensor
        and hasattr(t, "__tensor_flatten__")
        and hasattr(t, "__tensor_unflatten__")
    )


def transform_subclass(t: Any, callback: Any, outer_size: Any = None, outer_stride: Any = None) -> Any:
    """`t` with its inner tensors replaced: `callback(name, tensor)`."""
    names, context = t.__tensor_flatten__()
    inner = {name: callback(name, getattr(t, name)) for name in names}
    size = t.size() if outer_size is None else outer_size
    return type(t).__tensor_unflatten__(
        inner, context, size, t.stride() if outer_stride is None else outer_stride
    )


def return_and_correct_aliasing(func: Any, args: Any, kwargs: Any, out: Any) -> NoReturn:
    raise NotImplementedError(f"return_and_correct_aliasing: {_WHY}")
