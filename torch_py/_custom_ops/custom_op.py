"""`CustomOpDef`: what `torch.library.custom_op` makes of a function."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from torch_py import _C
from torch_py._custom_ops.autograd import autograd_kernel
from torch_py._custom_ops.keys import key_of_device
from torch_py._custom_ops.registry import declare, find, forget, kernels_of
from torch_py._custom_ops.rules import set_autocast, set_autograd, set_fake, set_torch_dispatch, set_vmap
from torch_py._ops import OpOverload
from torch_py._tags import Tag
from torch_py._tensor import Tensor
from torch_py.utils._pytree import tree_leaves


class CustomOpDef:
    """An operator that is a Python function: called like one, and dispatched like every other operator.

    `torch.library.custom_op` makes it. The methods add kernels and rules, as the functions of torch.library
    of the same names do.
    """

    def __init__(self, name: str, schema: str, function: Callable[..., Any], tags: Iterable[Any]) -> None:
        self._qualname = name
        self._namespace, _, self._name = name.partition("::")
        self.__name__ = self._name
        self.__doc__ = function.__doc__
        self._init_fn = function

        # The same function may be declared again, as when a module is loaded anew.
        known = _C._find_operator(name)
        if known is not None:
            forget(find(name))
        every = {Tag.pt2_compliant_tag, *((tags,) if isinstance(tags, Tag) else tags)}
        self._opoverload: OpOverload = declare(f"{name}{schema}", sorted(every))
        self._schema = self._opoverload._schema

        self._kernels = kernels_of(self._opoverload)
        self._disabled: set[str] = set()
        self._kernels.set("Meta", self._without_fake)
        self._kernels.set("Autograd", autograd_kernel(self._opoverload), takes_keys=True)

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._opoverload(*args, **kwargs)

    def _without_fake(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(
            f"There was no fake impl registered for {self}. This is necessary for meta tensors, "
            f"torch.export and make_fx. Please use `{self._name}.register_fake` to add a fake impl."
        )

    def register_kernel(
        self, device_types: Any, fn: Callable[..., Any] | None = None, /
    ) -> Callable[..., Any]:
        """A kernel for a device type, a list of them, or None for all; a decorator without `fn`."""
        types = device_types if isinstance(device_types, (list, tuple)) else (device_types,)

        def register(function: Callable[..., Any]) -> Callable[..., Any]:
            for device in types:
                key = key_of_device("default" if device is None else device)
                kernel = self._checked(function)
                if device is not None:
                    kernel = self._switched(device, kernel)
                self._kernels.set(key, kernel)
            return function

        return register if fn is None else register(fn)

    def _checked(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, whose writes count as changes."""
        written = [i for i, argument in enumerate(self._schema.arguments) if argument.is_write]
        names = [self._schema.arguments[i].name for i in written]

        def kernel(*args: Any, **kwargs: Any) -> Any:
            result = function(*args, **kwargs)
            changed = [args[i] if i < len(args) else kwargs[name] for i, name in zip(written, names)]
            for tensor in tree_leaves(changed):
                if isinstance(tensor, Tensor) and not tensor.is_inference():
                    _C._increment_version(tensor)
            return result

        return kernel

    def _switched(self, device: str, kernel: Callable[..., Any]) -> Callable[..., Any]:
        """A kernel that `set_kernel_enabled` can turn off."""

        def switch(*args: Any, **kwargs: Any) -> Any:
            return (self._init_fn if device in self._disabled else kernel)(*args, **kwargs)

        return switch

    @contextlib.contextmanager
    def set_kernel_enabled(self, device_type: str, enabled: bool = True) -> Iterator[None]:
        """Inside the block, the kernel of a device type is in use or, if not `enabled`, the function that the
        operator was made of."""
        before = set(self._disabled)
        (self._disabled.discard if enabled else self._disabled.add)(device_type)
        try:
            yield
        finally:
            self._disabled = before

    def register_fake(self, fn: Callable[..., Any], /) -> Callable[..., Any]:
        """What the operator does with tensors that have no elements."""
        set_fake(self._opoverload, fn)
        return fn

    def register_autograd(
        self, backward: Callable[..., Any], /, *, setup_context: Callable[..., Any] | None = None
    ) -> None:
        """The gradient, as `torch.library.register_autograd`."""
        set_autograd(self._opoverload, backward, setup_context)

    def register_torch_dispatch(
        self, torch_dispatch_class: type, fn: Callable[..., Any] | None = None, /
    ) -> Any:
        """The rule for a mode or a class of tensors, as `torch.library.register_torch_dispatch`."""

        def register(function: Callable[..., Any]) -> Callable[..., Any]:
            set_torch_dispatch(self._opoverload, torch_dispatch_class, function)
            return function

        return register if fn is None else register(fn)

    def register_vmap(self, func: Callable[..., Any] | None = None, /) -> Any:
        """The rule for batches, as `torch.library.register_vmap`; a decorator without `func`."""

        def register(function: Callable[..., Any]) -> Callable[..., Any]:
            set_vmap(self._opoverload, function)
            return function

        return register if func is None else register(func)

    def register_autocast(self, device_type: str, cast_inputs: Any) -> Callable[..., Any]:
        """What happens in torch.autocast, as `torch.library.register_autocast`."""
        return set_autocast(self._opoverload, device_type, cast_inputs)
