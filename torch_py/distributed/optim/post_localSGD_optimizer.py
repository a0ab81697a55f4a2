"""Local steps with an average of all processes from time to time (Lin et al. 2018, post-local SGD)."""

from __future__ import annotations

import warnings
from typing import Any

from torch_py.distributed.algorithms.model_averaging.averagers import ModelAverager
from torch_py.optim.optimizer import Optimizer

__all__ = ["PostLocalSGDOptimizer"]


class PostLocalSGDOptimizer(Optimizer):
    """Steps of `optim`, after each of which `averager` may average the parameters."""

    def __init__(self, optim: Optimizer, averager: ModelAverager) -> None:
        self.optim = optim
        self.averager = averager
        self.param_groups = optim.param_groups

    @property
    def state(self) -> Any:  # type: ignore[override]
        return self.optim.state

    def __repr__(self) -> str:
        return repr(self.optim)

    def step(self) -> None:  # type: ignore[override]
        self.optim.step()  # type: ignore[call-arg]
        self.averager.average_parameters(params=self.param_groups)

    def zero_grad(self, set_to_none: bool = True) -> None:
        self.optim.zero_grad(set_to_none)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        self.optim.add_param_group(param_group)

    def state_dict(self) -> dict[str, Any]:
        """The state of the optimizer, with the count of the averager under ``step``."""
        return {**self.optim.state_dict(), "step": self.averager.step}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.optim.load_state_dict(state_dict)
        if "step" not in state_dict:
            warnings.warn(
                "Loaded state dict does not contain a step counter for an averager. Setting step counter to "
                "0.",
                stacklevel=2,
            )
        self.averager.step = state_dict.get("step", 0)
