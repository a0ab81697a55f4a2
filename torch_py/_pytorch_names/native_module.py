"""Names that libraries look for in `torch._C`: questions about absent
features, and other names of present ones."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

from torch_py import _C, _torch_function
from torch_py._dispatch_keys import BELOW_AUTOGRAD, BelowAutograd, DispatchKey, DispatchKeySet, ExcludeKeys
from torch_py._pytorch_names.packages import lacking
from torch_py._tensor import Tensor
from torch_py._utils import _flatten_dense_tensors, _unflatten_dense_tensors


def _parse_to(*args: Any, **kwargs: Any) -> tuple[Any, Any, bool, Any]:
    """The arguments of `Module.to` as (device, dtype, non_blocking, memory_format)."""
    device, dtype = kwargs.get("device"), kwargs.get("dtype")
    flags = [argument for argument in args if isinstance(argument, bool)]

    for argument in args:
        if isinstance(argument, Tensor):
            device, dtype = argument.device, argument.dtype
        elif isinstance(argument, _C.dtype):
            dtype = argument
        elif isinstance(argument, (str, _C.device)) or (
            isinstance(argument, int) and not isinstance(argument, bool)
        ):
            device = argument

    return (
        None if device is None else _C.device(device),
        dtype,
        kwargs.get("non_blocking", bool(flags and flags[0])),
        kwargs.get("memory_format"),
    )


def _get_accelerator(check: bool | None = None) -> Any:
    """The accelerator's type as a device, else the CPU's; then raises RuntimeError if `check` is true."""
    if _C._cuda_getDeviceCount() > 0:
        return _C.device("cuda")
    if check:
        raise RuntimeError("Cannot access accelerator device when none is available.")
    return _C.device("cpu")


def _nothing(*arguments: Any) -> None:
    return None


def _no(*arguments: Any) -> bool:
    return False


def _are_functorch_transforms_active() -> bool:
    """Whether a transform of `torch.func` is running."""
    return bool(_C._current_level())


_IDLE = (
    "_debug_set_autodiff_subgraph_inlining",
    "_get_tracing_state",
    "_jit_clear_class_registry",
    "_jit_override_can_fuse_on_cpu",
    "_jit_override_can_fuse_on_gpu",
    "_jit_set_autocast_mode",
    "_jit_set_bailout_depth",
    "_jit_set_nvfuser_enabled",
    "_jit_set_profiling_executor",
    "_jit_set_profiling_mode",
    "_jit_set_texpr_fuser_enabled",
    "_log_api_usage_once",
)
# Keys of PyTorch's that the dispatcher lacks. As names they serve as keys of tables.
_OTHER_KEYS = (
    "Autograd",
    "AutocastXPU",
    "Functionalize",
    "CompositeImplicitAutograd",
    "CompositeExplicitAutograd",
    "ADInplaceOrView",
    "BackendSelect",
    "FuncTorchBatched",
    "XPU",
    "MPS",
)
_ANSWERED_NO = (
    "_has_cuda",
    "_has_xpu",
    "_has_mps",
    "_is_tracing",
    "_jit_can_fuse_on_cpu",
    "_jit_can_fuse_on_gpu",
    "_llvm_enabled",
)


def add_native_names(native: ModuleType) -> None:
    """Adds the names to the native module, unless it has its own."""
    names: dict[str, Any] = {name: _nothing for name in _IDLE}
    names.update({name: _no for name in _ANSWERED_NO})

    names.update(
        DispatchKey=SimpleNamespace(**{key: key for key in _OTHER_KEYS}, **DispatchKey.__members__),
        DispatchKeySet=DispatchKeySet,
        _AutoDispatchBelowAutograd=BelowAutograd,
        _ExcludeDispatchKeyGuard=ExcludeKeys,
        _after_autograd_keyset=BELOW_AUTOGRAD,
        _are_functorch_transforms_active=_are_functorch_transforms_active,
        DisableTorchFunction=_torch_function.DisableTorchFunction,
        _EnableTorchFunction=_torch_function._EnableTorchFunction,
        _is_torch_function_all_disabled=_torch_function._is_torch_function_all_disabled,
        _has_torch_function_unary=lambda value: native._has_torch_function((value,)),
        _has_torch_function_variadic=lambda *values: native._has_torch_function(values),
        _get_accelerator=_get_accelerator,
        _TensorBase=native.TensorBase,
        _VariableFunctionsClass=native._torch,  # where pickles of PyTorch have its functions
        _GLIBCXX_USE_CXX11_ABI=True,
        has_mkl=native._blas == "mkl",
        has_mkldnn=True,
        has_openmp=True,
        has_lapack=True,
    )

    for name, value in names.items():
        if not hasattr(native, name):
            setattr(native, name, value)

    native.__path__ = []  # programs import modules from it
    vars(native)["__getattr__"] = lacking(native.__name__, native.__path__)

    for space in [value for value in vars(native).values() if isinstance(value, ModuleType)]:
        sys.modules.setdefault(space.__name__, space)  # where pickle looks for operators
    if not hasattr(native._nn, "_parse_to"):
        native._nn._parse_to = _parse_to
    native._nn.flatten_dense_tensors = _flatten_dense_tensors
    native._nn.unflatten_dense_tensors = _unflatten_dense_tensors
