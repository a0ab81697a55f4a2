"""`LRScheduler`, the base class of all schedules: it counts epochs, sets
the rates, and warns about a wrong order of calls."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from torch_py._tensor import Tensor
from torch_py.optim.optimizer import Optimizer

_ORDER = (
    "Detected call of `lr_scheduler.step()` before `optimizer.step()`. Call them in the opposite order, "
    "`optimizer.step()` before `lr_scheduler.step()`: otherwise the first value of the learning rate "
    "schedule is skipped."
)
_OVERRIDDEN = (
    "Seems like `optimizer.step()` has been overridden after learning rate scheduler initialization. "
    "Please, make sure to call `optimizer.step()` before `lr_scheduler.step()`."
)
_EPOCH = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where possible. "
    "Please use `scheduler.step()` to step the scheduler: with an epoch, the closed form is used where there "
    "is one."
)


class LRScheduler:
    """Base class of schedules of the learning rate. Subclasses define `get_lr`, which returns the rate of
    each group at `last_epoch`.

    The constructor makes the first step. Most schedules scale the rates of the previous epoch, so that
    several can act on one optimizer. `_get_closed_form_lr`, if defined, returns the rates of any epoch.

    Args:
        optimizer: the optimizer whose groups are changed
        last_epoch: the epoch to go on from, for which groups need 'initial_lr'; -1 (default) begins

    Raises:
        TypeError: `optimizer` is not an optimizer

    Example:
        >>> class Halving(torch.optim.lr_scheduler.LRScheduler):
        ...     def get_lr(self):
        ...         return [base / 2**self.last_epoch for base in self.base_lrs]
        >>> optimizer = torch.optim.SGD([nn.Parameter(torch.ones(1))], lr=1.0)
        >>> schedule = Halving(optimizer)
        >>> optimizer.step()
        >>> schedule.step()
        >>> schedule.get_last_lr()
        [0.5]
    """

    _get_lr_called_within_step = False
    _is_initial = False

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer

        for position, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group["initial_lr"] = copied(group.get("initial_lr", group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{position}] when resuming "
                    "scheduler with last_epoch >= 0; load the state of the optimizer first, or start with "
                    "last_epoch=-1"
                )

        self.base_lrs = values_of(optimizer, "initial_lr")
        self.last_epoch = last_epoch

        vars(optimizer).setdefault("_opt_called", False)
        self._initial_step()

    def _initial_step(self) -> None:
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def state_dict(self) -> dict[str, Any]:
        """The state of the schedule: everything but the optimizer."""
        return {name: value for name, value in vars(self).items() if name != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restores what `state_dict` returned; the rates themselves belong to the state of the optimizer."""
        vars(self).update(state_dict)

    def get_last_lr(self) -> list[Any]:
        """The rates that were set last, one per group."""
        return self._last_lr

    def get_lr(self) -> list[Any]:
        """Computes the rates of `last_epoch`; `step` calls it."""
        raise NotImplementedError

    def step(self, epoch: int | None = None) -> None:
        """Proceeds to the next epoch, or to `epoch`, and sets its rates."""
        if self._step_count == 1:
            self._check_order()
        self._step_count += 1
        if epoch is not None:
            warnings.warn(_EPOCH, UserWarning, stacklevel=2)
        self._update_lr(epoch)

    def _check_order(self) -> None:
        if "step" in vars(self.optimizer) or not getattr(type(self.optimizer).step, "hooked", False):
            warnings.warn(_OVERRIDDEN, UserWarning, stacklevel=3)
        elif not self.optimizer._opt_called:  # type: ignore[attr-defined]
            warnings.warn(_ORDER, UserWarning, stacklevel=3)

    def _update_lr(self, epoch: int | None = None) -> None:
        with within_step(self):
            if epoch is None:
                self.last_epoch += 1
                rates = self.get_lr()
            else:
                self.last_epoch = epoch
                closed_form: Callable[[], list[Any]] = getattr(self, "_get_closed_form_lr", self.get_lr)
                rates = closed_form()
        self._set(rates)

    def _set(self, rates: Sequence[Any]) -> None:
        for group, rate in zip(self.optimizer.param_groups, rates):
            set_value(group, "lr", rate)
        self._last_lr = values_of(self.optimizer, "lr")

    def _current(self) -> list[Any]:
        """The current rates, on which the next ones are based."""
        if not self._get_lr_called_within_step:
            warnings.warn(
                "To get the last learning rate computed by the scheduler, please use `get_last_lr()`.",
                UserWarning,
                stacklevel=3,
            )
        return values_of(self.optimizer, "lr")


@contextmanager
def within_step(schedule: LRScheduler) -> Iterator[None]:
    """Marks the calls of `get_lr` that `step` makes; other calls warn."""
    schedule._get_lr_called_within_step = True
    try:
        yield
    finally:
        schedule._get_lr_called_within_step = False


def check_optimizer(optimizer: object) -> None:
    """Raises TypeError unless `optimizer` is an optimizer."""
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")


def copied(value: Any) -> Any:
    """`value`, or a copy if it is a tensor."""
    return value.clone() if isinstance(value, Tensor) else value


def values_of(optimizer: Optimizer, name: str) -> list[Any]:
    """A setting of each group; tensors are copied."""
    return [copied(group[name]) for group in optimizer.param_groups]


def set_value(group: dict[str, Any], name: str, value: float | Tensor) -> None:
    """Changes a setting of a group.

    If it is a tensor, the same tensor is filled, since compiled or captured code may refer to it.
    """
    if isinstance(group[name], Tensor):
        group[name].fill_(value.item() if isinstance(value, Tensor) else value)
    else:
        group[name] = value


def per_group(name: str, optimizer: Optimizer, value: float | Sequence[float]) -> list[Any]:
    """One value for each group, from a single value or a list.

    Raises ValueError for a list of another length.
    """
    count = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        return [value] * count
    if len(value) != count:
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups. {name} has {len(value)} values, "
            f"param_groups has {count}."
        )
    return list(value)
