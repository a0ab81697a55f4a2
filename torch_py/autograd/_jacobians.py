"""Jacobians of a function of tensors computed twice: by central differences, and by the recorded derivatives.

Note [Complex numbers as pairs]: a complex element counts as two real ones, its real and its imaginary part.
The derivative recorded for an output weight v is that of Re(conj(v) * output), returned as d/dRe + i d/dIm of
the input. So weights 1 and i give the rows of the real and of the imaginary part, and one comparison of real
matrices serves every mixture of real and complex.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from torch_py import _C
from torch_py import func as transforms
from torch_py._C import _torch
from torch_py.autograd import _as_tuple, grad
from torch_py.autograd.grad_mode import no_grad

Outputs = Callable[[], tuple[Any, ...]]


def real_parts(tensor: Any) -> Any:
    """The elements as a float64 vector, complex ones as pairs."""
    flat = tensor.detach().reshape(-1)
    if flat.is_complex():
        flat = _torch.stack([flat.real, flat.imag], 1).reshape(-1)
    return flat.to(_C.float64)


def real_size(tensor: Any) -> int:
    return int(tensor.numel()) * (2 if tensor.is_complex() else 1)


def _directions(tensor: Any) -> Iterator[tuple[tuple[int, ...], complex]]:
    """Every element with the steps it can take, in the order of `real_parts`."""
    for index in itertools.product(*(range(size) for size in tensor.shape)):
        yield index, 1.0
        if tensor.is_complex():
            yield index, 1.0j


def numerical(outputs: Outputs, source: Any, count: int, eps: float) -> list[Any]:
    """For each of the `count` outputs a matrix: row = element of `source`, column = element of the output."""
    rows: list[list[Any]] = [[] for _ in range(count)]
    data = source.data  # the caller's own memory, so that closures over the tensor see the steps
    with no_grad():
        for index, step in _directions(data):
            original = data[index].item()

            def move(
                delta: float, index: Any = index, original: Any = original, step: complex = step
            ) -> None:
                _set(data, index, original + delta * step)

            difference = _difference(outputs, move, eps)
            _set(data, index, original)
            for row, column in zip(rows, difference):
                row.append(column)
    return [_torch.stack(row) if row else None for row in rows]


def _set(data: Any, index: tuple[int, ...], value: complex) -> None:
    data[index] = value if data.is_complex() else value.real


def _difference(outputs: Outputs, move: Callable[[float], None], eps: float) -> list[Any]:
    """(f(x + eps) - f(x - eps)) / (2 eps), for each output a vector of real numbers."""
    move(eps)
    ahead = [real_parts(output).clone() for output in outputs()]
    move(-eps)
    behind = [real_parts(output) for output in outputs()]
    return [(high - low) / (2 * eps) for high, low in zip(ahead, behind)]


def analytical(output: Any, sources: Sequence[Any]) -> list[tuple[Any, list[Any]]]:
    """For each source the matrix as in `numerical`, and the gradients that it was made of."""
    columns: list[list[Any]] = [[] for _ in sources]
    gradients: list[list[Any]] = [[] for _ in sources]
    weight = _torch.zeros_like(output, requires_grad=False)
    for index, step in _directions(output):
        weight.zero_()
        _set(weight, index, step)
        found = grad(output, sources, weight.clone(), retain_graph=True, allow_unused=True)
        for column, kept, source, gradient in zip(columns, gradients, sources, found):
            kept.append(gradient)
            column.append(_column(gradient, source))
    return [(_torch.stack(column, 1) if column else None, kept) for column, kept in zip(columns, gradients)]


def _column(gradient: Any, source: Any) -> Any:
    if gradient is None:
        return _torch.zeros(real_size(source), dtype=_C.float64)
    if gradient.is_complex() and not source.is_complex():
        gradient = gradient.real
    elif source.is_complex() and not gradient.is_complex():
        gradient = gradient.to(source.dtype)
    return real_parts(gradient)


def random_direction(tensor: Any) -> Any:
    """A unit vector over the real parts of `tensor`, in its shape and dtype."""
    direction = _torch.randn(tuple(tensor.shape), dtype=tensor.dtype)
    length = real_parts(direction).pow(2).sum().sqrt().item()
    return direction / length if length else direction


def numerical_along(outputs: Outputs, source: Any, direction: Any, eps: float) -> list[Any]:
    """Derivatives of all outputs when `source` moves along `direction`, vectors of real numbers."""
    data = source.data
    original = data.clone()
    with no_grad():
        difference = _difference(outputs, lambda delta: data.copy_(original + delta * direction), eps)
        data.copy_(original)
    return difference


def tangents(
    func: Callable[..., Any],
    arguments: Sequence[Any],
    position: int,
    directions: Sequence[Any],
    batched: bool = False,
) -> list[Any]:
    """For every direction of argument `position` the tangents of the outputs of `func`, by forward mode; None
    for outputs without gradient.

    `batched`: all directions at once, by vmap.
    """

    def of_source(value: Any) -> Any:
        found = _as_tuple(func(*arguments[:position], value, *arguments[position + 1 :]))
        return tuple(
            item
            for item in found
            if isinstance(item, _C.TensorBase) and (item.is_floating_point() or item.is_complex())
        )

    def moved(direction: Any) -> Any:
        return transforms.jvp(of_source, (arguments[position],), (direction,))[1]

    if not batched:
        return [moved(direction) for direction in directions]
    columns = transforms.vmap(moved)(_torch.stack(list(directions)))
    return [tuple(column[row] for column in columns) for row in range(len(directions))]


def basis(source: Any) -> list[Any]:
    """A direction for every real number in `source`."""
    found = []
    for index, step in _directions(source):
        direction = _torch.zeros_like(source, requires_grad=False)
        _set(direction, index, step)
        found.append(direction)
    return found
