"""The optimizer L-BFGS (Nocedal & Wright, Numerical Optimization, algorithm 7.5)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch_py._C import _torch
from torch_py._tensor import Tensor
from torch_py.autograd.grad_mode import enable_grad, no_grad
from torch_py.optim._elementwise import check_rate, number
from torch_py.optim._line_search import Point, strong_wolfe
from torch_py.optim.optimizer import Optimizer, ParamsT

__all__ = ["LBFGS"]

_KEPT = ("d", "t", "old_dirs", "old_stps", "ro", "H_diag", "prev_flat_grad", "prev_loss")


class LBFGS(Optimizer):
    """A quasi-Newton method, which estimates the curvature from its last steps. Each call of `step` makes
    several steps, and needs a closure that computes the loss and the gradients again.

    It ends when no element of the gradient exceeds `tolerance_grad`, or when loss or parameters change by
    less than `tolerance_change`.

    Source: Liu and Nocedal, On the limited memory BFGS method for large scale optimization (1989).

    Args:
        params: the tensors to train, in one group
        lr: the length of a step; default 1
        max_iter: the largest number of steps in a call; default 20
        max_eval: the largest number of evaluations in a call; default None, 1.25 · max_iter
        tolerance_grad: default 1e-7
        tolerance_change: default 1e-9
        history_size: the number of steps to remember; default 100
        line_search_fn: None (default), or 'strong_wolfe'

    Raises:
        ValueError: there are several groups of parameters

    Example:
        >>> weight = nn.Parameter(torch.tensor([1.0]))
        >>> optimizer = torch.optim.LBFGS([weight])
        >>> def closure():
        ...     optimizer.zero_grad()
        ...     loss = (weight - 3).pow(2).sum()
        ...     loss.backward()
        ...     return loss
        >>> loss = optimizer.step(closure)
        >>> weight.detach().round()
        tensor([3.])
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        check_rate(lr)

        defaults = {
            "lr": lr,
            "max_iter": max_iter,
            "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad,
            "tolerance_change": tolerance_change,
            "history_size": history_size,
            "line_search_fn": line_search_fn,
        }

        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params = self.param_groups[0]["params"]

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._params = self.param_groups[0]["params"]

    @no_grad()
    def step(self, closure: Callable[[], Any]) -> Any:  # type: ignore[override]
        """Makes up to `max_iter` steps and returns the first loss that `closure` returned."""
        group = self.param_groups[0]
        closure = enable_grad()(closure)
        if group["line_search_fn"] not in (None, "strong_wolfe"):
            raise RuntimeError("only 'strong_wolfe' is supported")

        state = self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)

        first_loss = closure()
        state["func_evals"] += 1
        gradient = self._gather()
        if gradient.abs().max() <= group["tolerance_grad"]:
            return first_loss

        history = {name: state.get(name) for name in _KEPT}
        self._iterate(closure, group, state, history, float(first_loss), gradient)
        state.update(history)

        return first_loss

    def _iterate(
        self,
        closure: Any,
        group: dict[str, Any],
        state: dict[str, Any],
        history: dict[str, Any],
        loss: float,
        gradient: Tensor,
    ) -> None:
        evaluations = 1
        rate = number(group["lr"])

        for iteration in range(1, group["max_iter"] + 1):
            state["n_iter"] += 1
            is_first = state["n_iter"] == 1
            if is_first:
                direction = _first_direction(gradient, history)
            else:
                direction = _direction(gradient, state, history, group)
            history["d"] = direction
            history["prev_flat_grad"] = gradient.clone()
            previous = history["prev_loss"] = loss
            distance = min(1.0, 1.0 / float(gradient.abs().sum())) * rate if is_first else rate
            history["t"] = distance

            slope = float(gradient.dot(direction))
            if slope > -group["tolerance_change"]:
                return

            is_last = iteration == group["max_iter"]
            count = 0
            if group["line_search_fn"] is not None:
                start = Point(0.0, loss, gradient, slope)
                point, count = self._search(closure, start, distance, direction)
                loss = point.loss
                gradient = point.gradient
                distance = point.distance
                history["t"] = distance
                self._advance(distance, direction)
            else:
                self._advance(distance, direction)
                if not is_last:  # the next call of step evaluates the closure anyway
                    loss = float(closure())
                    gradient = self._gather()
                    count = 1

            evaluations += count
            state["func_evals"] += count
            if is_last or evaluations >= group["max_eval"] or gradient.abs().max() <= group["tolerance_grad"]:
                return
            largest_move = (direction * distance).abs().max()
            if largest_move <= group["tolerance_change"] or abs(loss - previous) < group["tolerance_change"]:
                return

    def _search(self, closure: Any, start: Point, first: float, direction: Tensor) -> tuple[Point, int]:
        places = [parameter.clone() for parameter in self._params]

        def evaluate(distance: float) -> Point:
            self._advance(distance, direction)
            loss = float(closure())
            gradient = self._gather()
            for parameter, place in zip(self._params, places):
                parameter.copy_(place)
            return Point(distance, loss, gradient, float(gradient.dot(direction)))

        return strong_wolfe(evaluate, start, first, float(direction.abs().max()))

    def _gather(self) -> Tensor:
        """All gradients in one vector, complex ones as pairs of real numbers."""
        parts = []
        for parameter in self._params:
            gradient = _torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
            parts.append((_torch.view_as_real(gradient) if gradient.is_complex() else gradient).reshape(-1))
        return _torch.cat(parts, 0)

    def _advance(self, distance: float, direction: Tensor) -> None:
        offset = 0
        for parameter in self._params:
            real = _torch.view_as_real(parameter) if parameter.is_complex() else parameter
            real.add_(direction[offset : offset + real.numel()].view(real.shape), alpha=distance)
            offset += real.numel()


def _first_direction(gradient: Tensor, history: dict[str, Any]) -> Tensor:
    history.update(old_dirs=[], old_stps=[], ro=[], H_diag=1)
    return gradient.neg()


def _direction(
    gradient: Tensor, state: dict[str, Any], history: dict[str, Any], group: dict[str, Any]
) -> Tensor:
    """Minus the estimated inverse Hessian times the gradient, computed by two loops over the history."""
    changes = history["old_dirs"]
    steps = history["old_stps"]
    inverses = history["ro"]
    change = gradient - history["prev_flat_grad"]
    step = history["d"] * history["t"]

    # The last step enters the history if the curvature along it is positive.
    curvature = change.dot(step)
    if curvature > 1e-10:
        if len(changes) == group["history_size"]:
            for column in (changes, steps, inverses):
                column.pop(0)
        changes.append(change)
        steps.append(step)
        inverses.append(1.0 / curvature)
        history["H_diag"] = curvature / change.dot(change)

    shares = state.setdefault("al", [None] * group["history_size"])
    result = gradient.neg()
    for i in range(len(changes) - 1, -1, -1):
        shares[i] = steps[i].dot(result) * inverses[i]
        result.add_(changes[i], alpha=-shares[i].item())
    result = result * history["H_diag"]
    for i in range(len(changes)):
        result.add_(steps[i], alpha=(shares[i] - changes[i].dot(result) * inverses[i]).item())
    return result
