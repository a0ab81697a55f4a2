"""Schedules whose rates go up and down in cycles."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import FunctionType
from typing import Any, Literal

from torch_py.optim.lr_scheduler._base import LRScheduler, check_optimizer, per_group, set_value
from torch_py.optim.lr_scheduler._momentum import set_momentum, start_momentum, uses_beta1
from torch_py.optim.optimizer import Optimizer


class CosineAnnealingWarmRestarts(LRScheduler):
    """Lowers the learning rate along half a cosine, then restarts:

        lr = eta_min + (initial rate - eta_min) · (1 + cos(π · t / T)) / 2

    t counts the epochs since the last restart, and T is the length of the cycle. `step(epoch)` takes
    fractions of an epoch too.

    Source: Loshchilov and Hutter, SGDR: stochastic gradient descent with warm restarts (2016).

    Args:
        optimizer: the optimizer whose groups are changed
        T_0: the number of epochs of the first cycle
        T_mult: how much longer each further cycle is; default 1
        eta_min: the lowest rate; default 0.0
        last_epoch: the epoch to go on from; -1 (default) begins

    Raises:
        ValueError: `T_0` or `T_mult` is not a positive integer

    Example:
        >>> optimizer = torch.optim.SGD([nn.Parameter(torch.ones(1))], lr=1.0, momentum=0.9)
        >>> schedule = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=2)
        >>> rates = []
        >>> for _ in range(5):
        ...     rates.append(round(schedule.get_last_lr()[0], 4))
        ...     optimizer.step()
        ...     schedule.step()
        >>> rates
        [1.0, 0.5, 1.0, 0.5, 1.0]
    """

    def __init__(
        self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, (float, int)):
            raise ValueError(f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}")

        self.T_0 = self.T_i = T_0
        self.T_mult = T_mult
        self.eta_min = eta_min
        self.T_cur: float = last_epoch

        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        self._current()

        cosine = math.cos(math.pi * self.T_cur / self.T_i)
        return [self.eta_min + (base - self.eta_min) * (1 + cosine) / 2 for base in self.base_lrs]

    def _update_lr(self, epoch: float | None = None) -> None:
        if epoch is None and self.last_epoch < 0:
            epoch = 0

        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur -= self.T_i
                self.T_i = self.T_i * self.T_mult
        else:
            self._seek(epoch)

        super()._update_lr(math.floor(epoch))

    def _seek(self, epoch: float) -> None:
        """Finds the cycle that contains `epoch`: sets its length `T_i` and the position `T_cur` in it.

        Raises ValueError if `epoch` is negative.
        """
        if epoch < 0:
            raise ValueError(f"Expected non-negative epoch, but got {epoch}")

        self.T_i = self.T_0
        self.T_cur = epoch
        if epoch >= self.T_0 and self.T_mult == 1:
            self.T_cur = epoch % self.T_0
        elif epoch >= self.T_0:
            restarts = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
            self.T_cur = epoch - self.T_0 * (self.T_mult**restarts - 1) / (self.T_mult - 1)
            self.T_i = self.T_0 * self.T_mult**restarts

    def step(self, epoch: float | None = None) -> None:
        """Proceeds to the next epoch, or to `epoch`, which may lie between two epochs."""
        self._update_lr(epoch)


class CyclicLR(LRScheduler):
    """Cycles the learning rate between two numbers, and momentum in the opposite direction. Call `step` after
    each batch.

    Source: Smith, Cyclical learning rates for training neural networks (2015).

    Args:
        optimizer: the optimizer whose groups are changed
        base_lr: the lowest rate, or one for each group
        max_lr: the highest rate, or one for each group
        step_size_up: the number of steps of the way up; default 2000
        step_size_down: that of the way down; default None, as many
        mode: the height of the cycles: 'triangular' (default) keeps it, 'triangular2' halves it each time,
            'exp_range' multiplies it by gamma in each step
        gamma: the factor of 'exp_range'; default 1.0
        scale_fn: a function of the cycle or step that gives the height, in place of `mode`; default None
        scale_mode: what `scale_fn` is given: 'cycle' (default) or 'iterations'
        cycle_momentum: whether momentum cycles too; default True
        base_momentum: the lowest momentum; default 0.8
        max_momentum: the highest momentum; default 0.9
        last_epoch: the epoch to go on from; -1 (default) begins

    Raises:
        ValueError: the mode is unknown, or the optimizer has no momentum to cycle

    Example:
        >>> optimizer = torch.optim.SGD([nn.Parameter(torch.ones(1))], lr=1.0, momentum=0.9)
        >>> schedule = torch.optim.lr_scheduler.CyclicLR(optimizer, base_lr=0.0, max_lr=1.0, step_size_up=2)
        >>> rates = []
        >>> for _ in range(5):
        ...     rates.append(round(schedule.get_last_lr()[0], 4))
        ...     optimizer.step()
        ...     schedule.step()
        >>> rates
        [0.0, 0.5, 1.0, 0.5, 0.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: float | list[float],
        max_lr: float | list[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: Literal["triangular", "triangular2", "exp_range"] = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: Literal["cycle", "iterations"] = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float = 0.8,
        max_momentum: float = 0.9,
        last_epoch: int = -1,
    ) -> None:
        check_optimizer(optimizer)
        base_rates = per_group("base_lr", optimizer, base_lr)
        if last_epoch == -1:
            for group, rate in zip(optimizer.param_groups, base_rates):
                set_value(group, "lr", rate)

        self.max_lrs = per_group("max_lr", optimizer, max_lr)
        down = step_size_up if step_size_down is None else step_size_down
        self.total_size = float(step_size_up) + float(down)
        self.step_ratio = float(step_size_up) / self.total_size

        if mode not in _HEIGHTS and scale_fn is None:
            raise ValueError(
                "mode is invalid and scale_fn is None: "
                f"expected one of {', '.join(_HEIGHTS)}, but got {mode!r}"
            )

        self.mode = mode
        self.gamma = gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode = scale_mode if scale_fn is not None else _HEIGHTS[mode][0]

        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.use_beta1 = uses_beta1(optimizer)
            self.base_momentums = per_group("base_momentum", optimizer, base_momentum)
            self.max_momentums = per_group("max_momentum", optimizer, max_momentum)
            if last_epoch == -1:
                start_momentum(optimizer, self.base_momentums, self.max_momentums, self.use_beta1)

        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_rates

    def scale_fn(self, x: float) -> float:
        """Returns the height of cycle (or step) `x` as a fraction of `max_lr - base_lr`."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        return _HEIGHTS[self.mode][1](self.gamma, x)

    def get_lr(self) -> list[Any]:
        self._current()

        # Cycles are counted from 1; `position` runs from 0 to 1 within a cycle, and the rate rises until
        # `step_ratio`.
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        position = 1.0 + self.last_epoch / self.total_size - cycle
        if position <= self.step_ratio:
            rise = position / self.step_ratio
        else:
            rise = (position - 1) / (self.step_ratio - 1)

        height = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)

        if self.cycle_momentum:
            momenta = zip(self.optimizer.param_groups, self.base_momentums, self.max_momentums)
            for group, least, largest in momenta:
                set_momentum(group, largest - (largest - least) * rise * height, self.use_beta1)

        ranges = zip(self.base_lrs, self.max_lrs)
        return [base + (largest - base) * rise * height for base, largest in ranges]

    def state_dict(self) -> dict[str, Any]:
        """Returns the state; of `scale_fn` it contains only the attributes, if that is a callable object."""
        state = super().state_dict()

        custom = state.pop("_scale_fn_custom")
        has_attributes = custom is not None and not isinstance(custom, FunctionType)
        state["_scale_fn_custom"] = dict(vars(custom)) if has_attributes else None

        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        attributes = state_dict.get("_scale_fn_custom")
        vars(self).update({name: value for name, value in state_dict.items() if name != "_scale_fn_custom"})

        if attributes is not None:
            vars(self._scale_fn_custom).update(attributes)


# The argument of each mode's height, and the height as a function of gamma and that argument.
_HEIGHTS: dict[str, tuple[Literal["cycle", "iterations"], Callable[[float, float], float]]] = {
    "triangular": ("cycle", lambda gamma, cycle: 1.0),
    "triangular2": ("cycle", lambda gamma, cycle: 1 / (2.0 ** (cycle - 1))),
    "exp_range": ("iterations", lambda gamma, step: gamma**step),
}
