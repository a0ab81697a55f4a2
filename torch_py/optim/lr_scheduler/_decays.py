"""Schedules that multiply the learning rates by a factor that depends on the epoch."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any

from torch_py.optim.lr_scheduler._base import LRScheduler
from torch_py.optim.optimizer import Optimizer


class LambdaLR(LRScheduler):
    """Sets the rate to initial rate * lr_lambda(epoch), with one function or one per group."""

    def __init__(
        self,
        optimizer: Optimizer,
        lr_lambda: Callable[[int], float] | list[Callable[[int], float]],
        last_epoch: int = -1,
    ) -> None:
        count = len(optimizer.param_groups)
        self.lr_lambdas: list[Callable[[int], float]] = (
            list(lr_lambda) if isinstance(lr_lambda, (list, tuple)) else [lr_lambda] * count
        )
        if len(self.lr_lambdas) != count:
            raise ValueError(f"Expected {count} lr_lambdas, but got {len(self.lr_lambdas)}")
        super().__init__(optimizer, last_epoch)

    def state_dict(self) -> dict[str, Any]:
        """Omits functions, and saves the attributes of callable objects."""
        state = {name: value for name, value in super().state_dict().items() if name != "lr_lambdas"}
        state["lr_lambdas"] = [
            None if isinstance(factor, FunctionType) else dict(vars(factor)) for factor in self.lr_lambdas
        ]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        vars(self).update({name: value for name, value in state_dict.items() if name != "lr_lambdas"})
        for factor, attributes in zip(self.lr_lambdas, state_dict["lr_lambdas"]):
            if attributes is not None:
                vars(factor).update(attributes)

    def get_lr(self) -> list[Any]:
        self._current()
        return [base * factor(self.last_epoch) for base, factor in zip(self.base_lrs, self.lr_lambdas)]


class MultiplicativeLR(LambdaLR):
    """Multiplies the rate by lr_lambda(epoch) in each epoch after the
    first, with one function or one per group."""

    def get_lr(self) -> list[Any]:
        rates = self._current()
        if self._is_initial:
            return rates
        return [rate * factor(self.last_epoch) for rate, factor in zip(rates, self.lr_lambdas)]


class StepLR(LRScheduler):
    """Multiplies the rate by `gamma` every `step_size` epochs."""

    def __init__(
        self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        rates = self._current()
        if self.last_epoch == 0 or self.last_epoch % self.step_size != 0:
            return rates
        return [rate * self.gamma for rate in rates]

    def _get_closed_form_lr(self) -> list[Any]:
        return [base * self.gamma ** (self.last_epoch // self.step_size) for base in self.base_lrs]


class MultiStepLR(LRScheduler):
    """Multiplies the rate by `gamma` at each of `milestones`."""

    def __init__(
        self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.milestones = Counter(milestones)  # how often each epoch is listed
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        rates = self._current()
        count = self.milestones.get(self.last_epoch, 0)
        return [rate * self.gamma**count for rate in rates] if count else rates

    def _get_closed_form_lr(self) -> list[Any]:
        return [
            base * self.gamma ** bisect_right(sorted(self.milestones.elements()), self.last_epoch)
            for base in self.base_lrs
        ]


class ConstantLR(LRScheduler):
    """Sets the rate to initial rate * `factor` for `total_iters` epochs, then to the initial rate.

    Raises ValueError for a factor outside [0, 1].
    """

    def __init__(
        self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1
    ) -> None:
        if not 0 <= factor <= 1.0:
            raise ValueError(
                f"Constant multiplicative factor expected to be between 0 and 1., but got factor={factor}"
            )
        self.factor = factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        rates = self._current()
        if self.last_epoch == 0:
            return [rate * self.factor for rate in rates]
        if self.last_epoch != self.total_iters:
            return rates
        return [rate * (1.0 / self.factor) for rate in rates]

    def _get_closed_form_lr(self) -> list[Any]:
        factor = self.factor + (self.last_epoch >= self.total_iters) * (1 - self.factor)
        return [base * factor for base in self.base_lrs]


class LinearLR(LRScheduler):
    """Sets the rate to initial rate * a factor that goes linearly from `start_factor` to `end_factor` in
    `total_iters` epochs.

    Raises ValueError for factors outside [0, 1], and for a start factor of 0.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if not 0 < start_factor <= 1.0:
            raise ValueError(
                "Starting multiplicative factor expected to be greater than 0 and less or equal to 1., but "
                f"got start_factor={start_factor}"
            )
        if not 0 <= end_factor <= 1.0:
            raise ValueError(
                "Ending multiplicative factor expected to be between 0 and 1., but got "
                f"end_factor={end_factor}"
            )

        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        rates = self._current()
        if self.last_epoch == 0:
            return [rate * self.start_factor for rate in rates]
        if self._is_initial or self.last_epoch > self.total_iters:
            return rates

        rise = self.end_factor - self.start_factor
        return [
            rate * (1.0 + rise / (self.total_iters * self.start_factor + (self.last_epoch - 1) * rise))
            for rate in rates
        ]

    def _get_closed_form_lr(self) -> list[Any]:
        rise = self.end_factor - self.start_factor
        return [
            base * (self.start_factor + rise * min(self.total_iters, self.last_epoch) / self.total_iters)
            for base in self.base_lrs
        ]


class ExponentialLR(LRScheduler):
    """Multiplies the rate by `gamma` every epoch."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        rates = self._current()
        return rates if self._is_initial else [rate * self.gamma for rate in rates]

    def _get_closed_form_lr(self) -> list[Any]:
        return [base * self.gamma**self.last_epoch for base in self.base_lrs]


class PolynomialLR(LRScheduler):
    """Sets the rate to initial rate * (1 - epoch / total_iters) ** power, and to 0 from `total_iters` on."""

    def __init__(
        self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1
    ) -> None:
        self.total_iters = total_iters
        self.power = power
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        rates = self._current()
        epoch = self.last_epoch
        total = self.total_iters
        if self._is_initial or epoch > total:
            return rates
        decay = ((1.0 - epoch / total) / (1.0 - (epoch - 1) / total)) ** self.power
        return [rate * decay for rate in rates]

    def _get_closed_form_lr(self) -> list[Any]:
        return [
            base * (1.0 - min(self.total_iters, self.last_epoch) / self.total_iters) ** self.power
            for base in self.base_lrs
        ]


class CosineAnnealingLR(LRScheduler):
    """Moves the rate along a cosine between the initial rate and `eta_min`, each way in `T_max` epochs
    (Loshchilov & Hutter 2017, without restarts).

    Each step scales the current rate, so that changes made in between persist.
    """

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        rates = self._current()
        epoch = self.last_epoch
        if self._is_initial:
            return rates
        if self._step_count == 1 and epoch > 0:
            return self._get_closed_form_lr()

        is_at_top = (epoch - 1 - self.T_max) % (2 * self.T_max) == 0
        if is_at_top:  # the factor below would divide by zero
            return [
                rate + (base - self.eta_min) * (1 - math.cos(math.pi / self.T_max)) / 2
                for base, rate in zip(self.base_lrs, rates)
            ]

        height = 1 + math.cos(math.pi * epoch / self.T_max)
        previous = 1 + math.cos(math.pi * (epoch - 1) / self.T_max)
        scale = height / previous
        return [scale * (rate - self.eta_min) + self.eta_min for rate in rates]

    def _get_closed_form_lr(self) -> list[Any]:
        cosine = math.cos(math.pi * self.last_epoch / self.T_max)
        return [self.eta_min + (base - self.eta_min) * (1 + cosine) / 2 for base in self.base_lrs]
