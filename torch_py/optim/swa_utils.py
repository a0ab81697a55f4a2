"""Averages of a model's weights during training: stochastic weight averaging (Izmailov et al. 2018) and
exponential moving averages."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from itertools import chain
from typing import Any, Literal

from torch_py import _C
from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py._tensor import Tensor
from torch_py.autograd.grad_mode import no_grad
from torch_py.nn.modules.batchnorm import _BatchNorm
from torch_py.nn.modules.module import Module
from torch_py.optim.lr_scheduler._base import LRScheduler, per_group
from torch_py.optim.optimizer import Optimizer

__all__ = [
    "SWALR",
    "AveragedModel",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]

Average = Callable[[Tensor, Tensor, Any], Tensor]
Averages = Callable[[Sequence[Tensor], Sequence[Tensor], Any], None]


# -- Averaging functions ------------------------------------------------------------


def get_ema_multi_avg_fn(decay: float = 0.999) -> Averages:
    """Makes a function for `AveragedModel` that computes exponential moving averages of lists of tensors in
    place.

    Args:
        decay: from 0 to 1; default 0.999

    Raises:
        ValueError: `decay` is outside of [0, 1]

    Example:
        >>> averages = [torch.tensor(0.0)]
        >>> torch.optim.swa_utils.get_ema_multi_avg_fn(0.5)(averages, [torch.tensor(1.0)], 1)
        >>> averages
        [tensor(0.5000)]
    """
    _check_decay(decay)

    @no_grad()
    def ema_update(ema_param_list: Sequence[Tensor], current_param_list: Sequence[Tensor], _: Any) -> None:
        for average, current in zip(ema_param_list, current_param_list):
            _approach(average, current, 1 - decay)

    return ema_update


def get_swa_multi_avg_fn() -> Averages:
    """Makes a function for `AveragedModel` that computes the means of lists of tensors in place.

    Example:
        >>> averages = [torch.tensor(0.0)]
        >>> torch.optim.swa_utils.get_swa_multi_avg_fn()(averages, [torch.tensor(1.0)], 1)
        >>> averages
        [tensor(0.5000)]
    """

    @no_grad()
    def swa_update(
        averaged_param_list: Sequence[Tensor], current_param_list: Sequence[Tensor], num_averaged: Any
    ) -> None:
        share = 1 / (float(num_averaged) + 1)
        for average, current in zip(averaged_param_list, current_param_list):
            _approach(average, current, share)

    return swa_update


def get_ema_avg_fn(decay: float = 0.999) -> Average:
    """Makes a function for `AveragedModel` that computes an exponential moving average:

        average = decay · average + (1 - decay) · current

    Args:
        decay: from 0 to 1; default 0.999

    Raises:
        ValueError: `decay` is outside of [0, 1]

    Example:
        >>> average = torch.optim.swa_utils.get_ema_avg_fn(0.5)
        >>> average(torch.tensor(0.0), torch.tensor(1.0), 1)
        tensor(0.5000)
    """
    _check_decay(decay)

    @no_grad()
    def ema_update(ema_param: Tensor, current_param: Tensor, num_averaged: Any) -> Tensor:
        return decay * ema_param + (1 - decay) * current_param

    return ema_update


def get_swa_avg_fn() -> Average:
    """Makes a function for `AveragedModel` that computes the mean of all values:

        average = average + (current - average) / (num_averaged + 1)

    Example:
        >>> average = torch.optim.swa_utils.get_swa_avg_fn()
        >>> average(torch.tensor(0.0), torch.tensor(1.0), 1)
        tensor(0.5000)
    """

    @no_grad()
    def swa_update(averaged_param: Tensor, current_param: Tensor, num_averaged: Any) -> Tensor:
        return averaged_param + (current_param - averaged_param) / (num_averaged + 1)

    return swa_update


def _check_decay(decay: float) -> None:
    if decay < 0.0 or decay > 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")


def _approach(average: Tensor, current: Tensor, share: float) -> None:
    if average.is_floating_point() or average.is_complex():
        average.lerp_(current, share)
    else:
        average.copy_(average + (current - average) * share)


class AveragedModel(Module):
    """A copy of a model whose parameters become averages over training.

    Source: Izmailov et al., Averaging weights leads to wider optima and better generalization (2018).

    Args:
        model: the model, which is copied to the attribute `module`
        device: where the averages are; default None, where the model is
        avg_fn: avg_fn(average, current, num_averaged) returns a new average; default None, the mean
        multi_avg_fn: changes lists of averages in place, instead of `avg_fn`; default None
        use_buffers: whether buffers are averaged too, instead of copied; default False

    Raises:
        AssertionError: both functions are given

    Example:
        >>> model = nn.Linear(1, 1, bias=False)
        >>> averaged = torch.optim.swa_utils.AveragedModel(model)
        >>> for value in (1.0, 3.0):
        ...     _ = nn.init.constant_(model.weight, value)
        ...     averaged.update_parameters(model)
        >>> averaged.module.weight.item()
        2.0
    """

    n_averaged: Tensor

    def __init__(
        self,
        model: Module,
        device: str | _C.device | None = None,
        avg_fn: Average | None = None,
        multi_avg_fn: Averages | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")

        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", _C.tensor(0, dtype=_C.int64, device=device))

        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        """Updates the averages with the parameters of `model`; the first time they are copied."""
        averages = self._averaged(self.module)
        currents = self._averaged(model)
        moved = [current.detach().to(average.device) for average, current in zip(averages, currents)]
        averages = [average.detach() for average in averages]

        with no_grad():
            if self.n_averaged == 0:
                for average, current in zip(averages, moved):
                    average.copy_(current)
            elif self.avg_fn is not None:
                for average, current in zip(averages, moved):
                    average.copy_(self.avg_fn(average, current, self.n_averaged.to(average.device)))
            else:
                (self.multi_avg_fn or get_swa_multi_avg_fn())(averages, moved, self.n_averaged)

            if not self.use_buffers:
                for mine, theirs in zip(self.module.buffers(), model.buffers()):
                    mine.copy_(theirs)

            self.n_averaged += 1

    def _averaged(self, model: Module) -> list[Tensor]:
        """The tensors of `model` to average."""
        if not self.use_buffers:
            return list(model.parameters())
        return list(chain(model.parameters(), model.buffers()))


@no_grad()
def update_bn(loader: Iterable[Any], model: Module, device: str | _C.device | None = None) -> None:
    """Computes the statistics of the batch normalizations of a model anew, in one pass over data. A model
    with averaged weights needs it.

    Args:
        loader: batches; of a tuple or list, the first element is used
        model: the model
        device: where to move batches first; default None

    Example:
        >>> model = nn.Sequential(nn.BatchNorm1d(1))
        >>> torch.optim.swa_utils.update_bn([torch.tensor([[1.0], [3.0]])], model)
        >>> model[0].running_mean
        tensor([2.])
    """
    momenta = {module: module.momentum for module in model.modules() if isinstance(module, _BatchNorm)}
    if not momenta:
        return

    was_training = model.training
    model.train()
    for module in momenta:
        module.reset_running_stats()
        module.momentum = None  # the mean of all batches

    for batch in loader:
        first = batch[0] if isinstance(batch, (list, tuple)) else batch
        model(first if device is None else first.to(device))

    for module, momentum in momenta.items():
        module.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """Moves the learning rates to a constant in some epochs, for averaging weights from then on.

    Args:
        optimizer: the optimizer whose groups are changed
        swa_lr: the last rate, or one for each group
        anneal_epochs: the number of epochs of the way; default 10
        anneal_strategy: 'cos' (default), along half a cosine, or 'linear'
        last_epoch: the epoch to go on from; -1 (default) begins

    Raises:
        ValueError: the strategy is unknown, or the number of epochs is negative

    Example:
        >>> optimizer = torch.optim.SGD([nn.Parameter(torch.ones(1))], lr=1.0)
        >>> schedule = torch.optim.swa_utils.SWALR(optimizer, swa_lr=0.1, anneal_epochs=2)
        >>> for _ in range(2):
        ...     optimizer.step()
        ...     schedule.step()
        >>> round(schedule.get_last_lr()[0], 4)
        0.1
    """

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: float | list[float],
        anneal_epochs: int = 10,
        anneal_strategy: Literal["cos", "linear"] = "cos",
        last_epoch: int = -1,
    ) -> None:
        for group, rate in zip(optimizer.param_groups, per_group("swa_lr", optimizer, swa_lr)):
            group["swa_lr"] = rate
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}"
            )

        self._anneal_strategy = anneal_strategy

        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")

        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _progress(self, step: int) -> float:
        """The weight of `swa_lr` in the rate after `step` steps."""
        time = max(0, min(1, step / max(1, self.anneal_epochs)))
        return (1 - math.cos(math.pi * time)) / 2 if self._anneal_strategy == "cos" else time

    def get_lr(self) -> list[Any]:
        """The rates of the current step."""
        rates = self._current()
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before = self._progress(step - 1)
        now = self._progress(step)

        goals = [group["swa_lr"] for group in self.optimizer.param_groups]
        # The starting rates follow from the current ones, so another schedule may have changed them before.
        starts = [
            goal if before == 1 else (rate - before * goal) / (1 - before) for rate, goal in zip(rates, goals)
        ]

        return [goal * now + start * (1 - now) for start, goal in zip(starts, goals)]


__getattr__ = _lacking(__name__)
