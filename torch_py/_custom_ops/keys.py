"""Names of dispatch keys and device types, as programs register kernels for them."""

from __future__ import annotations

import re

from torch_py import _C
from torch_py._dispatch_keys import DispatchKey

BACKENDS = (DispatchKey.CPU, DispatchKey.CUDA, DispatchKey.PrivateUse1, DispatchKey.Meta)
AUTOGRAD = tuple(key for key in DispatchKey if key.name.startswith("Autograd"))

# Keys that PyTorch has and the dispatcher lacks: kernels for them are accepted, and nothing calls them.
_DEVICES = "CPU|CUDA|HIP|XLA|MTIA|MPS|IPU|XPU|HPU|VE|Lazy|Meta|MAIA|PrivateUse[123]"
_FOREIGN = re.compile(
    rf"(Sparse|SparseCsr|Quantized|NestedTensor|Autograd|Autocast)?({_DEVICES})"
    r"|(Mkldnn|Sparse)CPU|AutogradNestedTensor|Vulkan|Metal|FPGA|ADInplaceOrView|BackendSelect|Functionalize"
    r"|Conjugate|Negative|ZeroTensor|Named|Tracer|PreDispatch|PythonDispatcher|Undefined"
    r"|CompositeExplicitAutogradNonFunctional|CompositeImplicitAutogradNestedTensor"
)
_GROUPS = ("Autograd", "CompositeExplicitAutograd", "CompositeImplicitAutograd")
_KEYS_OF_DEVICES = {"mkldnn": "MkldnnCPU", "meta": "Meta"}


def checked_key(name: str) -> str:
    """The name of a dispatch key or of a group of them. Raises RuntimeError for others."""
    if name in _GROUPS or name in DispatchKey.__members__ or _FOREIGN.fullmatch(name):
        return name
    raise RuntimeError(f"could not parse dispatch key: {name}")


def key_of_device(name: str) -> str:
    """The dispatch key of a device type; "default" stands for all devices. Names of keys stay.

    Raises RuntimeError for other names.
    """
    if name in ("default", ""):
        return "CompositeExplicitAutograd"
    if name in _GROUPS or name in DispatchKey.__members__ or _FOREIGN.fullmatch(name):
        return name
    device = _C.device(name).type
    if device == _C._get_privateuse1_backend_name():
        return "PrivateUse1"
    return _KEYS_OF_DEVICES.get(device, device.upper())
