"""The skeleton of optimisers that treat every element alike: a subclass gives the state at the start and the
formula of a move."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

from torch_py import _C
from torch_py._C import _torch
from torch_py._tensor import Tensor
from torch_py.autograd.grad_mode import enable_grad, set_grad_enabled
from torch_py.optim.optimizer import Optimizer

CAPTURING_DEVICES = ("cuda", "xpu", "hpu", "privateuseone", "xla")


class Row(NamedTuple):
    """A parameter that has a gradient, and what is remembered of it."""

    parameter: Tensor
    gradient: Tensor
    state: dict[str, Any]


def evaluate(closure: Callable[[], Any] | None) -> Any:
    """The loss that `closure` returns, None without one; it is evaluated with recording on."""
    if closure is None:
        return None
    with enable_grad():
        return closure()


def recorded_if_differentiable(step: Any) -> Any:
    """`step` is recorded for autograd when the optimiser was made with `differentiable`, and never
    otherwise."""

    @functools.wraps(step)
    def guarded(self: Any, *arguments: Any, **keywords: Any) -> Any:
        with set_grad_enabled(bool(self.defaults.get("differentiable", False))):
            return step(self, *arguments, **keywords)

    return guarded


# Numbers and small formulas
# ------------------------------------------------------------


def number(value: Any) -> Any:
    """A setting that may be a tensor of one element, as a number."""
    return value.item() if isinstance(value, Tensor) else value


def rate_of(group: dict[str, Any]) -> Any:
    """The learning rate: a number, or the tensor itself where a gradient is to reach it."""
    rate = group["lr"]
    return rate if group.get("differentiable") else number(rate)


def new_count() -> Tensor:
    """A step count: 0, as float32, or float64 when that is the default dtype."""
    return _C.tensor(0.0, dtype=_C.float64 if _C.get_default_dtype() == _C.float64 else _C.float32)


def root_plus(squares: Tensor, epsilon: float, group: dict[str, Any]) -> Tensor:
    """sqrt(squares) + epsilon; not in place where the root is kept for a gradient."""
    root = squares.sqrt()
    return root + epsilon if group.get("differentiable") else root.add_(epsilon)


def raised(largest: Tensor, values: Tensor, group: dict[str, Any]) -> Tensor:
    """`largest` becomes the maximum of both; the result is that, also for a gradient."""
    if not group.get("differentiable"):
        return _torch.maximum(largest, values, out=largest)
    result = _torch.maximum(largest.clone(), values)
    largest.copy_(result)
    return result


def add_scaled(parameter: Tensor, direction: Tensor, scale: Any) -> None:
    """parameter += scale * direction; a gradient reaches a `scale` that is a tensor."""
    if isinstance(scale, Tensor):
        parameter.add_(direction * scale)
    else:
        parameter.add_(direction, alpha=scale)


def add_quotient(parameter: Tensor, numerator: Tensor, denominator: Tensor, scale: Any) -> None:
    """parameter += scale * numerator / denominator, as `add_scaled`."""
    if isinstance(scale, Tensor):
        parameter.add_(numerator / denominator * scale)
    else:
        parameter.addcdiv_(numerator, denominator, value=scale)


def average_squares(squares: Tensor, gradient: Tensor, share: float) -> None:
    """squares = share * squares + (1 - share) * gradient ** 2."""
    squares.mul_(share).addcmul_(gradient, gradient, value=1 - share)


# Settings
# ------------------------------------------------------------

_WORDS = {"lr": "learning rate", "eps": "epsilon value"}


def check_rate(lr: Any, *, may_be_nan: bool = False) -> None:
    """Raises ValueError for a tensor of several elements and for negative rates; nan counts as one, unless
    allowed."""
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")
    check_not_negative(may_be_nan, lr=lr)


def check_not_negative(may_be_nan: bool = False, /, **settings: Any) -> None:
    """Raises ValueError in PyTorch's words for the first setting that is not at least zero."""
    for name, value in settings.items():
        if value < 0.0 or not (may_be_nan or value >= 0.0):
            raise ValueError(f"Invalid {_WORDS.get(name, f'{name} value')}: {value}")


def check_betas(betas: tuple[Any, Any]) -> None:
    """Raises ValueError for decays of averages outside [0, 1)."""
    for position in range(2):
        if not 0.0 <= betas[position] < 1.0:
            raise ValueError(f"Invalid beta parameter at index {position}: {betas[position]}")


# Steps
# ------------------------------------------------------------


class ElementwiseOptimizer(Optimizer):
    """`step` collects the parameters that have gradients and moves them: all in one call where there is a
    fused kernel, else one by one.

    Complex parameters are moved as pairs of real numbers.
    """

    _has_fused: ClassVar[bool] = False

    def _start(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        """The state before the first move."""
        raise NotImplementedError

    def _move(
        self, parameter: Tensor, gradient: Tensor, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        """Moves `parameter` and `state` in place."""
        raise NotImplementedError

    def _move_all(self, rows: list[Row], group: dict[str, Any]) -> None:
        """As `_move` for all, with a fused kernel; weight decay and `maximize` included."""
        raise NotImplementedError

    def _remembers(self, group: dict[str, Any]) -> bool:
        """Whether there is any state."""
        return True

    @recorded_if_differentiable
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
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
                rows.append(
                    Row(_torch.view_as_real(parameter), _torch.view_as_real(gradient), _RealState(state))
                )
            else:
                rows.append(Row(parameter, gradient, state))
        return rows

    def _is_fused(self, group: dict[str, Any], rows: list[Row]) -> bool:
        return self._has_fused and group["fused"] is not False and not group["differentiable"]

    def _move_one(self, row: Row, group: dict[str, Any]) -> None:
        parameter, gradient, state = row
        if group.get("differentiable"):  # what was recorded keeps the tensors of before
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
    """The state of a complex parameter, its tensors as pairs of real numbers in the same memory; what is set
    is kept as complex."""

    def __init__(self, state: dict[str, Any]) -> None:
        super().__init__(
            {
                name: _torch.view_as_real(value) if _is_complex(value) else value
                for name, value in state.items()
            }
        )
        self._complex = state

    def __setitem__(self, name: str, value: Any) -> None:
        super().__setitem__(name, value)
        self._complex[name] = (
            _torch.view_as_complex(value) if isinstance(value, Tensor) and value.dim() else value
        )


def _is_complex(value: Any) -> bool:
    return isinstance(value, Tensor) and value.is_complex()


def _check_capturable(rows: list[Row]) -> None:
    for row in rows:
        if row.parameter.device.type not in CAPTURING_DEVICES:
            raise AssertionError(
                "If capturable=True, params and state_steps must be on supported devices: "
                f"{list(CAPTURING_DEVICES)}, "
                f"but got a parameter on {row.parameter.device}."
            )
