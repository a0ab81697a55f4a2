"""The state of an optimizer divided among processes (Rajbhandari et al. 2020, ZeRO stage 1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch_py.distributed._world import GroupMember
from torch_py.distributed.algorithms.join import Joinable, JoinHook
from torch_py.optim.optimizer import Optimizer

__all__ = ["ZeroRedundancyOptimizer"]


class ZeroRedundancyOptimizer(Optimizer, Joinable):
    """Runs `optimizer_class` for this process's part of the parameters: in a world of one, for all.

    Args:
        params: tensors or groups.
        optimizer_class: the optimizer to run, which `self.optim` holds.
        process_group: the processes; default: the world.
        parameters_as_bucket_view: how PyTorch arranges parameters in memory; without effect.
        overlap_with_ddp: raises NotImplementedError if true.
        defaults: arguments of `optimizer_class`.

    Raises ValueError before `init_process_group`.
    """

    def __init__(
        self,
        params: Any,
        optimizer_class: type[Optimizer],
        process_group: Any = None,
        parameters_as_bucket_view: bool = False,
        overlap_with_ddp: bool = False,
        **defaults: Any,
    ) -> None:
        self.process_group = GroupMember.of(process_group)
        if overlap_with_ddp:
            raise NotImplementedError(
                "ZeroRedundancyOptimizer: torch_py has worlds of one process only, got overlap_with_ddp=True"
            )

        self.world_size = self.process_group.size()
        self.rank = self.process_group.rank()
        self.parameters_as_bucket_view = parameters_as_bucket_view
        self._consolidated: dict[str, Any] | None = None

        self.optim = optimizer_class(params, **defaults)
        groups = self.optim.param_groups
        super().__init__([{**group} for group in groups], self.optim.defaults)
        self._share_with_optimizer()

    def _share_with_optimizer(self) -> None:
        """Schedules change the groups of this optimizer: they are those of the optimizer inside."""
        self.param_groups = self.optim.param_groups
        self.state = self.optim.state

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        if self.__dict__.get("param_groups") is not self.optim.param_groups:
            super().add_param_group(param_group)  # called by Optimizer.__init__
        else:
            self.optim.add_param_group(param_group)

    def step(self, closure: Callable[[], float] | None = None, **kwargs: Any) -> float | None:  # type: ignore[override]
        """One step of the optimizer inside. Returns the loss of `closure`."""
        return self.optim.step(closure=closure, **kwargs)  # type: ignore[no-any-return]

    def consolidate_state_dict(self, to: int = 0) -> None:
        """Collects the state of all processes at process `to`, for `state_dict`.

        Raises ValueError for another process than this one.
        """
        if to != 0:
            raise ValueError(f"consolidate_state_dict: expected rank 0 in a world of 1, got {to}")
        self._consolidated = self.optim.state_dict()

    def state_dict(self) -> dict[str, Any]:
        """The state of all processes. Raises RuntimeError before `consolidate_state_dict`."""
        if self._consolidated is None:
            raise RuntimeError(
                "Optimizer state has not been consolidated on this rank. Please call "
                f"`consolidate_state_dict(to={self.rank})` on all ranks beforehand if you meant to save the "
                "global state."
            )
        return self._consolidated

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.optim.load_state_dict(state_dict)
        self._share_with_optimizer()
        self._consolidated = None

    def join_hook(self, **kwargs: Any) -> JoinHook:
        return JoinHook()

    @property
    def join_device(self) -> Any:
        return self.optim.param_groups[0]["params"][0].device

    @property
    def join_process_group(self) -> Any:
        return self.process_group
