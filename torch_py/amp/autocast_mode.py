"""`torch.autocast`, for blocks and functions in which operators choose the dtypes of their arguments."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Mapping
from typing import Any

from torch_py import _C
from torch_py._tensor import Tensor

__all__ = ["autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]

# The narrow dtypes of each device type with autocast.
_NARROW = {"cpu": (_C.bfloat16, _C.float16), "cuda": (_C.float16, _C.bfloat16)}


def is_autocast_available(device_type: str) -> bool:
    """Whether autocast supports tensors on this type of device.

    Raises RuntimeError for an unknown device type.

    Args:
        device_type: the type of device

    Example:
        >>> torch.amp.is_autocast_available("cpu")
        True
    """
    return _C.device(device_type).type in _NARROW


class autocast:
    """Makes operators convert floating-point arguments inside the block or the decorated function: to `dtype`
    for matrix products and convolutions, and to float32 for operators that need its range or precision.
    Weights are converted once per outermost block. Other dtypes, and CUDA if it is not available, have no
    effect and give a warning.

    Args:
        device_type: 'cpu' or 'cuda'; tensors on other devices are not converted
        dtype: bfloat16 or float16; by default bfloat16 on the CPU and float16 on CUDA
        enabled: False turns conversion off inside the block
        cache_enabled: whether to keep converted weights; by default the setting outside the block

    Raises:
        ValueError: if `device_type` is not a string
        RuntimeError: for a device type without autocast

    Example:
        >>> with torch.autocast("cpu", dtype=torch.bfloat16):
        ...     torch.mm(torch.ones(2, 2), torch.ones(2, 2)).dtype
        torch.bfloat16
    """

    def __init__(
        self,
        device_type: str,
        dtype: _C.dtype | None = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        if not is_autocast_available(device_type):
            raise RuntimeError(f"User specified an unsupported autocast device_type '{device_type}'")

        self.device = device_type
        self.fast_dtype = _C.get_autocast_dtype(device_type) if dtype is None else dtype
        self._enabled = enabled and self._is_possible()
        self._cache_enabled = _C.is_autocast_cache_enabled() if cache_enabled is None else cache_enabled
        self._before: list[tuple[bool, Any, bool]] = []  # one entry for each entry of the block

    def _is_possible(self) -> bool:
        """Warns and returns False if autocast cannot have any effect."""
        if self.device == "cuda" and int(_C._cuda_getDeviceCount()) == 0:
            warnings.warn("CUDA is not available. Disabling autocast.", stacklevel=3)
            return False

        if self.fast_dtype not in _NARROW[self.device]:
            supported = ", ".join(map(str, _NARROW[self.device]))
            warnings.warn(
                f"In {self.device.upper()} autocast, but the target dtype {self.fast_dtype} is not "
                "supported. Disabling autocast.\n"
                f"{self.device.upper()} Autocast only supports dtypes of {supported} currently.",
                stacklevel=3,
            )
            return False

        return True

    def __enter__(self) -> autocast:
        device = self.device
        self._before.append(
            (_C.is_autocast_enabled(device), _C.get_autocast_dtype(device), _C.is_autocast_cache_enabled())
        )

        _C.set_autocast_enabled(device, self._enabled)
        if self._enabled:
            _C.set_autocast_dtype(device, self.fast_dtype)
        _C.autocast_increment_nesting()
        _C.set_autocast_cache_enabled(self._cache_enabled)
        return self

    def __exit__(self, *exception: object) -> None:
        if _C.autocast_decrement_nesting() == 0:
            _C.clear_autocast_cache()
        enabled, dtype, cache_enabled = self._before.pop()
        _C.set_autocast_enabled(self.device, enabled)
        _C.set_autocast_dtype(self.device, dtype)
        _C.set_autocast_cache_enabled(cache_enabled)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def inside(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)

        return inside


# -- Functions with their own derivatives ------------------------------------------------------------


def _converted(value: Any, device_type: str, dtype: Any) -> Any:
    """Converts the floating-point tensors in `value`, a nest of containers, to `dtype`, except float64."""
    if isinstance(value, Tensor):
        fits = value.is_floating_point() and value.device.type == device_type and value.dtype != _C.float64
        return value.to(dtype) if fits else value

    if isinstance(value, (str, bytes)):
        return value

    if isinstance(value, Mapping):
        return {
            _converted(key, device_type, dtype): _converted(item, device_type, dtype)
            for key, item in value.items()
        }

    if isinstance(value, (list, tuple)):
        items = [_converted(item, device_type, dtype) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return value


def custom_fwd(
    fwd: Callable[..., Any] | None = None, *, device_type: str, cast_inputs: _C.dtype | None = None
) -> Any:
    """Decorates the `forward` of a torch.autograd.Function for use inside autocast.

    With `cast_inputs` its floating-point arguments are converted to that dtype and autocast is off inside it.
    Otherwise it runs under the current autocast. Use it with `custom_bwd`. Raises ValueError unless
    `device_type` is a string.

    Args:
        fwd: the function; default None, to give the other arguments first
        device_type: the type of device
        cast_inputs: the dtype of floating-point arguments; default None, unchanged

    Example:
        >>> class Double(torch.autograd.Function):
        ...     @staticmethod
        ...     @torch.amp.custom_fwd(device_type="cpu", cast_inputs=torch.float32)
        ...     def forward(ctx, x):
        ...         return x * 2
        ...     @staticmethod
        ...     @torch.amp.custom_bwd(device_type="cpu")
        ...     def backward(ctx, gradient):
        ...         return gradient * 2
        >>> Double.apply(torch.ones(1))
        tensor([2.])
    """
    _check_device_type(device_type)
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        context = args[0]
        enabled = _C.is_autocast_enabled(device_type)
        context._dtype = _C.get_autocast_dtype(device_type)
        context._fwd_used_autocast = enabled and cast_inputs is None

        if cast_inputs is None or not enabled:
            return fwd(*args, **kwargs)

        with autocast(device_type, enabled=False):
            arguments = _converted(args, device_type, cast_inputs)
            keywords = _converted(kwargs, device_type, cast_inputs)
            return fwd(*arguments, **keywords)

    return decorated


def custom_bwd(bwd: Callable[..., Any] | None = None, *, device_type: str) -> Any:
    """Decorates the `backward` of a Function whose forward has `custom_fwd`, so that it runs under the same
    autocast as forward.

    Args:
        bwd: the function; default None, to give the other arguments first
        device_type: the type of device

    Example:
        >>> class Double(torch.autograd.Function):
        ...     @staticmethod
        ...     @torch.amp.custom_fwd(device_type="cpu")
        ...     def forward(ctx, x):
        ...         return x * 2
        ...     @staticmethod
        ...     @torch.amp.custom_bwd(device_type="cpu")
        ...     def backward(ctx, gradient):
        ...         return gradient * 2
        >>> x = torch.ones(1, requires_grad=True)
        >>> Double.apply(x).backward()
        >>> x.grad
        tensor([2.])
    """
    _check_device_type(device_type)
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        with autocast(device_type, enabled=args[0]._fwd_used_autocast, dtype=args[0]._dtype):
            return bwd(*args, **kwargs)

    return decorated


def _check_device_type(device_type: object) -> None:
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")


def warn_of_older_name(older: str, newer: str, device_type: str) -> None:
    """Warns that the older name is deprecated."""
    warnings.warn(
        f"`{older}(args...)` is deprecated. Please use `{newer}('{device_type}', args...)` instead.",
        FutureWarning,
        stacklevel=3,
    )
