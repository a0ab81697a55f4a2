"""`torch.FloatTensor` and the like: constructors of one dtype, and types for `isinstance`."""

from __future__ import annotations

from typing import Any, NoReturn

from torch_py import _C
from torch_py._C import _torch
from torch_py._tensor import Tensor


class _LegacyMeta(type):
    dtype: Any
    kind: str  # of the device

    def __instancecheck__(cls, instance: object) -> bool:
        return (
            isinstance(instance, Tensor) and instance.dtype == cls.dtype and instance.device.type == cls.kind
        )


def _construct(cls: Any, *arguments: Any) -> Tensor:
    """An uninitialized tensor for sizes, a copy of a sequence, array or
    tensor; an empty tensor without arguments."""
    if cls.kind == "cuda" and int(_C._cuda_getDeviceCount()) == 0:
        raise TypeError(f"type torch.cuda.{cls.__name__} not available: there is no CUDA device")
    if not arguments:
        return _torch.empty(0, dtype=cls.dtype, device=cls.kind)
    if isinstance(arguments[0], _C.Size) or all(isinstance(argument, int) for argument in arguments):
        size = arguments[0] if isinstance(arguments[0], _C.Size) else arguments
        return _torch.empty(tuple(size), dtype=cls.dtype, device=cls.kind)
    if len(arguments) != 1:
        raise TypeError(f"{cls.__name__}: expected sizes or one sequence, got {len(arguments)} arguments")
    if hasattr(arguments[0], "_untyped_storage"):
        return _torch.empty(0, dtype=cls.dtype, device=cls.kind).set_(arguments[0])
    return _C.tensor(arguments[0], dtype=cls.dtype, device=cls.kind)


_DOC = """The older constructor of {dtype} tensors on the device {kind!r}, and their type for `isinstance`.

Prefer `torch.tensor` and `torch.empty` with a `dtype`.

Args:
    arguments: nothing, for an empty tensor; sizes, for an uninitialized one; or a sequence, an array or a
        tensor, whose elements are copied

Returns:
    A tensor, not an instance of this class.

Raises:
    TypeError: the arguments are neither sizes nor one sequence, or there is no such device

Example:
    >>> tensor = {name}([0, 1])
    >>> tensor.dtype
    {dtype}
    >>> isinstance(tensor, {name}), {name}(2, 3).shape
    (True, torch.Size([2, 3]))
"""


def _legacy_type(name: str, dtype: Any, module: str = "torch_py", kind: str = "cpu") -> type:
    members = {
        "dtype": dtype,
        "kind": kind,
        "__new__": _construct,
        "__module__": module,
        "__doc__": _DOC.format(name=f"{module.replace('torch_py', 'torch')}.{name}", dtype=dtype, kind=kind),
    }
    return _LegacyMeta(name, (), members)


def cuda_type(name: str) -> type:
    """`torch.cuda.FloatTensor` and the like; a call raises TypeError without a CUDA device."""
    return _legacy_type(name, globals()[name].dtype, "torch_py.cuda", "cuda")


def _unavailable(cls: Any, *arguments: Any) -> NoReturn:
    place = f"{cls.__module__.replace('torch_py', 'torch')}.{cls.__name__}"
    raise TypeError(f"type {place} not available: torch_py has dense tensors on the CPU only")


class _NoInstances(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return False


def unavailable_type(module: str, name: str) -> type:
    """`torch.sparse.FloatTensor` and the like: nothing is an instance, and a call raises TypeError."""
    return _NoInstances(name, (), {"__new__": _unavailable, "__module__": module, "__refuses__": True})


NAMES = tuple(f"{kind}Tensor" for kind in "Float Double Half BFloat16 Long Int Short Char Byte Bool".split())

FloatTensor = _legacy_type("FloatTensor", _C.float32)
DoubleTensor = _legacy_type("DoubleTensor", _C.float64)
HalfTensor = _legacy_type("HalfTensor", _C.float16)
BFloat16Tensor = _legacy_type("BFloat16Tensor", _C.bfloat16)
LongTensor = _legacy_type("LongTensor", _C.int64)
IntTensor = _legacy_type("IntTensor", _C.int32)
ShortTensor = _legacy_type("ShortTensor", _C.int16)
CharTensor = _legacy_type("CharTensor", _C.int8)
ByteTensor = _legacy_type("ByteTensor", _C.uint8)
BoolTensor = _legacy_type("BoolTensor", _C.bool)
