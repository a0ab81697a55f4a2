"""State dicts: the parameters and persistent buffers of a module by dotted name, saved and loaded."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from torch_py._tensor import Tensor
from torch_py.autograd.grad_mode import no_grad
from torch_py.nn.parameter import Parameter, is_lazy
from torch_py.utils.hooks import RemovableHandle, register

EXTRA_STATE = "_extra_state"


class IncompatibleKeys(NamedTuple):
    """The keys that did not match in `load_state_dict(strict=False)`."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"_IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"


class _PostHook:
    """A hook that changes the state dict it gets in place. Raises RuntimeError if it returns something."""

    def __init__(self, hook: Callable[..., Any]) -> None:
        self.hook = hook

    def __call__(self, *arguments: Any) -> None:
        result = self.hook(*arguments)
        if result is not None:
            raise RuntimeError(f"state_dict post-hook must return None, got {type(result).__name__}")


class ModuleState:
    """The part of `Module` that saves and loads state dicts.

    Subclasses override `_save_to_state_dict` and `_load_from_state_dict` to change what one module stores.
    """

    _version: int | None
    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]
    _state_dict_hooks: OrderedDict[int, Any]
    _state_dict_pre_hooks: OrderedDict[int, Any]
    _load_state_dict_pre_hooks: OrderedDict[int, Any]
    _load_state_dict_post_hooks: OrderedDict[int, Any]

    def get_extra_state(self) -> Any:
        """Returns what a subclass stores in its state dict in addition to tensors. It must be picklable."""
        raise RuntimeError(
            f"{type(self).__name__}.get_extra_state: not implemented; define it together with set_extra_state"
        )

    def set_extra_state(self, state: Any) -> None:
        """Restores what `get_extra_state` returned."""
        raise RuntimeError(
            f"{type(self).__name__}.set_extra_state: not implemented; define it together with get_extra_state"
        )

    def _defines_extra_state(self) -> bool:
        return type(self).get_extra_state is not ModuleState.get_extra_state

    def _own_state(self) -> dict[str, Any]:
        """Returns parameters and persistent buffers of this module alone."""
        buffers = {
            name: value
            for name, value in self._buffers.items()
            if name not in self._non_persistent_buffers_set
        }
        return {name: value for name, value in {**self._parameters, **buffers}.items() if value is not None}

    # Saving
    # ------------------------------------------------------------

    def state_dict(
        self, *arguments: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> Any:
        """Returns an ordered dictionary of all parameters and persistent buffers, here and below, by dotted
        name.

        The tensors share memory with the module and are detached. The attribute `_metadata` holds the version
        of every module.

        Args:
            arguments: the same three arguments by position, as an older signature took them
            destination: a dictionary to add to; default None, a new one
            prefix: what names begin with; default ''
            keep_vars: whether tensors stay attached to autograd; default False

        Example:
            >>> list(nn.Sequential(nn.Linear(2, 3), nn.ReLU()).state_dict())
            ['0.weight', '0.bias']
        """
        if arguments:
            # An older signature took the same three arguments by position.
            by_name = [destination, prefix, keep_vars]
            destination, prefix, keep_vars = [*arguments, *by_name[len(arguments) :]]

        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = metadata

        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, child in self._modules.items():
            if child is not None:
                child.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook in self._state_dict_hooks.values():
            result = hook(self, destination, prefix, metadata)
            destination = destination if result is None else result

        return destination

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        for name, value in self._own_state().items():
            destination[prefix + name] = value if keep_vars or is_lazy(value) else value.detach()
        if self._defines_extra_state():
            destination[prefix + EXTRA_STATE] = self.get_extra_state()

    def _register_state_dict_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        return register(self._state_dict_hooks, hook)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Calls `hook(module, state_dict, prefix, local_metadata)` after `state_dict`;
        it changes the dictionary in place and returns None."""
        return register(self._state_dict_hooks, _PostHook(hook))

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Calls `hook(module, prefix, keep_vars)` before `state_dict`."""
        return register(self._state_dict_pre_hooks, hook)

    # Loading
    # ------------------------------------------------------------

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> IncompatibleKeys:
        """Copies the tensors of a state dict into the parameters and buffers of this module and those below.

        Args:
            state_dict: a mapping from dotted names to tensors
            strict: whether missing and unexpected names are errors; default True
            assign: whether the tensors replace those of the module instead of being copied into them; default
                False

        Returns:
            A named tuple of the lists `missing_keys` and `unexpected_keys`.

        Raises:
            RuntimeError: shapes differ, or, if `strict`, names do; the message lists all problems
            TypeError: `state_dict` is not a mapping

        Example:
            >>> layer = nn.Linear(2, 2)
            >>> layer.load_state_dict(nn.Linear(2, 2).state_dict())
            <All keys matched successfully>
            >>> layer.load_state_dict({"weight": torch.ones(2, 2)}, strict=False)
            _IncompatibleKeys(missing_keys=['bias'], unexpected_keys=[])
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")

        metadata = getattr(state_dict, "_metadata", None)
        load = _Load(OrderedDict(state_dict), metadata, assign)
        load.into(self, "")

        errors = load.errors
        if strict:
            for keys, what in ((load.unexpected, "Unexpected"), (load.missing, "Missing")):
                if keys:
                    quoted = ", ".join(f'"{key}"' for key in keys)
                    errors.insert(0, f"{what} key(s) in state_dict: {quoted}. ")
        if errors:
            details = "\n\t".join(errors)
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{details}")

        return IncompatibleKeys(load.missing, load.unexpected)

    def _load_from_state_dict(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Loads this module alone and appends problems to the three lists."""
        for hook in self._load_state_dict_pre_hooks.values():
            hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)

        assign = local_metadata.get("assign_to_params_buffers", False)
        for name, target in self._own_state().items():
            key = prefix + name
            if key in state_dict:
                error_msgs += _load_tensor(self, name, target, key, state_dict[key], assign)
            elif strict:
                missing_keys.append(key)

        self._load_extra_state(state_dict, prefix + EXTRA_STATE, strict, missing_keys, unexpected_keys)
        if strict:
            unexpected_keys.extend(key for key in state_dict if self._is_unexpected(key, prefix))

    def _load_extra_state(
        self,
        state_dict: Mapping[str, Any],
        key: str,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
    ) -> None:
        if type(self).set_extra_state is not ModuleState.set_extra_state:
            if key in state_dict:
                self.set_extra_state(state_dict[key])
            elif strict:
                missing_keys.append(key)
        elif strict and key in state_dict:
            unexpected_keys.append(key)

    def _is_unexpected(self, key: str, prefix: str) -> bool:
        if not key.startswith(prefix) or key == prefix + EXTRA_STATE:
            return False
        name, dot, _ = key[len(prefix) :].partition(".")
        if name in self._modules:
            return False
        return bool(dot) or name not in self._own_state()

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Calls `hook(module, state_dict, prefix, local_metadata, strict, missing_keys,
        unexpected_keys, error_msgs)` before this module is loaded."""
        return register(self._load_state_dict_pre_hooks, lambda *arguments: hook(self, *arguments))

    def _register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], with_module: bool = False
    ) -> RemovableHandle:
        if with_module:
            return self.register_load_state_dict_pre_hook(hook)
        return register(self._load_state_dict_pre_hooks, hook)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Calls `hook(module, incompatible_keys)` after this module and all
        below were loaded; it may change the lists."""
        return register(self._load_state_dict_post_hooks, hook)


class _Load:
    """One call of `load_state_dict` on its way down the tree."""

    def __init__(
        self, state: OrderedDict[str, Any], metadata: Mapping[str, dict[str, Any]] | None, assign: bool
    ) -> None:
        self.state = state
        self.metadata = metadata
        self.assign = assign
        self.missing: list[str] = []
        self.unexpected: list[str] = []
        self.errors: list[str] = []
        if metadata is not None:
            state._metadata = metadata  # type: ignore[attr-defined]

    def into(self, module: Any, prefix: str) -> None:
        """Loads `module` and all modules below it."""
        local = dict({} if self.metadata is None else self.metadata.get(prefix[:-1], {}))
        if self.assign:
            local["assign_to_params_buffers"] = True

        # Missing and unexpected keys are collected in any case; `load_state_dict` decides whether they are
        # errors.
        module._load_from_state_dict(
            self.state, prefix, local, True, self.missing, self.unexpected, self.errors
        )
        for name, child in module._modules.items():
            if child is not None:
                self.into(child, f"{prefix}{name}.")

        keys = IncompatibleKeys(self.missing, self.unexpected)
        for hook in module._load_state_dict_post_hooks.values():
            if hook(module, keys) is not None:
                raise RuntimeError(
                    "hooks registered with register_load_state_dict_post_hook must change the keys in place "
                    "and return None"
                )


def _load_tensor(module: Any, name: str, target: Tensor, key: str, value: Any, assign: bool) -> list[str]:
    """Copies or assigns one tensor. Returns the problems as messages."""
    if not isinstance(value, Tensor):
        return [
            f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from '
            f"checkpoint but received {type(value)}"
        ]
    if is_lazy(target) and is_lazy(value):
        return []  # both still wait for a shape

    # Older state dicts hold scalars as vectors of one element.
    both_have_shapes = not is_lazy(target) and not is_lazy(value)
    if both_have_shapes and target.dim() == 0 and value.dim() == 1 and value.numel() == 1:
        value = value[0]

    if tuple(value.shape) != tuple(target.shape):
        return [
            f"size mismatch for {key}: copying a param with shape {value.shape} from checkpoint, the shape "
            f"in current model is {target.shape}."
        ]

    if target.is_meta and not value.is_meta and not assign and not is_lazy(target):
        warnings.warn(
            f"for {key}: copying from a non-meta parameter in the checkpoint to a meta parameter in the "
            "current model, which is a no-op. (Did you mean to pass `assign=True` to assign items in the "
            "state dictionary to their corresponding key in the module instead of copying them in place?)",
            stacklevel=2,
        )

    try:
        with no_grad():
            if assign:
                _assign(module, name, target, value)
            else:
                target.copy_(value)
    except Exception as error:
        return [
            f'While copying the parameter named "{key}", whose dimensions in the model are {target.shape} '
            "and whose dimensions in the "
            f"checkpoint are {value.shape}, an exception occurred : {error.args}."
        ]

    return []


def _assign(module: Any, name: str, target: Tensor, value: Tensor) -> None:
    """Replaces one parameter or buffer by `value`; a parameter keeps its `requires_grad`."""
    if isinstance(target, Parameter):
        assigned = value if isinstance(value, Parameter) else Parameter(value, target.requires_grad)
        setattr(module, name, assigned)
        getattr(module, name).requires_grad_(target.requires_grad)
    else:
        setattr(module, name, value)
