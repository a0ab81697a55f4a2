"""Devices that packages bring: their name, the methods of tensors and modules, and their module in `torch`.

The devices of a package have the dispatch key PrivateUse1, so a process has one such package.
docs/backends.md tells how to write one.
"""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

from torch_py import _C
from torch_py._device_module import add_functions, register_device_module
from torch_py._tensor import Tensor
from torch_py.nn.modules.module import Module
from torch_py.nn.utils.rnn import PackedSequence
from torch_py.storage import UntypedStorage

__all__ = ["generate_methods_for_privateuse1_backend", "rename_privateuse1_backend"]


def rename_privateuse1_backend(backend_name: str) -> None:
    """Names the devices of the key PrivateUse1: ``torch.device("mydev:0")``.

    Raises RuntimeError if they have another name already.
    """
    if not isinstance(backend_name, str) or not backend_name.isidentifier():
        raise RuntimeError(f"rename_privateuse1_backend: expected the name of a device, got {backend_name!r}")
    if backend_name in ("cpu", "cuda", "meta"):
        raise RuntimeError(f"rename_privateuse1_backend: '{backend_name}' is a device of torch_py")
    _C._rename_privateuse1_backend(backend_name)


def generate_methods_for_privateuse1_backend(
    for_tensor: bool = True,
    for_module: bool = True,
    for_packed_sequence: bool = True,
    for_storage: bool = False,
    unsupported_dtype: list[Any] | None = None,
) -> None:
    """Gives tensors, modules, packed sequences and storages the attributes that other devices have there:
    ``tensor.is_mydev``, ``tensor.mydev()``, ``module.mydev()``.

    Args:
        unsupported_dtype: dtypes that the device does not have; only storages would need them, which have no
            dtype here.

    Raises RuntimeError if one of the names exists already.
    """
    name = _C._get_privateuse1_backend_name()
    owners: list[tuple[bool, type]] = [
        (for_tensor, Tensor),
        (for_packed_sequence, PackedSequence),
        (for_storage, UntypedStorage),
    ]
    for wanted, owner in owners:
        if wanted:
            _add(owner, f"is_{name}", property(_is_on_backend))
            _add(owner, name, _moved)
    if for_module:
        _add(Module, name, _moved)


def _is_on_backend(self: Any) -> bool:
    """Whether the memory is on a device of the backend."""
    tensor = self.data if isinstance(self, PackedSequence) else self
    return bool(tensor.device.type == _C._get_privateuse1_backend_name())


def _moved(self: Any, device: Any = None, non_blocking: bool = False, **keywords: Any) -> Any:
    """The object on a device of the backend, by default the current one."""
    name = _C._get_privateuse1_backend_name()
    target = _C.device(name) if device is None else device
    if isinstance(target, int):
        target = _C.device(name, target)
    if _C.device(target).type != name:
        raise RuntimeError(f"Invalid device, must be {name} device")
    if isinstance(self, Module):
        return self.to(target)
    if isinstance(self, UntypedStorage):
        return self.to(device=_C.device(target), non_blocking=non_blocking)
    return self.to(target, non_blocking=non_blocking, **keywords)


def _add(owner: type, name: str, value: Any) -> None:
    if hasattr(owner, name):
        raise RuntimeError(
            f"generate_methods_for_privateuse1_backend: {owner.__name__} has '{name}' already; choose "
            "another name for the device"
        )
    if owner is UntypedStorage:  # a native type
        _C._add_to_type(owner, name, value)
    else:
        setattr(owner, name, value)


def register_backend(name: str, module: ModuleType, library: Path) -> None:
    """Opens the shared object of a backend and makes its devices known under `name`.

    Raises ImportError if there is another backend, or if the shared object does not fit.
    """
    known = _C._get_privateuse1_backend_name()
    if known not in ("privateuseone", name):
        raise ImportError(f"{name}: this process has the backend '{known}' already, and can have one")

    rename_privateuse1_backend(name)
    try:
        _C._open_backend(str(library))
    except OSError as error:
        raise ImportError(
            f"{name} does not fit this torch_py ({error}); build it again: pip install --force-reinstall "
            "--no-build-isolation FOLDER"
        ) from None

    if not hasattr(Tensor, f"is_{name}"):
        generate_methods_for_privateuse1_backend()
    add_functions(module, name)
    register_device_module(name, module)
