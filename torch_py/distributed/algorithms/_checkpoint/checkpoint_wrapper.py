"""Modules whose intermediate results are computed again in backward, or kept outside of the accelerator.

Both work in one process. A wrapper adds nothing to the keys of the state dict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum, auto
from functools import partial
from typing import Any

from torch_py.autograd.graph import save_on_cpu
from torch_py.nn.modules.module import Module
from torch_py.nn.parameter import Parameter
from torch_py.utils.checkpoint import checkpoint

_CHECKPOINT_WRAPPED_MODULE = "_checkpoint_wrapped_module"
_CHECKPOINT_PREFIX = _CHECKPOINT_WRAPPED_MODULE + "."


class CheckpointImpl(Enum):
    """Whether backward runs the module again as a node of its own (REENTRANT) or through saved tensors."""

    REENTRANT = auto()
    NO_REENTRANT = auto()


class ActivationWrapper(Module):
    """A module around another one, with the attributes and the state dict of that."""

    def __init__(self, module: Module) -> None:
        super().__init__()
        self._checkpoint_wrapped_module = module
        self._register_state_dict_hook(_remove_prefix)
        self.register_load_state_dict_pre_hook(_add_prefix)

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(super().__getattr__(_CHECKPOINT_WRAPPED_MODULE), name)

    def __getitem__(self, key: int) -> Any:
        return self._checkpoint_wrapped_module[key]  # type: ignore[index]

    def named_parameters(self, *args: Any, **kwargs: Any) -> Iterator[tuple[str, Parameter]]:
        for name, parameter in super().named_parameters(*args, **kwargs):
            yield name.replace(_CHECKPOINT_PREFIX, ""), parameter


def _remove_prefix(module: Module, state_dict: dict[str, Any], prefix: str, *rest: Any) -> None:
    for key in [key for key in state_dict if key.startswith(prefix + _CHECKPOINT_PREFIX)]:
        state_dict[prefix + key[len(prefix + _CHECKPOINT_PREFIX) :]] = state_dict.pop(key)


def _add_prefix(module: Module, state_dict: dict[str, Any], prefix: str, *rest: Any) -> None:
    wanted = prefix + _CHECKPOINT_PREFIX
    for key in [key for key in state_dict if key.startswith(prefix) and not key.startswith(wanted)]:
        state_dict[wanted + key[len(prefix) :]] = state_dict.pop(key)


class OffloadWrapper(ActivationWrapper):
    """Keeps what backward needs in the memory of the CPU."""

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        with save_on_cpu(pin_memory=False):
            return self._checkpoint_wrapped_module(*args, **kwargs)


class CheckpointWrapper(ActivationWrapper):
    """Runs the module again in backward instead of keeping what it computed."""

    def __init__(
        self,
        mod: Module,
        checkpoint_impl: CheckpointImpl = CheckpointImpl.NO_REENTRANT,
        checkpoint_fn: Callable[..., Any] | None = None,
        **checkpoint_fn_kwargs: Any,
    ) -> None:
        super().__init__(mod)
        self.checkpoint_impl = checkpoint_impl
        reentrant = checkpoint_impl is CheckpointImpl.REENTRANT
        given = {} if checkpoint_fn is not None else {"use_reentrant": reentrant}
        self.checkpoint_fn = partial(checkpoint_fn or checkpoint, **given, **checkpoint_fn_kwargs)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        if not kwargs or self.checkpoint_impl is CheckpointImpl.NO_REENTRANT:
            return self.checkpoint_fn(self._checkpoint_wrapped_module, *args, **kwargs)

        # With reentrance, checkpoint takes positional arguments only.
        names = tuple(kwargs)

        def call(*values: Any) -> Any:
            positional = values[: len(values) - len(names)]
            return self._checkpoint_wrapped_module(*positional, **dict(zip(names, values[len(positional) :])))

        return self.checkpoint_fn(call, *args, *kwargs.values())


def checkpoint_wrapper(
    module: Module,
    checkpoint_impl: CheckpointImpl = CheckpointImpl.NO_REENTRANT,
    checkpoint_fn: Callable[..., Any] | None = None,
    **checkpoint_fn_kwargs: Any,
) -> Module:
    """`module`, running again in backward.

    `checkpoint_fn` takes the place of `utils.checkpoint.checkpoint`.
    """
    return CheckpointWrapper(module, checkpoint_impl, checkpoint_fn, **checkpoint_fn_kwargs)


def offload_wrapper(module: Module) -> Module:
    """`module`, keeping what backward needs in the memory of the CPU."""
    return OffloadWrapper(module)


def apply_activation_checkpointing(
    model: Module,
    checkpoint_wrapper_fn: Callable[[Module], Module] = checkpoint_wrapper,
    check_fn: Callable[[Module], bool] = lambda _: True,
    auto_wrap_policy: Callable[..., Any] | None = None,
) -> None:
    """Wraps every submodule for which `check_fn` is true, from the innermost outwards.

    Raises NotImplementedError for an `auto_wrap_policy`.
    """
    if auto_wrap_policy is not None:
        raise NotImplementedError(
            "apply_activation_checkpointing: torch_py chooses submodules by check_fn, not by auto_wrap_policy"
        )

    for child_name, child in list(model.named_children()):
        apply_activation_checkpointing(child, checkpoint_wrapper_fn, check_fn)
        if check_fn(child):
            setattr(model, child_name, checkpoint_wrapper_fn(child))


__all__ = [
    "ActivationWrapper",
    "CheckpointImpl",
    "CheckpointWrapper",
    "OffloadWrapper",
    "apply_activation_checkpointing",
    "checkpoint_wrapper",
    "offload_wrapper",
]
