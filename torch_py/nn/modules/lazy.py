"""Modules that take the sizes of their parameters from their first input."""

from __future__ import annotations

from typing import Any

from torch_py.autograd.grad_mode import no_grad
from torch_py.nn.parameter import is_lazy

__all__ = ["LazyModuleMixin"]


class LazyModuleMixin:
    """A module whose uninitialized parameters and buffers get their shapes from the first forward or from a
    state dict.

    Subclasses assign `UninitializedParameter`s where sizes are unknown and define
    `initialize_parameters(*inputs)`, which materializes them. `cls_to_become` is the class of the module from
    then on. The mixin comes before the module's own class.
    """

    cls_to_become: type | None = None

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._load_hook = self._register_load_state_dict_pre_hook(self._lazy_load_hook)
        self._initialize_hook = self.register_forward_pre_hook(_infer_parameters, with_kwargs=True)

    def initialize_parameters(self: Any, *args: Any, **kwargs: Any) -> None:
        """Gives the parameters their shapes, from the arguments of the first forward."""
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def has_uninitialized_params(self: Any) -> bool:
        """Returns whether a parameter or buffer of this module alone has no shape yet."""
        return any(is_lazy(value) for table in (self._parameters, self._buffers) for value in table.values())

    def _lazy_load_hook(self: Any, state_dict: Any, prefix: str, *rest: Any) -> None:
        """Gives parameters and buffers without shapes those of the state dict that is about to be loaded."""
        for table in (self._parameters, self._buffers):
            for name, value in table.items():
                given = state_dict.get(prefix + name)
                if is_lazy(value) and given is not None and not is_lazy(given):
                    with no_grad():
                        value.materialize(given.shape)

    def __getstate__(self: Any) -> dict[str, Any]:
        # The hooks refer to the module itself, so `__setstate__` registers new ones.
        state = dict(vars(self))
        for registry, hook in (
            ("_forward_pre_hooks", "_initialize_hook"),
            ("_load_state_dict_pre_hooks", "_load_hook"),
        ):
            handle = state.pop(hook, None)
            if handle is not None:
                state[registry] = type(state[registry])(
                    (key, value) for key, value in state[registry].items() if key != handle.id
                )

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
