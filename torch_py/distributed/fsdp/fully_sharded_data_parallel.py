"""A wrapper that divides the parameters of a module among processes (Zhao et al. 2023).

In a world of one process the parameters stay as they are, whole.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from enum import Enum, auto
from functools import partial
from typing import Any

from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py._tensor import Tensor
from torch_py.distributed._world import GroupMember
from torch_py.distributed.fsdp._fully_shard import refuse_dtypes
from torch_py.distributed.fsdp.api import (
    BackwardPrefetch,
    CPUOffload,
    FullOptimStateDictConfig,
    FullStateDictConfig,
    LocalOptimStateDictConfig,
    LocalStateDictConfig,
    MixedPrecision,
    OptimStateDictConfig,
    ShardedOptimStateDictConfig,
    ShardedStateDictConfig,
    ShardingStrategy,
    StateDictConfig,
    StateDictSettings,
    StateDictType,
)
from torch_py.distributed.fsdp.wrap import wrap_submodules
from torch_py.nn.modules.module import Module
from torch_py.nn.parameter import Parameter
from torch_py.nn.utils.clip_grad import clip_grad_norm_
from torch_py.optim.optimizer import Optimizer

__all__ = [
    "BackwardPrefetch",
    "CPUOffload",
    "FullOptimStateDictConfig",
    "FullStateDictConfig",
    "FullyShardedDataParallel",
    "LocalOptimStateDictConfig",
    "LocalStateDictConfig",
    "MixedPrecision",
    "OptimStateDictConfig",
    "OptimStateKeyType",
    "ShardedOptimStateDictConfig",
    "ShardedStateDictConfig",
    "ShardingStrategy",
    "StateDictConfig",
    "StateDictSettings",
    "StateDictType",
]

_WRAPPED = "_fsdp_wrapped_module"


class OptimStateKeyType(Enum):
    """How the state of an optimizer names parameters."""

    PARAM_NAME = auto()
    PARAM_ID = auto()


def _is_on_meta(module: Module) -> bool:
    """Whether a parameter or buffer of the module itself has no memory."""
    own = (*module.parameters(recurse=False), *module.buffers(recurse=False))
    return any(tensor.is_meta for tensor in own)


def _fill_meta_modules(module: Module, param_init_fn: Callable[[Module], None] | None) -> None:
    for inner in module.modules():
        if not _is_on_meta(inner):
            continue

        if param_init_fn is not None:
            param_init_fn(inner)
        elif hasattr(inner, "reset_parameters"):
            inner.to_empty(device="cpu", recurse=False)
            inner.reset_parameters()  # type: ignore[operator]

        if _is_on_meta(inner):
            raise RuntimeError(
                f"FullyShardedDataParallel: {type(inner).__name__} is on the meta device and has no "
                "reset_parameters(), or param_init_fn has left it there"
            )


class FullyShardedDataParallel(Module):
    """Runs `module`, whose parameters are whole in a world of one process.

    Args:
        module: the module to wrap.
        process_group: the processes; default: the world.
        sharding_strategy: what would be divided; kept as an attribute.
        cpu_offload, mixed_precision: refused unless they change nothing.
        auto_wrap_policy: which submodules are wrapped too; see `torch.distributed.fsdp.wrap`.
        ignored_modules, ignored_states: submodules that are not wrapped.
        param_init_fn: called with each submodule that has parameters or buffers of its own on the meta
            device, to give them memory and fill them; default: `to_empty` and `reset_parameters`.
        backward_prefetch, device_id, sync_module_states, forward_prefetch, limit_all_gathers,
            use_orig_params, device_mesh: arguments of PyTorch about communication; without effect.

    Keys of the state dict do not name the wrapper. Raises ValueError before `init_process_group`, and
    NotImplementedError for other dtypes or for offloaded parameters. RuntimeError says which module on the
    meta device could not be filled.
    """

    def __init__(
        self,
        module: Module,
        process_group: Any = None,
        sharding_strategy: ShardingStrategy | None = None,
        cpu_offload: CPUOffload | None = None,
        auto_wrap_policy: Any = None,
        backward_prefetch: BackwardPrefetch | None = BackwardPrefetch.BACKWARD_PRE,
        mixed_precision: MixedPrecision | None = None,
        ignored_modules: Iterable[Module] | None = None,
        param_init_fn: Callable[[Module], None] | None = None,
        device_id: Any = None,
        sync_module_states: bool = False,
        forward_prefetch: bool = False,
        limit_all_gathers: bool = True,
        use_orig_params: bool = False,
        ignored_states: Iterable[Any] | None = None,
        device_mesh: Any = None,
    ) -> None:
        super().__init__()
        group = GroupMember.of(process_group)
        if mixed_precision is not None:
            refuse_dtypes(
                "FullyShardedDataParallel",
                param_dtype=mixed_precision.param_dtype,
                reduce_dtype=mixed_precision.reduce_dtype,
                buffer_dtype=mixed_precision.buffer_dtype,
            )
        if cpu_offload is not None and cpu_offload.offload_params:
            raise NotImplementedError("FullyShardedDataParallel: torch_py does not offload parameters")
        if auto_wrap_policy is not None:
            wrapper = partial(
                FullyShardedDataParallel,
                process_group=group,
                sharding_strategy=sharding_strategy,
                param_init_fn=param_init_fn,
            )
            left_out = [*(ignored_modules or ()), *(ignored_states or ())]
            ignored = tuple(each for each in left_out if isinstance(each, Module))
            wrap_submodules(module, auto_wrap_policy, wrapper, ignored)

        _fill_meta_modules(module, param_init_fn)
        for inner in FullyShardedDataParallel.fsdp_modules(module):
            inner._is_root = False
        self._is_root = True
        self.process_group = group
        self.rank = group.rank()
        self.world_size = group.size()
        self.sharding_strategy = sharding_strategy or ShardingStrategy.FULL_SHARD
        self._fsdp_wrapped_module = module
        self._register_state_dict_hook(_remove_prefix)
        self.register_load_state_dict_pre_hook(_add_prefix)

    @property
    def module(self) -> Module:
        """The wrapped module."""
        return self._fsdp_wrapped_module

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self._fsdp_wrapped_module(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(super().__getattr__(_WRAPPED), name)

    def __getitem__(self, key: int) -> Any:
        return self._fsdp_wrapped_module[key]  # type: ignore[index]

    def check_is_root(self) -> bool:
        """Whether no other wrapper is around this one."""
        return self._is_root

    def named_parameters(self, *args: Any, **kwargs: Any) -> Iterator[tuple[str, Parameter]]:
        for name, parameter in super().named_parameters(*args, **kwargs):
            yield name.replace(f"{_WRAPPED}.", ""), parameter

    def named_buffers(self, *args: Any, **kwargs: Any) -> Iterator[tuple[str, Tensor]]:
        for name, buffer in super().named_buffers(*args, **kwargs):
            yield name.replace(f"{_WRAPPED}.", ""), buffer

    def clip_grad_norm_(self, max_norm: float, norm_type: float = 2.0) -> Tensor:
        """Scales gradients down to a total norm of at most `max_norm`. Returns the norm before."""
        return clip_grad_norm_(self.parameters(), max_norm, norm_type)

    @contextlib.contextmanager
    def no_sync(self) -> Iterator[None]:
        """Gradients are not combined inside the block, which they need not be in a world of one."""
        yield

    @staticmethod
    @contextlib.contextmanager
    def summon_full_params(module: Module, recurse: bool = True, **options: Any) -> Iterator[None]:
        """Parameters are whole inside the block, as they are outside."""
        yield

    @staticmethod
    def fsdp_modules(module: Module, root_only: bool = False) -> list[FullyShardedDataParallel]:
        """The wrappers in `module`, itself included."""
        found = [each for each in module.modules() if isinstance(each, FullyShardedDataParallel)]
        inner = {below for each in found for below in each._fsdp_wrapped_module.modules()}
        return [each for each in found if each not in inner] if root_only else found

    @staticmethod
    def set_state_dict_type(
        module: Module,
        state_dict_type: StateDictType,
        state_dict_config: StateDictConfig | None = None,
        optim_state_dict_config: OptimStateDictConfig | None = None,
    ) -> StateDictSettings:
        """Chooses the type of state dicts, all of which are full in a world of one.

        Returns the earlier choice.
        """
        before = FullyShardedDataParallel.get_state_dict_type(module)
        module._fsdp_state_dict_settings = StateDictSettings(  # type: ignore[assignment]
            state_dict_type,
            state_dict_config or FullStateDictConfig(),
            optim_state_dict_config or FullOptimStateDictConfig(),
        )
        return before

    @staticmethod
    def get_state_dict_type(module: Module) -> StateDictSettings:
        """The chosen type of state dicts."""
        default = StateDictSettings(
            StateDictType.FULL_STATE_DICT, FullStateDictConfig(), FullOptimStateDictConfig()
        )
        return vars(module).get("_fsdp_state_dict_settings", default)  # type: ignore[no-any-return]

    @staticmethod
    @contextlib.contextmanager
    def state_dict_type(
        module: Module,
        state_dict_type: StateDictType,
        state_dict_config: StateDictConfig | None = None,
        optim_state_dict_config: OptimStateDictConfig | None = None,
    ) -> Iterator[None]:
        """Chooses the type of state dicts inside the block."""
        before = FullyShardedDataParallel.set_state_dict_type(
            module, state_dict_type, state_dict_config, optim_state_dict_config
        )
        try:
            yield
        finally:
            module._fsdp_state_dict_settings = before  # type: ignore[assignment]

    @staticmethod
    def optim_state_dict(
        model: Module, optim: Optimizer, optim_state_dict: dict[str, Any] | None = None, group: Any = None
    ) -> dict[str, Any]:
        """The state of `optim`, with the names of parameters in the place of their numbers."""
        state = optim.state_dict() if optim_state_dict is None else optim_state_dict
        return FullyShardedDataParallel.rekey_optim_state_dict(
            state, OptimStateKeyType.PARAM_NAME, model, optim=optim
        )

    @staticmethod
    def optim_state_dict_to_load(
        model: Module,
        optim: Optimizer,
        optim_state_dict: dict[str, Any],
        is_named_optimizer: bool = False,
        load_directly: bool = False,
        group: Any = None,
    ) -> dict[str, Any]:
        """What `optim.load_state_dict` takes, from what `optim_state_dict` returned."""
        state = FullyShardedDataParallel.rekey_optim_state_dict(
            optim_state_dict, OptimStateKeyType.PARAM_ID, model, optim=optim
        )
        if load_directly:
            optim.load_state_dict(state)
        return state

    @staticmethod
    def rekey_optim_state_dict(
        optim_state_dict: dict[str, Any],
        optim_state_key_type: OptimStateKeyType,
        model: Module,
        optim_input: Any = None,
        optim: Optimizer | None = None,
    ) -> dict[str, Any]:
        """The state of an optimizer with parameters named, or numbered in the order of the optimizer."""
        names = _parameter_names(model, optim)
        numbers = {name: number for number, name in enumerate(names)}
        by_name = optim_state_key_type is OptimStateKeyType.PARAM_NAME

        def key(given: Any) -> Any:
            if by_name:
                return names[given] if isinstance(given, int) else given
            return given if isinstance(given, int) else numbers[given]

        return {
            **optim_state_dict,
            "state": {key(name): value for name, value in optim_state_dict["state"].items()},
            "param_groups": [
                {**group, "params": [key(name) for name in group["params"]]}
                for group in optim_state_dict["param_groups"]
            ],
        }


def _parameter_names(model: Module, optim: Optimizer | None) -> list[str]:
    """The names of parameters, in the order of the optimizer, or of the model without one."""
    prefix = f"{_WRAPPED}."
    names = {id(parameter): name.replace(prefix, "") for name, parameter in model.named_parameters()}
    if optim is None:
        return list(names.values())
    return [names[id(parameter)] for group in optim.param_groups for parameter in group["params"]]


def _remove_prefix(module: Module, state_dict: dict[str, Any], prefix: str, *rest: Any) -> None:
    wrapped = f"{prefix}{_WRAPPED}."
    for key in [key for key in state_dict if key.startswith(wrapped)]:
        state_dict[prefix + key[len(wrapped) :]] = state_dict.pop(key)


def _add_prefix(module: Module, state_dict: dict[str, Any], prefix: str, *rest: Any) -> None:
    wrapped = f"{prefix}{_WRAPPED}."
    for key in [key for key in state_dict if key.startswith(prefix) and not key.startswith(wrapped)]:
        state_dict[wrapped + key[len(prefix) :]] = state_dict.pop(key)


__getattr__ = _lacking(__name__)
