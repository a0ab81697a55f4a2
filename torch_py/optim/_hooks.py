"""Hooks of optimizers: functions to call around `step` of one or of
all optimizers, and around saving and loading."""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from torch_py.utils.hooks import RemovableHandle, register

_all_pre_hooks: OrderedDict[int, Any] = OrderedDict()
_all_post_hooks: OrderedDict[int, Any] = OrderedDict()
_KINDS = (
    "step_pre",
    "step_post",
    "state_dict_pre",
    "state_dict_post",
    "load_state_dict_pre",
    "load_state_dict_post",
)


def register_optimizer_step_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls `hook(optimizer, args, kwargs)` before `step` of every optimizer.

    It may return new (args, kwargs); args[0] is the optimizer.
    """
    return register(_all_pre_hooks, hook)


def register_optimizer_step_post_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls `hook(optimizer, args, kwargs)` after `step` of every optimizer."""
    return register(_all_post_hooks, hook)


class HookedOptimizer:
    """Keeps the hooks of an optimizer and calls those of `step`, for subclasses too."""

    _optimizer_step_pre_hooks: OrderedDict[int, Any]
    _optimizer_step_post_hooks: OrderedDict[int, Any]
    _optimizer_state_dict_pre_hooks: OrderedDict[int, Any]
    _optimizer_state_dict_post_hooks: OrderedDict[int, Any]
    _optimizer_load_state_dict_pre_hooks: OrderedDict[int, Any]
    _optimizer_load_state_dict_post_hooks: OrderedDict[int, Any]

    def _prepare_hooks(self) -> None:
        for kind in _KINDS:
            vars(self).setdefault(f"_optimizer_{kind}_hooks", OrderedDict())

        step = type(self).step  # type: ignore[attr-defined]
        if not getattr(step, "hooked", False):
            type(self).step = _with_hooks(step)  # type: ignore[attr-defined]

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Calls `hook(optimizer, args, kwargs)` before `step`.

        It may return new (args, kwargs); args[0] is the optimizer.
        """
        return register(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Calls `hook(optimizer, args, kwargs)` after `step`."""
        return register(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Calls `hook(optimizer)` before `state_dict`."""
        return register(self._optimizer_state_dict_pre_hooks, hook, first=prepend)

    def register_state_dict_post_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Calls `hook(optimizer, state_dict)` after `state_dict`. It may return another dict."""
        return register(self._optimizer_state_dict_post_hooks, hook, first=prepend)

    def register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Calls `hook(optimizer, state_dict)` before `load_state_dict`. It may return another dict."""
        return register(self._optimizer_load_state_dict_pre_hooks, hook, first=prepend)

    def register_load_state_dict_post_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Calls `hook(optimizer)` after `load_state_dict`."""
        return register(self._optimizer_load_state_dict_post_hooks, hook, first=prepend)


def _with_hooks(step: Any) -> Any:
    @functools.wraps(step)
    def hooked_step(*arguments: Any, **keywords: Any) -> Any:
        self = arguments[0]  # hooks see, and may replace, the optimizer among the arguments
        if "_opt_called" in vars(self):  # a schedule checks whether it is stepped before the optimizer
            self._opt_called = True

        for hooks in (_all_pre_hooks, self._optimizer_step_pre_hooks):
            for hook in list(hooks.values()) if hooks else ():
                changed = hook(self, arguments, keywords)
                if changed is None:
                    continue
                if not (isinstance(changed, tuple) and len(changed) == 2):
                    raise RuntimeError(
                        f"{step} must return None or a tuple of (new_args, new_kwargs), but got {changed}."
                    )
                arguments, keywords = changed

        result = step(*arguments, **keywords)
        for hooks in (self._optimizer_step_post_hooks, _all_post_hooks):
            for hook in list(hooks.values()) if hooks else ():
                hook(self, arguments, keywords)

        return result

    hooked_step.hooked = True  # type: ignore[attr-defined]
    return hooked_step
