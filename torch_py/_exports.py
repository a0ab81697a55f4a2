"""What `torch` shows of the native module and of its own submodules, by name."""

from torch_py._C import (
    Generator,
    OutOfMemoryError,
    Size,
    UntypedStorage,
    as_tensor,
    asarray,
    autocast_decrement_nesting,
    autocast_increment_nesting,
    can_cast,
    clear_autocast_cache,
    default_generator,
    device,
    dtype,
    finfo,
    from_numpy,
    frombuffer,
    get_autocast_dtype,
    get_default_dtype,
    get_num_threads,
    iinfo,
    is_anomaly_check_nan_enabled,
    is_anomaly_enabled,
    is_autocast_cache_enabled,
    is_grad_enabled,
    layout,
    memory_format,
    promote_types,
    result_type,
    set_autocast_cache_enabled,
    set_autocast_dtype,
    set_autocast_enabled,
    set_flush_denormal,
    set_num_threads,
    tensor,
)
from torch_py._tensor import Tensor
from torch_py.autograd.grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled
from torch_py.random import get_rng_state, initial_seed, manual_seed, seed, set_rng_state
from torch_py.serialization import load, save

__all__ = [
    "Generator", "OutOfMemoryError", "Size", "Tensor", "UntypedStorage", "as_tensor", "asarray", "autocast_decrement_nesting",
    "autocast_increment_nesting", "can_cast", "clear_autocast_cache", "default_generator", "device", "dtype", "enable_grad", "finfo",
    "from_numpy", "frombuffer", "get_autocast_dtype", "get_default_dtype", "get_num_threads", "get_rng_state", "iinfo", "inference_mode",
    "initial_seed", "is_anomaly_check_nan_enabled", "is_anomaly_enabled", "is_autocast_cache_enabled",
    "is_grad_enabled", "layout", "load", "manual_seed", "memory_format", "no_grad", "promote_types", "result_type", "save", "seed",
    "set_autocast_cache_enabled", "set_autocast_dtype", "set_autocast_enabled", "set_flush_denormal", "set_grad_enabled", "set_num_threads",
    "set_rng_state", "tensor",
]  # fmt: skip
