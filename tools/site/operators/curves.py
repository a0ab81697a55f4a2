"""Values of an operator along a line, and their derivatives, computed by torch_py itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tools.site.operators.declared import Operator, gradient_kind

_POINTS = 321
_WIDEST = 5.0
_OTHERS = (-1.0, 0.5, 2.0)  # second arguments of operators of two tensors


@dataclass(frozen=True)
class Curve:
    """``values`` has NaN where the function is not real."""

    label: str
    kind: str  # value or derivative
    values: tuple[float, ...]


@dataclass(frozen=True)
class Curves:
    positions: tuple[float, ...]
    curves: tuple[Curve, ...]


def curves_of(operator: Operator, name: str) -> Curves | None:
    """None for operators whose result is not computed element by element from one or two numbers."""
    call = _call_of(operator)
    if call is None:
        return None

    tensors = [a for a in operator.tensor_arguments if not a.has_default]
    try:
        if len(tensors) == 2:
            return _of_two(call, name, tensors[1].spelling)
        return _of_one(call, name, gradient_kind(operator) != "none")
    except (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError):
        return None


def _call_of(operator: Operator) -> Callable[..., Any] | None:
    """The operator as a function of tensors; other arguments have their defaults."""
    import torch_py as torch

    arguments = operator.schema.arguments.flat_all
    required = [a for a in arguments if not a.has_default]
    plain = [a for a in required if a.type.is_plain("Tensor")]
    returns = operator.schema.returns
    if operator.structure not in ("pointwise", "composite") or operator.each is not None:
        return None
    if len(required) != len(plain) or len(plain) not in (1, 2) or len(returns) != 1:
        return None
    if operator.schema.is_mutable or "nondeterministic_seeded" in operator.tags:
        return None
    if operator.dtypes and "float64" not in operator.dtypes or not returns[0].type.is_plain("Tensor"):
        return None
    if operator.structure != "pointwise" and len(plain) == 2:
        return None

    packet = getattr(torch.ops.aten, operator.base_name)
    overload: Callable[..., Any] = getattr(packet, operator.schema.overload_name or "default")
    return overload


def _of_one(call: Callable[..., Any], name: str, has_gradient: bool) -> Curves | None:
    import torch_py as torch

    positions = _domain(call)
    if positions is None:
        return None

    x = positions.clone().requires_grad_(has_gradient)
    result = call(x)
    if result.is_complex() or not _is_elementwise(call, positions, result):
        return None

    curves = [Curve(f"{name}(x)", "value", _numbers(result))]
    if has_gradient and result.requires_grad:
        (slope,) = torch.autograd.grad(result.sum(), x)
        curves.append(Curve("derivative", "derivative", _numbers(slope)))
    return Curves(_numbers(positions), tuple(curves))


def _of_two(call: Callable[..., Any], name: str, second: str) -> Curves | None:
    import torch_py as torch

    positions = torch.linspace(-3, 3, _POINTS, dtype=torch.float64)
    curves = []
    for other in _OTHERS:
        result = call(positions, torch.full_like(positions, other))
        if result.shape != positions.shape or result.is_complex():
            return None
        curves.append(Curve(f"{second} = {_signed(other)}", "value", _numbers(result)))
    return Curves(_numbers(positions), tuple(curves))


def _signed(value: float) -> str:
    return f"{value:g}".replace("-", "−")


def _domain(call: Callable[..., Any]) -> Any:
    """Points around zero, as far as the function is real there; None where it is real nowhere."""
    import torch_py as torch

    wide = torch.linspace(-_WIDEST, _WIDEST, _POINTS, dtype=torch.float64)
    result = call(wide)
    if result.shape != wide.shape or result.is_complex():
        return None

    real = wide[result.to(torch.float64).isfinite()]
    if real.numel() < 8:
        return None
    low, high = float(real[0]), float(real[-1])
    margin = 0.0 if high - low > 1.9 * _WIDEST else 0.05 * (high - low)
    return torch.linspace(low - margin, high + margin, _POINTS, dtype=torch.float64)


def _is_elementwise(call: Callable[..., Any], positions: Any, result: Any) -> bool:
    """Whether elements do not depend on one another, and the operator does not only copy."""
    import torch_py as torch

    if torch.equal(result, positions):
        return False
    single = torch.cat([call(positions[i : i + 1]) for i in (3, 150, 300)])
    return bool(torch.allclose(single.double(), result[[3, 150, 300]].double(), equal_nan=True))


def _numbers(tensor: Any) -> tuple[float, ...]:
    return tuple(_finite(value) for value in tensor.double().tolist())


def _finite(value: float) -> float:
    return value if abs(value) < 1e12 else float("nan")


def pieces(positions: tuple[float, ...], curve: Curve, jump: float) -> Iterator[list[tuple[float, float]]]:
    """The curve in pieces without gaps; a step of more than ``jump`` between two points is one."""
    piece: list[tuple[float, float]] = []
    for x, y in zip(positions, curve.values):
        broken = y != y or (piece and abs(y - piece[-1][1]) > jump)
        if broken and piece:
            yield piece
            piece = []
        if y == y:
            piece.append((x, y))
    if piece:
        yield piece
