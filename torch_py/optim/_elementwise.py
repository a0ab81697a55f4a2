"""Base class of optimizers that treat every element alike.

A subclass defines the initial state and the formula of an update.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

from torch_py import _C
from torch_py._C import _torch
from torch_py._tensor import Tensor
from torch_py.autograd.grad_mode import enable_grad, set_grad_enabled
from torch_py.optim.optimizer import Optimizer


def capturing_devices() -> list[str]:
    """The types of devices whose graphs may hold a step."""
    return ["cuda", "xpu", "hpu", _C._get_privateuse1_backend_name(), "xla"]


class Row(NamedTuple):
    """A parameter that has a gradient, and its state."""

    parameter: Tensor
    gradient: Tensor
    state: dict[str, Any]


def evaluate(closure: Callable[[], Any] | None) -> Any:
    """The loss that `closure` returns, evaluated with gradients recorded; None without a closure."""
    if closure is None:
        return None
    with enable_grad():
        return closure()


def recorded_if_differentiable(step: Callable[..., Any]) -> Any:
    """Decorates `step` so that autograd records it only if the optimizer was created as `differentiable`."""

    @functools.wraps(step)
    def guarded(self: Any, *arguments: Any, **keywords: Any) -> Any:
        with set_grad_enabled(bool(self.defaults.get("differentiable", False))):
            return step(self, *arguments, **keywords)

    return guarded


# -- Numbers and small formulas ------------------------------------------------------------


def number(value: Any) -> Any:
    """The value of a setting, which may be a tensor of one element, as a number."""
    return value.item() if isinstance(value, Tensor) else value


def rate_of(group: dict[str, Any]) -> Any:
    """The learning rate: a number, or the tensor itself if a gradient should reach it."""
    rate = group["lr"]
    return rate if group.get("differentiable") else number(rate)


def new_count() -> Tensor:
    """A step count of 0, in float64 if that is the default dtype, otherwise in float32."""
    return _C.tensor(0.0, dtype=_C.float64 if _C.get_default_dtype() == _C.float64 else _C.float32)


def root_plus(squares: Tensor, epsilon: float, group: dict[str, Any]) -> Tensor:
    """sqrt(squares) + epsilon, not computed in place if a gradient needs the root."""
    root = squares.sqrt()
    return root + epsilon if group.get("differentiable") else root.add_(epsilon)


def raised(largest: Tensor, values: Tensor, group: dict[str, Any]) -> Tensor:
    """Replaces `largest` by the maximum of both and returns it, in a form that a gradient can use."""
    if not group.get("differentiable"):
        return _torch.maximum(largest, values, out=largest)
    result = _torch.maximum(largest.clone(), values)
    largest.copy_(result)
    return result


def add_scaled(parameter: Tensor, direction: Tensor, scale: Any) -> None:
    """parameter += scale * direction. If `scale` is a tensor, a gradient reaches it."""
    if isinstance(scale, Tensor):
        parameter.add_(direction * scale)
    else:
        parameter.add_(direction, alpha=scale)


def add_quotient(parameter: Tensor, numerator: Tensor, denominator: Tensor, scale: Any) -> None:
    """parameter += scale * numerator / denominator, with `scale` as in `add_scaled`."""
    if isinstance(scale, Tensor):
        parameter.add_(numerator / denominator * scale)
    else:
        parameter.addcdiv_(numerator, denominator, value=scale)


def average_squares(squares: Tensor, gradient: Tensor, share: float) -> None:
    """squares = share * squares + (1 - share) * gradient ** 2."""
    squares.mul_(share).addcmul_(gradient, gradient, value=1 - share)


# -- Settings ------------------------------------------------------------

_WORDS = {"lr": "learning rate", "eps": "epsilon value"}


def check_rate(lr: float | Tensor, *, may_be_nan: bool = False) -> None:
    """Raises ValueError for a tensor of several elements, for negative rates and, unless allowed, for nan."""
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")
    check_not_negative(may_be_nan, lr=lr)


def check_not_negative(may_be_nan: bool = False, /, **settings: Any) -> None:
    """Raises ValueError, in PyTorch's words, for the first setting that is negative."""
    for name, value in settings.items():
        if value < 0.0 or not (may_be_nan or value >= 0.0):
            raise ValueError(f"Invalid {_WORDS.get(name, f'{name} value')}: {value}")


def check_betas(betas: tuple[float | Tensor, float | Tensor]) -> None:
    """Raises ValueError unless both decay rates are in [0, 1)."""
    for position in range(2):
        if not 0.0 <= betas[position] < 1.0:
            raise ValueError(f"Invalid beta parameter at index {position}: {betas[position]}")


# -- Steps ------------------------------------------------------------


class ElementwiseOptimizer(Optimizer):
    """An optimizer whose `step` updates all parameters that have gradients: in one call if there is a fused
    kernel, otherwise one by one.

    Complex parameters are updated as pairs of real numbers.
    """

    _has_fused: ClassVar[bool] = False

    def _start(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        """The initial state of a parameter."""
        raise NotImplementedError

    def _move(
        self, parameter: Tensor, gradient: Tensor, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        """Updates `parameter` and `state` in place."""
        raise NotImplementedError

    def _move_all(self, rows: list[Row], group: dict[str, Any]) -> None:
        """Updates all parameters with a fused kernel, including weight decay and `maximize`."""
        raise NotImplementedError

    def _remembers(self, group: dict[str, Any]) -> bool:
        """Whether the optimizer has any state."""
        return True

    @recorded_if_differentiable
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Updates the parameters once and returns the loss of `closure`, if there is one."""
        loss = evaluate(closure)
        for group in self.param_groups:
            rows = self._rows(group)
            if not rows:
                continue

            if group.get("capturable"):
                _check_capturable(rows)
            if self._is_fused(group, rows):
                self._move_all(rows, group)
            else:
                for row in rows:
                    self._move_one(row, group)

        return loss

    def _rows(self, group: dict[str, Any]) -> list[Row]:
        rows = []
        remembers = self._remembers(group)
        states = self.state

        for parameter in group["params"]:
            gradient = parameter.grad
            if gradient is None:
                continue

            state = states[parameter] if remembers else {}
            if remembers and not state:
                state.update(self._start(parameter, group))

            if parameter.is_complex():
                parameter = _torch.view_as_real(parameter)
                gradient = _torch.view_as_real(gradient)
                state = _RealState(state)
            rows.append(Row(parameter, gradient, state))

        return rows

    def _is_fused(self, group: dict[str, Any], rows: list[Row]) -> bool:
        return self._has_fused and group["fused"] is not False and not group["differentiable"]

    def _move_one(self, row: Row, group: dict[str, Any]) -> None:
        parameter, gradient, state = row
        if group.get("differentiable"):  # the recorded graph keeps the previous tensors
            for name, value in list(state.items()):
                state[name] = value.clone() if isinstance(value, Tensor) else value

        if group["maximize"]:
            gradient = -gradient
        decay = group.get("weight_decay", 0)
        if not isinstance(decay, (int, float)) or decay != 0:
            if group.get("decoupled_weight_decay"):
                parameter.mul_(1 - rate_of(group) * decay)
            elif isinstance(decay, Tensor):
                gradient = gradient + parameter * decay
            else:
                gradient = gradient.add(parameter, alpha=decay)

        self._move(parameter, gradient, state, group)


class _RealState(dict[str, Any]):
    """The state of a complex parameter, with its tensors as pairs of real numbers in the same memory.

    New values are also stored in the original, as complex numbers.
    """

    def __init__(self, state: dict[str, Any]) -> None:
        super().__init__({name: _torch.view_as_real(v) if _is_complex(v) else v for name, v in state.items()})
        self._complex = state

    def __setitem__(self, name: str, value: Any) -> None:
        super().__setitem__(name, value)
        is_pair = isinstance(value, Tensor) and value.dim() > 0
        self._complex[name] = _torch.view_as_complex(value) if is_pair else value


def _is_complex(value: object) -> bool:
    return isinstance(value, Tensor) and value.is_complex()


def _check_capturable(rows: list[Row]) -> None:
    for row in rows:
        if row.parameter.device.type not in capturing_devices():
            raise AssertionError(
                "If capturable=True, params and state_steps must be on supported devices: "
                f"{capturing_devices()}, but got a parameter on {row.parameter.device}."
            )
