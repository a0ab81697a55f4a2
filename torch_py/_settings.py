"""Process-wide settings and questions about the build: default dtype and
device, determinism, threads, warnings, printing."""

from __future__ import annotations

import importlib
import inspect
import os
import warnings
from types import ModuleType
from typing import Any

from torch_py import _C, _product_precision
from torch_py._device_module import register_device_module
from torch_py._tensor_str import set_printoptions

__all__ = [
    "are_deterministic_algorithms_enabled",
    "get_default_device",
    "get_deterministic_debug_mode",
    "get_device_module",
    "get_float32_matmul_precision",
    "get_num_interop_threads",
    "is_deterministic_algorithms_warn_only_enabled",
    "is_inference_mode_enabled",
    "is_warn_always_enabled",
    "set_default_device",
    "set_default_dtype",
    "set_default_tensor_type",
    "set_deterministic_debug_mode",
    "set_float32_matmul_precision",
    "set_num_interop_threads",
    "set_printoptions",
    "set_warn_always",
    "use_deterministic_algorithms",
]

_DEFAULT_FLOATING = ("float16", "bfloat16", "float32", "float64")
_DEBUG_MODES = ("default", "warn", "error")
_state: dict[str, Any] = {
    "deterministic": False,
    "warn_only": False,
    "fill_uninitialized": True,
    "interop_threads": None,
    "warn_always": False,
}


def set_default_dtype(dtype: Any, /) -> None:
    """Sets the dtype of floating-point results where none is given; the complex default follows.

    Raises TypeError unless `dtype` is float16, bfloat16, float32 or float64.

    Args:
        dtype: the dtype

    Example:
        >>> torch.set_default_dtype(torch.float64)
        >>> torch.ones(1).dtype
        torch.float64
        >>> torch.set_default_dtype(torch.float32)
    """
    if not isinstance(dtype, _C.dtype) or dtype not in [getattr(_C, name) for name in _DEFAULT_FLOATING]:
        raise TypeError(
            f"set_default_dtype: expected a floating-point torch.dtype ({', '.join(_DEFAULT_FLOATING)}), "
            f"got {dtype}"
        )
    _C.set_default_dtype(dtype)


def set_default_tensor_type(t: Any, /) -> None:
    """The older form of `set_default_dtype`: takes a type such as `torch.DoubleTensor`, or its full name.

    A type of `torch.cuda` makes CUDA the default device, too. Raises TypeError for anything else, and for a
    type of integers.

    Args:
        t: the type, or its name

    Example:
        >>> torch.set_default_tensor_type("torch.FloatTensor")
    """
    kind = t

    if isinstance(t, str):
        module, _, name = t.rpartition(".")
        if module == "torch" or module.startswith("torch."):
            module = module.replace("torch", "torch_py", 1)
        kind = getattr(importlib.import_module(module or t), name)

    dtype = getattr(kind, "dtype", None) if inspect.isclass(kind) else None
    if not isinstance(dtype, _C.dtype) or not dtype.is_floating_point:
        raise TypeError(
            f"set_default_tensor_type: only floating-point types are supported as the default type, got {t!r}"
        )

    device = getattr(kind, "kind", "cpu")
    if device == "cuda" and int(_C._cuda_getDeviceCount()) == 0:
        raise TypeError(f"set_default_tensor_type: type {t} is not available, there is no CUDA device")
    set_default_dtype(dtype)
    if device != "cpu":
        set_default_device(device)


def get_default_device() -> Any:
    """The device on which this thread creates tensors when none is named:
    `set_default_device`, or the innermost `with device:`.

    Example:
        >>> torch.get_default_device()
        device(type='cpu')
    """
    return _C._get_default_device()


def set_default_device(device: Any) -> None:
    """Sets the device on which this thread creates tensors when none is named; None means the CPU.

    Functions that take their device from a tensor do not change. `with torch.device(...)` does the same for a
    block.

    Args:
        device: the device, or None

    Example:
        >>> torch.set_default_device("cpu")
        >>> torch.ones(1).device
        device(type='cpu')
        >>> torch.set_default_device(None)
    """
    _C._set_default_device(device)


def get_device_module(device: Any = None) -> ModuleType:
    """The module of a kind of device: `torch.cpu` for the CPU and for None.

    Raises RuntimeError for anything but a device, a string and None, and for a kind without a module.

    Args:
        device: a device, the name of one, or None; default None

    Example:
        >>> torch.get_device_module("cpu").__name__
        'torch_py.cpu'
    """
    if device is not None and not isinstance(device, (str, _C.device)):
        raise RuntimeError(f"Invalid value of device '{device}', expect torch.device, str, or None")
    kind = "cpu" if device is None else _C.device(device).type
    try:
        return importlib.import_module(f"torch_py.{kind}")
    except ModuleNotFoundError:
        raise RuntimeError(f"get_device_module: device '{device}' has no module 'torch.{kind}'") from None


def _register_device_module(device_type: str, module: ModuleType) -> None:
    """Makes `module` the one that `get_device_module(device_type)` returns, and ``torch.DEVICE_TYPE``."""
    register_device_module(device_type, module)


def is_inference_mode_enabled() -> bool:
    """Whether inference mode is on in this thread.

    Example:
        >>> torch.is_inference_mode_enabled()
        False
    """
    return _C.is_inference_mode_enabled()


def _check_bool(function: str, name: str, value: Any, kind: type[Exception] = TypeError) -> bool:
    if not isinstance(value, bool):
        raise kind(f"{function}(): argument '{name}' (position 1) must be bool, not {type(value).__name__}")
    return value


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Makes operators deterministic.

    On the CPU all of them are within a process, and on CUDA all but `scatter_add` and sums of
    `scatter_reduce`, whose threads add in any order without the setting, and convolutions, for which cuDNN
    then takes only algorithms that give the same bits. It also makes matrix products on the CPU independent
    of the measurement that chooses between libraries (see `torch.backends.blas`), so that bits are the same
    in every run, and `torch.empty` and other functions that return uninitialized memory fill it, see
    `torch.utils.deterministic`.

    Raises TypeError unless both are bool.

    Args:
        mode: whether to
        warn_only: whether operators that cannot be are a warning instead of an error; default False

    Example:
        >>> torch.use_deterministic_algorithms(False)
    """
    _state.update(
        deterministic=_check_bool("use_deterministic_algorithms", "mode", mode),
        warn_only=_check_bool("use_deterministic_algorithms", "warn_only", warn_only),
    )
    _apply_deterministic()


def _apply_deterministic() -> None:
    _C._set_deterministic_algorithms(_state["deterministic"])
    _C._set_fill_uninitialized(_state["deterministic"] and _state["fill_uninitialized"])


def fill_uninitialized_memory(value: Any = None) -> bool:
    """Reads the setting of `torch.utils.deterministic`, or changes it if a value is given.

    Raises RuntimeError unless the value is a bool.
    """
    if value is not None:
        if not isinstance(value, bool):
            raise RuntimeError(f"expected a bool, but got {type(value).__name__}")
        _state["fill_uninitialized"] = value
        _apply_deterministic()
    return bool(_state["fill_uninitialized"])


def are_deterministic_algorithms_enabled() -> bool:
    """Whether `use_deterministic_algorithms` is on.

    Example:
        >>> torch.are_deterministic_algorithms_enabled()
        False
    """
    return bool(_state["deterministic"])


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Whether `use_deterministic_algorithms` only warns.

    Example:
        >>> torch.is_deterministic_algorithms_warn_only_enabled()
        False
    """
    return bool(_state["warn_only"])


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """`use_deterministic_algorithms` by number or name: 0 'default' (off), 1 'warn' (on, warnings only), 2
    'error' (on).

    Raises TypeError for another type, RuntimeError for another value.

    Args:
        debug_mode: 0 or 'default', 1 or 'warn', 2 or 'error'

    Example:
        >>> torch.set_deterministic_debug_mode("default")
    """
    if not isinstance(debug_mode, (int, str)):
        raise TypeError(f"debug_mode must be str or int, but got {type(debug_mode)}")
    if isinstance(debug_mode, str) and debug_mode not in _DEBUG_MODES:
        raise RuntimeError(
            "invalid value of debug_mode, expected one of "
            f"{', '.join(f'`{mode}`' for mode in _DEBUG_MODES)}, but got {debug_mode}"
        )
    level = _DEBUG_MODES.index(debug_mode) if isinstance(debug_mode, str) else int(debug_mode)
    if level not in (0, 1, 2):
        raise RuntimeError(f"invalid value of debug_mode, expected 0, 1, or 2, but got {debug_mode}")
    use_deterministic_algorithms(level > 0, warn_only=level == 1)


def get_deterministic_debug_mode() -> int:
    """0, 1 or 2, see `set_deterministic_debug_mode`.

    Example:
        >>> torch.get_deterministic_debug_mode()
        0
    """
    if not _state["deterministic"]:
        return 0
    return 1 if _state["warn_only"] else 2


def set_num_interop_threads(count: int, /) -> None:
    """Remembers how many operators may run at once; torch_py runs one at a time.

    Can be set once, before `get_num_interop_threads`.

    Raises RuntimeError unless `count` is a positive integer, and on a second call.

    Args:
        count: the number

    Example:
        >>> torch.set_num_interop_threads(0)
        Traceback (most recent call last):
            ...
        RuntimeError: set_num_interop_threads expects a positive integer, got 0
    """
    if isinstance(count, bool) or not isinstance(count, int):
        raise RuntimeError(f"set_num_interop_threads expects an int, but got {type(count).__name__}")
    if count <= 0:
        raise RuntimeError(f"set_num_interop_threads expects a positive integer, got {count}")
    if _state["interop_threads"] is not None:
        raise RuntimeError(
            "Error: cannot set number of interop threads after parallel work has started or "
            "set_num_interop_threads called"
        )
    _state["interop_threads"] = count


def get_num_interop_threads() -> int:
    """The value that `set_num_interop_threads` was given, else the number of processors.

    Example:
        >>> torch.get_num_interop_threads() >= 1
        True
    """
    return int(_state["interop_threads"] or os.cpu_count() or 1)


def set_warn_always(b: bool, /) -> None:
    """Makes warnings that appear once appear every time. Raises RuntimeError unless `b` is a bool.

    Args:
        b: whether to

    Example:
        >>> torch.set_warn_always(False)
    """
    _state["warn_always"] = _check_bool("set_warn_always", "b", b, RuntimeError)


def is_warn_always_enabled() -> bool:
    """Whether warnings that appear once appear every time.

    Example:
        >>> torch.is_warn_always_enabled()
        False
    """
    return bool(_state["warn_always"])


def set_float32_matmul_precision(precision: str) -> None:
    """Allows faster, less exact float32 products on devices that have them: TF32 on CUDA, with 'high' and
    with 'medium'. The CPU always computes in full precision.

    Warns about a name other than 'highest', 'high' and 'medium' and ignores it; RuntimeError for another
    type.

    Args:
        precision: 'highest', 'high' or 'medium'

    Example:
        >>> torch.set_float32_matmul_precision("highest")
    """
    if not isinstance(precision, str):
        raise RuntimeError(f"set_float32_matmul_precision expects a str, but got {type(precision).__name__}")
    if precision in _product_precision.PRECISIONS:
        _product_precision.ask_for(precision)
    else:
        warnings.warn(
            f"{precision} is not one of 'highest', 'high', or 'medium'; set_float32_matmul_precision has no "
            "effect",
            stacklevel=2,
        )


def get_float32_matmul_precision() -> str:
    """The precision that `set_float32_matmul_precision` was given: 'highest' (at first), 'high' or 'medium'.

    It is 'high' as well after ``torch.backends.cuda.matmul.allow_tf32 = True``.

    Example:
        >>> torch.get_float32_matmul_precision()
        'highest'
    """
    return _product_precision.asked()
