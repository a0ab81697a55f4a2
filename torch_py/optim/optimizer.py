"""What all optimisers share: groups of parameters with their settings, state per parameter, saving and loading both."""

from __future__ import annotations

import functools
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from copy import deepcopy
from itertools import chain
from typing import Any

from torch_py._tensor import Tensor
from torch_py.autograd.grad_mode import enable_grad, no_grad
from torch_py.utils.hooks import RemovableHandle, register

__all__ = ["Optimizer", "required"]


class _Required:
    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()


class Optimizer:
    """Subclasses define `step`. `params`: tensors, (name, tensor) pairs, or dicts with 'params' and settings that differ from `defaults`."""

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        if isinstance(params, Tensor):
            raise TypeError(f"params argument given to the optimizer should be an iterable of Tensors or dicts, but got {type(params).__name__}")
        self.defaults = defaults
        self.state: defaultdict[Any, Any] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        self._step_pre_hooks: OrderedDict[int, Any] = OrderedDict()
        self._step_post_hooks: OrderedDict[int, Any] = OrderedDict()
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        for group in groups if isinstance(groups[0], dict) else [{"params": groups}]:
            self.add_param_group(group)

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if "step" in vars(cls):
            cls.step = _with_hooks(cls.step)  # type: ignore[method-assign]

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Trains more parameters, with settings of their own. Raises TypeError or ValueError for what cannot be trained or already is."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        group = dict(param_group)
        given = group["params"]
        if isinstance(given, set):
            raise TypeError("optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets is random.")
        members = [given] if isinstance(given, Tensor) else list(given)
        if members and isinstance(members[0], tuple):
            group["param_names"] = [name for name, _ in members]
            members = [parameter for _, parameter in members]
        group["params"] = members
        self._check_members(members)
        for name, default in self.defaults.items():
            if default is required and name not in group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
            group.setdefault(name, default)
        self.param_groups.append(group)

    def _check_members(self, members: list[Any]) -> None:
        for parameter in members:
            if not isinstance(parameter, Tensor):
                raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {type(parameter).__name__}")
            if not self.defaults.get("differentiable", False) and not (parameter.is_leaf or parameter.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")
        if len({id(parameter) for parameter in members}) != len(members):
            raise ValueError("optimizer contains a parameter group with duplicate parameters")
        known = {id(parameter) for group in self.param_groups for parameter in group["params"]}
        if any(id(parameter) in known for parameter in members):
            raise ValueError("some parameters appear in more than one parameter group")

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drops the gradients of all parameters, or fills them with zeros."""
        from torch_py.nn.modules.module import clear_gradients

        clear_gradients(chain.from_iterable(group["params"] for group in self.param_groups), set_to_none)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Moves the parameters once; `closure` evaluates the model again and returns the loss, which is returned."""
        raise NotImplementedError

    # State --------------------------------------------------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """`state` by the number of the parameter, and `param_groups` with numbers in the place of parameters. Tensors are not copied."""
        numbers: dict[int, int] = {}
        for group in self.param_groups:
            for parameter in group["params"]:
                numbers.setdefault(id(parameter), len(numbers))
        groups = [{**group, "params": [numbers[id(parameter)] for parameter in group["params"]]} for group in self.param_groups]
        groups = [{**{name: value for name, value in group.items() if name != "params"}, "params": group["params"]} for group in groups]
        state = {numbers[id(key)] if isinstance(key, Tensor) else key: value for key, value in self.state.items()}
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes over a state of `state_dict`, copied; floating-point state gets the dtype of its parameter, except step counts.

        Raises ValueError when the groups have other numbers of parameters.
        """
        saved = state_dict["param_groups"]
        if len(saved) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        for old, new in zip(saved, self.param_groups):
            if len(old["params"]) != len(new["params"]):
                raise ValueError("loaded state dict contains a parameter group that doesn't match the size of optimizer's group")
        numbers = chain.from_iterable(group["params"] for group in saved)
        parameters = dict(zip(numbers, chain.from_iterable(group["params"] for group in self.param_groups)))
        state: defaultdict[Any, Any] = defaultdict(dict)
        for key, value in state_dict["state"].items():
            state[parameters.get(key, key)] = _adapted(value, parameters.get(key))
        groups = [
            {**{name: deepcopy(value) for name, value in old.items() if name != "params"}, "params": new["params"]}
            for old, new in zip(saved, self.param_groups)
        ]
        self.__setstate__({"state": state, "param_groups": groups})

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        vars(self).setdefault("_step_pre_hooks", OrderedDict())
        vars(self).setdefault("_step_post_hooks", OrderedDict())

    def __repr__(self) -> str:
        lines = []
        for number, group in enumerate(self.param_groups):
            lines += ["", f"Parameter Group {number}"]
            lines += [f"    {name}: {group[name]}" for name in sorted(group) if name != "params"]
        return f"{type(self).__name__} (" + "\n".join(lines) + "\n)"

    # Hooks --------------------------------------------------------------------------------------------------------------------------

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Before `step`: `hook(optimizer, args, kwargs)`, which may return new (args, kwargs)."""
        return register(self._step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """After `step`: `hook(optimizer, args, kwargs)`."""
        return register(self._step_post_hooks, hook)


def _with_hooks(step: Any) -> Any:
    """`step` under no_grad, its hooks around it; a closure is evaluated with recording on."""

    @functools.wraps(step)
    def stepped(self: Optimizer, *arguments: Any, **keywords: Any) -> Any:
        for hook in self._step_pre_hooks.values():
            changed = hook(self, arguments, keywords)
            if changed is not None:
                arguments, keywords = changed
        with no_grad():
            result = step(self, *arguments, **keywords)
        for hook in self._step_post_hooks.values():
            hook(self, arguments, keywords)
        return result

    return stepped


def evaluate(closure: Callable[[], Any] | None) -> Any:
    """The loss that `closure` returns, None without one."""
    if closure is None:
        return None
    with enable_grad():
        return closure()


def _adapted(value: Any, parameter: Any, name: str = "") -> Any:
    """A copy of saved state, in the dtype that the parameter has now."""
    if isinstance(value, Tensor):
        if name != "step" and parameter is not None and parameter.is_floating_point() and value.is_floating_point():
            return value.to(parameter.dtype).clone()
        return value.clone()
    if isinstance(value, dict):
        return {key: _adapted(item, parameter, str(key)) for key, item in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        return type(value)(_adapted(item, parameter) for item in value)  # type: ignore[call-arg]
    return deepcopy(value)


def check_not_negative(**settings: float) -> None:
    """Raises ValueError in PyTorch's words for the first setting below zero."""
    for name, value in settings.items():
        if value < 0.0:
            raise ValueError(f"Invalid {name.replace('_', ' ') if name == 'learning_rate' else name} value: {value}")
