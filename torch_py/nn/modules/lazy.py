"""Modules that take the sizes of their parameters from their first input."""

from __future__ import annotations

from typing import Any

from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py.autograd.grad_mode import no_grad
from torch_py.nn.parameter import is_lazy

__all__ = ["LazyModuleMixin"]


class LazyModuleMixin:
    """Mixin for modules that learn the shapes of parameters from their first input or from a state dict.

    Subclasses list it before `Module` or a module class among their bases. They assign
    `UninitializedParameter`s where sizes are unknown and define `initialize_parameters(*inputs)`, which
    materializes them. After that, the class of the module becomes `cls_to_become`, if that is not None.
    """

    cls_to_become: type | None = None

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._load_hook = self._register_load_state_dict_pre_hook(self._lazy_load_hook)
        self._initialize_hook = self.register_forward_pre_hook(_infer_parameters, with_kwargs=True)

    def initialize_parameters(self: Any, *args: Any, **kwargs: Any) -> None:
        """Materializes the parameters, given the arguments of the first forward. Subclasses define it."""
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def has_uninitialized_params(self: Any) -> bool:
        """Returns whether a parameter or buffer of this module, not of its children, lacks a shape."""
        return any(is_lazy(value) for table in (self._parameters, self._buffers) for value in table.values())

    def _lazy_load_hook(self: Any, state_dict: Any, prefix: str, *rest: Any) -> None:
        """Materializes parameters and buffers with the shapes of the state dict about to be loaded."""
        for table in (self._parameters, self._buffers):
            for name, value in table.items():
                given = state_dict.get(prefix + name)
                if is_lazy(value) and given is not None and not is_lazy(given):
                    with no_grad():
                        value.materialize(given.shape)

    def __getstate__(self: Any) -> dict[str, Any]:
        # The hooks refer to the module itself: they are left out, and `__setstate__` registers new ones.
        registries = {
            "_initialize_hook": "_forward_pre_hooks",
            "_load_hook": "_load_state_dict_pre_hooks",
        }
        state = dict(vars(self))
        for name, registry in registries.items():
            handle = state.pop(name, None)
            if handle is not None:
                others = ((key, hook) for key, hook in state[registry].items() if key != handle.id)
                state[registry] = type(state[registry])(others)

        state["_waits"] = "_initialize_hook" in vars(self)
        return state

    def __setstate__(self: Any, state: dict[str, Any]) -> None:
        waits = state.pop("_waits", False)
        super().__setstate__(state)  # type: ignore[misc]
        if waits:
            self._load_hook = self._register_load_state_dict_pre_hook(self._lazy_load_hook)
            self._initialize_hook = self.register_forward_pre_hook(_infer_parameters, with_kwargs=True)


def _infer_parameters(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Initializes the parameters before the first forward and makes the module an ordinary one."""
    module.initialize_parameters(*args, **kwargs)
    if module.has_uninitialized_params():
        raise RuntimeError(f"module {module._get_name()} has not been fully initialized")

    module._initialize_hook.remove()
    module._load_hook.remove()
    del module._initialize_hook, module._load_hook
    if module.cls_to_become is not None:
        module.__class__ = module.cls_to_become


# Compiled code calls it where a graph ends: the parameters of later graphs depend on it.
_infer_parameters._torchdynamo_disable = True  # type: ignore[attr-defined]
_infer_parameters._torchdynamo_disable_msg = "it gives parameters of a lazy module their shapes"  # type: ignore[attr-defined]


__getattr__ = _lacking(__name__)
