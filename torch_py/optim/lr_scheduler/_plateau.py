"""`ReduceLROnPlateau`, a schedule that depends on a metric."""

from __future__ import annotations

import math
import warnings
from typing import Literal

from torch_py._tensor import Tensor
from torch_py.optim.lr_scheduler._base import LRScheduler, check_optimizer, set_value, values_of
from torch_py.optim.optimizer import Optimizer


class ReduceLROnPlateau(LRScheduler):
    """Lowers the learning rate when a metric has stopped improving. `step` is given the metric.

    Args:
        optimizer: the optimizer whose groups are changed
        mode: whether the metric should fall, 'min' (default), or rise, 'max'
        factor: what the rate is multiplied by, below 1; default 0.1
        patience: how many epochs without improvement are allowed; default 10
        threshold: how much better the metric must be; default 1e-4
        threshold_mode: whether that is relative, 'rel' (default), or absolute, 'abs'
        cooldown: the number of epochs after a reduction that do not count; default 0
        min_lr: the lowest rate, or one for each group; default 0
        eps: changes that are smaller are not made; default 1e-8

    Raises:
        ValueError: a mode is unknown, or the factor is 1 or more

    Example:
        >>> optimizer = torch.optim.SGD([nn.Parameter(torch.ones(1))], lr=1.0)
        >>> schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1)
        >>> for loss in (0.5, 0.5, 0.5):
        ...     schedule.step(loss)
        >>> optimizer.param_groups[0]["lr"]
        0.1
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: Literal["min", "max"] = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: Literal["rel", "abs"] = "rel",
        cooldown: int = 0,
        min_lr: list[float] | float = 0,
        eps: float = 1e-8,
    ) -> None:
        if factor >= 1.0:
            raise ValueError(f"Factor should be < 1.0., but got factor={factor}")
        check_optimizer(optimizer)
        if mode not in ("min", "max"):
            raise ValueError(f"mode {mode} is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold mode {threshold_mode} is unknown!")

        self.factor = factor
        self.optimizer = optimizer

        groups = len(optimizer.param_groups)
        is_list = isinstance(min_lr, (list, tuple))
        self.default_min_lr = None if is_list else min_lr
        self.min_lrs: list[float] = list(min_lr) if isinstance(min_lr, (list, tuple)) else [min_lr] * groups
        if len(self.min_lrs) != groups:
            raise ValueError(f"expected {groups} min_lrs, got {len(self.min_lrs)}")

        self.patience = patience
        self.cooldown = cooldown
        self.eps = eps
        self.last_epoch = 0

        self._last_lr = values_of(optimizer, "lr")

        self.mode_worse = math.inf if mode == "min" else -math.inf
        self.mode = mode
        self.threshold = threshold
        self.threshold_mode = threshold_mode

        self._reset()

    def _reset(self) -> None:
        self.best = self.mode_worse
        self.cooldown_counter = self.num_bad_epochs = 0

    @property
    def in_cooldown(self) -> bool:
        """Whether the epochs after a reduction are still not counted."""
        return self.cooldown_counter > 0

    def is_better(self, metric: float, best: float) -> bool:
        """Whether `metric` improves on `best` by the threshold."""
        sign = -1.0 if self.mode == "min" else 1.0
        bound = (
            best * (1.0 + sign * self.threshold)
            if self.threshold_mode == "rel"
            else best + sign * self.threshold
        )
        return metric < bound if self.mode == "min" else metric > bound

    def step(self, metrics: float | Tensor, epoch: int | None = None) -> None:  # type: ignore[override]
        """Takes the metric of the next epoch and reduces the rates if it has not improved."""
        metric = float(metrics)
        if epoch is not None:
            warnings.warn(
                "The epoch parameter in `scheduler.step()` is deprecated and is not necessary.",
                UserWarning,
                stacklevel=2,
            )
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch

        if self.is_better(metric, self.best):
            self.best = metric
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1

        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0

        if self.num_bad_epochs > self.patience:
            self._reduce_lr()
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0

        self._last_lr = values_of(self.optimizer, "lr")

    def _reduce_lr(self) -> None:
        groups = self.optimizer.param_groups
        if len(groups) != len(self.min_lrs):
            if self.default_min_lr is None:
                raise RuntimeError(
                    f"The number of param groups in the `optimizer` ({len(groups)}) differs from when "
                    f"`ReduceLROnPlateau` was initialized ({len(self.min_lrs)}), usually due to a new param "
                    "group being added to the optimizer. Please modify the `min_lrs` field to match the "
                    "length of the `optimizer` param groups."
                )
            self.min_lrs = [self.default_min_lr] * len(groups)  # type: ignore[list-item]

        for group, least in zip(groups, self.min_lrs):
            old = float(group["lr"])
            new = max(old * self.factor, least)
            if old - new > self.eps:
                set_value(group, "lr", new)
