"""Conversion of the parameters and buffers of a module to other dtypes and devices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from torch_py import _C
from torch_py._tensor import Tensor
from torch_py.autograd.grad_mode import no_grad
from torch_py.nn.modules._tree import ModuleTree
from torch_py.nn.parameter import Parameter, is_lazy
from torch_py.types import Device, _dtype

T = TypeVar("T", bound="ModuleConversion")


class ModuleConversion(ModuleTree):
    """The part of `Module` that converts parameters and buffers, here and in all modules below."""

    _parameters: dict[str, Any]
    _buffers: dict[str, Any]

    def _apply(self: T, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> T:
        """Replaces every tensor here and below by `fn` of it.

        Parameters stay the same objects, so that optimizers still hold them.

        The exception is a move to or from the meta device: a tensor without memory cannot become one with
        memory, so the parameter is a new object.
        """
        for child in self.children() if recurse else ():
            child._apply(fn)

        for name, parameter in self._parameters.items():
            if parameter is not None:
                with no_grad():
                    self._parameters[name] = _converted(parameter, fn)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)

        return self

    def to(self: T, *arguments: Any, **keywords: Any) -> T:
        """Converts all parameters and buffers in place, and returns this module.

        It is called as `to(device)`, `to(dtype)`, `to(device, dtype)` or `to(tensor)`, which takes both from
        a tensor. A dtype converts floating-point and complex tensors; integers stay as they are.

        Args:
            arguments: a device, a dtype, both, or a tensor
            keywords: the same by name, and `non_blocking`, whether copies from page-locked memory may go on
                while the program continues; `memory_format` converts tensors of 4 and 5 dimensions

        Raises:
            TypeError: the dtype is neither floating point nor complex
            NotImplementedError: a tensor on the device meta, which has no elements, is to be moved; see
                `to_empty`

        Example:
            >>> layer = nn.Linear(2, 2).to(torch.float64)
            >>> layer.weight.dtype
            torch.float64
        """
        device, dtype, non_blocking, memory_format = _parse_to(*arguments, **keywords)
        if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError(
                f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}"
            )

        def convert(tensor: Tensor) -> Tensor:
            target = dtype if tensor.is_floating_point() or tensor.is_complex() else None
            extra: dict[str, Any] = {}
            if memory_format is not None and tensor.dim() in (4, 5):
                extra["memory_format"] = memory_format
            if tensor.is_meta and device is not None and device.type != "meta":
                raise NotImplementedError(
                    "Cannot copy out of meta tensor; no data! Please use torch.nn.Module.to_empty() instead "
                    "of torch.nn.Module.to() when moving module from meta to a different device."
                )
            return tensor.to(device or tensor.device, target or tensor.dtype, non_blocking, **extra)

        return self._apply(convert)

    def _cast_floating(self: T, dtype: _dtype) -> T:
        """Converts floating-point tensors to `dtype`."""
        return self._apply(lambda tensor: tensor.to(dtype) if tensor.is_floating_point() else tensor)

    def float(self: T) -> T:
        """Converts floating-point parameters and buffers to float32."""
        return self._cast_floating(_C.float32)

    def double(self: T) -> T:
        """Converts floating-point parameters and buffers to float64."""
        return self._cast_floating(_C.float64)

    def half(self: T) -> T:
        """Converts floating-point parameters and buffers to float16."""
        return self._cast_floating(_C.float16)

    def bfloat16(self: T) -> T:
        """Converts floating-point parameters and buffers to bfloat16."""
        return self._cast_floating(_C.bfloat16)

    def type(self: T, dst_type: _dtype | str) -> T:
        """Converts all parameters and buffers to `dst_type`."""
        return self._apply(lambda tensor: tensor.type(dst_type))  # type: ignore[attr-defined]

    def cpu(self: T) -> T:
        """Moves all parameters and buffers to the CPU."""
        return self._apply(lambda tensor: tensor.cpu())

    def cuda(self: T, device: Device = None) -> T:
        """Moves all parameters and buffers to a CUDA device."""
        return self._apply(lambda tensor: tensor.cuda(device))

    def to_empty(self: T, *, device: Device, recurse: bool = True) -> T:
        """Moves parameters and buffers to `device` without copying their values, which become undefined."""
        return self._apply(lambda tensor: _C._torch.empty_like(tensor, device=device), recurse)

    def share_memory(self: T) -> T:
        """Moves all parameters and buffers to shared memory.

        Raises RuntimeError for a lazy module that has no memory yet.
        """
        for tensor in (*self.parameters(), *self.buffers()):
            if is_lazy(tensor):
                tensor.share_memory_()  # raises
        return self._apply(lambda tensor: tensor.share_memory_())


def _converted(parameter: Parameter, fn: Callable[[Tensor], Tensor]) -> Parameter:
    """Replaces data and gradient of the parameter by `fn` of them.

    Returns a new parameter where the old one cannot hold the result.
    """
    data = fn(parameter.data)
    gradient = None if parameter.grad is None else fn(parameter.grad.data)
    if data.is_meta == parameter.is_meta and data.layout == parameter.layout:
        parameter.data = data
        parameter.grad = None
    else:
        parameter = Parameter(data, parameter.requires_grad)
    parameter.grad = gradient
    return parameter


def _parse_to(
    *arguments: Any,
    device: Device = None,
    dtype: _dtype | None = None,
    non_blocking: bool = False,
    copy: bool = False,
    memory_format: _C.memory_format | None = None,
) -> tuple[_C.device | None, _dtype | None, bool, _C.memory_format | None]:
    """Returns device, dtype, non_blocking and memory_format of a call of `to`."""
    for argument in arguments:
        if isinstance(argument, Tensor):
            device = argument.device
            dtype = argument.dtype
        elif isinstance(argument, _C.dtype):
            dtype = argument
        elif isinstance(argument, bool):
            non_blocking = argument
        elif isinstance(argument, (str, int, _C.device)):
            device = _C.device(argument)
        elif argument is not None:
            raise TypeError(
                f"Module.to: expected a device, a dtype or a tensor, got {type(argument).__name__}"
            )

    if isinstance(device, (str, int)):
        device = _C.device(device)
    return device, dtype, non_blocking, memory_format
