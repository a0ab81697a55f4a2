"""`Optimizer`, the base class of all optimizers: groups of parameters with settings, state per parameter, and
saving and loading of both."""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable
from copy import deepcopy
from itertools import chain
from typing import Any, TypeAlias

from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py._tensor import Tensor
from torch_py.optim._hooks import (
    HookedOptimizer,
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)
from torch_py.optim._loading import adapted

__all__ = [
    "Optimizer",
    "ParamsT",
    "register_optimizer_step_post_hook",
    "register_optimizer_step_pre_hook",
    "required",
]

ParamsT: TypeAlias = Iterable[Tensor] | Iterable[dict[str, Any]] | Iterable[tuple[str, Tensor]]


class _Required:
    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()
# Settings that PyTorch added after checkpoints were written that are still read.
_LATER = {
    "amsgrad": False,
    "capturable": False,
    "centered": False,
    "decoupled_weight_decay": False,
    "differentiable": False,
    "foreach": None,
    "fused": None,
    "maximize": False,
    "momentum": 0,
    "nesterov": False,
}
_UNORDERED = (
    "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets "
    "will change between runs. Please use a list instead."
)


class Optimizer(HookedOptimizer):
    """Base class of optimizers. Subclasses define `step`.

    Groups of parameters may have settings of their own: pass dicts with 'params' and what differs from the
    defaults.

    Args:
        params: tensors, (name, tensor) pairs, or dicts with 'params' and settings of their own
        defaults: the settings of groups that do not say otherwise

    Raises:
        TypeError: something is not a tensor
        ValueError: there are no parameters, or one is the result of an operation

    Example:
        >>> class Descent(torch.optim.Optimizer):
        ...     @torch.no_grad()
        ...     def step(self):
        ...         for group in self.param_groups:
        ...             for parameter in group["params"]:
        ...                 parameter -= group["lr"] * parameter.grad
        >>> weight = nn.Parameter(torch.tensor([1.0]))
        >>> optimizer = Descent([weight], {"lr": 0.5})
        >>> weight.sum().backward()
        >>> optimizer.step()
        >>> weight.detach()
        tensor([0.5000])
    """

    def __init__(self, params: ParamsT, defaults: dict[str, Any]) -> None:
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, "
                f"but got {params.type()}"  # type: ignore[attr-defined]
            )

        self.defaults = defaults
        self.state: defaultdict[Any, Any] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        self._prepare_hooks()

        groups: list[Any] = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        for group in groups if isinstance(groups[0], dict) else [{"params": groups}]:
            self.add_param_group(group)

    # -- Groups ------------------------------------------------------------

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Adds parameters to train, with their own settings.

        Raises TypeError or ValueError if they cannot be trained or are already included.
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        given = param_group["params"]
        if isinstance(given, set):
            raise TypeError(_UNORDERED)

        members: list[Any] = [given] if isinstance(given, Tensor) else list(given)
        names = [member[0] for member in members if isinstance(member, tuple)]
        if names:
            if len(names) != len(members):
                raise ValueError(
                    "all optimizer params should be with/without names. Some param names are missing"
                )
            members = [member[1] for member in members]
            param_group["param_names"] = names
        param_group["params"] = members
        self._check_members(members)

        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(
                    f"parameter group didn't specify a value of required optimization parameter {name}"
                )
            param_group.setdefault(name, default)

        self._check_against_groups(param_group)
        self.param_groups.append(param_group)

    def _check_members(self, members: list[Any]) -> None:
        for parameter in members:
            if not isinstance(parameter, Tensor):
                raise TypeError(
                    "optimizer can only optimize Tensors, but one of the params is "
                    f"{type(parameter).__name__}"
                )
            is_trainable = parameter.is_leaf or parameter.retains_grad
            if not self.defaults.get("differentiable", False) and not is_trainable:
                raise ValueError("can't optimize a non-leaf Tensor")

        if len({id(parameter) for parameter in members}) != len(members):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this will cause "
                "an error; see github.com/pytorch/pytorch/issues/40967 for more information",
                stacklevel=4,
            )

    def _check_against_groups(self, group: dict[str, Any]) -> None:
        known = {id(parameter) for other in self.param_groups for parameter in other["params"]}
        if any(id(parameter) in known for parameter in group["params"]):
            raise ValueError("some parameters appear in more than one parameter group")

        if self.param_groups and ("param_names" in self.param_groups[0]) != ("param_names" in group):
            kind = (
                "with names to the optimizer" if "param_names" in group else "without names to the optimizer"
            )
            raise ValueError(
                f"all optimizer param groups should be with/without names. cannot add param group {kind}"
            )

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Removes the gradients of all parameters, or fills them with zeros."""
        # Imported on first use: torch.nn is large.
        from torch_py.nn.modules.module import clear_gradients

        clear_gradients(chain.from_iterable(group["params"] for group in self.param_groups), set_to_none)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Updates the parameters once.

        `closure` evaluates the model again and returns the loss, which `step` then returns.
        """
        raise NotImplementedError

    # -- State ------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """The state and the groups as a dict, with numbers in place of parameters. Tensors are not copied."""
        for hook in list(self._optimizer_state_dict_pre_hooks.values()):
            hook(self)

        numbers: dict[int, int] = {}
        for group in self.param_groups:
            for parameter in group["params"]:
                numbers.setdefault(id(parameter), len(numbers))

        groups = [
            {
                **{name: value for name, value in group.items() if name != "params"},
                "params": [numbers[id(p)] for p in group["params"]],
            }
            for group in self.param_groups
        ]
        state = {
            numbers[id(key)] if isinstance(key, Tensor) else key: value for key, value in self.state.items()
        }
        saved: dict[str, Any] = {"state": state, "param_groups": groups}

        for hook in list(self._optimizer_state_dict_post_hooks.values()):
            changed = hook(self, saved)
            saved = saved if changed is None else changed

        return saved

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Copies the state and the settings of `state_dict`.

        The state of floating-point parameters gets their dtype, except step counts.

        Raises ValueError if the groups have different numbers of parameters.
        """
        state_dict = dict(state_dict)
        for hook in list(self._optimizer_load_state_dict_pre_hooks.values()):
            changed = hook(self, state_dict)
            state_dict = state_dict if changed is None else changed

        saved = deepcopy(state_dict["param_groups"])
        if len(saved) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        for old, new in zip(saved, self.param_groups):
            if len(old["params"]) != len(new["params"]):
                raise ValueError(
                    "loaded state dict contains a parameter group that doesn't match the size of "
                    "optimizer's group"
                )

        # The parameter of each number, and whether its step counts are tensors on its device.
        counted = {
            number: (parameter, bool(old.get("fused") or old.get("capturable")))
            for old, new in zip(saved, self.param_groups)
            for number, parameter in zip(old["params"], new["params"])
        }

        state: defaultdict[Any, Any] = defaultdict(dict)
        for key, value in state_dict["state"].items():
            parameter, single_steps = counted.get(key, (None, False))
            state[key if parameter is None else parameter] = adapted(value, parameter, single_steps)

        for old, new in zip(saved, self.param_groups):
            old["params"] = new["params"]
            if "param_names" in new:
                old.setdefault("param_names", new["param_names"])
        self.__setstate__({"state": state, "param_groups": saved})

        for hook in list(self._optimizer_load_state_dict_post_hooks.values()):
            hook(self)

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._prepare_hooks()
        vars(self).setdefault("defaults", {})
        later = {name: value for name, value in _LATER.items() if name in self.defaults}
        for group in self.param_groups:
            for name, value in later.items():
                group.setdefault(name, value)

    def __repr__(self) -> str:
        lines = []
        for number, group in enumerate(self.param_groups):
            lines += ["", f"Parameter Group {number}"]
            lines += [f"    {name}: {group[name]}" for name in sorted(group) if name != "params"]
        return f"{type(self).__name__} (" + "\n".join(lines) + "\n)"


__getattr__ = _lacking(__name__)
