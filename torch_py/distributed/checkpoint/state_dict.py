"""State dicts of models and optimizers that do not depend on wrappers: parameters are named, not numbered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch_py.distributed.fsdp.fully_sharded_data_parallel import FullyShardedDataParallel, OptimStateKeyType
from torch_py.nn.modules.module import Module
from torch_py.nn.parallel.distributed import DistributedDataParallel
from torch_py.optim.optimizer import Optimizer

__all__ = [
    "StateDictOptions",
    "get_model_state_dict",
    "get_optimizer_state_dict",
    "get_state_dict",
    "set_model_state_dict",
    "set_optimizer_state_dict",
    "set_state_dict",
]


@dataclass
class StateDictOptions:
    """What state dicts contain.

    `full_state_dict`, `cpu_offload` and `broadcast_from_rank0` concern several processes and devices.
    """

    full_state_dict: bool = False
    cpu_offload: bool = False
    ignore_frozen_params: bool = False
    keep_submodule_prefixes: bool = True
    strict: bool = True
    broadcast_from_rank0: bool = False
    flatten_optimizer_state_dict: bool = False
    dsd_fqn_modifiers: str = "_fqn_modifiers"


def _unwrapped(model: Module) -> Module:
    return model.module if isinstance(model, DistributedDataParallel) else model


def get_model_state_dict(
    model: Module, *, submodules: Any = None, options: StateDictOptions | None = None
) -> dict[str, Any]:
    """The parameters and buffers of `model`, without the prefix of a wrapper.

    Raises NotImplementedError for `submodules`.
    """
    _refuse_submodules("get_model_state_dict", submodules)
    state = _unwrapped(model).state_dict()
    if options is not None and options.ignore_frozen_params:
        frozen = {
            name for name, parameter in _unwrapped(model).named_parameters() if not parameter.requires_grad
        }
        state = {name: value for name, value in state.items() if name not in frozen}  # type: ignore[assignment]
    return dict(state)


def set_model_state_dict(
    model: Module, model_state_dict: dict[str, Any], *, options: StateDictOptions | None = None
) -> Any:
    """Loads what `get_model_state_dict` returned. Returns the missing and the unexpected names."""
    strict = options is None or options.strict
    return _unwrapped(model).load_state_dict(model_state_dict, strict=strict)


def get_optimizer_state_dict(
    model: Module, optimizers: Any, *, submodules: Any = None, options: StateDictOptions | None = None
) -> dict[str, Any]:
    """The state of an optimizer or of several, with parameters named as in the model."""
    _refuse_submodules("get_optimizer_state_dict", submodules)
    _refuse_flat("get_optimizer_state_dict", options)
    joined: dict[str, Any] = {"state": {}, "param_groups": []}
    for optimizer in _each(optimizers):
        state = _rekeyed(optimizer.state_dict(), OptimStateKeyType.PARAM_NAME, model, optimizer)
        joined["state"].update(state["state"])
        joined["param_groups"] += state["param_groups"]
    return joined


def set_optimizer_state_dict(
    model: Module,
    optimizers: Any,
    optim_state_dict: dict[str, Any],
    *,
    options: StateDictOptions | None = None,
) -> None:
    """Loads what `get_optimizer_state_dict` returned."""
    _refuse_flat("set_optimizer_state_dict", options)
    start = 0
    for optimizer in _each(optimizers):
        count = len(optimizer.param_groups)
        groups = optim_state_dict["param_groups"][start : start + count]
        start += count

        names = {name for group in groups for name in group["params"]}
        state = {name: value for name, value in optim_state_dict["state"].items() if name in names}
        numbered = _rekeyed(
            {"state": state, "param_groups": groups}, OptimStateKeyType.PARAM_ID, model, optimizer
        )
        optimizer.load_state_dict(numbered)


def get_state_dict(
    model: Module, optimizers: Any, *, submodules: Any = None, options: StateDictOptions | None = None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The state of the model, and that of the optimizers."""
    return (
        get_model_state_dict(model, submodules=submodules, options=options),
        get_optimizer_state_dict(model, optimizers, submodules=submodules, options=options),
    )


def set_state_dict(
    model: Module,
    optimizers: Any,
    *,
    model_state_dict: dict[str, Any],
    optim_state_dict: dict[str, Any],
    options: StateDictOptions | None = None,
) -> Any:
    """Loads both parts of what `get_state_dict` returned."""
    set_optimizer_state_dict(model, optimizers, optim_state_dict, options=options)
    return set_model_state_dict(model, model_state_dict, options=options)


def _each(optimizers: Any) -> tuple[Optimizer, ...]:
    return (optimizers,) if isinstance(optimizers, Optimizer) else tuple(optimizers)


def _rekeyed(
    state: dict[str, Any], kind: OptimStateKeyType, model: Module, optimizer: Optimizer
) -> dict[str, Any]:
    return FullyShardedDataParallel.rekey_optim_state_dict(state, kind, _unwrapped(model), optim=optimizer)


def _refuse_submodules(name: str, submodules: Any) -> None:
    if submodules:
        raise NotImplementedError(f"{name}: torch_py takes the whole model, got submodules={submodules!r}")


def _refuse_flat(name: str, options: StateDictOptions | None) -> None:
    if options is not None and options.flatten_optimizer_state_dict:
        raise NotImplementedError(f"{name}: torch_py does not flatten the state, got {options}")
