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
    """Multiplies the initial learning rate by a function of the epoch:

        lr = initial rate · lr_lambda(epoch)

    Args:
        optimizer: the optimizer whose groups are changed
        lr_lambda: the function, or a list with one for each group
        last_epoch: the epoch to go on from; -1 (default) begins

    Example:
        >>> optimizer = torch.optim.SGD([nn.Parameter(torch.ones(1))], lr=1.0, momentum=0.9)
        >>> schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lr_lambda=lambda epoch: 1 / (1 + epoch))
        >>> rates = []
        >>> for _ in range(3):
        ...     rates.append(round(schedule.get_last_lr()[0], 4))
        ...     optimizer.step()
        ...     schedule.step()
        >>> rates
        [1.0, 0.5, 0.3333]
    """

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
    """Multiplies the learning rate by a function of the epoch in each epoch after the first.

    Args:
        optimizer: the optimizer whose groups are changed
        lr_lambda: the function, or a list with one for each group
        last_epoch: the epoch to go on from; -1 (default) begins

    Example:
        >>> optimizer = torch.optim.SGD([nn.Parameter(torch.ones(1))], lr=1.0, momentum=0.9)
        >>> schedule = torch.optim.lr_scheduler.MultiplicativeLR(optimizer, lr_lambda=lambda epoch: 0.5)
        >>> rates = []
        >>> for _ in range(3):
        ...     rates.append(round(schedule.get_last_lr()[0], 4))
        ...     optimizer.step()
        ...     schedule.step()
        >>> rates
        [1.0, 0.5, 0.25]
    """

    def get_lr(self) -> list[Any]:
        rates = self._current()
        if self._is_initial:
            return rates
        return [rate * factor(self.last_epoch) for rate, factor in zip(rates, self.lr_lambdas)]


class StepLR(LRScheduler):
    """Multiplies the learning rate by a factor every few epochs:

        lr = initial rate · gamma^floor(epoch / step_size)

    Args:
        optimizer: the optimizer whose groups are changed
        step_size: the number of epochs
        gamma: the factor; default 0.1
        last_epoch: the epoch to go on from; -1 (default) begins

    Example:
        >>> optimizer = torch.optim.SGD([nn.Parameter(torch.ones(1))], lr=1.0, momentum=0.9)
        >>> schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2)
        >>> rates = []
        >>> for _ in range(5):
        ...     rates.append(round(schedule.get_last_lr()[0], 4))
        ...     optimizer.step()
        ...     schedule.step()
        >>> rates
        [1.0, 1.0, 0.1, 0.1, 0.01]
    """

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
    """Multiplies the learning rate by a factor at given epochs.

    Args:
        optimizer: the optimizer whose groups are changed
        milestones: the epochs
        gamma: the factor; default 0.1
        last_epoch: the epoch to go on from; -1 (default) begins

    Example:
        >>> optimizer = torch.optim.SGD([nn.Parameter(torch.ones(1))], lr=1.0, momentum=0.9)
        >>> schedule = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[1, 3])
        >>> rates = []
        >>> for _ in range(5):
        ...     rates.append(round(schedule.get_last_lr()[0], 4))
        ...     optimizer.step()
        ...     schedule.step()
        >>> rates
        [1.0, 0.1, 0.1, 0.01, 0.01]
    """

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
    """Multiplies the learning rate by a factor in the first epochs.

    Args:
        optimizer: the optimizer whose groups are changed
        factor: the factor, from 0 to 1; default 1/3
        total_iters: the number of epochs; default 5
        last_epoch: the epoch to go on from; -1 (default) begins

    Raises:
        ValueError: the factor is outside of [0, 1]

    Example:
        >>> optimizer = torch.optim.SGD([nn.Parameter(torch.ones(1))], lr=1.0, momentum=0.9)
        >>> schedule = torch.optim.lr_scheduler.ConstantLR(optimizer, factor=0.5, total_iters=2)
        >>> rates = []
        >>> for _ in range(4):
        ...     rates.append(round(schedule.get_last_lr()[0], 4))
        ...     optimizer.step()
        ...     schedule.step()
        >>> rates
        [0.5, 0.5, 1.0, 1.0]
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
    """Multiplies the learning rate by a factor that moves linearly from one number to another in the first
    epochs.

    Args:
        optimizer: the optimizer whose groups are changed
        start_factor: the first factor, above 0 and up to 1; default 1/3
        end_factor: the last factor, from 0 to 1; default 1.0
        total_iters: the number of epochs between both; default 5
        last_epoch: the epoch to go on from; -1 (default) begins

    Raises:
        ValueError: a factor is out of range

    Example:
        >>> optimizer = torch.optim.SGD([nn.Parameter(torch.ones(1))], lr=1.0, momentum=0.9)
        >>> schedule = torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.5, total_iters=2)
        >>> rates = []
        >>> for _ in range(4):
        ...     rates.append(round(schedule.get_last_lr()[0], 4))
        ...     optimizer.step()
        ...     schedule.step()
        >>> rates
        [0.5, 0.75, 1.0, 1.0]
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
    """Multiplies the learning rate by a factor every epoch:

        lr = initial rate · gamma^epoch

    Args:
        optimizer: the optimizer whose groups are changed
        gamma: the factor
        last_epoch: the epoch to go on from; -1 (default) begins

    Example:
        >>> optimizer = torch.optim.SGD([nn.Parameter(torch.ones(1))], lr=1.0, momentum=0.9)
        >>> schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
        >>> rates = []
        >>> for _ in range(4):
        ...     rates.append(round(schedule.get_last_lr()[0], 4))
        ...     optimizer.step()
        ...     schedule.step()
        >>> rates
        [1.0, 0.5, 0.25, 0.125]
    """

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        rates = self._current()
        return rates if self._is_initial else [rate * self.gamma for rate in rates]

    def _get_closed_form_lr(self) -> list[Any]:
        return [base * self.gamma**self.last_epoch for base in self.base_lrs]


class PolynomialLR(LRScheduler):
    """Lowers the learning rate to 0 along a polynomial:

        lr = initial rate · (1 - epoch / total_iters)^power

    Args:
        optimizer: the optimizer whose groups are changed
        total_iters: the number of epochs after which the rate is 0; default 5
        power: the power; default 1.0
        last_epoch: the epoch to go on from; -1 (default) begins

    Example:
        >>> optimizer = torch.optim.SGD([nn.Parameter(torch.ones(1))], lr=1.0, momentum=0.9)
        >>> schedule = torch.optim.lr_scheduler.PolynomialLR(optimizer, total_iters=4, power=2)
        >>> rates = []
        >>> for _ in range(5):
        ...     rates.append(round(schedule.get_last_lr()[0], 4))
        ...     optimizer.step()
        ...     schedule.step()
        >>> rates
        [1.0, 0.5625, 0.25, 0.0625, 0.0]
    """

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
    """Moves the learning rate along a cosine, down and up again:

        lr = eta_min + (initial rate - eta_min) · (1 + cos(π · epoch / T_max)) / 2

    Each step scales the current rate, so that changes made in between persist.

    Source: Loshchilov and Hutter, SGDR: stochastic gradient descent with warm restarts (2016), without the
    restarts.

    Args:
        optimizer: the optimizer whose groups are changed
        T_max: the number of epochs of the way down
        eta_min: the lowest rate; default 0.0
        last_epoch: the epoch to go on from; -1 (default) begins

    Example:
        >>> optimizer = torch.optim.SGD([nn.Parameter(torch.ones(1))], lr=1.0, momentum=0.9)
        >>> schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=4)
        >>> rates = []
        >>> for _ in range(5):
        ...     rates.append(round(schedule.get_last_lr()[0], 4))
        ...     optimizer.step()
        ...     schedule.step()
        >>> rates
        [1.0, 0.8536, 0.5, 0.1464, 0.0]
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
